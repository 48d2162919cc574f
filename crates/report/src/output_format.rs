//! The formats of `--format`. In every format, a report on several targets is a single document.

use super::export::{fstab, udev};
use super::monitoring::{MonitoringProtocol, nagios, prometheus};
use super::{Report, html, json, markdown, script, server_conf, text};

struct FormatProperties {
    name: &'static str,
    says: &'static str,
    extension: &'static str,
    /// True if the saved file is made executable.
    runs: bool,
    compares: bool,
    render: fn(&Report) -> Result<String, String>,
}

macro_rules! formats {
    ($($(#[$doc:meta])* $form:ident { $($row:tt)* })*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Format {
            $($(#[$doc])* $form,)*
        }

        impl Format {
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
    Text {
        name: "text",
        says: "A plain-text report",
        extension: "txt",
        runs: false,
        compares: true,
        render: |report| Ok(text::render(report)),
    }
    Script {
        name: "script",
        says: "A shell script that does nothing until you have read and edited it",
        extension: "sh",
        runs: true,
        compares: false,
        render: script::render,
    }
    Json {
        name: "json",
        says: "The recommendation, for programs; with -v, the full report (schema: `walwise \
               generate schema`)",
        extension: "json",
        runs: false,
        compares: true,
        render: |report| Ok(json::render_recommendation(report)),
    }
    Conf {
        name: "conf",
        says: "Settings for postgresql.conf or [mysqld]",
        extension: "conf",
        runs: false,
        compares: false,
        render: |report| Ok(server_conf::render(report)),
    }
    Fstab {
        name: "fstab",
        says: "The lines of /etc/fstab to change",
        extension: "fstab",
        runs: false,
        compares: false,
        render: |report| Ok(fstab::render_fstab_export(report)),
    }
    Udev {
        name: "udev",
        says: "udev rules for block device settings",
        extension: "rules",
        runs: false,
        compares: false,
        render: |report| Ok(udev::render_udev_rules(report)),
    }
    Markdown {
        name: "markdown",
        says: "The full report as a Markdown document, for a ticket or a review",
        extension: "md",
        runs: false,
        compares: false,
        render: |report| Ok(markdown::render(report)),
    }
    Html {
        name: "html",
        says: "The full report as one HTML page with charts, without scripts or external \
               resources; `walwise show` reads it",
        extension: "html",
        runs: false,
        compares: true,
        render: |report| Ok(html::render_report_page(report)),
    }
    Prometheus {
        name: "prometheus",
        says: "Metrics for the node exporter's textfile collector",
        extension: "prom",
        runs: false,
        compares: false,
        render: |report| Ok(prometheus::render_prometheus_metrics(report)),
    }
    Nagios {
        name: "nagios",
        says: "One line with performance data, and Nagios exit codes",
        extension: "nagios",
        runs: false,
        compares: false,
        render: |report| Ok(nagios::render_nagios_output(report)),
    }
}

impl Format {
    /// The word that `--format` takes.
    pub fn name(self) -> &'static str {
        self.properties().name
    }

    pub fn description(self) -> &'static str {
        self.properties().says
    }

    /// The extension of the file name, without the dot.
    pub fn extension(self) -> &'static str {
        self.properties().extension
    }

    pub fn is_executable(self) -> bool {
        self.properties().runs
    }

    pub fn shows_baseline_comparison(self) -> bool {
        self.properties().compares
    }

    pub fn monitoring_protocol(self) -> MonitoringProtocol {
        match self {
            Self::Text
            | Self::Json
            | Self::Script
            | Self::Conf
            | Self::Fstab
            | Self::Udev
            | Self::Markdown
            | Self::Html => MonitoringProtocol::Walwise,
            Self::Prometheus => MonitoringProtocol::Periodic,
            Self::Nagios => MonitoringProtocol::Nagios,
        }
    }

    /// The complete document, which ends with a newline. The error is a sentence, for example if
    /// the script would create a file system on a disk in use.
    pub fn render(self, report: &Report) -> Result<String, String> {
        (self.properties().render)(report)
    }
}
