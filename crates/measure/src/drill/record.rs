//! The record of drills collects the power cuts of one stack over many drills. A power cut with a
//! loss is never removed: after a fix the stack differs and needs a new record.

use serde::{Deserialize, Serialize};

use super::{AckLog, DrillResult, ReadBackLog, StackFacts, unproven_power_cut_reason};
use crate::facts::catalog::drill;
use crate::facts::{FactSet, Source, Subject};
use crate::text::display_safe;

const FORMAT_VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrillRecord {
    walwise_drills: u32,
    /// Facts of the stack, as lines in the format of [`StackFacts`].
    stack: Vec<String>,
    cuts: Vec<PowerCutRecord>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PowerCutRecord {
    run: String,
    method: String,
    segments: String,
    begun: String,
    read: String,
    acknowledged: u64,
    examined: u64,
    lost: u64,
}

impl DrillRecord {
    pub fn new(stack: &StackFacts) -> Self {
        let stack = stack.to_string().lines().map(str::to_owned).collect();
        Self {
            walwise_drills: FORMAT_VERSION,
            stack,
            cuts: Vec::new(),
        }
    }

    /// The error is a clause, to be shown after the name of the file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let record: Self = serde_json::from_str(text)
            .map_err(|error| format!("the file is not a record of drills: {error}"))?;
        if record.walwise_drills != FORMAT_VERSION {
            return Err(format!(
                "the record has format {}; this version of walwise reads format {FORMAT_VERSION}",
                record.walwise_drills
            ));
        }
        Ok(record)
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    pub(crate) fn stack_facts(&self) -> StackFacts {
        let mut stack = StackFacts::default();
        for line in &self.stack {
            stack.add_line_if_fact(line);
        }
        stack
    }

    pub fn power_cut_count(&self) -> usize {
        self.cuts.len()
    }

    /// Fails if the logs prove no power cut of the record's stack, if no commit was acknowledged,
    /// or if the run is recorded already.
    pub fn add_power_cut(
        &mut self,
        acks: &AckLog,
        survived: &ReadBackLog,
        outcome: &DrillResult,
    ) -> Result<(), String> {
        if let Some(why) = unproven_power_cut_reason(acks, survived) {
            return Err(why.to_owned());
        }
        if acks.stack.is_empty() || survived.stack.is_empty() {
            return Err("the logs do not list the devices below the directory".to_owned());
        }
        if let Some(changed) = acks.stack.first_difference(&survived.stack) {
            return Err(format!(
                "the storage stack changed between `drill write` and `drill read`: {changed}"
            ));
        }
        if let Some(changed) = self.stack_facts().first_difference(&acks.stack) {
            return Err(format!(
                "this drill and the record belong to different storage stacks: {changed}; use another record file"
            ));
        }
        if outcome.examined == 0 {
            return Err("no commit was acknowledged, so there is nothing to record".to_owned());
        }
        let run = format!("{:016x}", acks.header.run);
        if self.cuts.iter().any(|cut| cut.run == run) {
            return Err(format!("drill {run} is already in the record"));
        }
        self.cuts.push(PowerCutRecord {
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

    /// Adds the figures of the record as facts about `target`. Fails if `target` has another stack
    /// than the record, or if the record has no drill. The error is a clause with the reason.
    /// `from` is the display-safe name of the record's file.
    pub fn insert_drill_facts(
        &self,
        facts: &mut FactSet,
        target: &Subject,
        from: &str,
    ) -> Result<(), String> {
        if let Some(changed) = self
            .stack_facts()
            .first_difference(&StackFacts::from_facts(facts, target))
        {
            return Err(changed);
        }
        let sum = |count: fn(&PowerCutRecord) -> u64| {
            self.cuts.iter().map(count).fold(0, u64::saturating_add)
        };
        let Some(last) = self.cuts.iter().map(|cut| date_part(&cut.read)).max() else {
            return Err("the record contains no drill".to_owned());
        };
        let source = || Source::Drill {
            file: from.to_owned(),
        };
        facts.insert_known(target, &drill::ON, display_safe(last.as_bytes()), source());
        for (key, count) in [
            (&drill::CUTS, self.cuts.len() as u64),
            (&drill::ACKNOWLEDGED, sum(|cut| cut.examined)),
            (&drill::LOST, sum(|cut| cut.lost)),
        ] {
            facts.insert_known(target, key, count, source());
        }
        Ok(())
    }
}

pub fn date_part(when: &str) -> &str {
    when.split_once('T').map_or(when, |(day, _)| day)
}

#[cfg(test)]
mod tests {
    use super::super::{RunHeader, find_lost_commits};
    use super::*;
    use crate::facts::catalog::{device, host};
    use crate::facts::{FactValue, Key, Reading};

    fn data_target() -> Subject {
        Subject::target("/data")
    }

    fn facts_with_disk(disk: &str) -> FactSet {
        let mut facts = FactSet::default();
        let disk = Subject::device(disk);
        facts.add_layer_below(&data_target(), &disk);
        let source = || Source::from_file("/sys");
        facts.insert_known(&Subject::host(), &host::NAME, "db7".to_owned(), source());
        facts.insert_known(&disk, &device::SERIAL, "S1".to_owned(), source());
        facts.insert_known(&disk, &device::FIRMWARE, "1.2".to_owned(), source());
        facts.insert_known(&disk, &device::SWAP, false, source());
        facts
    }

    fn with_disk_reading<T: FactValue>(
        mut facts: FactSet,
        key: &Key<T>,
        reading: Reading<T>,
    ) -> FactSet {
        facts.insert(&Subject::device("sda"), key, reading);
        facts
    }

    fn ack_and_read_back_logs(
        facts: &FactSet,
        run: u64,
        last: u64,
        found: u64,
    ) -> (AckLog, ReadBackLog) {
        let [method, segments, when] =
            ["fdatasync", "recycled", "2026-11-22T03:04:05Z"].map(str::to_owned);
        let head = RunHeader {
            run,
            method,
            segments,
            when: when.clone(),
            directory: "/data".to_owned(),
        };
        let stack = StackFacts::from_facts(facts, &data_target());
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
            ReadBackLog {
                header: head,
                boot: after,
                stack,
                pages: vec![(1, found)],
                when,
            },
        )
    }

    fn add_power_cut_from_logs(
        record: &mut DrillRecord,
        (acks, survived): &(AckLog, ReadBackLog),
    ) -> Result<(), String> {
        record.add_power_cut(acks, survived, &find_lost_commits(acks, survived).unwrap())
    }

    #[test]
    fn power_cuts_add_up_for_one_stack_only() {
        let here = facts_with_disk("sda");
        let mut record = DrillRecord::new(&StackFacts::from_facts(&here, &data_target()));
        assert_eq!(
            add_power_cut_from_logs(&mut record, &ack_and_read_back_logs(&here, 1, 100, 100)),
            Ok(())
        );
        assert_eq!(
            add_power_cut_from_logs(
                &mut record,
                &ack_and_read_back_logs(&facts_with_disk("sdb"), 2, 50, 47)
            ),
            Ok(()),
            "names are the kernel's"
        );
        let refused =
            |record: &mut DrillRecord, logs| add_power_cut_from_logs(record, &logs).unwrap_err();
        assert!(
            refused(&mut record, ack_and_read_back_logs(&here, 2, 9, 9))
                .contains("already in the record")
        );
        assert!(
            refused(&mut record, ack_and_read_back_logs(&here, 3, 0, 1))
                .contains("no commit was acknowledged")
        );
        let newer = with_disk_reading(
            facts_with_disk("sda"),
            &device::FIRMWARE,
            Reading::known("1.3".to_owned(), Source::from_file("/sys")),
        );
        assert!(
            refused(&mut record, ack_and_read_back_logs(&newer, 3, 9, 9))
                .contains("device.firmware was 1.2 and is now 1.3")
        );
        let bare = ack_and_read_back_logs(&FactSet::default(), 3, 9, 9);
        assert!(refused(&mut record, bare).contains("do not list the devices below the directory"));
        let record = DrillRecord::parse(&record.to_json()).unwrap();

        let mut told = facts_with_disk("sdc");
        assert_eq!(
            record.insert_drill_facts(&mut told, &data_target(), "d.json"),
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
            with_disk_reading(
                facts_with_disk("sda"),
                &device::SERIAL,
                Reading::not_collected(),
            ),
            with_disk_reading(
                facts_with_disk("sda"),
                &device::SERIAL,
                Reading::known("S1".to_owned(), Source::Assumed),
            ),
        ] {
            let mut other = other;
            assert!(
                record
                    .insert_drill_facts(&mut other, &data_target(), "d.json")
                    .is_err()
            );
            assert_eq!(other.value(&data_target(), &drill::CUTS), None);
        }
    }

    #[test]
    fn without_a_power_cut_nothing_is_recorded() {
        let here = facts_with_disk("sda");
        let (acks, survived) = ack_and_read_back_logs(&here, 1, 100, 100);
        let mut record = DrillRecord::new(&StackFacts::from_facts(&here, &data_target()));
        let same = ReadBackLog {
            boot: acks.boot.clone(),
            ..survived.clone()
        };
        let unread = ReadBackLog {
            boot: String::new(),
            ..survived.clone()
        };
        let stopped = AckLog {
            was_stopped: true,
            ..acks.clone()
        };
        for (acks, survived) in [(&acks, &same), (&acks, &unread), (&stopped, &survived)] {
            assert!(
                add_power_cut_from_logs(&mut record, &(acks.clone(), survived.clone())).is_err()
            );
        }
        assert_eq!(record.power_cut_count(), 0);
        assert_eq!(
            add_power_cut_from_logs(&mut record, &(acks, survived)),
            Ok(())
        );
    }

    #[test]
    fn malformed_or_empty_drill_record_is_rejected() {
        for text in [
            "",
            "{}",
            "[]",
            r#"{"walwise_drills":2,"stack":[],"cuts":[]}"#,
        ] {
            assert!(DrillRecord::parse(text).is_err(), "{text}");
        }
        let empty = DrillRecord::parse(r#"{"walwise_drills":1,"stack":[],"cuts":[]}"#).unwrap();
        assert!(
            empty
                .insert_drill_facts(&mut FactSet::default(), &data_target(), "d.json")
                .is_err()
        );
    }
}
