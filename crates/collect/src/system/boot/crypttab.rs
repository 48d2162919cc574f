//! Encrypted devices that the next boot unlocks: the lines of crypttab(5), and whether their
//! devices exist now.
//!
//! Only devices that are unlocked now are known to be unlockable. A plain device has no header,
//! so cryptsetup's defaults apply to every parameter that its line omits. A line without a type
//! is a plain device if no header is found. A device with a random key is created at each boot
//! and needs no header.

use std::path::Path;

use super::{is_luks_mapping_of, named_device};
use crate::facts::catalog::boot::{self, BootDeviceState};
use crate::facts::catalog::device as block;
use crate::facts::{FactSet, Source, Subject};
use crate::host::{ConfigDialect, Host};
use crate::host_readings::error_reading;
use crate::text::display_safe;
use crate::text_table::rows;

const CRYPTTAB: &str = "/etc/crypttab";

const KNOWN_OPTIONS: &str = include_str!("crypttab_options.txt");

pub fn record_crypttab(host: &dyn Host, facts: &mut FactSet) {
    let machine = Subject::host();
    let settings = match host.config_directives(Path::new(CRYPTTAB), ConfigDialect::Crypttab) {
        Ok(settings) => settings,
        Err(miss) if miss.is_absent() => Vec::new(),
        Err(miss) => {
            return facts.insert_host(&boot::UNLOCKED, error_reading(&miss, CRYPTTAB));
        }
    };
    let [
        mut all,
        mut optional,
        mut missing,
        mut unseen,
        mut by_defaults,
    ] = [const { Vec::new() }; 5];
    for setting in settings {
        let name = display_safe(&setting.key);
        let fields: Vec<String> = setting
            .value
            .split(|b| *b == b'\t')
            .map(display_safe)
            .collect();
        let [device, key, options, kept] = &fields[..] else {
            unseen.push(name.clone());
            all.push(name);
            continue;
        };
        let line = CrypttabEntry {
            device,
            key,
            options: options.split(',').filter(|one| !one.is_empty()).collect(),
        };
        if line.has_option("noauto") {
            continue;
        }
        if line.has_option("nofail") {
            optional.push(name.clone());
        }
        let unlocked = active_mapping_and_uuid(facts, &name);
        let uuid = unlocked.as_ref().map(|(_, uuid)| uuid.as_str());
        if line.uses_plain_defaults(uuid) {
            by_defaults.push(name.clone());
        }
        let written = Source::from_file_line(CRYPTTAB, setting.line);
        let presence = named_device::presence_of_device_path_or_tag(host, facts, device, &written);
        let is_unlockable = || {
            kept == "whole"
                && line.has_supported_key_and_options()
                && line.type_agrees_with_mapping_uuid(uuid)
                && unlocked.as_ref().is_some_and(|unlocked| {
                    is_mapping_of_named_device(host, facts, unlocked, device)
                })
        };
        match presence.value() {
            Some(BootDeviceState::There) if is_unlockable() => {}
            Some(BootDeviceState::Missing | BootDeviceState::Other) => missing.push(name.clone()),
            Some(BootDeviceState::There | BootDeviceState::None) | None => {
                unseen.push(name.clone());
            }
        }
        all.push(name);
    }
    let written = Source::from_file(CRYPTTAB);
    for (key, names) in [
        (&boot::UNLOCKED, all),
        (&boot::UNLOCKED_OPTIONAL, optional),
        (&boot::UNLOCKED_MISSING, missing),
        (&boot::UNLOCKED_UNSEEN, unseen),
        (&boot::UNLOCKED_BY_DEFAULTS, by_defaults),
    ] {
        facts.insert_known(&machine, key, names, written.clone());
    }
}

fn active_mapping_and_uuid(facts: &FactSet, name: &str) -> Option<(Subject, String)> {
    let named = facts.known_values_by_subject(&block::DM_NAME);
    let (device, _) = named.into_iter().find(|(_, active)| active == name)?;
    let uuid = facts
        .value(device, &block::DM_UUID)
        .filter(|uuid| uuid.starts_with("CRYPT-"))?;
    Some((device.clone(), uuid))
}

