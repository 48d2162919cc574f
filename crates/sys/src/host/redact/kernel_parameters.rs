//! The kernel's command line, reduced to the root and the devices that the boot waits for. Other
//! parameters that mount or unlock something are reduced to names.
//!
//! All further parameters are dropped, and a parameter kept by name loses its value. The line
//! `names` is written even if empty, unlike in old captures, which lack it.

use super::mount_options::redact_mount_options;
use super::mounts::{completeness_word, redact_mount_source};
use super::split_once_byte;
use crate::host::{ConfigDirective, is_in_word_list};

/// Sorted list of parameters that mount or unlock something or use it as swap, or that prevent
/// this. Sources: kernel-command-line(7), systemd-fstab-generator(8),
/// systemd-cryptsetup-generator(8), systemd-gpt-auto-generator(8),
/// systemd-veritysetup-generator(8), systemd-volatile-root.service(8), dracut.cmdline(7),
/// initramfs-tools, cryptsetup-initramfs, mkinitcpio, overlayroot and zfs-initramfs.
const PARAMETERS_KEPT_BY_NAME: &str = "boot bootfs cryptdevice cryptkey cryptopts dm-mod.create fstab luks luks.crypttab \
    luks.data luks.key luks.name luks.options luks.uuid md mount.usr mount.usrflags \
    mount.usrfstype netroot nfsroot overlayroot rd.dm.uuid rd.fstab rd.luks.crypttab \
    rd.luks.data rd.luks.key rd.luks.name rd.luks.options rd.luks.partuuid rd.luks.serial \
    rd.lvm.snapshot rd.systemd.gpt-auto rd.systemd.mask rd.systemd.mount-extra \
    rd.systemd.swap-extra rd.systemd.unit rd.systemd.verity rd.systemd.wants rd.veritytab \
    roothash systemd.crypttab systemd.fstab systemd.gpt-auto systemd.mask \
    systemd.mount-extra systemd.swap systemd.swap-extra systemd.unit systemd.verity \
    systemd.verity-root-data systemd.verity-root-hash systemd.verity-root-options \
    systemd.verity-usr-data systemd.verity-usr-hash systemd.volatile systemd.wants usrhash \
    veritytab zfs";

/// Parameters that make an initramfs activate devices and wait for them, by name or id
/// (dracut.cmdline(7)).
const DEVICE_PARAMETERS: &str = "rd.luks.uuid rd.lvm.lv rd.lvm.vg rd.md.uuid";

/// The longest device name, in bytes; a longer word does not count as a name.
const LONGEST_NAME: usize = 200;

/// Keeps the parameters root, rootfstype, rootflags, elevator (the kernel's
/// Documentation/admin-guide/kernel-parameters.txt), resume, and those of [`DEVICE_PARAMETERS`].
/// The line `names` lists the parameters of [`PARAMETERS_KEPT_BY_NAME`] that occur. The line `kept`
/// states whether rootflags, if present, are complete.
pub fn redact_kernel_command_line(text: &[u8]) -> Vec<ConfigDirective> {
    let mut quoted = false;
    let parameters = text.split(|b| {
        quoted ^= *b == b'"';
        !quoted && b.is_ascii_whitespace()
    });
    let (mut settings, mut names, mut all) = (Vec::new(), Vec::new(), true);
    for parameter in parameters {
        let parameter: Vec<u8> = parameter.iter().copied().filter(|b| *b != b'"').collect();
        let assignment = split_once_byte(&parameter, b'=');
        let (key, value) = assignment.unwrap_or((&parameter, b""));
        let kept = match key {
            b"root" | b"resume" => Some(redact_mount_source(value)),
            b"rootflags" => Some(redact_mount_options(value, false)),
            b"rootfstype" | b"elevator" => Some(value.to_vec()),
            key if is_in_word_list(DEVICE_PARAMETERS, key) && is_plain_device_name(value) => {
                Some(value.to_vec())
            }
            _ => None,
        };
        match kept.filter(|_| assignment.is_some()) {
            Some(kept) => {
                all &= key != b"rootflags" || kept == value;
                settings.push(ConfigDirective::new(1, key, kept));
            }
            None => names.extend(allowed_parameter_name(key)),
        }
    }
    let has_flags = settings.iter().any(|setting| setting.key == b"rootflags");
    names.sort_unstable();
    names.dedup();
    settings.push(ConfigDirective::new(1, b"names", names.join(",")));
    settings.extend(has_flags.then(|| ConfigDirective::new(1, b"kept", completeness_word(all))));
    settings
}

/// As for systemd and the kernel, `_` equals `-`.
fn allowed_parameter_name(key: &[u8]) -> Option<&'static str> {
    let key: Vec<u8> = key
        .iter()
        .map(|b| if *b == b'_' { b'-' } else { *b })
        .collect();
    [PARAMETERS_KEPT_BY_NAME, DEVICE_PARAMETERS]
        .into_iter()
        .flat_map(str::split_ascii_whitespace)
        .find(|name| name.as_bytes() == key)
}

fn is_plain_device_name(value: &[u8]) -> bool {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_.:+/".contains(b);
    (1..=LONGEST_NAME).contains(&value.len()) && value.iter().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redact_to_lines(text: &str) -> Vec<String> {
        let shown = |setting: ConfigDirective| {
            let [key, value] =
                [setting.key, setting.value].map(|bytes| String::from_utf8(bytes).unwrap());
            format!("{key} {value}")
        };
        redact_kernel_command_line(text.as_bytes())
            .into_iter()
            .map(shown)
            .collect()
    }

    #[test]
    fn root_and_rootflags_are_kept() {
        let text = "BOOT_IMAGE=/vmlinuz root=UUID=1-2 ro rootflags=\"data=journal,subvol=@\" password=x elevator=noop\n";
        let expected = [
            "root UUID=1-2",
            "rootflags data=journal,subvol=@",
            "elevator noop",
            "names ",
            "kept whole",
        ];
        assert_eq!(redact_to_lines(text), expected);
        assert_eq!(redact_to_lines(""), ["names "]);
        let lost = "rootflags=password=x rootflags=noatime\n";
        assert_eq!(
            redact_to_lines(lost),
            ["rootflags ", "rootflags noatime", "names ", "kept part"]
        );
    }

    #[test]
    fn mount_and_unlock_parameters_are_reduced_to_names() {
        let text = "mount.usr=/dev/gone mount.usrflags=password=x systemd.mount_extra=me:pw@host:/x luks zfs=gone/root \
                    rd.luks.uuid=luks-1 rd.lvm.lv=rhel/root rd.lvm.lv=\"a b\" rd.md.uuid resume=UUID=7 rd.luks.key=/secret\n";
        let expected = [
            "rd.luks.uuid luks-1",
            "rd.lvm.lv rhel/root",
            "resume UUID=7",
            "names luks,mount.usr,mount.usrflags,rd.luks.key,rd.lvm.lv,rd.md.uuid,systemd.mount-extra,zfs",
        ];
        assert_eq!(redact_to_lines(text), expected);
        assert!(PARAMETERS_KEPT_BY_NAME.split(' ').is_sorted());
    }
}
