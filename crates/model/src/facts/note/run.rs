//! Notes about activities other than reading the machine: measurements, drills, the user's rules,
//! and the report.

use jiff::civil::Date;

use super::notes;

notes! {
    /// Notes about measurements.
    pub enum MeasurementNote {
        /// There is none, although one was wanted.
        NotMeasured { reason: String } = "not measured: {reason}";
        Incomplete { reason: String } = "measurement incomplete: {reason}";
        /// The same on the screens, right after the request.
        Failure { reason: String } = "{reason}";
        /// It is of a stack that has changed since.
        Outdated { target: String, change: String }
            = "the earlier measurement of {target} is no longer shown: {change}";
    }
}

notes! {
    /// Notes about records of drills.
    pub enum DrillNote {
        /// It was made on another host, as far as a capture can tell.
        OnCapture { file: String }
            = "the drills in {file} count only on the host they ran on, and this is a capture";
        /// No target is on the stack of the drill.
        OtherStack { file: String, reason: String } = "the drills in {file} do not count here: {reason}";
        /// There is no target to compare it with.
        NoTarget { file: String } = "the drills in {file} do not count here: there is no target";
    }
}

notes! {
    /// Notes about records of trials.
    pub enum TrialNote {
        /// It ran on the disk of a target, with the same kernel, firmware and options.
        SameDisk { file: String, target: String, basis: &'static str, chooses: bool, says: String }
            = "the trial {file} ran on the disk of {target} ({basis}), and {chooses}: {says}",
            chooses = if *chooses { "rules may use the result" } else { "no rule uses the result" };
        /// The same, and it gives no answer.
        Undecided { file: String, target: String, why: &'static str, says: String }
            = "the trial {file} ran on the disk of {target} and decides nothing, as {why}: {says}";
        /// It ran on another stack.
        OtherStack { file: String, reason: String, says: String }
            = "the trial {file} ran on another stack ({reason}) and decides nothing here: {says}";
    }
}

notes! {
    /// Notes about the user's rules.
    pub enum RulesNote {
        /// Rules that should be in force and are not.
        NotInForce { sentence: String } = "{sentence}";
        Remark { sentence: String } = "{sentence}";
        SwitchedOff { rule: String, because: String, until: Option<Date>, file: String, line: usize }
            = "rule {rule} is switched off{until}: {because} ({file}:{line})",
            until = until_clause(*until);
        /// A rule at another level; `idle` if it does not apply here.
        LevelChanged {
            rule: String,
            was: &'static str,
            level: &'static str,
            lower: bool,
            because: String,
            until: Option<Date>,
            file: String,
            line: usize,
            idle: bool,
        } = "rule {rule} is {how} from {was} to {level}{until}: {because} ({file}:{line}){idle}",
            how = if *lower { "lowered" } else { "raised" },
            until = until_clause(*until),
            idle = if *idle { "; not applicable here" } else { "" };
        /// An entry about a rule whose last day has passed.
        Expired { rule: String, until: Date, because: String, file: String, line: usize }
            = "rule {rule} applies as written again: {file}:{line} ended after {until} ({because}); renew the entry or remove it";
    }
}

notes! {
    /// Notes about reading as a whole, and the report.
    pub enum RunNote {
        /// Incidents while reading: an abandoned question, a malformed line of a capture.
        HostIncident { sentence: String } = "{sentence}";
        /// A release that is newer than the tables.
        NewerRelease { product: &'static str, here: String, known: String }
            = "{product} {here} is newer than the tables ({known}); its changes are not covered";
        /// A stack with more layers than are shown.
        LayersBeyondBound { target: String, layers: usize, hidden: usize }
            = "the stack under {target} has {layers} layers, of which {hidden} are left out of this report: their facts, and \
               most of what does not apply to them or is undecided";
    }
}

/// The last day on which something holds, as a part of a sentence.
fn until_clause(until: Option<Date>) -> String {
    until
        .map(|day| format!(", until {day}"))
        .unwrap_or_default()
}
