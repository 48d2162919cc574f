//! Notes about other activities than reading the machine: measurements, drills, the user's rules,
//! and the report.

use jiff::civil::Date;

use super::notes;

notes! {
    /// Notes about measurements.
    pub enum MeasurementNote {
        /// There is none, although there should be.
        Absence { reason: String } = "not measured: {reason}";
        Fragment { reason: String } = "not measured to the end: {reason}";
        /// The same on the screens, right after the request.
        Failure { reason: String } = "{reason}";
        /// It is of what is not there any more.
        Age { target: String, change: String }
            = "what was measured of {target} before is not shown any more: {change}";
    }
}

notes! {
    /// Notes about records of drills.
    pub enum DrillNote {
        /// The machine that it was made on is another than this one, as far as a capture can tell.
        Capture { file: String }
            = "the drills of {file} count on the machine that they were made on, and this is a capture";
        /// No target stands on what was drilled.
        OtherStack { file: String, reason: String } = "the drills of {file} do not count here: {reason}";
        /// There is nothing that it could be of.
        NoTarget { file: String } = "the drills of {file} do not count here: there is no target";
    }
}

notes! {
    /// Notes about records of trials.
    pub enum TrialNote {
        /// It was made on the disk of a target, with the same kernel, firmware and options.
        Here { file: String, target: String, basis: &'static str, chooses: bool, says: String }
            = "the trial {file} was made on the disk of {target} ({basis}), and {chooses}: {says}",
            chooses = if *chooses { "rules may use the result" } else { "no rule uses the result" };
        /// The same, and it does not answer.
        Open { file: String, target: String, why: &'static str, says: String }
            = "the trial {file} was made on the disk of {target} and decides nothing, as {why}: {says}";
        /// It was made on something else.
        OtherStack { file: String, reason: String, says: String }
            = "the trial {file} was made on something else ({reason}) and decides nothing here: {says}";
    }
}

notes! {
    /// Notes about the user's rules.
    pub enum RulesNote {
        /// Rules that should be in force and are not.
        Loss { sentence: String } = "{sentence}";
        Remark { sentence: String } = "{sentence}";
        Off { rule: String, because: String, until: Option<Date>, file: String, line: usize }
            = "rule {rule} is switched off{until}: {because} ({file}:{line})",
            until = last_day(*until);
        /// A rule of another level; `idle` where nothing here is what it is about.
        Level {
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
            until = last_day(*until),
            idle = if *idle { "; not applicable here" } else { "" };
        /// A statement about a rule whose last day has passed.
        Expired { rule: String, until: Date, because: String, file: String, line: usize }
            = "rule {rule} is as it was written again: {file}:{line} spoke until {until} ({because}); renew the entry or remove it";
    }
}

notes! {
    /// Notes about reading as a whole, and the report.
    pub enum RunNote {
        /// Incidents of the machine's answers: an abandoned question, a malformed line of a
        /// capture.
        Answers { sentence: String } = "{sentence}";
        /// A release that the tables were not written for.
        Newer { product: &'static str, here: String, known: String }
            = "{product} {here} is newer than what these tables know ({known}); what it changed is in none of them";
        /// A stack with more layers than are shown.
        LayersBeyondBound { target: String, layers: usize, hidden: usize }
            = "the stack under {target} has {layers} layers, of which {hidden} are left out of this report: their facts, and \
               most of what does not apply to them or is undecided";
    }
}

/// The last day on which something holds, as a part of a sentence.
fn last_day(until: Option<Date>) -> String {
    until
        .map(|day| format!(", until {day}"))
        .unwrap_or_default()
}
