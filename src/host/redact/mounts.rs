//! What will be mounted and what is mounted: fstab, mount units, the kernel's command line, mount tables.
//!
//! Of options only those are kept whose names are known and whose values cannot be secret; of devices and addresses what
//! stands before `@` is cut. Mount tables keep all options of local file systems, which the kernel itself has written.

use crate::host::Setting;

/// Mount options that are kept, with their values: generic ones and those of the file systems a database may be on, from
/// mount(8) and the kernel's Documentation/filesystems. Sorted.
const OPTIONS: &[&str] = &[
    "X-fstrim.notrim",
    "_netdev",
    "acdirmax",
    "acdirmin",
    "acl",
    "acregmax",
    "acregmin",
    "actimeo",
    "active_logs",
    "allocsize",
    "async",
    "atgc",
    "atime",
    "attr2",
    "auto",
    "auto_da_alloc",
    "autodefrag",
    "background_gc",
    "barrier",
    "bg",
    "bh",
    "big_writes",
    "block_validity",
    "bsddf",
    "bsdgroups",
    "bulk_read",
    "cache",
    "check",
    "check_int",
    "checkpoint_merge",
    "chk_data_crc",
    "clear_cache",
    "codepage",
    "commit",
    "compr",
    "compress",
    "compress-force",
    "compress_algorithm",
    "context",
    "data",
    "data_err",
    "data_flush",
    "datacow",
    "datasum",
    "dax",
    "debug",
    "debug_want_extra_isize",
    "defaults",
    "defcontext",
    "degraded",
    "delalloc",
    "dev",
    "device",
    "dioread_lock",
    "dioread_nolock",
    "dir_umask",
    "diratime",
    "dirsync",
    "discard",
    "dmask",
    "enospc_debug",
    "errors",
    "exec",
    "extent_cache",
    "fast_commit",
    "fastboot",
    "fatal_errors",
    "fg",
    "filestreams",
    "fixed_iops",
    "flushoncommit",
    "fmask",
    "fragment",
    "fscontext",
    "fsync_mode",
    "gc_merge",
    "gid",
    "gqnoenforce",
    "gquota",
    "group",
    "grpid",
    "grpjquota",
    "grpquota",
    "hard",
    "huge",
    "i_version",
    "ikeep",
    "init_itable",
    "inline_data",
    "inline_dentry",
    "inline_xattr",
    "inlinecrypt",
    "inode32",
    "inode64",
    "inode_cache",
    "inode_readahead_blks",
    "intr",
    "io_size",
    "iocharset",
    "iversion",
    "journal",
    "journal_async_commit",
    "journal_checksum",
    "journal_dev",
    "journal_ioprio",
    "journal_path",
    "jqfmt",
    "largeio",
    "lazytime",
    "lifetime",
    "local_lock",
    "logbsize",
    "logbufs",
    "logdev",
    "loop",
    "loud",
    "mand",
    "max_atomic_write",
    "max_batch_time",
    "max_inline",
    "max_open_zones",
    "mb_optimize_scan",
    "mblk_io_submit",
    "metadata_ratio",
    "min_batch_time",
    "minixdf",
    "mode",
    "nfsvers",
    "noacl",
    "noalign",
    "noatime",
    "noattr2",
    "noauto",
    "noauto_da_alloc",
    "noautodefrag",
    "nobarrier",
    "nobh",
    "noblock_validity",
    "nobootwait",
    "nocto",
    "nodatacow",
    "nodatasum",
    "nodelalloc",
    "nodev",
    "nodioread_lock",
    "nodiratime",
    "nodiscard",
    "noexec",
    "noextent_cache",
    "nofail",
    "noflush_merge",
    "noflushoncommit",
    "nogrpid",
    "noheap",
    "noikeep",
    "noinit_itable",
    "noinline_data",
    "noinline_dentry",
    "noinline_xattr",
    "noiversion",
    "nojournal_checksum",
    "nolargeio",
    "nolazytime",
    "nolease",
    "nolifetime",
    "noload",
    "noloccache",
    "nolock",
    "nolog",
    "nologreplay",
    "nomand",
    "nombcache",
    "noquota",
    "norecovery",
    "noreflink",
    "norelatime",
    "nossd",
    "nossd_spread",
    "nostrictatime",
    "nosubpage",
    "nosuid",
    "nosymfollow",
    "notreelog",
    "nousebackuproot",
    "nouser",
    "nouser_xattr",
    "nouuid",
    "nr_blocks",
    "nr_inodes",
    "offset",
    "oldalloc",
    "orlov",
    "osyncisdsync",
    "osyncisosync",
    "owner",
    "pqnoenforce",
    "pquota",
    "pri",
    "prjjquota",
    "prjquota",
    "proto",
    "qnoenforce",
    "quiet",
    "quota",
    "rdma",
    "relatime",
    "remount",
    "rescan_uuid_tree",
    "rescue",
    "reserve_root",
    "resgid",
    "resuid",
    "retrans",
    "retry",
    "ro",
    "rootcontext",
    "rsize",
    "rtdev",
    "rw",
    "seclabel",
    "shared",
    "silent",
    "size",
    "skip_balance",
    "soft",
    "softerr",
    "space_cache",
    "ssd",
    "ssd_spread",
    "strictatime",
    "stripe",
    "subvol",
    "subvolid",
    "subvolrootid",
    "suid",
    "sunit",
    "swalloc",
    "swidth",
    "sync",
    "sysvgroups",
    "test_dummy_encryption",
    "thread_pool",
    "timeo",
    "treelog",
    "udf",
    "uid",
    "umask",
    "unchecked",
    "uqnoenforce",
    "uquota",
    "usebackuproot",
    "user",
    "user_subvol_rm_allowed",
    "user_xattr",
    "users",
    "usrjquota",
    "usrquota",
    "utf8",
    "vers",
    "whint_mode",
    "wsize",
    "wsync",
    "x-fstrim.notrim",
    "x-initrd.mount",
    "zfsutil",
    "zone_reset",
];

