//! Records of trials as notes: measured on the disk of a target, or on something else. Either way they decide nothing, as a
//! loop file's figures never outrank a rule with a source.

use crate::drill::StackFingerprint;
use crate::facts::catalog::target::{self, TargetKind};
use crate::facts::note::TrialNote;
use crate::facts::{FactSet, Scope, Subject};
use crate::trial::{TrialRecord, summary};

/// Puts the records in.
pub fn to_notes(records: &[(String, TrialRecord)], live: bool, facts: &mut FactSet) {
    let is_directory = |of: &&Subject| facts.value(of, &target::KIND).is_some_and(TargetKind::is_directory);
    let targets: Vec<Subject> = facts.subjects(Scope::Target).filter(is_directory).cloned().collect();
    for (file, record) in records {
        let (file, says) = (file.clone(), summary(record));
        let differs = |of: &Subject| {
            let now = StackFingerprint::from_facts(facts, of);
            if live { fingerprint(record).changed(&now) } else { Some("this is a capture".to_owned()) }
        };
        let told: Vec<(&Subject, Option<String>)> = targets.iter().map(|of| (of, differs(of))).collect();
        let here = told.iter().find(|(_, differs)| differs.is_none()).map(|(of, _)| of.name().to_owned());
        let reason = told.into_iter().find_map(|(_, differs)| differs);
        facts.warn(if let Some(target) = here {
            TrialNote::Here { file, target, says }
        } else {
            let reason = reason.unwrap_or_else(|| "there is no directory to compare it with".to_owned());
            TrialNote::OtherStack { file, reason, says }
        });
    }
}

/// What the trial was made on.
fn fingerprint(record: &TrialRecord) -> StackFingerprint {
    let mut stack = StackFingerprint::default();
    for line in &record.stack {
        stack.take(line);
    }
    stack
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Note;
    use crate::report::sample;

    fn record(stack: &str) -> TrialRecord {
        let lines: Vec<&str> = stack.lines().collect();
        let text = serde_json::json!({
            "trial": 1, "walwise": "0.1.0", "started": "2026-11-25T08:00:00Z", "ending": "budget", "seconds": 60.0,
            "budget": 60.0, "seed": 1, "directory": "/srv", "bytes": 1 << 30, "host_filesystem": "ext4", "leaves": ["sda"],
            "stack": lines, "load_seconds": 0.5, "loads": [], "candidates": [], "blocks": []
        });
        TrialRecord::parse(&text.to_string()).unwrap()
    }

    #[test]
    fn a_trial_is_of_this_disk_or_of_another() {
        let facts = sample::at_risk().facts;
        let target = facts.subjects(Scope::Target).next().cloned().unwrap();
        let said = |stack: &str, live| {
            let mut facts = facts.clone();
            to_notes(&[("t.json".to_owned(), record(stack))], live, &mut facts);
            facts.warnings().last().map(Note::to_string).unwrap()
        };
        let here = StackFingerprint::from_facts(&facts, &target).to_string();
        assert!(said(&here, true).contains("measured on this disk"), "{}", said(&here, true));
        assert!(said(&here, false).contains("capture"));
        assert!(said("stack host kernel.release=1.0", true).contains("was made on something else"));
    }
}
