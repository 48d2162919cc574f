//! The record of drills: every compared power cut of one stack, so that many drills add up. A cut
//! with a loss stays for good: after a fix the stack differs and needs a new record. The command
//! reads and writes the file.

use serde::{Deserialize, Serialize};

use super::log::{AckLog, SurvivorLog};
use super::outcome::{DrillResult, missing_cut_reason};
use super::stack::StackFingerprint;
use crate::facts::catalog::drill;
use crate::facts::{FactSet, Source, Subject};
use crate::text::display_safe;

/// Version of the format.
const FORMAT_VERSION: u32 = 1;

/// Drills of one stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    walwise_drills: u32,
    /// Lines in the format of [`StackFingerprint`].
    stack: Vec<String>,
    cuts: Vec<Cut>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Cut {
    /// Run id, hexadecimal.
    run: String,
    method: String,
    segments: String,
    begun: String,
    read: String,
    acknowledged: u64,
    examined: u64,
    lost: u64,
}

impl Record {
    pub fn new(stack: &StackFingerprint) -> Self {
        let stack = stack.to_string().lines().map(str::to_owned).collect();
        Self {
            walwise_drills: FORMAT_VERSION,
            stack,
            cuts: Vec::new(),
        }
    }

    /// Parses what [`Self::render`] made. The error is a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let record: Self = serde_json::from_str(text)
            .map_err(|error| format!("it is not a record of drills: {error}"))?;
        if record.walwise_drills != FORMAT_VERSION {
            return Err(format!(
                "it has format {}; this walwise reads {FORMAT_VERSION}",
                record.walwise_drills
            ));
        }
        Ok(record)
    }

    pub fn render(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    pub fn stack(&self) -> StackFingerprint {
        let mut stack = StackFingerprint::default();
        for line in &self.stack {
            stack.parse_line(line);
        }
        stack
    }

    pub fn cut_count(&self) -> usize {
        self.cuts.len()
    }

    /// Adds the comparison of two logs. The error is a sentence.
    pub fn add(
        &mut self,
        acks: &AckLog,
        survived: &SurvivorLog,
        outcome: &DrillResult,
    ) -> Result<(), String> {
        if let Some(why) = missing_cut_reason(acks, survived) {
            return Err(why.to_owned());
        }
        if acks.stack.is_empty() || survived.stack.is_empty() {
            return Err("the logs do not name the devices below the directory".to_owned());
        }
        if let Some(changed) = acks.stack.difference(&survived.stack) {
            return Err(format!(
                "the stack that was read is not the one written: {changed}"
            ));
        }
        if let Some(changed) = self.stack().difference(&acks.stack) {
            return Err(format!(
                "this drill and the record are of different stacks: {changed}; use another file"
            ));
        }
        if outcome.examined == 0 {
            return Err("no commit was acknowledged; nothing to record".to_owned());
        }
        let run = format!("{:016x}", acks.header.run);
        if self.cuts.iter().any(|cut| cut.run == run) {
            return Err(format!("drill {run} is in the record already"));
        }
        self.cuts.push(Cut {
            run,
            method: acks.header.method.clone(),
            segments: acks.header.segments.clone(),
            begun: acks.header.when.clone(),
            read: survived.when.clone(),
            acknowledged: outcome.acknowledged,
            examined: outcome.examined,
            lost: outcome.lost_count(),
        });
        Ok(())
    }

    /// Adds the record's facts about a target on the same stack; otherwise the error names the
    /// difference. `from` is the file, display-safe.
    pub fn insert_facts(
        &self,
        facts: &mut FactSet,
        target: &Subject,
        from: &str,
    ) -> Result<(), String> {
        if let Some(changed) = self
            .stack()
            .difference(&StackFingerprint::from_facts(facts, target))
        {
            return Err(changed);
        }
        let sum = |count: fn(&Cut) -> u64| self.cuts.iter().map(count).fold(0, u64::saturating_add);
        let Some(last) = self.cuts.iter().map(|cut| date_part(&cut.read)).max() else {
            return Err("it has no drill".to_owned());
        };
        let source = || Source::Drill {
            file: from.to_owned(),
        };
        facts.insert_known(target, &drill::ON, display_safe(last.as_bytes()), source());
        facts.insert_known(target, &drill::CUTS, self.cuts.len() as u64, source());
        facts.insert_known(
            target,
            &drill::ACKNOWLEDGED,
            sum(|cut| cut.examined),
            source(),
        );
        facts.insert_known(target, &drill::LOST, sum(|cut| cut.lost), source());
        Ok(())
    }
}

pub fn date_part(when: &str) -> &str {
    when.split_once('T').map_or(when, |(day, _)| day)
}

#[cfg(test)]
mod tests {
    use super::super::{RunHeader, compare};
    use super::*;
    use crate::facts::catalog::{device, host};
    use crate::facts::{FactValue, Key, Reading};

    fn data_target() -> Subject {
        Subject::target("/data")
    }

    /// `/data` on a disk with that name, all of it read.
    fn machine(disk: &str) -> FactSet {
        let mut facts = FactSet::default();
        let disk = Subject::device(disk);
        facts.add_edge(&data_target(), &disk);
        let source = || Source::file("/sys");
        facts.insert_known(&Subject::host(), &host::NAME, "db7".to_owned(), source());
        facts.insert_known(&disk, &device::SERIAL, "S1".to_owned(), source());
        facts.insert_known(&disk, &device::FIRMWARE, "1.2".to_owned(), source());
        facts.insert_known(&disk, &device::SWAP, false, source());
        facts
    }

