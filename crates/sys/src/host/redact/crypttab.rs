//! Encrypted devices that the boot unlocks: crypttab(5).
//!
//! For a key, the answer has only its kind and whether its file exists, never the path. Options are
//! kept only if known, and their values only if these are numbers, algorithms or file system types.
//! Each line is marked complete or not. A line that lost an option or a value, such as the path of
//! a header, is incomplete.

use std::path::Path;

use super::mount_options::LOCAL_SOURCES;
use super::mounts::completeness_word;
use crate::host::{ConfigDirective, path_from_bytes};

/// Options that are kept with their values, which are algorithms, file systems and numbers.
const OPTIONS_WITH_VALUE: [&[u8]; 9] = [
    b"cipher",
    b"hash",
    b"key-slot",
    b"sector-size",
    b"size",
    b"timeout",
    b"tmp",
    b"tries",
    b"x-systemd.device-timeout",
];

/// Options that are kept without a value; a value makes the line incomplete.
const OPTIONS_WITHOUT_VALUE: [&[u8]; 23] = [
    b"_netdev",
    b"bitlk",
    b"discard",
    b"fido2-device",
    b"header",
    b"initramfs",
    b"keyfile-erase",
    b"keyscript",
    b"loud",
    b"luks",
    b"no-read-workqueue",
    b"no-write-workqueue",
    b"noauto",
    b"noearly",
    b"nofail",
    b"plain",
    b"readonly",
    b"same-cpu-crypt",
    b"submit-from-crypt-cpus",
    b"swap",
    b"tcrypt",
    b"tpm2-device",
    b"x-initrd.attach",
];

/// Reduces crypttab to one directive per line, whose key is the device's name. The value holds the
/// underlying device, the kind of key, the options and completeness, separated by tabs. `is_there`
/// checks whether a key file exists.
pub fn redact_crypttab(text: &[u8], is_there: &dyn Fn(&Path) -> bool) -> Vec<ConfigDirective> {
    let row = |(number, line): (u32, &[u8])| {
        let mut fields = line
            .split(u8::is_ascii_whitespace)
            .filter(|field| !field.is_empty());
        let name = fields.next().filter(|name| !name.starts_with(b"#"))?;
        let device = fields.next()?;
        let is_named = LOCAL_SOURCES
            .iter()
            .any(|prefix| device.starts_with(prefix));
        let device = if is_named { device } else { b"file" };
        let key: &[u8] = match fields.next() {
            None | Some(b"none" | b"-") => b"none",
            Some(b"/dev/urandom" | b"/dev/random") => b"random",
            Some(key) if key.starts_with(b"/") && is_there(&path_from_bytes(key.to_vec())) => {
                b"there"
            }
            Some(_) => b"file",
        };
        let written = fields
            .next()
            .filter(|written| !matches!(*written, b"none" | b"-"))
            .unwrap_or_default();
        let spilled = fields.next().is_some_and(|more| !more.starts_with(b"#"));
        let options: Vec<&[u8]> = written
            .split(|b| *b == b',')
            .filter(|option| !option.is_empty())
            .collect();
        let kept: Vec<Vec<u8>> = options.iter().copied().filter_map(allowed_option).collect();
        let all = !spilled && kept == options;
        Some(ConfigDirective::new(
            number,
            name,
            [device, key, &kept.join(&b',')[..], completeness_word(all)].join(&b'\t'),
        ))
    };
    (1..)
        .zip(text.split(|b| *b == b'\n'))
        .filter_map(row)
        .collect()
}

fn allowed_option(written: &[u8]) -> Option<Vec<u8>> {
    let name = written.split(|b| *b == b'=').next().unwrap_or_default();
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"=-:_.".contains(b);
    if OPTIONS_WITH_VALUE.contains(&name) && written.len() <= 60 && written.iter().all(plain) {
        return Some(written.to_vec());
    }
    (OPTIONS_WITHOUT_VALUE.contains(&name) || OPTIONS_WITH_VALUE.contains(&name))
        .then(|| name.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_where_they_are() {
        let text = "# name device key options\n\
            data UUID=1-2 /root/secret.key luks,discard,x-initrd.attach,nofail\n\
            swap /dev/sda3 /dev/urandom swap,cipher=aes-xts-plain64,size=512\n\
            old /dev/sdb1 none plain,header=/root/header\n\
            file /var/me.img\n\
            broken\n\
            kept UUID=1-2 /root/kept.key luks,tries=3\n\
            script UUID=1-2 /root/kept.key luks,keyscript=/lib/gone\n\
            more UUID=1-2 none luks nofail\n\
            said UUID=1-2 none luks # nofail\n\
            hardware /dev/sda3 /dev/hw_random swap,,frobnicate\n";
        let rows: Vec<(u32, String, String)> =
            redact_crypttab(text.as_bytes(), &|key| key.ends_with("kept.key"))
                .into_iter()
                .map(|row| {
                    (
                        row.line,
                        String::from_utf8(row.key).unwrap(),
                        String::from_utf8(row.value).unwrap(),
                    )
                })
                .collect();
        let row = |line, name: &str, value: &str| (line, name.to_owned(), value.to_owned());
        assert_eq!(
            rows,
            [
                row(
                    2,
                    "data",
                    "UUID=1-2\tfile\tluks,discard,x-initrd.attach,nofail\twhole"
                ),
                row(
                    3,
                    "swap",
                    "/dev/sda3\trandom\tswap,cipher=aes-xts-plain64,size=512\twhole"
                ),
                row(4, "old", "/dev/sdb1\tnone\tplain,header\tpart"),
                row(5, "file", "file\tnone\t\twhole"),
                row(7, "kept", "UUID=1-2\tthere\tluks,tries=3\twhole"),
                row(8, "script", "UUID=1-2\tthere\tluks,keyscript\tpart"),
                row(9, "more", "UUID=1-2\tnone\tluks\tpart"),
                row(10, "said", "UUID=1-2\tnone\tluks\twhole"),
                row(11, "hardware", "/dev/sda3\tfile\tswap\tpart"),
            ]
        );
    }
}
