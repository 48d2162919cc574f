//! Output of RAID controller tools for another battery or cache.
//!
//! A controller's write mode follows from its policy, its battery, and its setting for a failed
//! battery, so all of them are edited together. A tool prints all volumes of a controller at once:
//! an assumption about one applies to all.

use serde_json::Value as Json;

use super::answer_edits::{edit_json, replace_lines};
use super::assumption::Assumption;
use crate::facts::catalog::controller::{self, Battery, DiskCache, OnFailure, Policy, WriteMode};
use crate::facts::{FactSet, FactValue, Key};
use crate::host::{Edit, Question};

/// The state that the edited output shows.
#[derive(Clone, Copy)]
struct ControllerState {
    battery: Option<Battery>,
    policy: Option<Policy>,
    in_force: Option<WriteMode>,
    on_failure: Option<OnFailure>,
    disk_cache: Option<DiskCache>,
}

/// Edits all relevant output of this disk's tool.
pub fn edits(one: &Assumption, all: &[Assumption], read: &FactSet) -> Option<Vec<Edit>> {
    let tool = read.value(&one.subject, &controller::TOOL)?;
    let said = ControllerState::from_assumptions(one, all, read);
    let is_json = tool.starts_with("storcli") || tool.starts_with("perccli");
    let of_tool = move |question: &Question| matches!(question, Question::Run(other, _) if other.name() == tool);
    Some(vec![Edit::new(of_tool, move |text| {
        if is_json {
            return Ok(edit_json(text, &|path, now| said.json_value(path, now)));
        }
        Ok(replace_lines(text, |_, line| {
            let (key, value) = line.split_once(':')?;
            let new = said.text_value(key.trim(), value.trim())?;
            Some(format!("{key}: {new}"))
        }))
    })])
}

impl ControllerState {
    fn from_assumptions(one: &Assumption, all: &[Assumption], read: &FactSet) -> Self {
        fn assumed<T: FactValue>(one: &Assumption, all: &[Assumption], key: &Key<T>) -> Option<T> {
            let said = all
                .iter()
                .find(|other| other.subject == one.subject && other.key.name == key.name())?;
            T::from_value(&said.value)
        }
        fn assumed_or_read<T: FactValue>(
            one: &Assumption,
            all: &[Assumption],
            read: &FactSet,
            key: &Key<T>,
        ) -> Option<T> {
            assumed(one, all, key).or_else(|| read.value(&one.subject, key))
        }
        let mut new = Self {
            battery: assumed_or_read(one, all, read, &controller::BATTERY),
            policy: assumed_or_read(one, all, read, &controller::POLICY),
            in_force: assumed_or_read(one, all, read, &controller::POLICY_IN_FORCE),
            on_failure: assumed_or_read(one, all, read, &controller::ON_BATTERY_FAILURE),
            disk_cache: assumed_or_read(one, all, read, &controller::DISK_CACHE),
        };
        if new.policy == Some(Policy::AlwaysWriteBack) {
            new.on_failure = Some(OnFailure::Stays);
        }
        let told = assumed(one, all, &controller::POLICY_IN_FORCE);
        new.in_force = told.or_else(|| new.effective_mode()).or(new.in_force);
        new
    }

    /// The write mode that policy and battery imply; `None` if they do not decide it.
    fn effective_mode(self) -> Option<WriteMode> {
        Some(match (self.policy?, self.battery) {
            (Policy::WriteThrough, _) => WriteMode::WriteThrough,
            (Policy::AlwaysWriteBack, _) | (Policy::WriteBack, Some(Battery::Healthy)) => {
                WriteMode::WriteBack
            }
            (Policy::WriteBack, Some(Battery::Failed | Battery::Absent)) => {
                match self.on_failure? {
                    OnFailure::WriteThrough => WriteMode::WriteThrough,
                    OnFailure::Stays => WriteMode::WriteBack,
                }
            }
            (
                Policy::WriteBack,
                Some(
                    Battery::Charging | Battery::Learning | Battery::Degraded | Battery::Unreadable,
                )
                | None,
            ) => return None,
        })
    }

