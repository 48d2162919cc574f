//! Targets inside device-mapper devices (linear, thin, cache …), where linear ones begin, the write mode of a cache, and
//! the fill level of thin pools, from dmsetup(8) as root, once for the whole host.
//!
//! The host's redaction decides which parts of its tables are passed on. A volume may have several targets; an unlisted
//! one is `other`.

use std::collections::BTreeMap;

use crate::collect::collector::{Collector, Request};
use crate::collect::refusal::{not_run, refused};
use crate::facts::catalog::device::{self, DeviceKind, DmCacheMode};
use crate::facts::catalog::host as machine;
use crate::facts::{Choice, FactSet, Reading, Remedy, Source, Subject, Why};
use crate::host::{Host, MissKind, Tool};
use crate::text::safe;
use crate::workers;

/// Reads device-mapper's tables.
pub const COLLECTOR: Collector = Collector { id: "device-mapper targets", run };

/// One target of a device: its kind, and the words that follow.
#[derive(Clone)]
struct Target {
    kind: String,
    words: Vec<String>,
}

impl Target {
    /// Where a linear one begins and where its data does on the device below, in sectors.
    fn begins(&self) -> Option<[u64; 2]> {
        let [start, offset] = self.words.as_slice() else { return None };
        Some([start.parse().ok()?, offset.parse().ok()?])
    }

    /// The mode of a cache, or what multipath does without a path.
    fn mode(&self) -> Option<&str> {
        self.words.first().map(String::as_str)
    }
}

/// The targets of each device, by its name.
type Tables = BTreeMap<String, Vec<Target>>;

/// The unit of a table, in bytes.
const SECTOR: u64 = 512;

/// The largest alignment that is told, as a power of two of sectors: 1 MiB.
const MOST_ALIGNED: u32 = 11;

fn run(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let devices: Vec<(Subject, String)> =
        facts.known(&device::DM_NAME).into_iter().map(|(subject, name)| (subject.clone(), name)).collect();
    if devices.is_empty() {
        return;
    }
    let (table, status) = ask(host, request, facts);
    let table: Reading<Tables> = table.map(|text| parse_table(&text));
    let status = status.map(|text| parse_status(&text));
    let of_table = Source::Command { argv: "dmsetup table".to_owned() };
    for (subject, name) in devices {
        let found = table.as_ref().then(|table, _| match table.get(&name) {
            Some(targets) => Reading::known(targets.clone(), of_table.clone()),
            None => Reading::unknown(Why::Absent, format!("`dmsetup table` does not list {name}")),
        });
        // Other kinds are known from their ids, and their names tell their contents.
        let kind = facts.value(&subject, &device::KIND);
        if found.is_known() || kind.is_some_and(DeviceKind::is_mapping) {
            describe(&subject, &found, &status, &name, facts);
        }
    }
}

fn describe(
    subject: &Subject,
    found: &Reading<Vec<Target>>,
    status: &Reading<BTreeMap<String, Option<[f64; 2]>>>,
    name: &str,
    facts: &mut FactSet,
) {
    let is = |target: &str| found.value().is_some_and(|all| all.iter().any(|one| one.kind == target));
    facts.put(
        subject,
        &device::DM_TARGETS,
        found.clone().map(|all| all.into_iter().map(|one| one.kind).collect()),
    );
    facts.put(subject, &device::DM_ALIGNMENT, alignment(found));
    if is("cache") || is("writecache") {
        let mode = found.clone().and_then(|all| {
            // A write cache always holds back; the worse of several counts.
            let held = all.iter().any(|one| {
                one.kind == "writecache" || one.kind == "cache" && one.mode() == Some("writeback")
            });
            let unread = all.iter().any(|one| one.kind == "cache" && one.mode().is_none());
            match (held, unread) {
                (true, _) => Ok(DmCacheMode::Writeback),
                (false, true) => Err("a cache without a mode".to_owned()),
                (false, false) => {
                    let cache = all.iter().find(|one| one.kind == "cache");
                    DmCacheMode::read(cache.and_then(Target::mode).ok_or("no mode")?)
                }
            }
        });
        facts.put(subject, &device::DM_CACHE_MODE, mode);
    }
    if is("multipath") {
        let waits = found.clone().and_then(|all| {
            match all.iter().find(|one| one.kind == "multipath").and_then(Target::mode) {
                Some("queue_if_no_path") => Ok(true),
                Some("fail_if_no_path") => Ok(false),
                _ => Err("multipath without its features".to_owned()),
            }
        });
        facts.put(subject, &device::DM_QUEUE_IF_NO_PATH, waits);
    }
    if is("thin-pool") {
        let shares = status.clone().and_then(|all| match all.get(name) {
            Some(Some(shares)) => Ok(*shares),
            Some(None) => Err("the pool has failed and reports no numbers".to_owned()),
            None => Err(format!("it does not list {name}")),
        });
        facts.put(subject, &device::THIN_METADATA, shares.clone().map(|[metadata, _]| metadata));
        facts.put(subject, &device::THIN_DATA, shares.map(|[_, data]| data));
    }
}

