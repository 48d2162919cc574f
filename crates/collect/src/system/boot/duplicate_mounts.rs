//! Lines that mount one file system at several mount points. The first mount sets the options of
//! the superblock. Those of later mounts are ignored (mount(2); `sget_fc` and its callers in
//! fs/super.c), except per-mount options such as noatime or nodev.
//!
//! The order of lines in fstab is irrelevant: systemd mounts parent directories first
//! (systemd.mount(5), implicit dependencies), and everything else in parallel.

use std::collections::BTreeMap;
use std::path::Path;

use super::named_device::tag_link;
use crate::facts::catalog::boot;
use crate::facts::{FactSet, Scope, Source, Subject};
use crate::host::{Host, path_bytes, path_from_bytes};
use crate::text;
use crate::text_table::rows;

const PER_MOUNT_OPTIONS: &str = include_str!("per_mount_options.txt");

struct MountDeclaration {
    subject: Subject,
    location: String,
    point: String,
    auto: Option<bool>,
    fstype: Option<String>,
    options: Vec<String>,
}

impl MountDeclaration {
    /// Whether every successful boot mounts the line: the line is neither optional (`nofail`) nor
    /// mounted on demand.
    fn is_mounted_for_certain(&self) -> bool {
        let may_be_left = |option: &String| option == "nofail" || option == "x-systemd.automount";
        self.auto == Some(true) && !self.options.iter().any(may_be_left)
    }

    /// Whether both lines may have the same type. If not, one of the types is wrong, and its line
    /// mounts nothing.
    fn may_share_type_with(&self, other: &Self) -> bool {
        let (one, other) = (self.fstype.as_deref(), other.fstype.as_deref());
        one == other || [one, other].contains(&None) || [one, other].contains(&Some("auto"))
    }
}

pub fn record_ignored_options_of_later_mounts(host: &dyn Host, facts: &mut FactSet) {
    let mut of_devices: BTreeMap<Vec<u8>, Vec<MountDeclaration>> = BTreeMap::new();
    let lines: Vec<Subject> = facts.subjects_of_scope(Scope::Boot).cloned().collect();
    for subject in lines {
        let Some(source) = facts.value(&subject, &boot::SOURCE) else {
            continue;
        };
        facts.insert_known(
            &subject,
            &boot::SET_BY_FIRST,
            Vec::new(),
            Source::derived_from([boot::SOURCE.name()]),
        );
        let Some(device) = resolve_device_path(host, &source) else {
            continue;
        };
        let read = |key| facts.value(&subject, key);
        let line = MountDeclaration {
            location: read(&boot::WHERE).unwrap_or_default(),
            point: read(&boot::POINT).unwrap_or_default(),
            auto: facts.value(&subject, &boot::AUTO),
            fstype: read(&boot::FSTYPE),
            options: facts.value(&subject, &boot::OPTIONS).unwrap_or_default(),
            subject,
        };
        of_devices.entry(device).or_default().push(line);
    }
    for lines in of_devices.values().filter(|lines| lines.len() > 1) {
        for line in lines {
            record_order_and_ignored_options(line, lines, facts);
        }
    }
}

fn record_order_and_ignored_options(
    line: &MountDeclaration,
    all: &[MountDeclaration],
    facts: &mut FactSet,
) {
    let source = || {
        Source::derived_from([
            boot::SOURCE.name(),
            boot::POINT.name(),
            boot::OPTIONS.name(),
        ])
    };
    let others = || all.iter().filter(|other| other.point != line.point);
    // Parent directories are mounted first, so the line with the shortest mount point counts.
    let first = others()
        .filter(|other| is_mounted_before(other, line))
        .min_by_key(|other| other.point.len());
    if let Some(first) = first {
        facts.insert_known(
            &line.subject,
            &boot::FIRST,
            first.location.clone(),
            source(),
        );
        for (key, one, other) in [
            (&boot::OVERRULED, line, first),
            (&boot::SET_BY_FIRST, first, line),
        ] {
            let options = file_system_options_missing_in_other(one, other);
            facts.insert_known(&line.subject, key, options, source());
        }
        return;
    }
    let beside = others().filter(|other| !is_mounted_before(line, other));
    let differ = |other: &&MountDeclaration| {
        !file_system_options_missing_in_other(line, other).is_empty()
            || !file_system_options_missing_in_other(other, line).is_empty()
    };
    let places: Vec<String> = beside
        .filter(differ)
        .map(|other| other.location.clone())
        .collect();
    facts.insert_known(&line.subject, &boot::UNORDERED, places, source());
}

