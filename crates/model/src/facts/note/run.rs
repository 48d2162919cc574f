//! Notes about activities other than reading the host: measurements, drills, the user's rules, and
//! the report.

use jiff::civil::Date;

use super::notes;

notes! {
    pub enum MeasurementNote {
        NotMeasured { reason: String } = "not measured: {reason}";
        Incomplete { reason: String } = "measurement incomplete: {reason}";
        /// A measurement that the user started in the terminal interface has failed.
        Failure { reason: String } = "{reason}";
        Outdated { target: String, change: String }
            = "the earlier measurement of {target} is no longer shown: {change}";
    }
}

notes! {
    pub enum DrillNote {
        /// A capture does not prove from which host it comes, so records of drills are ignored.
        OnCapture { file: String }
            = "the drills in {file} apply only to the host they ran on, and this is a capture";
        OtherStack { file: String, reason: String } = "the drills in {file} do not apply here: {reason}";
        NoTarget { file: String } = "the drills in {file} do not apply here: there is no target";
    }
}

notes! {
    pub enum TrialNote {
        /// The trial ran on the disk of a target, with the present kernel, firmware and options.
        SameDisk { file: String, target: String, basis: &'static str, chooses: bool, says: String }
            = "the trial {file} ran on the disk of {target} ({basis}), and {chooses}: {says}",
            chooses = if *chooses { "rules may use the result" } else { "no rule uses the result" };
        Undecided { file: String, target: String, why: &'static str, says: String }
            = "the trial {file} ran on the disk of {target}, but its result is not used because {why}: {says}";
        OtherStack { file: String, reason: String, says: String }
            = "the trial {file} ran on another stack ({reason}), so its result is not used here: {says}";
    }
}

notes! {
    pub enum RulesNote {
        /// Some of the user's rules cannot be put in force.
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
            = "rule {rule} applies unchanged again, because the entry {file}:{line} expired after {until} ({because}); renew the entry or remove it";
    }
}

notes! {
    pub enum RunNote {
        /// A problem while reading the host, such as an abandoned query or a malformed line of a
        /// capture.
        HostIncident { sentence: String } = "{sentence}";
        NewerRelease { product: &'static str, here: String, known: String }
            = "{product} {here} is newer than walwise's tables ({known}), which do not cover its changes";
        LayersBeyondBound { target: String, layers: usize, hidden: usize }
            = "the stack below {target} has {layers} layers; this report omits the facts of {hidden} of them, and most rules that are undecided or do not apply to them";
    }
}

fn until_clause(until: Option<Date>) -> String {
    until
        .map(|day| format!(", until {day}"))
        .unwrap_or_default()
}
