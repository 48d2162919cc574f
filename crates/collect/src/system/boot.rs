//! The mounts of the next boot: fstab(5) and mount units as systemd merges them, and root flags on
//! the kernel command line. The type `auto` stands for the type that is mounted now.

mod command_line;
mod crypttab;
mod duplicate_mounts;
mod mount_units;
mod named_device;
mod next_boot_mounts;
mod swap;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use self::swap::SwapLine;
use crate::collector::Request;
use crate::escape::fstab::decode_fstab_field;
use crate::facts::catalog::{boot, mount};
use crate::facts::{FactSet, Note, NoteKind, Reading, Scope, Source, Subject, UnknownReason};
use crate::filesystems::is_named_as_written;
use crate::host::{ConfigDialect, ConfigDirective, Host, HostError};
use crate::host_readings::error_reading;
use crate::text::display_safe;

pub fn collect_facts(host: &dyn Host, _: &Request, facts: &mut FactSet) {
    let (units, unlisted) = mount_units::MountUnits::from_unit_directories(host, facts);
    let (mut lines, mut swaps) = (BTreeSet::new(), Vec::new());
    let of_fstab = record_fstab_mounts_and_swaps(host, &units, &mut lines, &mut swaps, facts);
    let unread = [
        unlisted,
        of_fstab,
        units.insert_unit_facts(host, &lines, facts),
    ];
    let whole = unread.iter().flatten().next().cloned();
    facts.insert_host(
        &boot::READ,
        whole.unwrap_or_else(|| Reading::known(true, Source::from_file(FSTAB))),
    );
    command_line::record_command_line(host, facts);
    swap::record_swaps(host, swaps, units.admin_swap_unit_names(), facts);
    crypttab::record_crypttab(host, facts);
    named_device::record_presence_of_named_devices(host, facts);
    duplicate_mounts::record_ignored_options_of_later_mounts(host, facts);
    record_type_mismatches_with_mounts(host, facts);
    next_boot_mounts::record_next_boot_mounts(facts, unread.iter().flatten().next());
}

fn record_fstab_mounts_and_swaps(
    host: &dyn Host,
    units: &mount_units::MountUnits,
    lines: &mut BTreeSet<OsString>,
    swaps: &mut Vec<SwapLine>,
    facts: &mut FactSet,
) -> ReadFailure {
    let settings = match host.config_directives(Path::new(FSTAB), ConfigDialect::Fstab) {
        Ok(settings) => settings,
        Err(miss) => return note_unread_file(facts, &miss, FSTAB),
    };
    for setting in settings {
        match parse_fstab_entry(&setting) {
            Some(entry) if !entry.point.starts_with(b"/") || entry.is_swap() => {
                let source = entry.source.value().cloned();
                let is_used = entry.is_swap() && entry.auto.value() == Some(&true);
                swaps.extend(source.filter(|_| is_used).map(|source| SwapLine {
                    source,
                    options: entry.options,
                    is_complete: entry.is_complete,
                }));
            }
            Some(entry) => {
                if setting.value.ends_with(b"\texcess") {
                    facts.add_note_once(format!(
                        "{FSTAB}:{}: more than two fields follow the options (unescaped space?); systemd ignores the extra fields, mount(8) ignores the whole line",
                        setting.line
                    ));
                }
                lines.insert(mount_units::mount_unit_name(&entry.point));
                units
                    .apply_units_to_fstab_entry(host, entry, facts)
                    .insert_boot_facts(facts);
            }
            None => facts.add_note_once(format!(
                "{FSTAB}:{}: device, absolute mount point or type is missing; line ignored",
                setting.line
            )),
        }
    }
    None
}

