//! The targets of device-mapper devices (linear, thin, cache …) from dmsetup(8), which needs root:
//! the offsets of linear targets, the mode of a cache, and the state.
//!
//! Keys and paths are removed from tables and status before they get here (`host/redact`), and a
//! target of an unlisted kind is named `other`. A volume may have several targets. The state is
//! known only if `dmsetup status` lists every target whose kind reports a state.

mod status;

use std::collections::BTreeMap;

use self::status::TargetStatus;
use crate::collector::Request;
use crate::facts::catalog::device::{self, DeviceKind, DmCacheMode, MappingHealth};
use crate::facts::catalog::host;
use crate::facts::{Choice, FactSet, Reading, Remedy, Subject};
use crate::host::{Host, Tool};
use crate::host_readings::query_tool;
use crate::parallel;
use crate::text::{bytes, display_safe};

#[derive(Clone)]
struct DmTargetLine {
    kind: String,
    words: Vec<String>,
}

impl DmTargetLine {
    /// For a linear target, returns its start and its offset on the device below, in sectors.
    fn linear_start_and_offset(&self) -> Option<[u64; 2]> {
        let [start, offset] = self.words.as_slice() else {
            return None;
        };
        Some([start.parse().ok()?, offset.parse().ok()?])
    }

    fn cache_mode_or_no_path_policy(&self) -> Option<&str> {
        self.words.first().map(String::as_str)
    }

    fn is_pool_status_of_older_capture(&self) -> bool {
        let is_pair = matches!(self.words.as_slice(), [metadata, _] if metadata.contains('/'));
        self.kind == "thin-pool" && (is_pair || self.words == ["failed"])
    }

    fn parse_status(&self, name: &str) -> Result<TargetStatus, String> {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let unknown = || {
            format!(
                "the status of {name} ({}) is incomplete or contains an unknown value",
                self.kind
            )
        };
        status::parse_target_status(&self.kind, &words).ok_or_else(unknown)
    }
}

type TargetsByName = BTreeMap<String, Vec<DmTargetLine>>;

/// Bytes per sector, the unit of offsets and sizes that dmsetup prints.
const SECTOR: u64 = 512;

/// The base-2 logarithm of the largest alignment reported, in sectors: 2048 sectors are 1 MiB.
const MAX_ALIGNMENT_BITS: u32 = 11;

pub fn collect_facts(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let devices: Vec<(Subject, String)> = facts
        .known_values_by_subject(&device::DM_NAME)
        .into_iter()
        .map(|(subject, name)| (subject.clone(), name))
        .collect();
    if devices.is_empty() {
        return;
    }
    let query = |what| query_dmsetup(host, request, facts, what);
    let (status, table) = parallel::join_in_threads(|| query("status"), || query("table"));
    for (subject, name) in devices {
        let found = table
            .as_ref()
            .and_then_reading(|table, source| match table.get(&name) {
                Some(targets) => Reading::known(targets.clone(), source),
                None => Reading::malformed(format!("{source} does not list {name}")),
            });
        insert_status_facts(&subject, &found, &status, &name, facts);
        // If the table could not be read, unknown facts are recorded only for LVM and for
        // device-mapper devices of unknown kind. For all other kinds, the UUID shows the target.
        let kind = facts.value(&subject, &device::KIND);
        if found.is_known() || kind.is_some_and(DeviceKind::can_have_any_dm_target) {
            insert_table_facts(&subject, &found, facts);
        }
    }
}