/// Options of systemd.mount(5) and mount(8), all harmless.
const OPTION_FAMILIES: [&str; 3] = ["x-systemd.", "x-initrd.", "X-mount."];

/// The options that are kept, in their order.
fn options(list: &[u8]) -> Vec<u8> {
    let kept = list.split(|b| *b == b',').filter(|option| {
        let name = option.split(|b| *b == b'=').next().unwrap_or_default();
        let has_value = name.len() < option.len();
        let Ok(name) = str::from_utf8(name) else { return false };
        // `user=NAME` is what network file systems call the account.
        let account = name == "user" && has_value;
        let known = OPTIONS.contains(&name) || OPTION_FAMILIES.iter().any(|family| name.starts_with(family));
        known && !account
    });
    kept.collect::<Vec<_>>().join(&b',')
}

/// A device or address without who logs in there.
fn source(text: &[u8]) -> Vec<u8> {
    const LOCAL: [&[u8]; 6] = [b"/dev/", b"UUID=", b"LABEL=", b"PARTUUID=", b"PARTLABEL=", b"ID="];
    if LOCAL.iter().any(|prefix| text.starts_with(prefix)) {
        return text.to_vec();
    }
    let text = text.split(|b| *b == b'?').next().unwrap_or_default();
    let Some(at) = text.iter().rposition(|b| *b == b'@') else { return text.to_vec() };
    let (before, host) = text.split_at(at);
    let marks: [&[u8]; 2] = [b"//", b"#"];
    let scheme =
        marks.iter().find_map(|mark| Some(before.windows(mark.len()).position(|w| w == *mark)? + mark.len()));
    let (scheme, _user) = before.split_at(scheme.unwrap_or(0));
    [scheme, host.get(1..).unwrap_or_default()].concat()
}

/// Whether an account can stand in it whatever the file system is called.
fn is_url(source: &[u8]) -> bool {
    source.windows(3).any(|part| part == b"://")
}

/// Lines with their numbers, counted from one.
fn lines(text: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    (1..).zip(text.split(|b| *b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)))
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|b| *b == b' ' || *b == b'\t').filter(|word| !word.is_empty())
}

