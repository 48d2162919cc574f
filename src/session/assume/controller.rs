//! Edited output of RAID controller tools, for an assumed battery state or cache policy.
//!
//! The policy, the battery and the setting for a failed battery together decide a controller's
//! write mode, so one assumption edits all related lines. A tool prints all volumes of a controller
//! at once, so an assumption about one volume applies to all.

use serde_json::Value as Json;

use super::{Assumption, edit_first_json_object, replace_lines};
use crate::facts::catalog::controller::{
    self, BatteryCondition, BatteryFailurePolicy, CachePolicy, CachePolicyInForce, MemberDiskCache,
};
use crate::facts::{FactSet, FactValue, Key};
use crate::host::{AnswerEdit, Question};

#[derive(Clone, Copy)]
struct AssumedControllerState {
    battery: Option<BatteryCondition>,
    policy: Option<CachePolicy>,
    in_force: Option<CachePolicyInForce>,
    on_failure: Option<BatteryFailurePolicy>,
    disk_cache: Option<MemberDiskCache>,
}

/// Edits every recorded output of the tool that reported this disk's controller; `None` if the tool
/// is unknown.
pub fn controller_answer_edits(
    one: &Assumption,
    all: &[Assumption],
    read: &FactSet,
) -> Option<Vec<AnswerEdit>> {
    let tool = read.value(&one.subject, &controller::TOOL)?;
    let said = AssumedControllerState::from_assumptions(one, all, read);
    let is_json = tool.starts_with("storcli") || tool.starts_with("perccli");
    let of_tool = move |question: &Question| matches!(question, Question::Run(other, _) if other.name() == tool);
    Some(vec![AnswerEdit::new(of_tool, move |text| {
        if is_json {
            return Ok(edit_first_json_object(text, &|path, now| {
                said.json_replacement(path, now)
            }));
        }
        Ok(replace_lines(text, |_, line| {
            let (key, value) = line.split_once(':')?;
            let new = said.text_replacement(key.trim(), value.trim())?;
            Some(format!("{key}: {new}"))
        }))
    })])
}

impl AssumedControllerState {
    fn from_assumptions(one: &Assumption, all: &[Assumption], read: &FactSet) -> Self {
        fn find_assumed_value<T: FactValue>(
            one: &Assumption,
            all: &[Assumption],
            key: &Key<T>,
        ) -> Option<T> {
            let said = all
                .iter()
                .find(|other| other.subject == one.subject && other.key.name == key.name())?;
            T::from_value(&said.value)
        }
        fn assumed_or_read_value<T: FactValue>(
            one: &Assumption,
            all: &[Assumption],
            read: &FactSet,
            key: &Key<T>,
        ) -> Option<T> {
            find_assumed_value(one, all, key).or_else(|| read.value(&one.subject, key))
        }
        let mut new = Self {
            battery: assumed_or_read_value(one, all, read, &controller::BATTERY),
            policy: assumed_or_read_value(one, all, read, &controller::POLICY),
            in_force: assumed_or_read_value(one, all, read, &controller::POLICY_IN_FORCE),
            on_failure: assumed_or_read_value(one, all, read, &controller::ON_BATTERY_FAILURE),
            disk_cache: assumed_or_read_value(one, all, read, &controller::DISK_CACHE),
        };
        if new.policy == Some(CachePolicy::AlwaysWriteBack) {
            new.on_failure = Some(BatteryFailurePolicy::Stays);
        }
        let told = find_assumed_value(one, all, &controller::POLICY_IN_FORCE);
        new.in_force = told
            .or_else(|| new.effective_cache_policy())
            .or(new.in_force);
        new
    }

    /// Derives the write mode from the policy, the battery and the setting for a failed battery;
    /// `None` if they do not determine it.
    fn effective_cache_policy(self) -> Option<CachePolicyInForce> {
        Some(match (self.policy?, self.battery) {
            (CachePolicy::WriteThrough, _) => CachePolicyInForce::WriteThrough,
            (CachePolicy::AlwaysWriteBack, _)
            | (CachePolicy::WriteBack, Some(BatteryCondition::Healthy)) => {
                CachePolicyInForce::WriteBack
            }
            (CachePolicy::WriteBack, Some(BatteryCondition::Failed | BatteryCondition::Absent)) => {
                match self.on_failure? {
                    BatteryFailurePolicy::WriteThrough => CachePolicyInForce::WriteThrough,
                    BatteryFailurePolicy::Stays => CachePolicyInForce::WriteBack,
                }
            }
            (
                CachePolicy::WriteBack,
                Some(
                    BatteryCondition::Charging
                    | BatteryCondition::Learning
                    | BatteryCondition::Degraded
                    | BatteryCondition::Unreadable,
                )
                | None,
            ) => return None,
        })
    }

