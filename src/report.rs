//! The report: one value from which the screens, the text, the JSON and every export are made. Pure.
//!
//! It orders and joins judgements and makes none itself. It is also the last guard: advice that the validity table does
//! not accept for this kernel, tool or server is removed here and listed as withheld.

mod bound;
mod build;
mod choice;
pub mod conf;
mod content;
pub mod difference;
pub mod exit;
mod format;
mod identity;
mod index;
pub mod json;
mod layer;
pub mod markdown;
mod mkfs;
mod model;
pub mod needed;
mod options;
mod order;
mod origin;
pub mod paste;
mod plan;
mod remedy;
#[cfg(test)]
pub(crate) mod sample;
pub mod script;
mod stack;
pub mod telling;
pub mod text;
pub mod upgrade;
mod what_if;

pub use build::{Concerns, Input, RunContext, build, host_summary};
pub use content::DeviceContent;
pub use format::Format;
pub use model::upgrade::Upgrade;
pub use model::what_if::{Assumed, StepChange, WhatIf, WouldBeOffered};
pub use model::{
    Alternative, Conflict, DirectoryRow, HostSummary, LayerRow, Plan, ProbeResult, Report, SCHEMA_VERSION,
    Stack, Step, TargetSummary, ToolSummary, Withheld,
};
pub use order::Urgency;
pub use plan::Overrides;
pub use what_if::can_be_assumed;