/// fstab(5).
pub fn fstab(text: &[u8]) -> Vec<Setting> {
    let row = |(line, text): (u32, &[u8])| {
        let mut fields = words(text).take(4);
        let device = fields.next().filter(|device| !device.starts_with(b"#"))?;
        let point = fields.next()?;
        let fstype = fields.next()?;
        let kept = options(fields.next().unwrap_or(b"defaults"));
        let value = [&source(device), fstype, &kept].join(&b'\t');
        Some(Setting { line, key: point.to_vec(), value })
    };
    lines(text).filter_map(row).collect()
}

/// systemd.mount(5): the keys `what`, `where`, `type` and `options` of its section `[Mount]`.
pub fn unit(text: &[u8]) -> Vec<Setting> {
    let mut settings = Vec::new();
    let mut in_mount = false;
    let mut pending: Option<(u32, Vec<u8>)> = None;
    for (number, text) in lines(text) {
        let text = text.trim_ascii();
        if matches!(text.first(), Some(b'#' | b';')) {
            continue;
        }
        // A backslash at the end joins lines with a blank between them.
        let (line, mut whole) = pending.take().unwrap_or((number, Vec::new()));
        if let Some(begin) = text.strip_suffix(b"\\") {
            whole.extend_from_slice(begin);
            whole.push(b' ');
            pending = Some((line, whole));
            continue;
        }
        whole.extend_from_slice(text);
        if whole.starts_with(b"[") {
            in_mount = whole == b"[Mount]";
        } else if in_mount {
            settings.extend(unit_setting(line, &whole));
        }
    }
    settings
}

fn unit_setting(line: u32, text: &[u8]) -> Option<Setting> {
    let equals = text.iter().position(|b| *b == b'=')?;
    let (key, value) = text.split_at(equals);
    let value = value.get(1..)?.trim_ascii();
    let value = match key.trim_ascii() {
        b"What" => source(value),
        b"Options" => options(value),
        b"Where" | b"Type" => value.to_vec(),
        _ => return None,
    };
    Some(Setting { line, key: key.trim_ascii().to_ascii_lowercase(), value })
}

/// The kernel's parameters root, rootfstype, rootflags and elevator (the kernel's
/// Documentation/admin-guide/kernel-parameters.txt).
pub fn kernel_command_line(text: &[u8]) -> Vec<Setting> {
    let mut quoted = false;
    let parameters = text.split(|b| {
        quoted ^= *b == b'"';
        !quoted && b.is_ascii_whitespace()
    });
    let setting = |parameter: &[u8]| {
        let equals = parameter.iter().position(|b| *b == b'=')?;
        let (key, value) = parameter.split_at(equals);
        let value: Vec<u8> = value.get(1..)?.iter().copied().filter(|b| *b != b'"').collect();
        let value = match key {
            b"root" => source(&value),
            b"rootflags" => options(&value),
            b"rootfstype" | b"elevator" => value,
            _ => return None,
        };
        Some(Setting { line: 1, key: key.to_vec(), value })
    };
    parameters.filter_map(setting).collect()
}

/// /proc/PID/mountinfo or /proc/PID/mounts. File systems that log in somewhere lose who does and with which options,
/// addresses of any other who does.
pub fn table(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|b| *b == b'\n') {
        let (body, end) = line.split_at(line.len() - usize::from(line.ends_with(b"\n")));
        let words: Vec<&[u8]> = body.split(|b| *b == b' ').collect();
        // In mountinfo type, source and options stand behind a dash; in mounts they are the third, first and fourth word.
        let dash = words.iter().position(|word| *word == b"-");
        let (fstype, from, rest) = dash.map_or((2, 0, 3), |dash| (dash + 1, dash + 2, dash + 3));
        let remote = words.get(fstype).is_some_and(|fstype| logs_in(fstype));
        let cleaned = words.iter().enumerate().map(|(i, word)| match i {
            i if i == from && (remote || is_url(word)) => source(word),
            i if i == rest && remote => options(word),
            _ => word.to_vec(),
        });
        out.extend_from_slice(&cleaned.collect::<Vec<_>>().join(&b' '));
        out.extend_from_slice(end);
    }
    out
}