fn parse_fstab_entry(setting: &ConfigDirective) -> Option<BootMountEntry> {
    let point = decode_fstab_field(&setting.key);
    let mut fields = setting.value.split(|b| *b == b'\t').map(decode_fstab_field);
    let (source, fstype) = (fields.next()?, fields.next()?);
    let options = split_options(&fields.next().unwrap_or_default());
    let (numbers, kept) = (fields.next(), fields.next());
    if fstype.is_empty() || !(point.starts_with(b"/") || matches!(&*point, b"none" | b"swap")) {
        return None;
    }
    let origin = Source::from_file_line(FSTAB, setting.line);
    Some(BootMountEntry {
        source: Reading::known(display_safe(&source), origin.clone()),
        fstype: Reading::known(display_safe(&fstype), origin.clone()),
        auto: Reading::known(is_mounted_or_automounted_at_boot(&options), origin.clone()),
        origin,
        point,
        options,
        dump_and_pass: numbers,
        is_complete: kept.map(|word| &*word == b"whole"),
    })
}

// Lines of fstab with another file system type than the current mount of their device. The root
// on the kernel command line is left out, because the current boot mounted it.

fn record_type_mismatches_with_mounts(host: &dyn Host, facts: &mut FactSet) {
    let lines: Vec<Subject> = facts.subjects_of_scope(Scope::Boot).cloned().collect();
    for line in lines {
        let type_there = || {
            let named = facts.value(&line, &boot::SOURCE)?;
            let written = facts.value(&line, &boot::WRITTEN_TYPE)?;
            if facts.value(&line, &boot::WHERE).as_deref() == Some(COMMAND_LINE)
                || !written.split(',').all(is_named_as_written)
            {
                return None;
            }
            let device = named_device::find_device_by_path_or_tag(host, facts, &named)?;
            named_device::mounts_on_device(facts, &device)
                .find_map(|at| facts.value(at, &mount::FSTYPE))
                .filter(|there| {
                    is_named_as_written(there) && !written.split(',').any(|word| word == there)
                })
        };
        if let Some(there) = type_there() {
            let source = Source::derived_from([boot::SOURCE.name(), mount::FSTYPE.name()]);
            facts.insert_known(&line, &boot::TYPE_THERE, there, source);
        }
    }
}

const FSTAB: &str = "/etc/fstab";
const COMMAND_LINE: &str = "/proc/cmdline";

struct BootMountEntry {
    pub point: Vec<u8>,
    pub source: Reading<String>,
    pub fstype: Reading<String>,
    pub options: Vec<String>,
    pub dump_and_pass: Option<Vec<u8>>,
    pub is_complete: Option<bool>,
    pub auto: Reading<bool>,
    /// The file and line of the options.
    pub origin: Source,
}

impl BootMountEntry {
    fn is_swap(&self) -> bool {
        self.fstype.value().is_some_and(|fstype| fstype == "swap")
    }

    pub fn insert_boot_facts(self, facts: &mut FactSet) {
        let origin = self.origin;
        let point = display_safe(without_trailing_slashes(&self.point));
        let subject = numbered_boot_subject(facts, &point);
        let mounted = visible_mount_at(facts, &point);
        let undecided = |word: &String| word == "auto" || word.contains(',');
        let fstype = mounted
            .as_ref()
            .filter(|_| self.fstype.value().is_none_or(undecided))
            .map(|mounted| facts.get(mounted, &mount::FSTYPE))
            .filter(Reading::is_known);
        facts.insert_known(&subject, &boot::POINT, point, origin.clone());
        facts.insert(&subject, &boot::SOURCE, self.source);
        facts.insert(&subject, &boot::WRITTEN_TYPE, self.fstype.clone());
        facts.insert(&subject, &boot::FSTYPE, fstype.unwrap_or(self.fstype));
        if let Some(numbers) = &self.dump_and_pass {
            facts.insert_known(
                &subject,
                &boot::DUMP_AND_PASS,
                display_safe(numbers),
                origin.clone(),
            );
        }
        if let Some(whole) = self.is_complete {
            facts.insert_known(&subject, &boot::WHOLE, whole, origin.clone());
        }
        facts.insert_known(&subject, &boot::OPTIONS, self.options, origin.clone());
        facts.insert_known(&subject, &boot::WHERE, origin.to_string(), origin);
        facts.insert(&subject, &boot::AUTO, self.auto);
        if let Some(mounted) = mounted {
            facts.set_fact_link(&subject, &mounted);
        }
    }
}

