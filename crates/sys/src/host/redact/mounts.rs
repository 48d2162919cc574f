//! Present and future mounts: fstab, mount units, mount tables.
//!
//! Logins in devices and addresses (before `@`) are removed; [`super::mount_options`] lists the
//! options that are kept. Mount tables keep all options of local file systems, because the kernel
//! itself has written them. Each fstab line and unit is marked complete or not, because an
//! incomplete one must never be pasted.

use super::mount_options::{
    LOCAL_TYPES, is_local_disk, keeps_all_options, names_local_disk, redact_mount_options,
};
use super::service_unit::section_assignments;
use crate::host::{ConfigDirective, is_in_word_list};
use crate::text::bytes::lines;

/// Removes the login from a device or address. A source that consists of settings, as rclone has,
/// becomes `none`.
pub fn redact_mount_source(text: &[u8]) -> Vec<u8> {
    if names_local_disk(text) {
        return text.to_vec();
    }
    let text = text.split(|b| *b == b'?').next().unwrap_or_default();
    if text.contains(&b'=') {
        return b"none".to_vec();
    }
    let Some(at) = text.iter().rposition(|b| *b == b'@') else {
        return text.to_vec();
    };
    let (before, host) = text.split_at(at);
    let marks: [&[u8]; 2] = [b"//", b"#"];
    let scheme = marks
        .iter()
        .find_map(|mark| Some(before.windows(mark.len()).position(|w| w == *mark)? + mark.len()));
    let (scheme, _user) = before.split_at(scheme.unwrap_or(0));
    [scheme, host.get(1..).unwrap_or_default()].concat()
}

fn numbered_lines(text: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    (1..).zip(lines(text).map(|line| line.strip_suffix(b"\r").unwrap_or(line)))
}

fn split_fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|b| *b == b' ' || *b == b'\t')
        .filter(|word| !word.is_empty())
}

/// Keeps the fields of each line as in fstab(5): device, type, options, the two trailing numbers if
/// present, and completeness. A line is incomplete if its fifth or sixth field is not a number,
/// which happens if the options contain a blank.
pub fn redact_fstab(text: &[u8]) -> Vec<ConfigDirective> {
    let row = |(line, text): (u32, &[u8])| {
        let mut fields = split_fields(text);
        let device = fields.next().filter(|device| !device.starts_with(b"#"))?;
        let is_point =
            |point: &&[u8]| point.starts_with(b"/") || matches!(*point, b"none" | b"swap");
        let point = fields.next().filter(is_point)?;
        let fstype = fields.next()?;
        let written = fields.next().unwrap_or(b"defaults");
        let (from, kept) = (
            redact_mount_source(device),
            redact_mount_options(written, is_local_disk(fstype, device)),
        );
        let mut rest: Vec<&[u8]> = fields.collect();
        // libmount ignores text after the two numbers, such as a comment.
        if matches!(rest.as_slice(), [first, second, ..] if is_short_number(first) && is_short_number(second))
        {
            rest.truncate(2);
        }
        let numbers = rest.len() <= 2 && rest.iter().all(|word| is_short_number(word));
        let spilled = rest
            .iter()
            .take(2)
            .find(|word| !is_short_number(word))
            .is_some_and(|word| !word.starts_with(b"#"));
        let all = if spilled {
            b"excess"
        } else {
            completeness_word(numbers && from == device && keeps_all_options(written, &kept))
        };
        let numbers = if numbers {
            rest.join(&b' ')
        } else {
            Vec::new()
        };
        let value = [&from, fstype, &kept, &numbers, all].join(&b'\t');
        Some(ConfigDirective::new(line, point, value))
    };
    numbered_lines(text).filter_map(row).collect()
}

fn is_short_number(word: &[u8]) -> bool {
    word.len() <= 3 && word.iter().all(u8::is_ascii_digit)
}

pub fn completeness_word(all: bool) -> &'static [u8] {
    if all { b"whole" } else { b"part" }
}

/// Keeps the keys `what`, `where`, `type` and `options` of the section `[Mount]`
/// (systemd.mount(5)). After the last of them, a key `kept` states whether all values are complete.
pub fn redact_mount_unit(text: &[u8]) -> Vec<ConfigDirective> {
    let assignments = section_assignments(text, b"[Mount]");
    let last = |key: &[u8]| {
        assignments
            .iter()
            .rev()
            .find(|(_, found, _)| *found == key)
            .map(|(_, _, value)| value.as_slice())
    };
    let local = is_local_disk(
        last(b"Type").unwrap_or(b"auto"),
        last(b"What").unwrap_or_default(),
    );
    let mut settings: Vec<ConfigDirective> = Vec::new();
    let mut all = true;
    for (line, key, value) in &assignments {
        if let Some(setting) = redact_mount_unit_setting(*line, key, value, local) {
            all &= if key == b"Options" {
                keeps_all_options(value, &setting.value)
            } else {
                setting.value == *value
            };
            settings.push(setting);
        }
    }
    let kept = settings.last().map(|last| ConfigDirective {
        key: b"kept".to_vec(),
        value: completeness_word(all).to_vec(),
        ..*last
    });
    settings.extend(kept);
    settings
}

