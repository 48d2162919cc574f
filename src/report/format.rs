//! The forms of a report, in one list for the command line and for the screen that saves and copies.
//!
//! The contents of a form are left to its own module. A report about several targets is one document in each form,
//! because the part about the host appears once.

use super::paste::{fstab, udev, unit};
use super::{Report, conf, json, markdown, script, text};

/// A form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// A shell script for review.
    Script,
    /// Lines of postgresql.conf.
    Conf,
    /// Lines of fstab.
    Fstab,
    /// Mount units.
    Unit,
    /// udev rules.
    Udev,
    /// For a ticket or a review.
    Markdown,
}

impl Format {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 8] = [
        Self::Text,
        Self::Json,
        Self::Script,
        Self::Conf,
        Self::Fstab,
        Self::Unit,
        Self::Udev,
        Self::Markdown,
    ];

    /// Its name on the command line and on the screens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Script => "script",
            Self::Conf => "conf",
            Self::Fstab => "fstab",
            Self::Unit => "unit",
            Self::Udev => "udev",
            Self::Markdown => "markdown",
        }
    }

    /// Its description, in a line.
    pub fn says(self) -> &'static str {
        match self {
            Self::Text => "For people",
            Self::Json => "For programs; see `walwise generate schema`",
            Self::Script => "A shell script that does nothing until somebody has read and edited it",
            Self::Conf => "What belongs in postgresql.conf",
            Self::Fstab => "The lines of /etc/fstab that are to be changed",
            Self::Unit => "The same as systemd mount units",
            Self::Udev => "udev rules for the settings of block devices",
            Self::Markdown => "The whole report as a document for a ticket or a review",
        }
    }

    /// The extension of a file of this form, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Json => "json",
            Self::Script => "sh",
            Self::Conf => "conf",
            Self::Fstab => "fstab",
            // Several units in one document, so systemd could not load it.
            Self::Unit => "units",
            Self::Udev => "rules",
            Self::Markdown => "md",
        }
    }

    /// Whether it is meant to be executed.
    pub fn runs(self) -> bool {
        self == Self::Script
    }

    /// The complete report in this form, with a newline at its end. The error is a sentence, such as for a script that
    /// would create a file system on a used disk.
    pub fn render(self, report: &Report) -> Result<String, String> {
        Ok(match self {
            Self::Text => text::render(report),
            Self::Json => json::render(report),
            Self::Script => return script::render(report),
            Self::Conf => conf::render(report),
            Self::Fstab => fstab::render(report),
            Self::Unit => unit::render(report),
            Self::Udev => udev::render(report),
            Self::Markdown => markdown::render(report),
        })
    }
}
