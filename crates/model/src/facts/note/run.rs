//! Notes about activities other than reading the machine: measurements, drills, the user's rules,
//! and the report.

use jiff::civil::Date;

use super::notes;

notes! {
    pub enum MeasurementNote {
        /// A requested measurement did not take place.
        NotMeasured { reason: String } = "not measured: {reason}";
        Incomplete { reason: String } = "measurement incomplete: {reason}";
        /// A measurement that the user requested on a screen failed.
        Failure { reason: String } = "{reason}";
        Outdated { target: String, change: String }
            = "the earlier measurement of {target} is no longer shown: {change}";
    }
}

notes! {
    pub enum DrillNote {
        /// A capture cannot prove that its host is the one of the drill.
        OnCapture { file: String }
            = "the drills in {file} count only on the host they ran on, and this is a capture";
        OtherStack { file: String, reason: String } = "the drills in {file} do not count here: {reason}";
        NoTarget { file: String } = "the drills in {file} do not count here: there is no target";
    }
}

notes! {
    pub enum TrialNote {
        /// The trial ran on the disk of a target, with the kernel, firmware and options of today.
        SameDisk { file: String, target: String, basis: &'static str, chooses: bool, says: String }
            = "the trial {file} ran on the disk of {target} ({basis}), and {chooses}: {says}",
            chooses = if *chooses { "rules may use the result" } else { "no rule uses the result" };
        /// The trial ran on the disk of a target, but has no result.
        Undecided { file: String, target: String, why: &'static str, says: String }
            = "the trial {file} ran on the disk of {target} and decides nothing, as {why}: {says}";
        OtherStack { file: String, reason: String, says: String }
            = "the trial {file} ran on another stack ({reason}) and decides nothing here: {says}";
    }
}

notes! {
    pub enum RulesNote {
        /// Rules of the user that cannot be put in force.
        NotInForce { sentence: String } = "{sentence}";
        Remark { sentence: String } = "{sentence}";
        SwitchedOff { rule: String, because: String, until: Option<Date>, file: String, line: usize }
            = "rule {rule} is switched off{until}: {because} ({file}:{line})",
            until = until_clause(*until);
        /// `idle` is true if the rule does not apply to this host.
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
        Expired { rule: String, until: Date, because: String, file: String, line: usize }
            = "rule {rule} applies as written again: the entry {file}:{line} expired after {until} ({because}); renew the entry or remove it";
    }
}

notes! {
    pub enum RunNote {
        /// An incident while reading, such as an abandoned question or a malformed line of a
        /// capture.
        HostIncident { sentence: String } = "{sentence}";
        NewerRelease { product: &'static str, here: String, known: String }
            = "{product} {here} is newer than the tables ({known}); its changes are not covered";
        LayersBeyondBound { target: String, layers: usize, hidden: usize }
            = "the stack under {target} has {layers} layers; this report leaves out the facts of {hidden} of them, and \
               most rules that do not apply to these layers or are undecided";
    }
}

/// Formats the last day of validity as `, until 2027-03-31`; empty for `None`.
fn until_clause(until: Option<Date>) -> String {
    until
        .map(|day| format!(", until {day}"))
        .unwrap_or_default()
}