/// Whether the unlocked device is the one that the line names: a LUKS mapping's UUID contains its
/// header's UUID.
fn is_mapping_of_named_device(
    host: &dyn Host,
    facts: &FactSet,
    (unlocked, uuid): &(Subject, String),
    named: &str,
) -> bool {
    let header = named.strip_prefix("UUID=");
    header.is_some_and(|header| is_luks_mapping_of(uuid, header.trim_matches('"')))
        || named_device::find_device_by_path_or_tag(host, facts, named)
            .is_some_and(|device| facts.layers_directly_below(unlocked).contains(&device))
}

struct CrypttabEntry<'l> {
    device: &'l str,
    key: &'l str,
    options: Vec<&'l str>,
}

impl<'l> CrypttabEntry<'l> {
    fn has_option(&self, name: &str) -> bool {
        self.options
            .iter()
            .any(|option| option.split('=').next() == Some(name))
    }

    /// The value of the option's last occurrence, which overrides earlier ones.
    fn option_value(&self, name: &str) -> Option<&'l str> {
        let value = |option: &&'l str| option.strip_prefix(name)?.strip_prefix('=');
        self.options.iter().rev().find_map(value)
    }

    fn has_any_option(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has_option(name))
    }

    fn has_header_type(&self) -> bool {
        self.has_any_option(&["luks", "tcrypt", "bitlk", "header"])
    }

    fn has_plain_type(&self) -> bool {
        self.has_any_option(&["plain", "swap", "tmp"]) && !self.has_header_type()
    }

    fn is_recreated_at_boot(&self) -> bool {
        self.key == "random" && self.has_any_option(&["swap", "tmp"])
    }

    /// Whether the device is opened as a plain device with cryptsetup's defaults. For a line
    /// without a type, the UUID of the unlocked mapping decides (`uuid`). Without such a mapping,
    /// the tag `UUID=` means a header.
    fn uses_plain_defaults(&self, uuid: Option<&str>) -> bool {
        let is_plain = self.has_plain_type()
            || !self.has_header_type()
                && uuid.map_or(!self.device.starts_with("UUID="), |uuid| {
                    uuid.starts_with("CRYPT-PLAIN-")
                });
        is_plain
            && !self.is_recreated_at_boot()
            && !(self.has_option("cipher") && self.has_option("hash"))
    }

    fn type_agrees_with_mapping_uuid(&self, uuid: Option<&str>) -> bool {
        uuid.is_some_and(|uuid| {
            let is_plain = uuid.starts_with("CRYPT-PLAIN-");
            !(is_plain && self.has_header_type() || !is_plain && self.has_plain_type())
        })
    }

    fn has_supported_key_and_options(&self) -> bool {
        let has_key = match self.key {
            "none" | "there" => true,
            "random" => self.is_recreated_at_boot(),
            _ => false,
        };
        has_key
            && self
                .options
                .iter()
                .all(|option| self.is_supported_option(option))
    }

    fn is_supported_option(&self, option: &str) -> bool {
        if rows(KNOWN_OPTIONS).any(|[known]| known == option) {
            return true;
        }
        let (name, value) = option.split_once('=').unwrap_or_default();
        match name {
            "cipher" => CIPHER_KEY_SIZES.iter().any(|(cipher, _)| *cipher == value),
            "size" => value
                .parse()
                .is_ok_and(|size: u32| self.accepts_key_size(size)),
            "key-slot" => value.parse().is_ok_and(|slot: u8| slot < 32),
            "tries" => value.parse().is_ok_and(|_: u8| true),
            "timeout" | "x-systemd.device-timeout" => is_time_span(value),
            _ => false,
        }
    }

    /// Whether `size`, in bits, suits the line's cipher. Every default cipher takes 256 bits. A
    /// device with a header ignores the option.
    fn accepts_key_size(&self, size: u32) -> bool {
        let cipher = self.option_value("cipher");
        let sizes = CIPHER_KEY_SIZES
            .iter()
            .find(|(of, _)| Some(*of) == cipher)
            .map_or(&[256][..], |(_, sizes)| sizes);
        sizes.contains(&size) || self.has_header_type() && [128, 192, 256, 512].contains(&size)
    }
}

/// Ciphers in the kernels of all distributions, with key sizes in bits
/// (Documentation/admin-guide/device-mapper/dm-crypt.rst of the kernel). XTS uses two keys.
const CIPHER_KEY_SIZES: [(&str, &[u32]); 5] = [
    ("aes-cbc-essiv:sha256", &[128, 192, 256]),
    ("aes-cbc-plain", &[128, 192, 256]),
    ("aes-cbc-plain64", &[128, 192, 256]),
    ("aes-xts-plain", &[256, 512]),
    ("aes-xts-plain64", &[256, 512]),
];