    /// The value in the JSON of storcli, perccli and their successors.
    fn json_value(self, path: &str, now: &Json) -> Option<Json> {
        let (_, key) = path.rsplit_once('/')?;
        let is_module = path.contains("Info/");
        Some(match key {
            "BBU" | "Energy Pack" if path.contains("/HwCfg/") => {
                if self.battery? == Battery::Absent {
                    "Absent"
                } else {
                    "Present"
                }
                .into()
            }
            "BBU Status" | "Energy Pack Status" if now.is_number() => 0.into(),
            "State" | "Status" if is_module => match self.battery? {
                Battery::Healthy => "Optimal",
                Battery::Charging => "Charging",
                Battery::Learning => "Learning",
                Battery::Degraded => "Degraded",
                Battery::Failed => "Failed",
                Battery::Absent => "Absent",
                Battery::Unreadable => "Unknown",
            }
            .into(),
            "Write Cache(initial setting)" => match self.policy? {
                Policy::WriteBack => "WriteBack",
                Policy::WriteThrough => "WriteThrough",
                Policy::AlwaysWriteBack => "AlwaysWriteBack",
            }
            .into(),
            "Cache" | "CurrentCache" => self
                .cache_code(now.as_str()?, self.in_force? == WriteMode::WriteBack)
                .into(),
            "DefaultCache" => self.cache_code(now.as_str()?, true).into(),
            "Cache When BBU Bad" | "Write Cache When BBU Bad" | "Cache When Energy Pack Bad" => {
                if self.on_failure? == OnFailure::Stays {
                    "On"
                } else {
                    "Off"
                }
                .into()
            }
            "Disk Cache Policy" | "Drive Write Cache Policy" => match self.disk_cache? {
                DiskCache::Off => "Disabled",
                DiskCache::On => "Enabled",
                DiskCache::DiskDefault => "Disk's Default",
            }
            .into(),
            "PDC" => match self.disk_cache? {
                DiskCache::Off => "dsbl",
                DiskCache::On => "enbl",
                DiskCache::DiskDefault => "dflt",
            }
            .into(),
            _ => return None,
        })
    }

    /// A volume's cache code, such as `RAWBD` or `NR,WT`, with another write mode.
    fn cache_code(self, now: &str, is_back: bool) -> String {
        let mode = match self.policy {
            Some(Policy::AlwaysWriteBack) if is_back => "AWB",
            Some(Policy::WriteThrough) if is_back => "WT",
            _ if is_back => "WB",
            _ => "WT",
        };
        let old = ["AWB", "FWB", "WB", "WT"]
            .into_iter()
            .find(|old| now.contains(old));
        old.map_or_else(|| now.to_owned(), |old| now.replace(old, mode))
    }

    /// The value in the output of ssacli and arcconf.
    fn text_value(self, key: &str, now: &str) -> Option<&'static str> {
        let is_back = self.in_force == Some(WriteMode::WriteBack);
        Some(match key {
            "Battery/Capacitor Status" | "Backup Power Status" => match self.battery? {
                Battery::Healthy => "OK",
                Battery::Charging => "Charging",
                Battery::Degraded => "Degraded",
                Battery::Failed => "Failed",
                Battery::Absent => "Not Present",
                Battery::Learning | Battery::Unreadable => return None,
            },
            "Overall Backup Unit Status" | "Non-Volatile Storage Status" | "Supercap Status" => {
                match self.battery? {
                    Battery::Healthy => "Ready",
                    Battery::Charging => "Charging",
                    Battery::Learning => "Reconditioning",
                    Battery::Degraded => "Degraded",
                    Battery::Failed => "Failed",
                    Battery::Absent => "Not Present",
                    Battery::Unreadable => return None,
                }
            }
            "Caching" => {
                if self.policy? == Policy::WriteThrough {
                    "Disabled"
                } else {
                    "Enabled"
                }
            }
            "No-Battery Write Cache" => {
                if self.on_failure? == OnFailure::Stays {
                    "Enabled"
                } else {
                    "Disabled"
                }
            }
            "Cache Status" if self.policy? != Policy::WriteThrough => {
                if is_back {
                    "OK"
                } else {
                    "Temporarily Disabled"
                }
            }
            "Write-cache setting" => match self.policy? {
                Policy::WriteBack => "Enabled (write-back) when protected by battery/ZMM",
                Policy::AlwaysWriteBack => "Enabled (write-back)",
                Policy::WriteThrough => "Disabled (write-through)",
            },
            "Write-cache status" | "Write-cache mode" => {
                if is_back {
                    "On"
                } else {
                    "Off"
                }
            }
            "Drive Write Cache" => match self.disk_cache? {
                DiskCache::Off => "Disabled",
                DiskCache::On => "Enabled",
                DiskCache::DiskDefault => "Default",
            },
            "Write Cache" if now.contains("write-") => match self.disk_cache? {
                DiskCache::Off => "Disabled (write-through)",
                DiskCache::On => "Enabled (write-back)",
                DiskCache::DiskDefault => return None,
            },
            _ => return None,
        })
    }
}
