//! Mount options that may leave an fstab, a mount unit or the kernel's command line.
//!
//! Options with a known name and a value that cannot be secret are kept. A local disk needs no password, so the names
//! of its other options are kept too, without their values: a misspelt option is the commonest mistake in an fstab. An
//! unknown name after the value of another unknown one is dropped, since it may be the rest of that value.

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
    "alloc_start",
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
    "check_int_print_mask",
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
    "fc_debug_max_replay",
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
    "ihashsize",
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
    "max_dir_size_kb",
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
    "sb",
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

/// Options of systemd.mount(5), systemd-gpt-auto-generator(8) and mount(8) behind their prefixes.
const OPTION_FAMILIES: [(&str, &[&str]); 3] = [
    (
        "x-systemd.",
        &[
            "after",
            "automount",
            "before",
            "device-bound",
            "device-timeout",
            "growfs",
            "idle-timeout",
            "makefs",
            "mount-timeout",
            "pcrfs",
            "required-by",
            "requires",
            "requires-mounts-for",
            "rw-only",
            "validatefs",
            "wanted-by",
            "wants",
            "wants-mounts-for",
        ],
    ),
    ("x-initrd.", &["attach", "mount"]),
    (
        "X-mount.",
        &["auto-fstypes", "group", "idmap", "mkdir", "mode", "noloop", "nocanonicalize", "owner", "subdir"],
    ),
];

/// File systems of a local disk that the kernel mounts by itself, and swap: none of their options is secret.
pub const LOCAL_TYPES: [&[u8]; 17] = [
    b"ext2",
    b"ext3",
    b"ext4",
    b"xfs",
    b"btrfs",
    b"bcachefs",
    b"f2fs",
    b"jfs",
    b"nilfs2",
    b"reiserfs",
    b"vfat",
    b"msdos",
    b"exfat",
    b"ntfs3",
    b"iso9660",
    b"udf",
    b"swap",
];

/// Prefixes of a local disk's name (fstab(5)).
pub const LOCAL_SOURCES: [&[u8]; 6] = [b"/dev/", b"UUID=", b"LABEL=", b"PARTUUID=", b"PARTLABEL=", b"ID="];

/// The longest option name, in bytes; a longer word is no name.
const LONGEST_NAME: usize = 40;

/// Whether all types of a comma-separated list, or `auto` on this source, are of a local disk.
pub fn is_local(fstype: &[u8], source: &[u8]) -> bool {
    let on_disk = LOCAL_SOURCES.iter().any(|prefix| source.starts_with(prefix));
    fstype.split(|b| *b == b',').all(|word| LOCAL_TYPES.contains(&word) || word == b"auto" && on_disk)
}

/// The options that are kept, in their order; those of a local disk with the names of unknown ones.
pub fn options(list: &[u8], local: bool) -> Vec<u8> {
    // Text after the value of an unknown option, or in quotes, may be the rest of a value with a comma in it.
    let (mut quoted, mut in_value) = (false, false);
    let kept = list.split(|b| *b == b',').filter_map(|option| {
        let begins_quoted = quoted;
        quoted ^= option.split(|b| *b == b'"').count() % 2 == 0;
        let name = option.split(|b| *b == b'=').next().unwrap_or_default();
        let has_value = name.len() < option.len();
        // `user=NAME` is the account on network file systems; `comment=` is arbitrary text (mount(8)).
        let aside = has_value && matches!(name, b"user" | b"comment");
        if is_known(name) && !aside {
            in_value = false;
            return Some(option);
        }
        let may_be_a_value = begins_quoted || in_value;
        in_value |= has_value;
        (local && !may_be_a_value && !aside && is_name(name)).then_some(name)
    });
    kept.collect::<Vec<_>>().join(&b',')
}

fn is_known(name: &[u8]) -> bool {
    str::from_utf8(name).is_ok_and(|name| {
        let in_family = |(prefix, names): &(&str, &[&str])| {
            name.strip_prefix(prefix).is_some_and(|name| names.contains(&name))
        };
        OPTIONS.contains(&name) || OPTION_FAMILIES.iter().any(in_family)
    })
}

fn is_name(word: &[u8]) -> bool {
    let in_names = |b: &u8| b.is_ascii_alphanumeric() || b"_.-".contains(b);
    (1..=LONGEST_NAME).contains(&word.len()) && word.iter().all(in_names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_local_disk_the_names_of_unknown_options_stay() {
        let long = "x".repeat(LONGEST_NAME + 1);
        for (given, local, remote) in [
            ("nobarrier,noatime,frobnicate", "nobarrier,noatime,frobnicate", "nobarrier,noatime"),
            ("NoAtime,ro", "NoAtime,ro", "ro"),
            ("comit=5,rw,noatiem", "comit,rw,noatiem", "rw"),
            ("password=a,b,c=d,noatime,e", "password,noatime,e", "noatime"),
            ("comment=x y,user=me,user", "user", "user"),
            ("a b,\"c,d,e\",f,,=x,h\u{e9},ro", "f,ro", "ro"),
            ("context=\"a:b,c\",g", "context=\"a:b,g", "context=\"a:b"),
            (&long, "", ""),
        ] {
            let kept = |local| String::from_utf8(options(given.as_bytes(), local)).unwrap();
            assert_eq!((kept(true), kept(false)), (local.to_owned(), remote.to_owned()), "{given}");
        }
    }
}
