//! Published measurements that support or contradict a rule: figures with the machine they come from.
//!
//! A caveat is required. A measurement of another machine is no measurement of this one, and figures without their
//! limits have kept bad advice alive.

use serde::Serialize;

/// A measurement that was published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Study {
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
    #[serde(rename = "text")]
    pub says: String,
    /// What limits it.
    pub caveat: String,
    /// What has shown since that it does not hold, or holds no longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradicted_by: Option<String>,
}

impl Study {
    /// The date, and the machine.
    pub fn setting(&self) -> String {
        let kernel =
            self.kernel.as_ref().map_or("kernel not given".to_owned(), |kernel| format!("Linux {kernel}"));
        let hardware = self.hardware.as_deref().unwrap_or("hardware not given");
        format!("{}, {kernel}, {hardware}", self.year)
    }

    /// One line each: the result, its date and machine, its limits, later contradictions, and the source.
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