fn redact_mount_unit_setting(
    line: u32,
    key: &[u8],
    value: &[u8],
    local: bool,
) -> Option<ConfigDirective> {
    let value = match key {
        b"What" => redact_mount_source(value),
        b"Options" => redact_mount_options(value, local),
        b"Where" | b"Type" => value.to_vec(),
        _ => return None,
    };
    Some(ConfigDirective::new(line, key.to_ascii_lowercase(), value))
}

/// Filters /proc/PID/mountinfo or /proc/PID/mounts. Logins are removed from all addresses; entries
/// whose type may need a login also lose unlisted options.
pub fn redact_mount_table(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|b| *b == b'\n') {
        let (body, end) = line.split_at(line.len() - usize::from(line.ends_with(b"\n")));
        let words: Vec<&[u8]> = body.split(|b| *b == b' ').collect();
        // In mountinfo, type, source and options follow a dash; in mounts they are the third, first
        // and fourth words.
        let dash = words.iter().position(|word| *word == b"-");
        let (fstype, from, rest) = dash.map_or((2, 0, 3), |dash| (dash + 1, dash + 2, dash + 3));
        let fstype = words.get(fstype).copied();
        let remote = fstype.is_some_and(|fstype| !is_secret_free_fstype(fstype));
        // The source of a tmpfs may contain a login, too. In the name of a ZFS dataset, `@`
        // precedes a snapshot.
        let is_dataset = fstype == Some(b"zfs");
        let is_local =
            |source: &[u8]| is_dataset || source.starts_with(b"/") && !source.starts_with(b"//");
        let cleaned = words.iter().enumerate().map(|(i, word)| match i {
            i if i == from && (remote || !is_local(word)) => redact_mount_source(word),
            i if i == rest && remote => redact_mount_options(word, false),
            _ => word.to_vec(),
        });
        out.extend_from_slice(&cleaned.collect::<Vec<_>>().join(&b' '));
        out.extend_from_slice(end);
    }
    out
}

