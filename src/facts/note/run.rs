//! Notes about other activities than reading the machine: measurements, drills, the user's rules, and the report.

use super::notes;

notes! {
    /// What is to be said of measurements.
    pub enum MeasurementNote {
        /// There is none, although there should be.
        Absence { reason: String } = "not measured: {reason}";
        /// It did not come to its end.
        Fragment { reason: String } = "not measured to the end: {reason}";
        /// The same on the screens, where it has just been asked for.
        Failure { reason: String } = "{reason}";
        /// It is of what is not there any more.
        Age { target: String, change: String }
            = "what was measured of {target} before is not shown any more: {change}";
    }
}

notes! {
    /// What is to be said of records of drills.
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
    /// What is to be said of the user's rules.
    pub enum RulesNote {
        /// Rules that should be in force and are not.
        Loss { sentence: String } = "{sentence}";
        /// What has no effect.
        Remark { sentence: String } = "{sentence}";
        /// A rule that is off.
        Off { rule: String, because: String, file: String, line: usize }
            = "rule {rule} is switched off: {because} ({file}:{line})";
        /// A rule of another level; `idle` where nothing here is what it is about.
        Level {
            rule: String,
            was: &'static str,
            level: &'static str,
            lower: bool,
            because: String,
            file: String,
            line: usize,
            idle: bool,
        } = "rule {rule} is {how} from {was} to {level}: {because} ({file}:{line}){idle}",
            how = if *lower { "lowered" } else { "raised" },
            idle = if *idle { "; nothing here is what it is about" } else { "" };
    }
}

notes! {
    /// What is to be said of reading as a whole, and of the report.
    pub enum RunNote {
        /// What happened to the machine's answers: a question that was given up, a line of a capture that is none.
        Answers { sentence: String } = "{sentence}";
        /// A stack with more layers than are shown.
        LayersBeyondBound { target: String, layers: usize, hidden: usize }
            = "the stack beneath {target} has {layers} layers, of which {hidden} are left out of this report: their facts, and \
               most of what does not apply to them or is undecided";
    }
}
