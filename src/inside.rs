//! What tests and fuzz targets use of the program: the one list.
//!
//! Whatever is neither in it nor used by the program is dead, and the compiler says so.

pub mod cli {
    pub use crate::cli::{examples, generate};
    pub mod args {
        pub use crate::cli::args::{Cli, CliCommand, Rules, Shell};
    }
}
pub mod collect {
    pub use crate::collect::{Request, mountinfo, run_all};
}
pub mod drill {
    pub use crate::drill::StackFingerprint;
}
pub mod durability {
    pub use crate::durability::{Caps, Layer, Standing, Verdict, judge};
}
pub mod facts {
    pub use crate::facts::{
        Area, Choice, FactRow, FactSet, KeyInfo, Nature, Note, Reading, Remedy, Scope, ServerKind, Source,
        Subject, Value, ValueKind, Why, catalog,
    };
    pub mod note {
        pub use crate::facts::note::{RunNote, TargetNote};
    }
}
pub mod host {
    pub use crate::host::{
        Dialect, Host, LiveHost, Look, Miss, MissKind, Question, RecordedHost, RecordingHost, Tool, archive,
    };
}
pub mod measure {
    pub use crate::measure::{
        Caveat, Measurement, Method, MethodResult, Occasion, Phase, Workload, WorkloadRow, histogram,
    };
}
pub mod pipeline {
    pub use crate::pipeline::{Session, assume, measurable, shipped, today};
}
pub mod probes {
    pub use crate::probes::{Control, ErrorKind, ProbeError, ProbePlan, ProbeRequest, Refusal, plan, run};
}
pub mod quote {
    pub use crate::quote::Command;
}
pub mod report {
    pub use crate::report::{
        Format, Input, KeptReport, Plan, Report, RunContext, Step, TargetSummary, WhatIf, build, conf, html,
        json, markdown, script, telling, text,
    };
    pub mod difference {
        pub use crate::report::difference::{Class, Kept, difference};
    }
    pub mod exit {
        pub use crate::report::exit::{FailCondition, code};
    }
    pub mod needed {
        pub use crate::report::needed::{TargetScope, of_target};
    }
    pub mod paste {
        pub use crate::report::paste::{fstab, udev};
    }
}
pub mod rules {
    pub use crate::rules::{
        Advice, Basis, Change, Circumstances, Confidence, Evaluation, Finding, Level, Outcome, Pack, Reach,
        Risk, Rule, RuleSet, Template, all_subjects, evaluate, evaluate_one, reference, subjects,
    };
    pub mod model {
        pub use crate::rules::model::{AdviceSpec, ChangeSpec, Cond, Op, Rule};
    }
}
pub mod checked {
    pub use crate::checked::SourceCheck;
}
pub mod rows {
    pub use crate::rows::CHECKED;
}
pub mod text {
    pub use crate::text::lines::Lines;
    pub use crate::text::{first_of, is_treacherous, safe};
}
pub mod trial {
    pub use crate::trial::{
        Contender, Contest, Cuts, Ending, ExtentKind, LOOKS, MARGIN, PairOutcome, PairedFigures,
        TrialOutcome, TrialRecord, percent, tell,
    };
}
pub mod ui {
    pub use crate::ui::{
        Exit, Options, Partial, Saved, Supposed, Supposition, Worker, dead_links, pictures, run, texts,
        trial_picture,
    };
}
pub mod validity {
    pub use crate::validity::{
        Beside, ChangedBy, Effect, MountExample, ProductRelease, ServerSetting, examples, features,
        file_system_again, guard, guard_with, holding, leave_out, mkfs_feature, mount_options, mysql_setting,
        postgres_value, releases, scheduler, server_settings,
    };
}
pub mod version {
    pub use crate::version::Version;
}
pub mod settings {
    pub use crate::settings::{ALL, NewFilesystem, Shape, find};
}
