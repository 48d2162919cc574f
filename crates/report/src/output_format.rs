//! The formats of `--format`. In every format, a report on several targets is a single document.

use super::export::{fstab, udev};
use super::monitoring::{PluginState, nagios, prometheus};
use super::{Report, html, json, markdown, script, server_conf, text};
use walwise_model::facts::choice;

choice! {
    pub enum Format {
        Text = "text",
        Script = "script",
        Json = "json",
        Conf = "conf",
        Fstab = "fstab",
        Udev = "udev",
        Markdown = "markdown",
        Html = "html",
        Prometheus = "prometheus",
        Nagios = "nagios",
    }
}

impl Format {
    pub fn description(self) -> &'static str {
        match self {
            Self::Text => "A plain-text report",
            Self::Script => "A shell script that does nothing until you have read and edited it",
            Self::Json => {
                "The recommendation in machine-readable form; with -v, the full report (schema: `walwise \
                 generate schema`)"
            }
            Self::Conf => "Settings for postgresql.conf or [mysqld]",
            Self::Fstab => "The lines of /etc/fstab to change",
            Self::Udev => "udev rules for block device settings",
            Self::Markdown => "The full report as a Markdown document, for a ticket or a review",
            Self::Html => {
                "The full report as one HTML page with charts, without scripts or external \
                 resources; `walwise show` reads it"
            }
            Self::Prometheus => "Metrics for the node exporter's textfile collector",
            Self::Nagios => "One line with performance data, and Nagios exit codes",
        }
    }

    /// The extension of the file name, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Script => "sh",
            Self::Udev => "rules",
            Self::Markdown => "md",
            Self::Prometheus => "prom",
            Self::Json | Self::Conf | Self::Fstab | Self::Html | Self::Nagios => self.as_str(),
        }
    }

    /// True if the saved file is made executable.
    pub fn is_executable(self) -> bool {
        self == Self::Script
    }

    pub fn shows_baseline_comparison(self) -> bool {
        matches!(self, Self::Text | Self::Json | Self::Html)
    }

    pub fn includes_earlier_latencies(self) -> bool {
        matches!(self, Self::Prometheus | Self::Nagios)
    }

    /// The exit code of a format for monitoring, which replaces walwise's own exit codes.
    pub fn exit_code(self, state: PluginState) -> Option<u8> {
        (self == Self::Nagios).then_some(state as u8)
    }

    /// Formats the output line of a run that failed; `None` if walwise reports the error itself.
    pub fn failure_line(self, sentence: &str) -> Option<String> {
        (self == Self::Nagios).then(|| nagios::nagios_failure_line(sentence))
    }

    /// The complete document, which ends with a newline. The error is a sentence, for example if
    /// the script would create a file system on a disk in use.
    pub fn render(self, report: &Report) -> Result<String, String> {
        Ok(match self {
            Self::Text => text::render(report),
            Self::Script => script::render(report)?,
            Self::Json => json::render_recommendation(report),
            Self::Conf => server_conf::render(report),
            Self::Fstab => fstab::render_fstab_export(report),
            Self::Udev => udev::render_udev_rules(report),
            Self::Markdown => markdown::render(report),
            Self::Html => html::render_report_page(report),
            Self::Prometheus => prometheus::render_prometheus_metrics(report),
            Self::Nagios => nagios::render_nagios_output(report),
        })
    }
}
