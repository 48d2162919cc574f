//! What somebody measured that a rule rests on, or that speaks against it: figures with the machine they are from.
//!
//! The surprise: a caveat is required. No measurement of another machine is one of this, and figures without what limits
//! them have made bad advice live long.

use schemars::JsonSchema;
use serde::Serialize;

/// A measurement that was published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Evidence {
    /// Who measured, and where it can be read.
    pub source: String,
    /// When it was measured, or else published.
    pub year: u16,
    /// Of which kernel; absent when the source does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// On what; absent when the source does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardware: Option<String>,
    /// What was measured, with its figures.
    pub says: String,
    /// What limits it.
    pub caveat: String,
    /// What has shown since that it does not hold, or holds no longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradicted_by: Option<String>,
}

impl Evidence {
    /// When, and on which machine.
    pub fn setting(&self) -> String {
        let kernel =
            self.kernel.as_ref().map_or("kernel not given".to_owned(), |kernel| format!("Linux {kernel}"));
        let hardware = self.hardware.as_deref().unwrap_or("hardware not given");
        format!("{}, {kernel}, {hardware}", self.year)
    }

    /// A line each: what was measured, when and on what, what limits it, what has contradicted it since, and who says so.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            self.says.clone(),
            format!("measured: {}", self.setting()),
            format!("caveat: {}", self.caveat),
        ];
        lines.extend(self.contradicted_by.as_ref().map(|by| format!("contradicted by: {by}")));
        lines.push(format!("source: {}", self.source));
        lines
    }
}