/// Records the worst state of the device's targets, with failed parts and usage. A device whose
/// targets have no state is *fine*.
fn insert_status_facts(
    subject: &Subject,
    found: &Reading<Vec<DmTargetLine>>,
    status: &Reading<TargetsByName>,
    name: &str,
    facts: &mut FactSet,
) {
    let bearing = found.clone().map(|all| {
        let kinds = all
            .into_iter()
            .map(|one| one.kind)
            .filter(|kind| status::has_status_parser(kind));
        kinds.collect::<Vec<String>>()
    });
    let parts = bearing.as_ref().and_then_reading(|kinds, source| {
        if kinds.is_empty() {
            return Reading::known(Vec::new(), source);
        }
        status.clone().and_then(|all| {
            let listed = all.get(name).map(Vec::as_slice).unwrap_or_default();
            // Captures of walwise 0.1 have the status of pools but not of thin volumes. A thin
            // volume has its pool's state (`thin_status` in drivers/md/dm-thin.c), so the volume
            // itself counts as *fine*.
            let is_by_pool = listed.is_empty() && kinds.iter().all(|kind| kind == "thin");
            if is_by_pool
                && all
                    .values()
                    .flatten()
                    .any(DmTargetLine::is_pool_status_of_older_capture)
            {
                return Ok(vec![MappingHealth::Fine.into()]);
            }
            if !listed.iter().map(|one| &one.kind).eq(kinds) {
                return Err(format!(
                    "`dmsetup status` does not list every target of {name}"
                ));
            }
            listed.iter().map(|one| one.parse_status(name)).collect()
        })
    });
    let each = |list: fn(TargetStatus) -> Vec<String>| {
        parts
            .clone()
            .map(|parts| parts.into_iter().flat_map(list).collect::<Vec<String>>())
    };
    facts.insert(subject, &device::DM_FAILED, each(|part| part.failed));
    facts.insert(subject, &device::DM_LAGGING, each(|part| part.lagging));
    let targets = bearing.value().map(Vec::as_slice).unwrap_or_default();
    if targets.iter().any(|target| target == "cache") {
        let dirty = parts
            .clone()
            .map(|parts| parts.iter().filter_map(|part| part.dirty).sum());
        facts.insert(subject, &device::DM_DIRTY, dirty);
    }
    if targets.iter().any(|target| target == "thin-pool") {
        let shares = parts.clone().and_then(|parts| {
            let shares = parts.into_iter().find_map(|part| part.used_percent);
            shares.ok_or_else(|| "the pool has failed and reports no usage".to_owned())
        });
        facts.insert(
            subject,
            &device::THIN_METADATA,
            shares.clone().map(|[metadata, _]| metadata),
        );
        facts.insert(subject, &device::THIN_DATA, shares.map(|[_, data]| data));
    }
    let state = parts.map(|parts| {
        parts
            .iter()
            .map(|part| part.state)
            .max()
            .unwrap_or(MappingHealth::Fine)
    });
    facts.insert(subject, &device::DM_STATE, state);
}

fn insert_table_facts(subject: &Subject, found: &Reading<Vec<DmTargetLine>>, facts: &mut FactSet) {
    let is = |target: &str| {
        found
            .value()
            .is_some_and(|all| all.iter().any(|one| one.kind == target))
    };
    facts.insert(
        subject,
        &device::DM_TARGETS,
        found
            .clone()
            .map(|all| all.into_iter().map(|one| one.kind).collect()),
    );
    facts.insert(
        subject,
        &device::DM_ALIGNMENT,
        common_linear_alignment(found),
    );
    if is("cache") || is("writecache") {
        let mode = found.clone().and_then(|all| {
            let mut modes = all
                .iter()
                .filter(|one| one.kind == "cache")
                .map(DmTargetLine::cache_mode_or_no_path_policy);
            // A device with several targets writes back if one of them does. A writecache always
            // writes back.
            if all.iter().any(|one| one.kind == "writecache")
                || modes.clone().any(|mode| mode == Some("writeback"))
            {
                return Ok(DmCacheMode::Writeback);
            }
            let first = modes
                .next()
                .flatten()
                .filter(|_| modes.all(|mode| mode.is_some()));
            DmCacheMode::parse_word(first.ok_or("the cache target lists no mode")?)
        });
        facts.insert(subject, &device::DM_CACHE_MODE, mode);
    }
    if is("multipath") {
        let waits = found.clone().and_then(|all| {
            match all
                .iter()
                .find(|one| one.kind == "multipath")
                .and_then(DmTargetLine::cache_mode_or_no_path_policy)
            {
                Some("queue_if_no_path") => Ok(true),
                Some("fail_if_no_path") => Ok(false),
                _ => Err("the multipath target lists no features".to_owned()),
            }
        });
        facts.insert(subject, &device::DM_QUEUE_IF_NO_PATH, waits);
    }
}

