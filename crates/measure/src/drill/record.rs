//! The record of drills: every compared cut of one stack, so that twenty weigh more than one.
//!
//! The command reads and writes the file. A cut with a loss stays in it for good. After the cause
//! is mended the stack is another one, which needs a new record.

use serde::{Deserialize, Serialize};

use super::log::{Acknowledged, Survived};
use super::outcome::{DrillResult, no_cut};
use super::stack::StackFingerprint;
use crate::facts::catalog::drill;
use crate::facts::{FactSet, Source, Subject};
use crate::text::safe;

/// The version of the format.
const FORMAT: u32 = 1;

/// The drills of one stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    walwise_drills: u32,
    /// Lines as [`StackFingerprint`] displays them.
    stack: Vec<String>,
    cuts: Vec<Cut>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Cut {
    /// The run, in hexadecimal digits.
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
    /// An empty record of a stack.
    pub fn new(stack: &StackFingerprint) -> Self {
        let stack = stack.to_string().lines().map(str::to_owned).collect();
        Self {
            walwise_drills: FORMAT,
            stack,
            cuts: Vec::new(),
        }
    }

    /// Parses the output of [`Self::render`]. The error is a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let record: Self = serde_json::from_str(text)
            .map_err(|error| format!("it is no record of drills: {error}"))?;
        if record.walwise_drills != FORMAT {
            return Err(format!(
                "it is of format {}, and this walwise reads {FORMAT}",
                record.walwise_drills
            ));
        }
        Ok(record)
    }

    pub fn render(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The stack that it is about.
    pub fn stack(&self) -> StackFingerprint {
        let mut stack = StackFingerprint::default();
        for line in &self.stack {
            stack.take(line);
        }
        stack
    }

    pub fn cuts(&self) -> usize {
        self.cuts.len()
    }

    /// Adds a comparison. The error is a sentence.
    pub fn add(
        &mut self,
        acks: &Acknowledged,
        survived: &Survived,
        outcome: &DrillResult,
    ) -> Result<(), String> {
        if let Some(why) = no_cut(acks, survived) {
            return Err(why.to_owned());
        }
        if acks.stack.is_empty() || survived.stack.is_empty() {
            return Err("the logs do not say which devices are under the directory".to_owned());
        }
        if let Some(changed) = acks.stack.changed(&survived.stack) {
            return Err(format!(
                "what was read is not what was written to: {changed}"
            ));
        }
        if let Some(changed) = self.stack().changed(&acks.stack) {
            return Err(format!(
                "this drill is of another stack than the record: {changed}; begin another file"
            ));
        }
        if outcome.examined == 0 {
            return Err("nothing was acknowledged, so there is nothing to record".to_owned());
        }
        let run = format!("{:016x}", acks.head.run);
        if self.cuts.iter().any(|cut| cut.run == run) {
            return Err(format!("drill {run} is in the record already"));
        }
        self.cuts.push(Cut {
            run,
            method: acks.head.method.clone(),
            segments: acks.head.segments.clone(),
            begun: acks.head.when.clone(),
            read: survived.when.clone(),
            acknowledged: outcome.acknowledged,
            examined: outcome.examined,
            lost: outcome.lost(),
        });
        Ok(())
    }

    /// Puts its statement about a target into the facts, if the target stands on the drilled stack;
    /// else the result names the difference. `from` is the file, display-safe.
    pub fn tell(&self, facts: &mut FactSet, target: &Subject, from: &str) -> Result<(), String> {
        if let Some(changed) = self
            .stack()
            .changed(&StackFingerprint::from_facts(facts, target))
        {
            return Err(changed);
        }
        let sum = |count: fn(&Cut) -> u64| self.cuts.iter().map(count).fold(0, u64::saturating_add);
        let Some(last) = self.cuts.iter().map(|cut| day(&cut.read)).max() else {
            return Err("it holds no drill".to_owned());
        };
        let source = || Source::Drill {
            file: from.to_owned(),
        };
        facts.know(target, &drill::ON, safe(last.as_bytes()), source());
        facts.know(target, &drill::CUTS, self.cuts.len() as u64, source());
        facts.know(
            target,
            &drill::ACKNOWLEDGED,
            sum(|cut| cut.examined),
            source(),
        );
        facts.know(target, &drill::LOST, sum(|cut| cut.lost), source());
        Ok(())
    }
}

pub fn day(when: &str) -> &str {
    when.split_once('T').map_or(when, |(day, _)| day)
}

#[cfg(test)]
mod tests {
    use super::super::{Head, compare};
    use super::*;
    use crate::facts::catalog::{device, host};
    use crate::facts::{FactValue, Key, Reading};

    fn data() -> Subject {
        Subject::target("/data")
    }