/// The reason why lines could not be read; `None` if all were read or the file does not exist.
type ReadFailure = Option<Reading<bool>>;

/// True without `noauto`, and for `x-systemd.automount`, which mounts at the first access.
fn is_mounted_or_automounted_at_boot(options: &[String]) -> bool {
    let has = |word: &str| options.iter().any(|option| option == word);
    !has("noauto") || has("x-systemd.automount")
}

/// Splits options at commas outside double quotes (mount(8), for SELinux contexts).
fn split_options(text: &[u8]) -> Vec<String> {
    let mut quoted = false;
    let ends = |byte: &u8| {
        quoted ^= *byte == b'"';
        *byte == b',' && !quoted
    };
    text.split(ends)
        .map(<[u8]>::trim_ascii)
        .filter(|word| !word.is_empty())
        .map(display_safe)
        .collect()
}

/// Whether `uuid` is that of a mapping that was unlocked from the LUKS header with the UUID `header`.
fn is_luks_mapping_of(uuid: &str, header: &str) -> bool {
    uuid.starts_with("CRYPT-LUKS") && uuid.split('-').nth(2) == Some(&header.replace('-', ""))
}

/// The last mount at `point`, because later mounts cover earlier ones.
fn visible_mount_at(facts: &FactSet, point: &str) -> Option<Subject> {
    let nth = |n: usize| {
        let subject = Subject::mount(if n > 1 {
            format!("{point}#{n}")
        } else {
            point.to_owned()
        });
        facts.contains_subject(&subject).then_some(subject)
    };
    (1..).map_while(nth).last()
}

fn numbered_boot_subject(facts: &FactSet, point: &str) -> Subject {
    let first = Subject::boot(point);
    if !facts.contains_subject(&first) {
        return first;
    }
    let taken = facts.subjects_of_scope(Scope::Boot).filter(|subject| {
        subject
            .name()
            .strip_prefix(point)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
    });
    Subject::boot(format!("{point}#{}", taken.count() + 1))
}

fn without_trailing_slashes(point: &[u8]) -> &[u8] {
    match point {
        [rest @ .., b'/'] if !rest.is_empty() => without_trailing_slashes(rest),
        point => point,
    }
}

fn note_unread_file(facts: &mut FactSet, miss: &HostError, path: &str) -> ReadFailure {
    let unread = error_reading(miss, path);
    let Reading::Unknown { why, detail, .. } = &unread else {
        return None;
    };
    if *why == UnknownReason::Absent {
        return None;
    }
    facts.add_note_once(Note::new(
        NoteKind::UnreadBootSource,
        format!("{detail} ({why}): the boot mounts that it defines are unknown"),
    ));
    Some(unread)
}

#[cfg(test)]
mod type_mismatch_tests {
    use super::*;
    use crate::facts::catalog::device as block;
    use crate::host::Question;
    use crate::testing::FakeHost;

