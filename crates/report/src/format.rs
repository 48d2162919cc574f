//! The output formats of a report, one row each, for the command line and for the screen that saves
//! and copies.
//!
//! Each format has its own module. A report about several targets is one document in every format,
//! because the host part appears once.

use super::export::{fstab, udev};
use super::monitoring::{Protocol, nagios, prometheus};
use super::{Report, conf, html, json, markdown, script, text};

struct FormatProperties {
    /// Its name on the command line and on the screens.
    name: &'static str,
    /// Its description, in a line.
    says: &'static str,
    /// File extension, without the dot.
    extension: &'static str,
    /// Whether it is meant to be executed.
    runs: bool,
    /// Whether it shows a difference from an earlier report.
    compares: bool,
    render: fn(&Report) -> Result<String, String>,
}

/// Declares the enum, the list of all formats and their properties, from one row each in display
/// order.
macro_rules! formats {
    ($($(#[$doc:meta])* $form:ident { $($row:tt)* })*) => {
        /// An output format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Format {
            $($(#[$doc])* $form,)*
        }

        impl Format {
            /// All formats, in display order.
            pub const ALL: [Self; [$(Self::$form),*].len()] = [$(Self::$form),*];

            fn properties(self) -> FormatProperties {
                match self {
                    $(Self::$form => FormatProperties { $($row)* },)*
                }
            }
        }
    };
}

formats! {
    /// For people.
    Text {
        name: "text",
        says: "For people",
        extension: "txt",
        runs: false,
        compares: true,
        render: |report| Ok(text::render(report)),
    }
    /// For programs.
    Json {
        name: "json",
        says: "The recommendation for programs; with -v the whole report (`walwise generate schema`)",
        extension: "json",
        runs: false,
        compares: true,
        render: |report| Ok(json::recommendation(report)),
    }
    /// A shell script for review.
    Script {
        name: "script",
        says: "A shell script that does nothing until you have read and edited it",
        extension: "sh",
        runs: true,
        compares: false,
        render: script::render,
    }
    /// A server's settings: lines of postgresql.conf or of an option file.
    Conf {
        name: "conf",
        says: "Settings for postgresql.conf or [mysqld]",
        extension: "conf",
        runs: false,
        compares: false,
        render: |report| Ok(conf::render(report)),
    }
    /// Lines of fstab.
    Fstab {
        name: "fstab",
        says: "The lines of /etc/fstab to change",
        extension: "fstab",
        runs: false,
        compares: false,
        render: |report| Ok(fstab::render(report)),
    }
    /// udev rules.
    Udev {
        name: "udev",
        says: "udev rules for the settings of block devices",
        extension: "rules",
        runs: false,
        compares: false,
        render: |report| Ok(udev::render(report)),
    }
    /// For a ticket or a review.
    Markdown {
        name: "markdown",
        says: "The whole report as a document for a ticket or a review",
        extension: "md",
        runs: false,
        compares: false,
        render: |report| Ok(markdown::render(report)),
    }
    /// One document for people, with the report for programs inside.
    Html {
        name: "html",
        says: "The whole report as one page with charts; it runs and loads nothing, and `walwise show` reads it back",
        extension: "html",
        runs: false,
        compares: true,
        render: |report| Ok(html::render(report)),
    }
    /// Metrics for Prometheus.
    Prometheus {
        name: "prometheus",
        says: "Metrics for node exporter's textfile collector",
        extension: "prom",
        runs: false,
        compares: false,
        render: |report| Ok(prometheus::render(report)),
    }
    /// A plug-in of Nagios or Icinga.
    Nagios {
        name: "nagios",
        says: "A line with performance data and the exit codes of Nagios",
        extension: "nagios",
        runs: false,
        compares: false,
        render: |report| Ok(nagios::render(report)),
    }
}

impl Format {
    /// Its name on the command line and on the screens.
    pub fn name(self) -> &'static str {
        self.properties().name
    }

    /// Its description, in a line.
    pub fn description(self) -> &'static str {
        self.properties().says
    }

    /// File extension, without the dot.
    pub fn extension(self) -> &'static str {
        self.properties().extension
    }

    /// Whether it is meant to be executed.
    pub fn is_executable(self) -> bool {
        self.properties().runs
    }

    /// Whether it shows a difference from an earlier report.
    pub fn shows_difference(self) -> bool {
        self.properties().compares
    }

    /// The protocol of its exit code.
    pub fn protocol(self) -> Protocol {
        match self {
            Self::Text
            | Self::Json
            | Self::Script
            | Self::Conf
            | Self::Fstab
            | Self::Udev
            | Self::Markdown
            | Self::Html => Protocol::Walwise,
            Self::Prometheus => Protocol::Periodic,
            Self::Nagios => Protocol::Nagios,
        }
    }

    /// The complete report, ending with a newline. The error is a sentence, for example if a script
    /// would create a file system on a used disk.
    pub fn render(self, report: &Report) -> Result<String, String> {
        (self.properties().render)(report)
    }
}