/// What divides every place where a device that is only linear begins.
fn alignment(found: &Reading<Vec<Target>>) -> Reading<u64> {
    if found.value().is_some_and(|all| all.iter().any(|one| one.kind != "linear")) {
        return Reading::unknown(Why::Absent, "its targets are not all linear");
    }
    found.clone().and_then(|all| {
        let places: Option<Vec<[u64; 2]>> = all.iter().map(Target::begins).collect();
        let places = places.ok_or("a linear target without its places")?;
        let bits = places.as_flattened().iter().fold(0, |bits, place| bits | place);
        Ok(SECTOR << bits.trailing_zeros().min(MOST_ALIGNED))
    })
}

/// Table and status, asked side by side.
fn ask(host: &dyn Host, request: &Request, facts: &FactSet) -> (Reading<Vec<u8>>, Reading<Vec<u8>>) {
    if request.without_programs {
        return (not_run(), not_run());
    }
    if facts.value(&Subject::host(), &machine::PRIVILEGED) != Some(true) {
        let denied = || Reading::unknown(Why::Denied, "dmsetup needs root").or_try(Remedy::RunAsRoot);
        return (denied(), denied());
    }
    let run = |what: &'static str| match host.run(Tool::Dmsetup, &[what]) {
        Ok(text) => Reading::known(text, Source::Command { argv: format!("dmsetup {what}") }),
        Err(miss) if miss.kind == MissKind::Absent => refused(&miss, &format!("dmsetup {what}"))
            .or_try(Remedy::Install(Tool::Dmsetup.package().to_owned())),
        Err(miss) => refused(&miss, &format!("dmsetup {what}")),
    };
    let (status, table) = workers::beside(|| run("status"), || run("table"));
    (table, status)
}

/// One line per target: `NAME: TARGET [WORD…]`.
fn parse_table(text: &[u8]) -> Tables {
    let mut table = Tables::new();
    for (name, mut words) in lines(text) {
        let Some(kind) = words.next() else { continue };
        let target = Target { kind: kind.to_owned(), words: words.map(str::to_owned).collect() };
        table.entry(safe(name.as_bytes())).or_default().push(target);
    }
    table
}

/// One line per pool, `NAME: thin-pool METADATA/ALL DATA/ALL`, as percentages; `None` for a pool that failed.
fn parse_status(text: &[u8]) -> BTreeMap<String, Option<[f64; 2]>> {
    let share = |word: Option<&str>| {
        let (used, all) = word?.split_once('/')?;
        let (used, all): (u64, u64) = (used.parse().ok()?, all.parse().ok()?);
        (all > 0).then(|| used as f64 / all as f64 * 100.0)
    };
    let pools = lines(text).filter_map(|(name, mut words)| {
        words.next().filter(|target| *target == "thin-pool")?;
        let shares = share(words.next()).zip(share(words.next()));
        Some((safe(name.as_bytes()), shares.map(|(metadata, data)| [metadata, data])))
    });
    pools.collect()
}

