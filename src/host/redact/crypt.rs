//! Encrypted devices that the boot unlocks: crypttab(5).
//!
//! Of a key only the kind is told, never where it lies; of options those whose names are known, with a value where that is a number or
//! an algorithm. The surprise: a line says of itself whether that is all of its options.

use super::mounts::whole;
use super::options::LOCAL_SOURCES;
use crate::host::Setting;

/// Options that are kept with their values: they name algorithms and sizes.
const WITH_VALUE: [&[u8]; 5] = [b"cipher", b"hash", b"size", b"sector-size", b"timeout"];

/// Options that are kept without a value, whether they have one or not.
const NAMES: [&[u8]; 25] = [
    b"_netdev",
    b"bitlk",
    b"discard",
    b"fido2-device",
    b"header",
    b"initramfs",
    b"key-slot",
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
    b"tmp",
    b"tpm2-device",
    b"tries",
];

/// Name, then device, kind of key, options and whether these are all, with tabs between.
pub fn table(text: &[u8]) -> Vec<Setting> {
    let row = |(number, line): (u32, &[u8])| {
        let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        let name = fields.next().filter(|name| !name.starts_with(b"#"))?;
        let device = fields.next()?;
        let is_named = LOCAL_SOURCES.iter().any(|prefix| device.starts_with(prefix));
        let device = if is_named { device } else { b"file" };
        let key: &[u8] = match fields.next() {
            None | Some(b"none" | b"-") => b"none",
            Some(b"/dev/urandom" | b"/dev/random" | b"/dev/hw_random") => b"random",
            Some(_) => b"file",
        };
        let written = fields.next().filter(|written| !matches!(*written, b"none" | b"-")).unwrap_or_default();
        let kept: Vec<Vec<u8>> = written.split(|b| *b == b',').filter_map(option).collect();
        let all = written.split(|b| *b == b',').filter(|option| !option.is_empty()).count() == kept.len();
        Some(Setting::new(number, name, [device, key, &kept.join(&b',')[..], whole(all)].join(&b'\t')))
    };
    (1..).zip(text.split(|b| *b == b'\n')).filter_map(row).collect()
}

fn option(written: &[u8]) -> Option<Vec<u8>> {
    let name = written.split(|b| *b == b'=').next().unwrap_or_default();
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"=-:_".contains(b);
    if WITH_VALUE.contains(&name) && written.len() <= 60 && written.iter().all(plain) {
        return Some(written.to_vec());
    }
    (NAMES.contains(&name) || WITH_VALUE.contains(&name)).then(|| name.to_vec())
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
            broken\n";
        let rows: Vec<(u32, String, String)> = table(text.as_bytes())
            .into_iter()
            .map(|row| (row.line, String::from_utf8(row.key).unwrap(), String::from_utf8(row.value).unwrap()))
            .collect();
        let row = |line, name: &str, value: &str| (line, name.to_owned(), value.to_owned());
        assert_eq!(
            rows,
            [
                row(2, "data", "UUID=1-2\tfile\tluks,discard,nofail\tpart"),
                row(3, "swap", "/dev/sda3\trandom\tswap,cipher=aes-xts-plain64,size=512\twhole"),
                row(4, "old", "/dev/sdb1\tnone\tplain,header\twhole"),
                row(5, "file", "file\tnone\t\twhole"),
            ]
        );
    }
}
