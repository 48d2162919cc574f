//! The report: one value from which the screens, the text, the JSON and every export are made. Pure.
//!
//! It orders and joins what was judged; it judges nothing itself. The surprise: it is the last guard, because advice that
//! the validity table does not accept for this kernel, tool or server is taken out here and named as withheld.

mod build;
pub mod json;
mod model;
mod options;
pub mod output;
mod plan;
#[cfg(test)]
mod sample;
mod stack;
pub mod text;

pub use build::{Circumstances, Guard, Input, build};
pub use model::{
    Alternative, Conflict, HostSummary, LayerRow, Plan, ProbeResult, Report, SCHEMA_VERSION, Stack, Step,
    TargetSummary, ToolSummary, Withheld,
};
pub use plan::Overrides;