    #[test]
    fn fstab_type_differing_from_mounted_type_is_recorded() {
        let host = FakeHost::default()
            .with_answer(Question::RealPath("/dev/disk/by-uuid/1".into()), "/dev/vda");
        for (named, written, place, expected) in [
            ("/dev/vda", "xfs", "/etc/fstab:2", Some("ext4")),
            ("UUID=1", "xfs,btrfs", "/etc/fstab:2", Some("ext4")),
            ("/dev/vda", "ext4", "/etc/fstab:2", None),
            ("/dev/vda", "xfs,ext4", "/etc/fstab:2", None),
            ("/dev/vda", "auto", "/etc/fstab:2", None),
            ("/dev/vdb", "xfs", "/etc/fstab:2", None),
            ("/dev/vda", "xfs", "/proc/cmdline", None),
        ] {
            let (mut facts, line) = (FactSet::default(), Subject::boot("/mnt"));
            let (root, from) = (Subject::mount("/"), || Source::from_file("a test"));
            for name in ["vda", "vdb"] {
                facts.insert_known(
                    &Subject::device(name),
                    &block::KIND,
                    block::DeviceKind::Disk,
                    from(),
                );
            }
            facts.insert_known(&root, &mount::FSTYPE, "ext4".to_owned(), from());
            facts.add_layer_below(&root, &Subject::device("vda"));
            facts.insert_known(&line, &boot::SOURCE, named.to_owned(), from());
            facts.insert_known(&line, &boot::WRITTEN_TYPE, written.to_owned(), from());
            facts.insert_known(&line, &boot::WHERE, place.to_owned(), from());
            record_type_mismatches_with_mounts(&host, &mut facts);
            assert_eq!(
                facts.value(&line, &boot::TYPE_THERE).as_deref(),
                expected,
                "{named} {written} {place}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::COMMAND_LINE;
    use super::*;
    use crate::facts::Scope;
    use crate::facts::catalog::mount;
    use crate::host::Question;
    use crate::testing::{FakeHost, displayed_notes_and_readings, note_sentences};

    const UNITS: &str = "/etc/systemd/system";

    fn encoded_directive(line: u32, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Vec<u8> {
        ConfigDirective::new(line, key.as_ref(), value.as_ref()).encode()
    }

    fn with_config_answer(
        fake: FakeHost,
        path: &str,
        dialect: ConfigDialect,
        settings: &[Vec<u8>],
    ) -> FakeHost {
        fake.with_answer(Question::Config(path.into(), dialect), settings.concat())
    }

    fn collect_boot_facts(host: &FakeHost, mut facts: FactSet) -> FactSet {
        collect_facts(host, &Request::default(), &mut facts);
        facts
    }

    fn facts_with_mounts(points: &[(&str, &str)]) -> FactSet {
        let mut facts = FactSet::default();
        for (name, fstype) in points {
            facts.insert_known(
                &Subject::mount(*name),
                &mount::FSTYPE,
                (*fstype).to_owned(),
                Source::from_file("mountinfo"),
            );
        }
        facts
    }

    #[test]
    fn fstab_lines_are_decoded_and_linked_to_mounts() {
        let lines = [
            encoded_directive(3, "/", "UUID=1\text4\terrors=remount-ro\t0 1\twhole"),
            encoded_directive(5, "none", "/dev/sdz\tswap\tsw"),
            encoded_directive(
                6,
                r"/my\040data/",
                "/dev/sdb1\tauto\tnoauto,context=\"a,b\",nobarrier",
            ),
            encoded_directive(7, "/srv", "/dev/sdc1\txfs\tdefaults"),
            encoded_directive(8, "/srv", "/dev/sdd1\txfs\tnofail"),
            encoded_directive(9, "relative", "/dev/sde1\txfs\tdefaults"),
            encoded_directive(10, "/cut", "/dev/sdf1\text4\tnoatime\t\texcess"),
        ];
        let host = with_config_answer(FakeHost::default(), FSTAB, ConfigDialect::Fstab, &lines);
        let facts = collect_boot_facts(
            &host,
            facts_with_mounts(&[("/", "ext4"), ("/my data", "xfs"), ("/my data#2", "ext4")]),
        );
        let names: Vec<&str> = facts
            .subjects_of_scope(Scope::Boot)
            .map(Subject::name)
            .collect();
        assert_eq!(names, ["/", "/cut", "/my data", "/srv", "/srv#2"]);
        assert_eq!(
            facts.value(&Subject::boot("/cut"), &boot::WHOLE),
            Some(false)
        );
        assert!(
            note_sentences(&facts)
                .iter()
                .any(|warning| warning.starts_with("/etc/fstab:10: more than two fields"))
        );
        let entry = Subject::boot("/my data");
        assert_eq!(facts.value(&entry, &boot::FSTYPE).as_deref(), Some("ext4"));
        assert_eq!(
            facts.value(&entry, &boot::WRITTEN_TYPE).as_deref(),
            Some("auto")
        );
        assert_eq!(
            facts.value(&entry, &boot::WHOLE),
            None,
            "a capture from before that was kept"
        );
        let root = Subject::boot("/");
        assert_eq!(facts.value(&root, &boot::WHOLE), Some(true));
        assert_eq!(
            facts.value(&root, &boot::DUMP_AND_PASS).as_deref(),
            Some("0 1")
        );
        assert_eq!(facts.value(&entry, &boot::AUTO), Some(false));
        assert_eq!(
            facts.value(&entry, &boot::WHERE).as_deref(),
            Some("/etc/fstab:6")
        );
        let options = ["noauto", "context=\"a,b\"", "nobarrier"]
            .map(str::to_owned)
            .to_vec();
        assert_eq!(facts.value(&entry, &boot::OPTIONS), Some(options));
        assert_eq!(
            facts.applicable_subject(&entry, Scope::Mount),
            Some(Subject::mount("/my data#2"))
        );
        assert_eq!(
            facts.applicable_subject(&Subject::boot("/srv"), Scope::Mount),
            None
        );
        assert!(
            note_sentences(&facts)
                .iter()
                .any(|warning| warning.starts_with("/etc/fstab:9"))
        );
    }

    #[test]
    fn mount_unit_and_root_flags_give_boot_facts() {
        let unit = [
            encoded_directive(5, "what", "/dev/sdb1"),
            encoded_directive(6, "where", "/srv/pg"),
            encoded_directive(7, "type", "xfs"),
            encoded_directive(8, "options", "nobarrier,noatime"),
            encoded_directive(8, "kept", "part"),
        ];
        let line = [
            encoded_directive(1, "root", "UUID=1"),
            encoded_directive(1, "rootflags", "data=writeback"),
        ];
        let host = with_config_answer(
            FakeHost::default(),
            "/etc/systemd/system/srv-pg.mount",
            ConfigDialect::MountUnit,
            &unit,
        )
        .with_answer(
            Question::List(UNITS.into()),
            b"multi-user.target.wants\0srv-pg.mount\0x.service",
        )
        .with_answer(
            Question::List(format!("{UNITS}/multi-user.target.wants").into()),
            "srv-pg.mount",
        );
        let host = with_config_answer(host, COMMAND_LINE, ConfigDialect::KernelCommandLine, &line);
        let facts = collect_boot_facts(&host, facts_with_mounts(&[("/", "ext4")]));
        let unit = Subject::boot("/srv/pg");
        assert_eq!(facts.value(&unit, &boot::AUTO), Some(true));
        assert_eq!(
            facts.value(&unit, &boot::WHERE).as_deref(),
            Some("/etc/systemd/system/srv-pg.mount:8")
        );
        assert_eq!(facts.value(&unit, &boot::WHOLE), Some(false));
        let root = Subject::boot("/");
        assert_eq!(
            facts.value(&root, &boot::OPTIONS),
            Some(vec!["data=writeback".to_owned()])
        );
        assert_eq!(facts.value(&root, &boot::FSTYPE).as_deref(), Some("ext4"));
        assert_eq!(
            facts.value(&root, &boot::WHERE).as_deref(),
            Some(COMMAND_LINE)
        );
    }

    proptest! {
        #[test]
        fn arbitrary_lines_never_panic(key: Vec<u8>, value: Vec<u8>) {
            let answer = encoded_directive(1, &key, &value);
            let host = with_config_answer(FakeHost::default(), FSTAB, ConfigDialect::Fstab, std::slice::from_ref(&answer));
            let facts = collect_boot_facts(&with_config_answer(host, COMMAND_LINE, ConfigDialect::KernelCommandLine, &[answer]), FactSet::default());
            let shown = displayed_notes_and_readings(&facts);
            prop_assert!(!shown.chars().any(crate::text::is_display_unsafe), "{}", shown);
        }
    }
}