fn lines(text: &[u8]) -> impl Iterator<Item = (&str, std::str::SplitAsciiWhitespace<'_>)> {
    text.split(|b| *b == b'\n').filter_map(|line| {
        let (name, rest) = std::str::from_utf8(line).ok()?.split_once(": ")?;
        Some((name, rest.split_ascii_whitespace()))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::collect::testing::Fake;
    use crate::host::Question;

    fn asking(what: &str) -> Question {
        Question::Run(Tool::Dmsetup, vec![what.to_owned()])
    }

    fn collect(host: &Fake, privileged: bool, without_programs: bool) -> FactSet {
        let mut facts = FactSet::default();
        for (name, dm, kind) in [
            ("dm-0", "vg-pool-tpool", "lvm"),
            ("dm-1", "vg-thin", "lvm"),
            ("dm-2", "vg-hot", "lvm"),
            ("dm-3", "luks", "crypt"),
            ("dm-4", "vg-new", "lvm"),
        ] {
            let subject = Subject::device(name);
            facts.know(&subject, &device::DM_NAME, dm.to_owned(), Source::file("x"));
            facts.know(&subject, &device::KIND, DeviceKind::from_word(kind).unwrap(), Source::file("x"));
        }
        facts.know(&Subject::host(), &machine::PRIVILEGED, privileged, Source::file("x"));
        run(host, &Request { without_programs, ..Request::default() }, &mut facts);
        facts
    }

    fn machine() -> Fake {
        let table = "vg-pool-tpool: thin-pool \nvg-thin: thin \nvg-hot: cache writethrough\nvg-hot: writecache \nluks: crypt \n";
        Fake::default()
            .answer(asking("table"), table)
            .answer(asking("status"), "vg-pool-tpool: thin-pool 10/1000 81/100\n")
    }

    #[test]
    fn targets_modes_and_shares() {
        let facts = collect(&machine(), true, false);
        let targets = |name: &str| facts.value(&Subject::device(name), &device::DM_TARGETS);
        assert_eq!(targets("dm-1").unwrap(), ["thin"]);
        assert_eq!(targets("dm-3").unwrap(), ["crypt"]);
        assert_eq!(targets("dm-4"), None);
        let pool = Subject::device("dm-0");
        assert_eq!(facts.value(&pool, &device::THIN_DATA), Some(81.0));
        assert_eq!(facts.value(&pool, &device::THIN_METADATA), Some(1.0));
        let mode = facts.value(&Subject::device("dm-2"), &device::DM_CACHE_MODE);
        assert_eq!(mode, Some(DmCacheMode::Writeback), "the worse of two counts");
    }

    #[test]
    fn without_root_or_programs_nothing_is_run_and_it_says_why() {
        for (privileged, without, why) in [(false, false, Why::Denied), (true, true, Why::NotCollected)] {
            let host = machine();
            let facts = collect(&host, privileged, without);
            let reading = facts.get(&Subject::device("dm-1"), &device::DM_TARGETS);
            assert!(matches!(reading, Reading::Unknown { why: w, .. } if w == why), "{reading:?}");
            assert!(host.asked().is_empty());
            let crypt = facts.get(&Subject::device("dm-3"), &device::DM_TARGETS);
            assert_eq!(crypt, Reading::not_collected(), "its id tells what it is");
        }
    }

    #[test]
    fn a_failed_pool_and_a_cache_without_a_mode_are_unknown() {
        let host = Fake::default()
            .answer(asking("table"), "vg-pool-tpool: thin-pool \nvg-hot: cache \n")
            .answer(asking("status"), "vg-pool-tpool: thin-pool failed\n");
        let facts = collect(&host, true, false);
        assert_eq!(facts.value(&Subject::device("dm-0"), &device::THIN_DATA), None);
        assert_eq!(facts.value(&Subject::device("dm-2"), &device::DM_CACHE_MODE), None);
    }

    #[test]
    fn a_linear_device_is_as_aligned_as_the_least_aligned_of_its_places() {
        for (table, expect) in [
            ("vg-new: linear 0 2048\n", Some(1 << 20)),
            ("vg-new: linear 0 32\n", Some(16384)),
            ("vg-new: linear 0 2064\n", Some(8192)),
            ("vg-new: linear 0 2048\nvg-new: linear 8200 4096\n", Some(4096)),
            ("vg-new: linear 0 2047\n", Some(512)),
            ("vg-new: linear 0 0\n", Some(1 << 20)),
            ("vg-new: linear 0 2048\nvg-new: striped \n", None),
            // A capture of before, and a table that was not understood.
            ("vg-new: linear \n", None),
            ("vg-new: linear 0 x\n", None),
            ("vg-new: linear 0 2048\nvg-new: linear \n", None),
        ] {
            let facts = collect(&Fake::default().answer(asking("table"), table), true, false);
            assert_eq!(facts.value(&Subject::device("dm-4"), &device::DM_ALIGNMENT), expect, "{table}");
        }
    }

    proptest! {
        #[test]
        fn a_bad_line_costs_itself(bad in "[^\n]{0,40}") {
            let table = parse_table(format!("{bad}\nvg-data: linear \n").as_bytes());
            prop_assert!(table.contains_key("vg-data"));
            let status = parse_status(format!("{bad}\nvg-p: thin-pool 1/2 3/4\n").as_bytes());
            prop_assert_eq!(status.get("vg-p").copied().flatten(), Some([50.0, 75.0]));
        }

        #[test]
        fn any_bytes_do_no_harm(bytes: Vec<u8>) {
            parse_table(&bytes);
            let whole = parse_status(&bytes).into_values().flatten().flatten().all(f64::is_finite);
            prop_assert!(whole);
        }
    }
}