/// The largest power of two that divides all starts and offsets of an all-linear device, in bytes,
/// at most 1 MiB.
fn common_linear_alignment(found: &Reading<Vec<DmTargetLine>>) -> Reading<u64> {
    if found
        .value()
        .is_some_and(|all| all.iter().any(|one| one.kind != "linear"))
    {
        return Reading::absent("not all targets of the device are linear");
    }
    found.clone().and_then(|all| {
        let places: Option<Vec<[u64; 2]>> = all
            .iter()
            .map(DmTargetLine::linear_start_and_offset)
            .collect();
        let places = places.ok_or("a linear target lists no offset")?;
        let bits = places
            .as_flattened()
            .iter()
            .fold(0, |bits, place| bits | place);
        Ok(SECTOR << bits.trailing_zeros().min(MAX_ALIGNMENT_BITS))
    })
}

fn query_dmsetup(
    host: &dyn Host,
    request: &Request,
    facts: &FactSet,
    what: &'static str,
) -> Reading<TargetsByName> {
    if !request.without_programs && facts.host_value(&host::PRIVILEGED) != Some(true) {
        return Reading::denied("dmsetup requires root").with_remedy(Remedy::RunAsRoot);
    }
    query_tool(host, request, Tool::Dmsetup, &[what]).map(|text| parse_targets_by_name(&text))
}