/// Whether neither the options nor the source of a file system can be secret. This holds for local
/// disks, and for file systems that the kernel creates by itself or from existing mounts.
fn is_secret_free_fstype(fstype: &[u8]) -> bool {
    const KERNEL_FILE_SYSTEMS: &str = "aufs autofs binfmt_misc bpf cgroup cgroup2 configfs cramfs debugfs devpts devtmpfs ecryptfs \
        efivarfs erofs fuse.fuse-overlayfs fuse.lxcfs fuse.mergerfs fuseblk fusectl gfs2 hfs hfsplus hugetlbfs jffs2 minix \
        mqueue nfsd nsfs ocfs2 overlay proc pstore ramfs resctrl rootfs rpc_pipefs securityfs selinuxfs squashfs sysfs tmpfs \
        tracefs ubifs zfs";
    is_in_word_list(LOCAL_TYPES, fstype) || is_in_word_list(KERNEL_FILE_SYSTEMS, fstype)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directive_rows(settings: Vec<ConfigDirective>) -> Vec<(u32, String, String)> {
        let shown = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        settings
            .into_iter()
            .map(|s| (s.line, shown(s.key), shown(s.value)))
            .collect()
    }

    fn expected_row(line: u32, key: &str, value: &str) -> (u32, String, String) {
        (line, key.to_owned(), value.to_owned())
    }

    #[test]
    fn fstab_keeps_devices_types_and_known_options() {
        let text = "# /etc/fstab\n\
            UUID=1-2 / ext4 noatime,nobarrier,x-systemd.device-timeout=10,data=writeback 0 1\n\
            //me:pw@nas/share\t/mnt\\040nas\tcifs\tusername=me,password=pw,user=me,vers=3.0,credentials=/x 0 0\n\
            sshfs#me:p@ss@host:/dir /ssh fuse defaults,IdentityFile=/k\n\
            /dev/mapper/a@b /b xfs\n\
            broken\n\
            /dev/sdc /c xfs noatime 0 0 # a note\n\
            /dev/sdd /d xfs noatime 0\n\
            /dev/sde /e ext4 noatime,comit=5 0 2\n\
            /dev/sdf /f ext4 noatime, nobarrier 0 2\n";
        let expected = [
            expected_row(
                2,
                "/",
                "UUID=1-2\text4\tnoatime,nobarrier,x-systemd.device-timeout=10,data=writeback\t0 1\twhole",
            ),
            expected_row(
                3,
                "/mnt\\040nas",
                "//nas/share\tcifs\tuser=,vers=3.0\t0 0\tpart",
            ),
            expected_row(4, "/ssh", "sshfs#host:/dir\tfuse\tdefaults\t\tpart"),
            expected_row(5, "/b", "/dev/mapper/a@b\txfs\tdefaults\t\twhole"),
            expected_row(7, "/c", "/dev/sdc\txfs\tnoatime\t0 0\twhole"),
            expected_row(8, "/d", "/dev/sdd\txfs\tnoatime\t0\twhole"),
            expected_row(9, "/e", "/dev/sde\text4\tnoatime,comit\t0 2\tpart"),
            expected_row(10, "/f", "/dev/sdf\text4\tnoatime\t\texcess"),
        ];
        assert_eq!(directive_rows(redact_fstab(text.as_bytes())), expected);
    }

    #[test]
    fn mount_unit_keeps_what_where_type_and_options() {
        let text = "[Unit]\nWhat=/unit\n[Mount]\n# What=/comment\nWhat = ftp://me:pw@host/dir\nWhere=/srv\nType=xfs\n\
            Options=noatime,\\\nnobarrier,password=x\nType=ext4\nWhat=/dev/a\nType=nfs\nEnvironment=A=b\n[Install]\nWhere=/install\n";
        let expected = [
            expected_row(5, "what", "ftp://host/dir"),
            expected_row(6, "where", "/srv"),
            expected_row(7, "type", "xfs"),
            expected_row(8, "options", "noatime"),
            expected_row(10, "type", "ext4"),
            expected_row(11, "what", "/dev/a"),
            expected_row(12, "type", "nfs"),
            expected_row(12, "kept", "part"),
        ];
        assert_eq!(directive_rows(redact_mount_unit(text.as_bytes())), expected);
    }

    #[test]
    fn local_disk_needs_local_type_and_source() {
        for (fstype, source, local) in [
            ("ext4", "/dev/sda1", true),
            ("xfs,ext4", "UUID=1", true),
            ("auto", "LABEL=x", true),
            ("auto", "host:/x", false),
            ("ext4,cifs", "/dev/sda1", false),
            ("nfs", "/dev/sda1", false),
            ("fuse", "/dev/sda1", false),
            ("ntfs-3g", "/dev/sda1", false),
            ("", "/dev/sda1", false),
        ] {
            assert_eq!(
                is_local_disk(fstype.as_bytes(), source.as_bytes()),
                local,
                "{fstype} {source}"
            );
            let line = format!("{source} /x {fstype} ro,odd=1");
            let unit = format!("[Mount]\nOptions=ro,odd=1\nType={fstype}\nWhat={source}\n");
            if !fstype.is_empty() {
                for kept in [
                    redact_fstab(line.as_bytes()),
                    self::redact_mount_unit(unit.as_bytes()),
                ] {
                    let kept = directive_rows(kept);
                    let options = kept[0].2.split('\t').find(|field| field.starts_with("ro"));
                    assert_eq!(
                        options,
                        Some(if local { "ro,odd" } else { "ro" }),
                        "{kept:?}"
                    );
                    assert!(kept.iter().any(|row| row.2.ends_with("part")), "{kept:?}");
                }
            }
        }
    }

    #[test]
    fn mount_tables_lose_logins_and_unlisted_remote_options() {
        let local =
            "26 1 8:1 / / rw,relatime shared:1 - ext4 /dev/mapper/a@b rw,weird=1,data=ordered\n";
        assert_eq!(redact_mount_table(local.as_bytes()), local.as_bytes());
        let remote = "40 26 0:50 / /m rw - fuse.curlftpfs curlftpfs#ftp://me:pw@host/ rw,user_id=0,allow_other\n\
            41 26 0:51 / /n rw - cifs //nas/x rw,vers=3.1.1,username=me,soft\n";
        let expected = "40 26 0:50 / /m rw - fuse.curlftpfs curlftpfs#ftp://host/ rw\n\
            41 26 0:51 / /n rw - cifs //nas/x rw,vers=3.1.1,soft\n";
        assert_eq!(
            String::from_utf8(redact_mount_table(remote.as_bytes())).unwrap(),
            expected
        );
        assert_eq!(
            redact_mount_table(b"ftp://me:pw@host/ /m fuse.x rw,pw=1 0 0"),
            b"ftp://host/ /m fuse.x rw 0 0"
        );
        let others = "42 26 0:52 / /o rw - zfs tank/pg@now rw\n43 26 0:53 / /p rw - tmpfs x://me:pw@host/ rw,a=b\n";
        let expected = others.replace("me:pw@", "");
        assert_eq!(
            String::from_utf8(redact_mount_table(others.as_bytes())).unwrap(),
            expected,
            "whoever mounts it"
        );
        let unknown = "44 26 0:54 / /q rw - newfs me:pw@host:/x rw,noatime,pw=1\n\
            45 26 0:55 / /r rw - fuse.rclone :s3,secret_access_key=pw:bucket rw,user_id=0\n";
        let expected = "44 26 0:54 / /q rw - newfs host:/x rw,noatime\n45 26 0:55 / /r rw - fuse.rclone none rw\n";
        assert_eq!(
            String::from_utf8(redact_mount_table(unknown.as_bytes())).unwrap(),
            expected,
            "what nobody knows is not shown"
        );
    }
}