    fn with_fact<T: FactValue>(mut facts: FactSet, key: &Key<T>, reading: Reading<T>) -> FactSet {
        facts.insert(&Subject::device("sda"), key, reading);
        facts
    }

    fn logs(facts: &FactSet, run: u64, last: u64, found: u64) -> (AckLog, SurvivorLog) {
        let [method, segments, when] =
            ["fdatasync", "recycled", "2026-11-22T03:04:05Z"].map(str::to_owned);
        let head = RunHeader {
            run,
            method,
            segments,
            when: when.clone(),
            directory: "/data".to_owned(),
        };
        let stack = StackFingerprint::from_facts(facts, &data_target());
        let [before, after] = ["before", "after"].map(str::to_owned);
        let acks = AckLog {
            header: head.clone(),
            boot: before,
            stack: stack.clone(),
            last_number: last,
            was_stopped: false,
        };
        (
            acks,
            SurvivorLog {
                header: head,
                boot: after,
                stack,
                pages: vec![(1, found)],
                when,
            },
        )
    }

    fn add(record: &mut Record, (acks, survived): &(AckLog, SurvivorLog)) -> Result<(), String> {
        record.add(acks, survived, &compare(acks, survived).unwrap())
    }

    #[test]
    fn cuts_of_one_stack_add_up_and_are_told_of_it_alone() {
        let here = machine("sda");
        let mut record = Record::new(&StackFingerprint::from_facts(&here, &data_target()));
        assert_eq!(add(&mut record, &logs(&here, 1, 100, 100)), Ok(()));
        assert_eq!(
            add(&mut record, &logs(&machine("sdb"), 2, 50, 47)),
            Ok(()),
            "names are the kernel's"
        );
        let refused = |record: &mut Record, logs| add(record, &logs).unwrap_err();
        assert!(refused(&mut record, logs(&here, 2, 9, 9)).contains("in the record already"));
        assert!(refused(&mut record, logs(&here, 3, 0, 1)).contains("no commit was acknowledged"));
        let newer = with_fact(
            machine("sda"),
            &device::FIRMWARE,
            Reading::known("1.3".to_owned(), Source::file("/sys")),
        );
        assert!(
            refused(&mut record, logs(&newer, 3, 9, 9))
                .contains("device.firmware was 1.2 and is 1.3")
        );
        let bare = logs(&FactSet::default(), 3, 9, 9);
        assert!(refused(&mut record, bare).contains("do not name the devices below the directory"));
        let record = Record::parse(&record.render()).unwrap();

        let mut told = machine("sdc");
        assert_eq!(
            record.insert_facts(&mut told, &data_target(), "d.json"),
            Ok(())
        );
        assert_eq!(told.value(&data_target(), &drill::CUTS), Some(2));
        assert_eq!(told.value(&data_target(), &drill::ACKNOWLEDGED), Some(150));
        assert_eq!(told.value(&data_target(), &drill::LOST), Some(3));
        assert_eq!(
            told.value(&data_target(), &drill::ON).as_deref(),
            Some("2026-11-22")
        );
        assert!(
            told.rows_of(&data_target())
                .all(|row| !row.reading.source().unwrap().is_evidence())
        );

        for other in [
            newer,
            with_fact(machine("sda"), &device::SERIAL, Reading::not_collected()),
            with_fact(
                machine("sda"),
                &device::SERIAL,
                Reading::known("S1".to_owned(), Source::Assumed),
            ),
        ] {
            let mut other = other;
            assert!(
                record
                    .insert_facts(&mut other, &data_target(), "d.json")
                    .is_err()
            );
            assert_eq!(other.value(&data_target(), &drill::CUTS), None);
        }
    }

    #[test]
    fn without_a_power_cut_nothing_is_recorded() {
        let here = machine("sda");
        let (acks, survived) = logs(&here, 1, 100, 100);
        let mut record = Record::new(&StackFingerprint::from_facts(&here, &data_target()));
        let same = SurvivorLog {
            boot: acks.boot.clone(),
            ..survived.clone()
        };
        let unread = SurvivorLog {
            boot: String::new(),
            ..survived.clone()
        };
        let stopped = AckLog {
            was_stopped: true,
            ..acks.clone()
        };
        for (acks, survived) in [(&acks, &same), (&acks, &unread), (&stopped, &survived)] {
            assert!(add(&mut record, &(acks.clone(), survived.clone())).is_err());
        }
        assert_eq!(record.cut_count(), 0);
        assert_eq!(add(&mut record, &(acks, survived)), Ok(()));
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for text in [
            "",
            "{}",
            "[]",
            r#"{"walwise_drills":2,"stack":[],"cuts":[]}"#,
        ] {
            assert!(Record::parse(text).is_err(), "{text}");
        }
        let empty = Record::parse(r#"{"walwise_drills":1,"stack":[],"cuts":[]}"#).unwrap();
        assert!(
            empty
                .insert_facts(&mut FactSet::default(), &data_target(), "d.json")
                .is_err()
        );
    }
}