    /// `/data` on a disk with that name, all of it read.
    fn machine(disk: &str) -> FactSet {
        let mut facts = FactSet::default();
        let disk = Subject::device(disk);
        facts.stand(&data(), &disk);
        let source = || Source::file("/sys");
        facts.know(&Subject::host(), &host::NAME, "db7".to_owned(), source());
        facts.know(&disk, &device::SERIAL, "S1".to_owned(), source());
        facts.know(&disk, &device::FIRMWARE, "1.2".to_owned(), source());
        facts.know(&disk, &device::SWAP, false, source());
        facts
    }

    fn with<T: FactValue>(mut facts: FactSet, key: &Key<T>, reading: Reading<T>) -> FactSet {
        facts.put(&Subject::device("sda"), key, reading);
        facts
    }

    fn logs(facts: &FactSet, run: u64, last: u64, found: u64) -> (Acknowledged, Survived) {
        let [method, segments, when] =
            ["fdatasync", "recycled", "2026-11-22T03:04:05Z"].map(str::to_owned);
        let head = Head {
            run,
            method,
            segments,
            when: when.clone(),
            directory: "/data".to_owned(),
        };
        let stack = StackFingerprint::from_facts(facts, &data());
        let [before, after] = ["before", "after"].map(str::to_owned);
        let acks = Acknowledged {
            head: head.clone(),
            boot: before,
            stack: stack.clone(),
            last,
            stopped: false,
        };
        (
            acks,
            Survived {
                head,
                boot: after,
                stack,
                pages: vec![(1, found)],
                when,
            },
        )
    }

    fn add(record: &mut Record, (acks, survived): &(Acknowledged, Survived)) -> Result<(), String> {
        record.add(acks, survived, &compare(acks, survived).unwrap())
    }

    #[test]
    fn cuts_of_one_stack_add_up_and_are_told_of_it_alone() {
        let here = machine("sda");
        let mut record = Record::new(&StackFingerprint::from_facts(&here, &data()));
        assert_eq!(add(&mut record, &logs(&here, 1, 100, 100)), Ok(()));
        assert_eq!(
            add(&mut record, &logs(&machine("sdb"), 2, 50, 47)),
            Ok(()),
            "names are the kernel's"
        );
        let refused = |record: &mut Record, logs| add(record, &logs).unwrap_err();
        assert!(refused(&mut record, logs(&here, 2, 9, 9)).contains("in the record already"));
        assert!(refused(&mut record, logs(&here, 3, 0, 1)).contains("nothing was acknowledged"));
        let newer = with(
            machine("sda"),
            &device::FIRMWARE,
            Reading::known("1.3".to_owned(), Source::file("/sys")),
        );
        assert!(
            refused(&mut record, logs(&newer, 3, 9, 9))
                .contains("device.firmware was 1.2 and is 1.3")
        );
        let bare = logs(&FactSet::default(), 3, 9, 9);
        assert!(
            refused(&mut record, bare).contains("do not say which devices are under the directory")
        );
        let record = Record::parse(&record.render()).unwrap();

        let mut told = machine("sdc");
        assert_eq!(record.tell(&mut told, &data(), "d.json"), Ok(()));
        assert_eq!(told.value(&data(), &drill::CUTS), Some(2));
        assert_eq!(told.value(&data(), &drill::ACKNOWLEDGED), Some(150));
        assert_eq!(told.value(&data(), &drill::LOST), Some(3));
        assert_eq!(
            told.value(&data(), &drill::ON).as_deref(),
            Some("2026-11-22")
        );
        assert!(
            told.rows_of(&data())
                .all(|row| !row.reading.source().unwrap().is_evidence())
        );

        for other in [
            newer,
            with(machine("sda"), &device::SERIAL, Reading::not_collected()),
            with(
                machine("sda"),
                &device::SERIAL,
                Reading::known("S1".to_owned(), Source::Assumed),
            ),
        ] {
            let mut other = other;
            assert!(record.tell(&mut other, &data(), "d.json").is_err());
            assert_eq!(other.value(&data(), &drill::CUTS), None);
        }
    }

    #[test]
    fn without_a_power_cut_nothing_is_recorded() {
        let here = machine("sda");
        let (acks, survived) = logs(&here, 1, 100, 100);
        let mut record = Record::new(&StackFingerprint::from_facts(&here, &data()));
        let same = Survived {
            boot: acks.boot.clone(),
            ..survived.clone()
        };
        let unread = Survived {
            boot: String::new(),
            ..survived.clone()
        };
        let stopped = Acknowledged {
            stopped: true,
            ..acks.clone()
        };
        for (acks, survived) in [(&acks, &same), (&acks, &unread), (&stopped, &survived)] {
            assert!(add(&mut record, &(acks.clone(), survived.clone())).is_err());
        }
        assert_eq!(record.cuts(), 0);
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
                .tell(&mut FactSet::default(), &data(), "d.json")
                .is_err()
        );
    }
}
