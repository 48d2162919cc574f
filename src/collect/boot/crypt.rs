//! Encrypted devices that the next boot unlocks: the lines of crypttab(5), and whether their devices are there now.
//!
//! What is unlocked now is read with the other devices. The surprise: a plain device has no header, so the defaults of cryptsetup are a
//! part of it where its line does not say them; one with a random key is made anew at each boot, and needs none.

use std::path::Path;

use super::device;
use crate::collect::refused;
use crate::facts::catalog::boot::{self, NamedDevice};
use crate::facts::{FactSet, Reading, Source, Subject};
use crate::host::{Dialect, Host, MissKind};
use crate::text::safe;

const CRYPTTAB: &str = "/etc/crypttab";

/// Records them; none where there is no such file.
pub fn put(host: &dyn Host, facts: &mut FactSet, listed: &mut device::Listed) {
    let machine = Subject::host();
    let settings = match host.config(Path::new(CRYPTTAB), Dialect::Crypttab) {
        Ok(settings) => settings,
        Err(miss) if miss.kind == MissKind::Absent => Vec::new(),
        Err(miss) => return facts.put(&machine, &boot::UNLOCKED, refused(&miss, CRYPTTAB)),
    };
    let [mut all, mut optional, mut missing, mut unseen, mut by_defaults] = [const { Vec::new() }; 5];
    for setting in settings {
        let name = safe(&setting.key);
        let fields: Vec<String> = setting.value.split(|b| *b == b'\t').map(safe).collect();
        let [device, key, options, kept] = &fields[..] else {
            unseen.push(name.clone());
            all.push(name);
            continue;
        };
        let has = |word: &str| options.split(',').any(|option| option.split('=').next() == Some(word));
        if has("noauto") {
            continue;
        }
        if has("nofail") {
            optional.push(name.clone());
        }
        let is_made_anew = key == "random";
        // What has a header says itself how it is written.
        let has_header = ["luks", "tcrypt", "bitlk", "header"].into_iter().any(has);
        if (has("plain") || has("swap") || has("tmp"))
            && !has_header
            && !is_made_anew
            && !(has("cipher") && has("hash"))
        {
            by_defaults.push(name.clone());
        }
        let written = Source::line(CRYPTTAB, setting.line);
        match device::of(host, facts, device, &written, listed) {
            Reading::Known { value: NamedDevice::There, .. } if kept == "whole" => {}
            Reading::Known { value: NamedDevice::Missing | NamedDevice::Other, .. } => {
                missing.push(name.clone())
            }
            Reading::Known { value: NamedDevice::There | NamedDevice::None, .. }
            | Reading::Unknown { .. } => {
                unseen.push(name.clone());
            }
        }
        all.push(name);
    }
    let written = Source::file(CRYPTTAB);
    for (key, names) in [
        (&boot::UNLOCKED, all),
        (&boot::UNLOCKED_OPTIONAL, optional),
        (&boot::UNLOCKED_MISSING, missing),
        (&boot::UNLOCKED_UNSEEN, unseen),
        (&boot::UNLOCKED_BY_DEFAULTS, by_defaults),
    ] {
        facts.know(&machine, key, names, written.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::testing::Fake;
    use crate::facts::Key;
    use crate::facts::catalog::host as machine;
    use crate::host::{Question, Setting};

    #[test]
    fn lines_are_sorted_by_what_is_known_of_them() {
        let line =
            |line, name: &str, value: &str| Setting::new(line, name.as_bytes(), value.as_bytes()).encode();
        let lines = [
            line(1, "data", "UUID=1\tnone\tluks,discard\twhole"),
            line(2, "gone", "UUID=2\tfile\tluks,nofail\twhole"),
            line(3, "odd", "UUID=1\tnone\tluks\tpart"),
            line(4, "plain", "UUID=1\tfile\tplain\twhole"),
            line(5, "said", "UUID=1\tfile\tplain,cipher=aes-xts-plain64,hash=sha256\twhole"),
            line(6, "swap", "UUID=1\trandom\tswap\twhole"),
            line(7, "by-hand", "UUID=2\tnone\tluks,noauto\twhole"),
        ];
        let host = Fake::default()
            .answer(Question::Config(CRYPTTAB.into(), Dialect::Crypttab), lines.concat())
            .answer(Question::List("/dev/disk/by-uuid".into()), b"1\0");
        let mut facts = FactSet::default();
        facts.know(&Subject::host(), &machine::CONTAINER, "none".to_owned(), Source::file("cgroup"));
        put(&host, &mut facts, &mut device::Listed::default());
        let list = |key: &Key<Vec<String>>| facts.value(&Subject::host(), key).unwrap().join(" ");
        assert_eq!(list(&boot::UNLOCKED), "data gone odd plain said swap");
        assert_eq!(list(&boot::UNLOCKED_OPTIONAL), "gone");
        assert_eq!(list(&boot::UNLOCKED_MISSING), "gone");
        assert_eq!(list(&boot::UNLOCKED_UNSEEN), "odd");
        assert_eq!(list(&boot::UNLOCKED_BY_DEFAULTS), "plain");
    }
}