fn logs_in(fstype: &[u8]) -> bool {
    const LOCAL: [&[u8]; 5] =
        [b"fusectl", b"fuseblk", b"fuse.lxcfs", b"fuse.fuse-overlayfs", b"fuse.mergerfs"];
    const REMOTE: [&[u8]; 10] =
        [b"fuse", b"nfs", b"cifs", b"smb", b"9p", b"afs", b"ceph", b"gluster", b"ncpfs", b"dav"];
    !LOCAL.contains(&fstype) && REMOTE.iter().any(|name| fstype.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: Vec<Setting>) -> Vec<(u32, String, String)> {
        let shown = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        settings.into_iter().map(|s| (s.line, shown(s.key), shown(s.value))).collect()
    }

    fn row(line: u32, key: &str, value: &str) -> (u32, String, String) {
        (line, key.to_owned(), value.to_owned())
    }

    #[test]
    fn fstab_keeps_what_is_mounted_and_how() {
        let text = "# /etc/fstab\n\
            UUID=1-2 / ext4 noatime,nobarrier,x-systemd.device-timeout=10,data=writeback 0 1\n\
            //me:pw@nas/share\t/mnt\\040nas\tcifs\tusername=me,password=pw,user=me,vers=3.0,credentials=/x 0 0\n\
            sshfs#me:p@ss@host:/dir /ssh fuse defaults,IdentityFile=/k\n\
            /dev/mapper/a@b /b xfs\n\
            broken\n";
        let expected = [
            row(2, "/", "UUID=1-2\text4\tnoatime,nobarrier,x-systemd.device-timeout=10,data=writeback"),
            row(3, "/mnt\\040nas", "//nas/share\tcifs\tvers=3.0"),
            row(4, "/ssh", "sshfs#host:/dir\tfuse\tdefaults"),
            row(5, "/b", "/dev/mapper/a@b\txfs\tdefaults"),
        ];
        assert_eq!(read(fstab(text.as_bytes())), expected);
    }

    #[test]
    fn units_keep_the_four_keys_of_their_mount() {
        let text = "[Unit]\nWhat=/unit\n[Mount]\n# What=/comment\nWhat = ftp://me:pw@host/dir\nWhere=/srv\nType=xfs\n\
            Options=noatime,\\\nnobarrier,password=x\nEnvironment=A=b\n[Install]\nWhere=/install\n";
        let expected = [
            row(5, "what", "ftp://host/dir"),
            row(6, "where", "/srv"),
            row(7, "type", "xfs"),
            row(8, "options", "noatime"),
        ];
        assert_eq!(read(unit(text.as_bytes())), expected);
    }

    #[test]
    fn the_kernel_command_line_keeps_its_root() {
        let text = "BOOT_IMAGE=/vmlinuz root=UUID=1-2 ro rootflags=\"data=journal,subvol=@\" password=x elevator=noop\n";
        let expected = [
            row(1, "root", "UUID=1-2"),
            row(1, "rootflags", "data=journal,subvol=@"),
            row(1, "elevator", "noop"),
        ];
        assert_eq!(read(kernel_command_line(text.as_bytes())), expected);
    }

    #[test]
    fn mount_tables_lose_accounts_only() {
        let local = "26 1 8:1 / / rw,relatime shared:1 - ext4 /dev/mapper/a@b rw,weird=1,data=ordered\n";
        assert_eq!(table(local.as_bytes()), local.as_bytes());
        let remote = "40 26 0:50 / /m rw - fuse.curlftpfs curlftpfs#ftp://me:pw@host/ rw,user_id=0,allow_other\n\
            41 26 0:51 / /n rw - cifs //nas/x rw,vers=3.1.1,username=me,soft\n";
        let expected = "40 26 0:50 / /m rw - fuse.curlftpfs curlftpfs#ftp://host/ rw\n\
            41 26 0:51 / /n rw - cifs //nas/x rw,vers=3.1.1,soft\n";
        assert_eq!(String::from_utf8(table(remote.as_bytes())).unwrap(), expected);
        assert_eq!(table(b"ftp://me:pw@host/ /m fuse.x rw,pw=1 0 0"), b"ftp://host/ /m fuse.x rw 0 0");
        let others =
            "42 26 0:52 / /o rw - zfs tank/pg@now rw\n43 26 0:53 / /p rw - newfs x://me:pw@host/ rw,a=b\n";
        let expected = others.replace("me:pw@", "");
        assert_eq!(String::from_utf8(table(others.as_bytes())).unwrap(), expected, "whoever mounts it");
    }
}