fn parse_targets_by_name(text: &[u8]) -> TargetsByName {
    let mut table = TargetsByName::new();
    for line in bytes::lines(text).filter_map(|line| str::from_utf8(line).ok()) {
        let Some((name, rest)) = line.split_once(": ") else {
            continue;
        };
        let mut words = rest.split_ascii_whitespace().map(str::to_owned);
        let Some(kind) = words.next() else { continue };
        table
            .entry(display_safe(name.as_bytes()))
            .or_default()
            .push(DmTargetLine {
                kind,
                words: words.collect(),
            });
    }
    table
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::{Source, UnknownReason};
    use crate::host::Question;
    use crate::testing::FakeHost;
    use walwise_model::text::JoinText;

    fn dmsetup_question(what: &str) -> Question {
        Question::Run(Tool::Dmsetup, vec![what.to_owned()])
    }

    fn collect_mapping_facts(host: &FakeHost, privileged: bool, without_programs: bool) -> FactSet {
        let mut facts = FactSet::default();
        for (name, dm, kind) in [
            ("dm-0", "vg-pool-tpool", "lvm"),
            ("dm-1", "vg-thin", "lvm"),
            ("dm-2", "vg-hot", "lvm"),
            ("dm-3", "luks", "crypt"),
            ("dm-4", "vg-new", "lvm"),
        ] {
            let subject = Subject::device(name);
            facts.insert_known(
                &subject,
                &device::DM_NAME,
                dm.to_owned(),
                Source::from_file("x"),
            );
            facts.insert_known(
                &subject,
                &device::KIND,
                DeviceKind::from_word(kind).unwrap(),
                Source::from_file("x"),
            );
        }
        facts.insert_known(
            &Subject::host(),
            &host::PRIVILEGED,
            privileged,
            Source::from_file("x"),
        );
        collect_facts(
            host,
            &Request {
                without_programs,
                ..Request::default()
            },
            &mut facts,
        );
        facts
    }

    const STATUS: &str = "vg-pool-tpool: thin-pool 1 10/1000 81/100 - rw discard_passdown queue_if_no_space - 1024\n\
        vg-thin: thin 409600 819199\n\
        vg-hot: cache 8 27/4096 128 512/1024 10 2 5 1 0 9 7 1 writethrough 2 ? 2048 ? 0 rw -\n\
        vg-hot: writecache 0 4096 100 20\n";

    fn host_with_mappings() -> FakeHost {
        let table = "vg-pool-tpool: thin-pool \nvg-thin: thin \nvg-hot: cache writethrough\nvg-hot: writecache \nluks: crypt \n";
        FakeHost::default()
            .with_answer(dmsetup_question("table"), table)
            .with_answer(dmsetup_question("status"), STATUS)
    }

    #[test]
    fn targets_cache_mode_and_pool_usage_are_read() {
        let facts = collect_mapping_facts(&host_with_mappings(), true, false);
        let targets = |name: &str| facts.value(&Subject::device(name), &device::DM_TARGETS);
        assert_eq!(targets("dm-1").unwrap(), ["thin"]);
        assert_eq!(targets("dm-3").unwrap(), ["crypt"]);
        assert_eq!(targets("dm-4"), None);
        let pool = Subject::device("dm-0");
        assert_eq!(facts.value(&pool, &device::THIN_DATA), Some(81.0));
        assert_eq!(facts.value(&pool, &device::THIN_METADATA), Some(1.0));
        let mode = facts.value(&Subject::device("dm-2"), &device::DM_CACHE_MODE);
        assert_eq!(
            mode,
            Some(DmCacheMode::Writeback),
            "the worse of two counts"
        );
        assert_eq!(
            facts.value(&Subject::device("dm-2"), &device::DM_DIRTY),
            Some(7)
        );
        for name in ["dm-0", "dm-1", "dm-2", "dm-3"] {
            assert_eq!(
                facts.value(&Subject::device(name), &device::DM_STATE),
                Some(MappingHealth::Fine),
                "{name}"
            );
        }
    }

    #[test]
    fn dmsetup_needs_root_and_programs() {
        for (privileged, without, why) in [
            (false, false, UnknownReason::Denied),
            (true, true, UnknownReason::NotCollected),
        ] {
            let host = host_with_mappings();
            let facts = collect_mapping_facts(&host, privileged, without);
            let reading = facts.get(&Subject::device("dm-1"), &device::DM_TARGETS);
            assert!(
                matches!(reading, Reading::Unknown { why: w, .. } if w == why),
                "{reading:?}"
            );
            assert!(host.asked_questions().is_empty());
            let crypt = facts.get(&Subject::device("dm-3"), &device::DM_TARGETS);
            assert_eq!(crypt, Reading::not_collected(), "its id tells what it is");
        }
    }

    #[test]
    fn incomplete_status_leaves_state_unknown() {
        let lines: Vec<&str> = STATUS.lines().collect();
        let hurt: [fn(&str) -> String; 5] = [
            |_| String::new(),
            |line| format!("{line}\n{line}"),
            |line| line.split(' ').take(2).join_with(" "),
            |line| line.split(' ').take(3).join_with(" "),
            |line| {
                line.replace(" rw ", " rx ")
                    .replace("thin 409600", "thin ?")
                    .replace("writecache 0", "writecache ?")
            },
        ];
        for (which, devices) in [(0, "dm-0"), (1, "dm-1"), (2, "dm-2"), (3, "dm-2")] {
            for hurt in hurt {
                let mut text = lines
                    .iter()
                    .map(|line| (*line).to_owned())
                    .collect::<Vec<_>>();
                text[which] = hurt(lines[which]);
                let host =
                    host_with_mappings().with_answer(dmsetup_question("status"), text.join("\n"));
                let facts = collect_mapping_facts(&host, true, false);
                for name in ["dm-0", "dm-1", "dm-2"] {
                    let state = facts.get(&Subject::device(name), &device::DM_STATE);
                    let unknown = matches!(
                        state,
                        Reading::Unknown {
                            why: UnknownReason::Malformed,
                            ..
                        }
                    );
                    assert_eq!(unknown, name == devices, "{name}: {text:?}");
                }
            }
        }
        let facts = collect_mapping_facts(
            &host_with_mappings().with_answer(dmsetup_question("status"), ""),
            true,
            false,
        );
        assert_eq!(
            facts.value(&Subject::device("dm-3"), &device::DM_STATE),
            Some(MappingHealth::Fine),
            "crypt has none"
        );
        assert_eq!(
            facts.value(&Subject::device("dm-4"), &device::DM_STATE),
            None,
            "the table does not list it"
        );
    }

    #[test]
    fn old_capture_status_is_accepted() {
        for (pool, state) in [
            ("10/1000 81/100", MappingHealth::Fine),
            ("failed", MappingHealth::Failed),
        ] {
            let status = format!("vg-pool-tpool: thin-pool {pool}\n");
            let facts = collect_mapping_facts(
                &host_with_mappings().with_answer(dmsetup_question("status"), &status),
                true,
                false,
            );
            assert_eq!(
                facts.value(&Subject::device("dm-0"), &device::DM_STATE),
                Some(state)
            );
            assert_eq!(
                facts.value(&Subject::device("dm-1"), &device::DM_STATE),
                Some(MappingHealth::Fine)
            );
            assert_eq!(
                facts.value(&Subject::device("dm-2"), &device::DM_STATE),
                None,
                "nothing is known of a cache"
            );
        }
    }

    #[test]
    fn failed_pool_and_cache_without_mode_are_unknown() {
        let host = FakeHost::default()
            .with_answer(
                dmsetup_question("table"),
                "vg-pool-tpool: thin-pool \nvg-hot: cache \n",
            )
            .with_answer(
                dmsetup_question("status"),
                "vg-pool-tpool: thin-pool failed\n",
            );
        let facts = collect_mapping_facts(&host, true, false);
        let pool = Subject::device("dm-0");
        assert_eq!(facts.value(&pool, &device::THIN_DATA), None);
        assert_eq!(
            facts.value(&pool, &device::DM_STATE),
            Some(MappingHealth::Failed)
        );
        assert_eq!(
            facts.value(&Subject::device("dm-2"), &device::DM_CACHE_MODE),
            None
        );
    }

    #[test]
    fn linear_alignment_is_the_smallest() {
        for (table, expect) in [
            ("vg-new: linear 0 2048\n", Some(1 << 20)),
            ("vg-new: linear 0 32\n", Some(16384)),
            ("vg-new: linear 0 2064\n", Some(8192)),
            (
                "vg-new: linear 0 2048\nvg-new: linear 8200 4096\n",
                Some(4096),
            ),
            ("vg-new: linear 0 2047\n", Some(512)),
            ("vg-new: linear 0 0\n", Some(1 << 20)),
            ("vg-new: linear 0 2048\nvg-new: striped \n", None),
            // The table of an older capture has no offsets. The other two tables cannot be parsed.
            ("vg-new: linear \n", None),
            ("vg-new: linear 0 x\n", None),
            ("vg-new: linear 0 2048\nvg-new: linear \n", None),
        ] {
            let facts = collect_mapping_facts(
                &FakeHost::default().with_answer(dmsetup_question("table"), table),
                true,
                false,
            );
            assert_eq!(
                facts.value(&Subject::device("dm-4"), &device::DM_ALIGNMENT),
                expect,
                "{table}"
            );
        }
    }

    proptest! {
        #[test]
        fn malformed_line_affects_only_itself(bad in "[^\n]{0,40}") {
            let table = parse_targets_by_name(format!("{bad}\nvg-data: linear \n").as_bytes());
            prop_assert!(table.contains_key("vg-data"));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            for targets in parse_targets_by_name(&bytes).into_values() {
                drop(targets.iter().map(|target| target.parse_status("x")).collect::<Vec<_>>());
            }
        }
    }
}
