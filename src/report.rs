//! The report: one value from which the screens, the text, the JSON and every export are made. Pure.
//!
//! It orders and joins judgements and makes none itself. It is also the last guard: advice that the validity table does
//! not accept for this kernel, tool or server is removed here and listed as withheld.

mod content;
pub mod inside;
mod index;
mod layer;
mod model;
pub mod fixes;
mod bound;
pub mod axis;
pub mod ratios;
mod choice;
pub mod difference;
pub mod exit;
mod identity;
pub mod needed;
mod options;
mod mkfs;
mod order;
mod remedy;
mod stack;
mod plan;
mod hop;
mod origin;
mod mysql;
pub mod price;
mod answers;
mod build;
pub mod conf;
pub mod paste;
pub mod script;
pub mod telling;
pub mod recommendation;
pub mod json;
pub mod text;
pub mod markdown;
pub mod html;
mod kept;
mod monitoring;
mod format;
pub mod upgrade;
mod what_if;
#[cfg(test)]
pub(crate) mod sample;

pub use build::{Concerns, Input, RunContext, build, host_summary};
pub use content::DeviceContent;
pub use format::Format;
pub use kept::KeptReport;
pub use mkfs::{chosen, command as mkfs_command};
pub use model::answer::{AnswerAction, Topic};
pub use model::price::Price;
pub use model::upgrade::Upgrade;
pub use model::what_if::{Assumed, StepChange, WhatIf, WouldBeOffered};
pub use model::{
    Alternative, Conflict, DirectoryRow, FilesystemChoice, HostSummary, LayerRow, Plan, ProbeResult, Report,
    SCHEMA_VERSION, Stack, Step, TargetSummary, ToolSummary, Withheld,
};
pub use monitoring::{Health, Protocol};

pub use plan::{FilesystemRefusal, Overrides};
pub use what_if::can_be_assumed;