/// Whether `one` is certainly mounted before `other`: on a parent directory, or at boot while the
/// other line is mounted on demand.
fn is_mounted_before(one: &MountDeclaration, other: &MountDeclaration) -> bool {
    let above = one.point == "/" || Path::new(&other.point).starts_with(&one.point);
    let below = other.point == "/" || Path::new(&one.point).starts_with(&other.point);
    one.is_mounted_for_certain()
        && one.may_share_type_with(other)
        && (above || other.auto == Some(false) && !below)
}

fn file_system_options_missing_in_other(
    line: &MountDeclaration,
    other: &MountDeclaration,
) -> Vec<String> {
    let of_file_system = |option: &&String| {
        let name = option.split('=').next().unwrap_or_default();
        rows(PER_MOUNT_OPTIONS).all(|[known]| known != name)
            && !name.starts_with("x-")
            && !name.starts_with("X-")
    };
    line.options
        .iter()
        .filter(of_file_system)
        .filter(|option| !other.options.contains(option))
        .cloned()
        .collect()
}

/// The path of a line's device node, links resolved if possible; `None` if the source is neither a
/// path under /dev nor a tag such as `UUID=`.
fn resolve_device_path(host: &dyn Host, source: &str) -> Option<Vec<u8>> {
    let path = if source.starts_with("/dev/") {
        path_from_bytes(text::decode_display_safe(source))
    } else {
        tag_link(source)?
    };
    Some(host.real_path(&path).map_or_else(
        |_| path_bytes(&path).to_vec(),
        |to| path_bytes(&to).to_vec(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Question;
    use crate::testing::FakeHost;

    fn mount_order_summaries(lines: &[&str]) -> Vec<String> {
        let mut facts = FactSet::default();
        let from = || Source::from_file("/etc/fstab");
        for (n, line) in lines.iter().enumerate() {
            let words: Vec<&str> = line.split(' ').collect();
            let options: Vec<String> = words[2].split(',').map(str::to_owned).collect();
            let subject = Subject::boot(words[1]);
            facts.insert_known(&subject, &boot::SOURCE, words[0].to_owned(), from());
            facts.insert_known(&subject, &boot::POINT, words[1].to_owned(), from());
            facts.insert_known(&subject, &boot::WHERE, format!("line {}", n + 1), from());
            facts.insert_known(&subject, &boot::AUTO, !words[2].contains("noauto"), from());
            facts.insert_known(&subject, &boot::OPTIONS, options, from());
        }
        let host = FakeHost::default().with_answer(
            Question::RealPath("/dev/disk/by-uuid/1-2".into()),
            "/dev/sda1",
        );
        record_ignored_options_of_later_mounts(&host, &mut facts);
        let tell = |line: &&str| {
            let of = Subject::boot(line.split(' ').nth(1).unwrap());
            let list = |key| {
                facts
                    .value(&of, key)
                    .map_or_else(|| "-".to_owned(), |all: Vec<String>| all.join(","))
            };
            let first = facts
                .value(&of, &boot::FIRST)
                .unwrap_or_else(|| "-".to_owned());
            format!(
                "{first} {} {}",
                list(&boot::OVERRULED),
                list(&boot::UNORDERED)
            )
        };
        lines.iter().map(tell).collect()
    }

    #[test]
    fn optional_mount_never_overrides_options() {
        let second = "UUID=1-2 /srv/pg noauto,nobarrier";
        for (first, overruled) in [
            ("UUID=1-2 /a defaults", true),
            ("UUID=1-2 /a defaults,nofail", false),
            ("UUID=1-2 /a noauto,x-systemd.automount", false),
        ] {
            assert_eq!(
                mount_order_summaries(&[first, second])[1] == "line 1 nobarrier -",
                overruled,
                "{first}"
            );
        }
        let line = |fstype: Option<&str>| MountDeclaration {
            subject: Subject::boot("/a"),
            location: "line 1".to_owned(),
            point: "/".to_owned(),
            auto: Some(true),
            fstype: fstype.map(str::to_owned),
            options: Vec::new(),
        };
        let (ext4, xfs) = (line(Some("ext4")), line(Some("xfs")));
        assert!(
            !is_mounted_before(&xfs, &ext4)
                && is_mounted_before(&ext4, &ext4)
                && is_mounted_before(&line(Some("auto")), &ext4)
        );
    }

    #[test]
    fn options_set_by_first_mount_are_listed() {
        let mut facts = FactSet::default();
        for (n, (point, options)) in [("/", "nobarrier"), ("/srv/pg", "noatime")]
            .into_iter()
            .enumerate()
        {
            let (subject, from) = (Subject::boot(point), || Source::from_file("/etc/fstab"));
            facts.insert_known(&subject, &boot::SOURCE, "/dev/sda1".to_owned(), from());
            facts.insert_known(&subject, &boot::POINT, point.to_owned(), from());
            facts.insert_known(&subject, &boot::WHERE, format!("line {n}"), from());
            facts.insert_known(&subject, &boot::AUTO, true, from());
            facts.insert_known(&subject, &boot::OPTIONS, vec![options.to_owned()], from());
        }
        record_ignored_options_of_later_mounts(&FakeHost::default(), &mut facts);
        let set = |point| {
            facts
                .value(&Subject::boot(point), &boot::SET_BY_FIRST)
                .unwrap()
        };
        assert_eq!(
            (set("/"), set("/srv/pg")),
            (Vec::new(), vec!["nobarrier".to_owned()])
        );
    }

    #[test]
    fn file_system_options_of_first_mount_apply() {
        let root = "UUID=1-2 / defaults";
        for (second, expect) in [
            (
                "/dev/sda1 /srv/pg noatime,nodelalloc,nobarrier",
                "line 1 nodelalloc,nobarrier -",
            ),
            (
                "UUID=\"1-2\" /srv/pg subvol=@pg,compress=zstd,x-systemd.automount",
                "line 1 compress=zstd -",
            ),
            ("UUID=1-2 /srv/pg noatime,nodev", "line 1  -"),
            ("/dev/sdb1 /srv/pg nobarrier", "- - -"),
            ("UUID=3 /srv/pg nobarrier", "- - -"),
            ("tmpfs /srv/pg size=1g", "- - -"),
        ] {
            let found = mount_order_summaries(&[root, second]);
            assert_eq!(found[1], expect, "{second}");
            assert!(
                found[0] == "- - -" || found[0] == "- - ",
                "the first line is as it was: {}",
                found[0]
            );
            assert_eq!(
                mount_order_summaries(&[second, root])[0].replace("line 2", "line 1"),
                expect,
                "in whatever order: {second}"
            );
        }
    }

    #[test]
    fn sibling_mounts_have_no_order() {
        let a = "/dev/sda1 /srv/a noatime,nobarrier";
        assert_eq!(
            mount_order_summaries(&[a, "/dev/sda1 /srv/b noatime"]),
            ["- - line 2", "- - line 1"]
        );
        assert_eq!(
            mount_order_summaries(&[a, "/dev/sda1 /srv/b nobarrier"]),
            ["- - ", "- - "]
        );
        assert_eq!(
            mount_order_summaries(&[a, "/dev/sda1 /srv/b noauto"])[1],
            "line 1  -"
        );
        assert_eq!(
            mount_order_summaries(&[a, "/dev/sda1 /srv/ab noauto,data=journal"])[1],
            "line 1 data=journal -"
        );
        assert_eq!(
            mount_order_summaries(&["/dev/sda1 /srv noauto", "/dev/sda1 /srv/b nobarrier"])[1],
            "- - line 1"
        );
    }
}
