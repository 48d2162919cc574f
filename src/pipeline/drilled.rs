//! Records of drills as facts of the targets on the drilled stack.
//!
//! A record that fits no target is reported with the difference: a new kernel or firmware is reason enough to repeat
//! the drill.

use crate::drill::Record;
use crate::facts::catalog::target::{self, TargetKind};
use crate::facts::note::DrillNote;
use crate::facts::{FactSet, Scope, Subject};

/// Puts the records in; `live` is whether the facts are of this machine.
pub fn to_facts(records: &[(String, Record)], live: bool, facts: &mut FactSet) {
    let is_directory = |of: &&Subject| facts.value(of, &target::KIND).is_some_and(TargetKind::is_directory);
    if records.is_empty() {
        return;
    }
    let targets: Vec<Subject> = facts.subjects(Scope::Target).filter(is_directory).cloned().collect();
    for (file, record) in records {
        if !live {
            facts.warn(DrillNote::Capture { file: file.clone() });
            continue;
        }
        let told: Vec<Result<(), String>> = targets.iter().map(|of| record.tell(facts, of, file)).collect();
        if told.iter().all(Result::is_err) {
            let file = file.clone();
            facts.warn(match told.into_iter().find_map(Result::err) {
                Some(reason) => DrillNote::OtherStack { file, reason },
                None => DrillNote::NoTarget { file },
            });
        }
    }
}