    fn json_replacement(self, path: &str, now: &Json) -> Option<Json> {
        let (_, key) = path.rsplit_once('/')?;
        let is_module = path.contains("Info/");
        Some(match key {
            "BBU" | "Energy Pack" if path.contains("/HwCfg/") => {
                if self.battery? == BatteryCondition::Absent {
                    "Absent"
                } else {
                    "Present"
                }
                .into()
            }
            "BBU Status" | "Energy Pack Status" if now.is_number() => 0.into(),
            "State" | "Status" if is_module => match self.battery? {
                BatteryCondition::Healthy => "Optimal",
                BatteryCondition::Charging => "Charging",
                BatteryCondition::Learning => "Learning",
                BatteryCondition::Degraded => "Degraded",
                BatteryCondition::Failed => "Failed",
                BatteryCondition::Absent => "Absent",
                BatteryCondition::Unreadable => "Unknown",
            }
            .into(),
            "Write Cache(initial setting)" => match self.policy? {
                CachePolicy::WriteBack => "WriteBack",
                CachePolicy::WriteThrough => "WriteThrough",
                CachePolicy::AlwaysWriteBack => "AlwaysWriteBack",
            }
            .into(),
            "Cache" | "CurrentCache" => self
                .replace_write_mode(
                    now.as_str()?,
                    self.in_force? == CachePolicyInForce::WriteBack,
                )
                .into(),
            "DefaultCache" => self.replace_write_mode(now.as_str()?, true).into(),
            "Cache When BBU Bad" | "Write Cache When BBU Bad" | "Cache When Energy Pack Bad" => {
                if self.on_failure? == BatteryFailurePolicy::Stays {
                    "On"
                } else {
                    "Off"
                }
                .into()
            }
            "Disk Cache Policy" | "Drive Write Cache Policy" => match self.disk_cache? {
                MemberDiskCache::Off => "Disabled",
                MemberDiskCache::On => "Enabled",
                MemberDiskCache::DiskDefault => "Disk's Default",
            }
            .into(),
            "PDC" => match self.disk_cache? {
                MemberDiskCache::Off => "dsbl",
                MemberDiskCache::On => "enbl",
                MemberDiskCache::DiskDefault => "dflt",
            }
            .into(),
            _ => return None,
        })
    }

    /// Replaces the write mode in a volume's cache code, such as `RAWBD` or `NR,WT`.
    fn replace_write_mode(self, now: &str, is_back: bool) -> String {
        let mode = match self.policy {
            Some(CachePolicy::AlwaysWriteBack) if is_back => "AWB",
            Some(CachePolicy::WriteThrough) if is_back => "WT",
            _ if is_back => "WB",
            _ => "WT",
        };
        let old = ["AWB", "FWB", "WB", "WT"]
            .into_iter()
            .find(|old| now.contains(old));
        old.map_or_else(|| now.to_owned(), |old| now.replace(old, mode))
    }

    fn text_replacement(self, key: &str, now: &str) -> Option<&'static str> {
        let is_back = self.in_force == Some(CachePolicyInForce::WriteBack);
        Some(match key {
            "Battery/Capacitor Status" | "Backup Power Status" => match self.battery? {
                BatteryCondition::Healthy => "OK",
                BatteryCondition::Charging => "Charging",
                BatteryCondition::Degraded => "Degraded",
                BatteryCondition::Failed => "Failed",
                BatteryCondition::Absent => "Not Present",
                BatteryCondition::Learning | BatteryCondition::Unreadable => return None,
            },
            "Overall Backup Unit Status" | "Non-Volatile Storage Status" | "Supercap Status" => {
                match self.battery? {
                    BatteryCondition::Healthy => "Ready",
                    BatteryCondition::Charging => "Charging",
                    BatteryCondition::Learning => "Reconditioning",
                    BatteryCondition::Degraded => "Degraded",
                    BatteryCondition::Failed => "Failed",
                    BatteryCondition::Absent => "Not Present",
                    BatteryCondition::Unreadable => return None,
                }
            }
            "Caching" => {
                if self.policy? == CachePolicy::WriteThrough {
                    "Disabled"
                } else {
                    "Enabled"
                }
            }
            "No-Battery Write Cache" => {
                if self.on_failure? == BatteryFailurePolicy::Stays {
                    "Enabled"
                } else {
                    "Disabled"
                }
            }
            "Cache Status" if self.policy? != CachePolicy::WriteThrough => {
                if is_back {
                    "OK"
                } else {
                    "Temporarily Disabled"
                }
            }
            "Write-cache setting" => match self.policy? {
                CachePolicy::WriteBack => "Enabled (write-back) when protected by battery/ZMM",
                CachePolicy::AlwaysWriteBack => "Enabled (write-back)",
                CachePolicy::WriteThrough => "Disabled (write-through)",
            },
            "Write-cache status" | "Write-cache mode" => {
                if is_back {
                    "On"
                } else {
                    "Off"
                }
            }
            "Drive Write Cache" => match self.disk_cache? {
                MemberDiskCache::Off => "Disabled",
                MemberDiskCache::On => "Enabled",
                MemberDiskCache::DiskDefault => "Default",
            },
            "Write Cache" if now.contains("write-") => match self.disk_cache? {
                MemberDiskCache::Off => "Disabled (write-through)",
                MemberDiskCache::On => "Enabled (write-back)",
                MemberDiskCache::DiskDefault => return None,
            },
            _ => return None,
        })
    }
}
