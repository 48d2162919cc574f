//! What follows from the counters of a MySQL or MariaDB.

use super::{Server, Unknown, ends, from};
use crate::facts::catalog::cluster::{KIND, SizeFit};
use crate::facts::catalog::{mount, mysql};
use crate::facts::{FactSet, Reading, ServerKind, Subject, Why};
use crate::sizing::bytes;
use crate::sizing::forecast::Forecast;
use crate::sizing::redo::{RedoCounts, SHORTEST};
use crate::text;

/// The largest `innodb_log_buffer_size` that is advised.
const LARGEST_BUFFER: u64 = 256 << 20;

const BASIS: [&str; 3] = [mysql::REDO_SIZE.name(), mysql::REDO_WRITTEN.name(), mysql::UPTIME.name()];

/// Puts all of it.
pub fn derive(facts: &mut FactSet, cluster: &Subject) {
    let server = Server { facts, subject: cluster };
    let size = server.redo_size();
    let buffer = server.buffer();
    let counts = server.counts();
    let of = |value: fn(&RedoCounts) -> f64| match &counts {
        Ok(counts) => Reading::known(value(counts), from(&BASIS)),
        Err(why) => why.of(),
    };
    let rate = of(|counts| counts.rate).map(bytes);
    let lasts = of(|counts| counts.lasts() * 1e6);
    let recovery = counts.as_ref().map_or_else(Unknown::of, |counts| server.redo_recovery(counts));
    let (least, most) = ends(&recovery);
    let (fit, wanted, trade) = server.judged(&counts);
    facts.put(cluster, &mysql::REDO_SIZE, size);
    facts.put(cluster, &mysql::REDO_RATE, rate);
    facts.put(cluster, &mysql::REDO_LASTS, lasts);
    facts.put(cluster, &mysql::RECOVERY_LEAST, least);
    facts.put(cluster, &mysql::RECOVERY_MOST, most);
    facts.put(cluster, &mysql::REDO_FIT, fit);
    facts.put(cluster, &mysql::REDO_WANTED, wanted);
    facts.put(cluster, &mysql::REDO_TRADE, trade);
    facts.put(cluster, &mysql::LOG_BUFFER_WANTED, buffer);
}

impl Server<'_> {
    /// The size of the redo log by the one setting that decides it: MariaDB's file, of which there is one from 10.5 on, or the
    /// capacity of MySQL 8.0.30 and later. Before these it was a product of two settings.
    fn redo_size(&self) -> Reading<u64> {
        let size = || {
            let version = self.need(&mysql::VERSION)?;
            let (kind, key, first) = match self.need(&KIND)? {
                ServerKind::Mariadb => ("MariaDB", &mysql::LOG_FILE_SIZE, [10, 5, 0]),
                ServerKind::Mysql | ServerKind::Postgres => ("MySQL", &mysql::REDO_CAPACITY, [8, 0, 30]),
            };
            if [0, 1, 2].map(|part| version.number(part)) < first {
                let detail =
                    format!("{kind} {} has several files of redo, and how many is not read", version.base());
                return Err(Unknown(Reading::unknown(Why::NotCollected, detail)));
            }
            Ok((self.need(key)?, key.name()))
        };
        size().map_or_else(|why| why.of(), |(size, name)| Reading::known(size, from(&[name])))
    }

    fn counts(&self) -> Result<RedoCounts, Unknown> {
        let capacity = match self.redo_size() {
            Reading::Known { value, .. } => value,
            Reading::Unknown { why, detail, remedy } => {
                return Err(Unknown(Reading::Unknown { why, detail, remedy }));
            }
        };
        let seconds = self.need(&mysql::UPTIME)? / 1e6;
        let written = self.need(&mysql::REDO_WRITTEN)?;
        let rate = written as f64 / seconds.max(1.0);
        Ok(RedoCounts { capacity, rate, seconds, age: self.value(&mysql::CHECKPOINT_AGE) })
    }

    fn judged(
        &self,
        counts: &Result<RedoCounts, Unknown>,
    ) -> (Reading<SizeFit>, Reading<String>, Reading<String>) {
        let counts = match counts {
            Ok(counts) => counts,
            Err(why) => return (why.of(), why.of(), why.of()),
        };
        let unsettled = || {
            if counts.seconds < SHORTEST {
                return Reading::unknown(Why::Ambiguous, "the server has run for less than an hour");
            }
            match self.facts.resolve(self.subject, mount::FREE.info.scope) {
                Some(mount) => self.facts.get(&mount, &mount::FREE).map(|_| SizeFit::Enough),
                None => Reading::unknown(Why::NotCollected, "the file system of its redo log"),
            }
        };
        let judged = counts.fit(self.free());
        let fit = judged.map_or_else(unsettled, |(fit, _)| Reading::known(fit, from(&BASIS)));
        let none = || Reading::unknown(Why::Absent, "no other size is needed, or has room");
        match judged.and_then(|(_, size)| size) {
            Some(size) => {
                let (wanted, trade) = (size.to_string(), self.redo_trade(counts, size));
                (fit, Reading::known(wanted, from(&BASIS)), Reading::known(trade, from(&BASIS)))
            }
            None => (fit, none(), none()),
        }
    }

    fn redo_trade(&self, counts: &RedoCounts, size: u64) -> String {
        let then = RedoCounts { capacity: size, ..*counts };
        let lasts = |counts: &RedoCounts| Forecast::between(counts.lasts(), counts.lasts()).seconds();
        format!(
            "{}: it lasts {} at {}/s, the average since the start {} ago, now {}; {}",
            text::bytes(size),
            lasts(&then),
            text::bytes(bytes(counts.rate)),
            Forecast::between(counts.seconds, counts.seconds).seconds(),
            lasts(counts),
            match (self.is_on_platters(), RedoCounts::recovery(size), RedoCounts::recovery(counts.capacity)) {
                (true, ..) => "how long recovery takes on platters is not known here".to_owned(),
                (false, then, now) => format!(
                    "recovery after a crash of a full log then {}, now {}",
                    then.seconds(),
                    now.seconds()
                ),
            }
        )
    }

    /// Recovery after a crash now, by the redo that is not in the data files yet.
    fn redo_recovery(&self, counts: &RedoCounts) -> Reading<Forecast> {
        let detail = match (counts.age, self.is_on_platters()) {
            (Some(age), false) => {
                return Reading::known(RedoCounts::recovery(age), from(&[mysql::CHECKPOINT_AGE.name()]));
            }
            (Some(_), true) => "what replay costs on platters was not measured",
            (None, _) => "the server does not say how old its checkpoint is",
        };
        Reading::unknown(Why::Absent, detail)
    }

    /// Twice the log buffer, where sessions have waited for it.
    fn buffer(&self) -> Reading<String> {
        let wanted = || {
            let (now, waits) = (self.need(&mysql::LOG_BUFFER_SIZE)?, self.need(&mysql::LOG_WAITS)?);
            let twice = now.saturating_mul(2);
            let is_wanted = waits > 0 && twice <= LARGEST_BUFFER;
            Ok(if is_wanted { twice.to_string() } else { String::new() })
        };
        let of = [mysql::LOG_BUFFER_SIZE.name(), mysql::LOG_WAITS.name()];
        wanted().map_or_else(|why: Unknown| why.of(), |wanted| Reading::known(wanted, from(&of)))
    }
}