/// Whether the value is a number of seconds, or a number with a common unit of systemd.time(7).
fn is_time_span(value: &str) -> bool {
    let unit = value.trim_start_matches(|c: char| c.is_ascii_digit());
    unit.len() < value.len() && ["", "s", "sec", "m", "min", "h", "hr", "ms"].contains(&unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Key;
    use crate::facts::catalog::host;
    use crate::host::{ConfigDirective, Question};
    use crate::testing::FakeHost;

    fn crypttab_facts(lines: &[(&str, &str)], unlocked: &[(&str, &str)]) -> FactSet {
        let rows = (1..).zip(lines).flat_map(|(line, (name, value))| {
            ConfigDirective::new(line, name.as_bytes(), value.as_bytes()).encode()
        });
        let host = FakeHost::default()
            .with_answer(
                Question::Config(CRYPTTAB.into(), ConfigDialect::Crypttab),
                rows.collect::<Vec<u8>>(),
            )
            .with_answer(Question::List("/dev/disk/by-uuid".into()), b"1\0");
        let (mut facts, from) = (FactSet::default(), || Source::from_file("a test"));
        facts.insert_known(
            &Subject::host(),
            &host::CONTAINER,
            "none".to_owned(),
            from(),
        );
        for name in ["vda", "vdb"] {
            facts.insert_known(
                &Subject::device(name),
                &block::KIND,
                block::DeviceKind::Disk,
                from(),
            );
        }
        for (number, (name, kind)) in unlocked.iter().enumerate() {
            let device = Subject::device(format!("dm-{number}"));
            facts.insert_known(&device, &block::DM_NAME, (*name).to_owned(), from());
            facts.insert_known(
                &device,
                &block::DM_UUID,
                format!("CRYPT-{kind}-{name}"),
                from(),
            );
            facts.add_layer_below(&device, &Subject::device("vdb"));
        }
        record_crypttab(&host, &mut facts);
        facts
    }

    fn joined_names(facts: &FactSet, key: &Key<Vec<String>>) -> String {
        facts.host_value(key).unwrap().join(" ")
    }

    #[test]
    fn crypttab_lines_are_classified() {
        let lines = [
            ("data", "UUID=1\tnone\tluks,discard\twhole"),
            ("gone", "UUID=2\tfile\tluks,nofail\twhole"),
            ("odd", "UUID=1\tnone\tluks\tpart"),
            ("plain", "/dev/vdb\tthere\tplain\twhole"),
            (
                "said",
                "/dev/vdb\tthere\tplain,cipher=aes-xts-plain64,hash=sha256\twhole",
            ),
            ("swap", "/dev/vdb\trandom\tswap\twhole"),
            ("by-hand", "UUID=2\tnone\tluks,noauto\twhole"),
            ("null", "/dev/null\tnone\tluks\twhole"),
        ];
        let unlocked = [
            ("data", "LUKS2-1"),
            ("odd", "LUKS2-1"),
            ("plain", "PLAIN"),
            ("said", "PLAIN"),
            ("swap", "PLAIN"),
        ];
        let facts = crypttab_facts(&lines, &unlocked);
        assert_eq!(
            joined_names(&facts, &boot::UNLOCKED),
            "data gone odd plain said swap null"
        );
        assert_eq!(joined_names(&facts, &boot::UNLOCKED_OPTIONAL), "gone");
        assert_eq!(joined_names(&facts, &boot::UNLOCKED_MISSING), "gone null");
        assert_eq!(joined_names(&facts, &boot::UNLOCKED_UNSEEN), "odd");
        assert_eq!(joined_names(&facts, &boot::UNLOCKED_BY_DEFAULTS), "plain");
    }

    #[test]
    fn unsupported_crypttab_options_leave_entry_unknown() {
        let is_known = |value: &str, kind: &str| {
            let facts = crypttab_facts(&[("data", value)], &[("data", kind)]);
            joined_names(&facts, &boot::UNLOCKED_UNSEEN).is_empty()
                && joined_names(&facts, &boot::UNLOCKED_MISSING).is_empty()
        };
        for (value, kind) in [
            (
                "/dev/vdb\tthere\tluks,tries=3,timeout=90s,key-slot=1\twhole",
                "LUKS2-1",
            ),
            ("/dev/vdb\tnone\t\twhole", "LUKS1-1"),
            ("UUID=1\tnone\t\twhole", "LUKS1-1"),
            (
                "/dev/vdb\trandom\tswap,cipher=aes-xts-plain64,size=512,hash=sha256,sector-size=4096\twhole",
                "PLAIN",
            ),
            (
                "/dev/vdb\trandom\ttmp=ext4,cipher=aes-cbc-essiv:sha256,size=192\twhole",
                "PLAIN",
            ),
        ] {
            assert!(is_known(value, kind), "{value}");
        }
        for (value, kind) in [
            ("/dev/vdb\tfile\tluks\twhole", "LUKS2-1"),
            ("/dev/vdb\tnone\tluks,header\twhole", "LUKS2-1"),
            ("/dev/vdb\tnone\tluks,keyscript\twhole", "LUKS2-1"),
            ("/dev/vdb\tnone\tluks,tpm2-device\twhole", "LUKS2-1"),
            ("/dev/vdb\trandom\tluks\twhole", "LUKS2-1"),
            ("/dev/vdb\trandom\t\twhole", "PLAIN"),
            ("/dev/vdb\trandom\tswap,cipher=bogus\twhole", "PLAIN"),
            ("/dev/vdb\trandom\tswap,size=7\twhole", "PLAIN"),
            ("/dev/vdb\trandom\tswap,size=512\twhole", "PLAIN"),
            (
                "/dev/vdb\trandom\tswap,cipher=aes-xts-plain64,size=128\twhole",
                "PLAIN",
            ),
            ("/dev/vdb\trandom\tswap,hash=nonsense\twhole", "PLAIN"),
            ("/dev/vdb\trandom\tswap,sector-size=513\twhole", "PLAIN"),
            ("/dev/vdb\trandom\ttmp=bogus\twhole", "PLAIN"),
            ("/dev/vdb\tnone\tluks,timeout=soon\twhole", "LUKS2-1"),
            ("/dev/vdb\tnone\tluks\twhole", "PLAIN"),
            ("/dev/vdb\tnone\tplain\twhole", "LUKS2-1"),
            ("/dev/vda\tnone\tluks\twhole", "LUKS2-1"),
            ("UUID=1\tnone\tluks\twhole", "LUKS2-2"),
        ] {
            assert!(!is_known(value, kind), "{value}");
        }
        let locked = crypttab_facts(&[("data", "/dev/vdb\tnone\tluks\twhole")], &[]);
        assert_eq!(
            joined_names(&locked, &boot::UNLOCKED_UNSEEN),
            "data",
            "what is not unlocked now"
        );
    }

    #[test]
    fn type_of_untyped_line_follows_unlocked_mapping() {
        let by_defaults = |value: &str, kind: &str| {
            let facts = crypttab_facts(&[("data", value)], &[("data", kind)]);
            !joined_names(&facts, &boot::UNLOCKED_BY_DEFAULTS).is_empty()
        };
        for (value, kind, expected) in [
            ("/dev/vdb\tthere\t\twhole", "PLAIN", true),
            (
                "/dev/vdb\tthere\tcipher=aes-xts-plain64,hash=sha256\twhole",
                "PLAIN",
                false,
            ),
            (
                "/dev/vdb\tthere\tcipher=aes-xts-plain64\twhole",
                "PLAIN",
                true,
            ),
            ("/dev/vdb\tthere\t\twhole", "LUKS2-1", false),
            ("/dev/vdb\tthere\tluks\twhole", "PLAIN", false),
            ("/dev/vdb\trandom\tswap\twhole", "PLAIN", false),
        ] {
            assert_eq!(by_defaults(value, kind), expected, "{value} {kind}");
        }
        let locked = |device: &str| {
            let facts = crypttab_facts(&[("data", &format!("{device}\tnone\t\twhole"))], &[]);
            !joined_names(&facts, &boot::UNLOCKED_BY_DEFAULTS).is_empty()
        };
        assert!(
            locked("/dev/vdb") && !locked("UUID=1"),
            "what has an id has a header"
        );
    }
}
