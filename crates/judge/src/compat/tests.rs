//! Expected values come from the public documentation of options, kernels, tools and servers.

use super::*;
use crate::version::Version;

fn test_version(text: &str) -> Version {
    Version::parse(text).unwrap()
}

fn effect_of_last_option(fs: &str, options: &str, kernel: &str, vendor: &str) -> Effect {
    let options: Vec<String> = options.split(',').map(str::to_owned).collect();
    let backports = vendor.starts_with("el") || vendor == "sles";
    let rulings = mount_options_support(
        fs,
        &options,
        &[],
        &test_version(kernel).with_backports(backports),
        vendor,
    );
    rulings.last().unwrap().effect
}

use Effect::{DefaultAnyway, Deprecated, NoEffect, Refused, Unknown};

#[test]
fn mount_options_of_documented_kernels() {
    for (fs, options, kernel, vendor, expect) in [
        // Source: Documentation/admin-guide/xfs.rst; commits 4cf4573 and 1c02d502c208.
        ("xfs", "nobarrier", "4.9.337", "mainline", Effect::Ok),
        ("xfs", "nobarrier", "4.10", "mainline", NoEffect),
        ("xfs", "nobarrier", "4.18.20", "mainline", NoEffect),
        ("xfs", "nobarrier", "4.19", "mainline", Refused),
        ("xfs", "barrier", "4.19", "mainline", Refused),
        ("xfs", "nobarrier", "5.15.0-91-generic", "ubuntu", Refused),
        ("xfs", "nobarrier", "7.0", "mainline", Refused),
        // Source: the kernel sources of 3.10.0-514, -1127 and -1160. Red Hat's leapp removes the
        // option on an upgrade to release 8.
        (
            "xfs",
            "nobarrier",
            "3.10.0-514.el7.x86_64",
            "el7",
            Effect::Ok,
        ),
        ("xfs", "nobarrier", "3.10.0-957.el7.x86_64", "el7", Unknown),
        (
            "xfs",
            "nobarrier",
            "3.10.0-1127.el7.x86_64",
            "el7",
            NoEffect,
        ),
        (
            "xfs",
            "nobarrier",
            "3.10.0-1160.119.1.el7.x86_64",
            "el7",
            NoEffect,
        ),
        ("xfs", "nobarrier", "4.18.0-147.el8.x86_64", "el8", Refused),
        ("xfs", "barrier", "4.18.0-553.el8_10.x86_64", "el8", Refused),
        ("xfs", "nobarrier", "5.14.0-362.el9.x86_64", "el9", Refused),
        // Source: SUSE KB 000020240.
        ("xfs", "nobarrier", "4.12.14-95.3-default", "sles", NoEffect),
        ("xfs", "nobarrier", "5.3.18-22-default", "sles", Refused),
        ("xfs", "nobarrier", "4.4.21-69-default", "sles", Unknown),
        // Source: mailing list linux-xfs, October 2025.
        ("xfs", "attr2", "4.18.0-553.el8", "el8", DefaultAnyway),
        ("xfs", "attr2", "6.1.176", "mainline", Deprecated),
        ("xfs", "attr2", "6.18-rc1", "mainline", Refused),
        ("xfs", "attr2", "6.18-rc2", "mainline", Refused),
        ("xfs", "attr2", "6.18.1", "mainline", Deprecated),
        ("xfs", "ikeep", "6.12.117", "mainline", Deprecated),
        ("xfs", "noattr2", "6.1.176", "mainline", Refused),
        ("xfs", "noattr2", "6.12.117", "mainline", Refused),
        ("xfs", "noattr2", "6.18.44", "mainline", Deprecated),
        ("xfs", "inode64", "3.10.0-1160.el7", "el7", DefaultAnyway),
        ("xfs", "logbufs=8", "6.1", "mainline", DefaultAnyway),
        ("xfs", "logbufs=9", "6.1", "mainline", Refused),
        ("xfs", "logbsize=256k", "6.1", "mainline", Effect::Ok),
        ("xfs", "logbsize=100", "6.1", "mainline", Refused),
        ("xfs", "nodelaylog", "4.0", "mainline", Refused),
        ("xfs", "osyncisdsync", "5.14.0-1.el9", "el9", Refused),
        (
            "xfs",
            "max_atomic_write=16k",
            "6.12.117",
            "mainline",
            Refused,
        ),
        ("xfs", "max_atomic_write=16k", "6.16", "mainline", Unknown),
        ("xfs", "max_atomic_write=12k", "6.18", "mainline", Refused),
        ("xfs", "max_atomic_write=0", "6.16", "mainline", Effect::Ok),
        (
            "xfs",
            "max_atomic_write=16k",
            "6.12.0-55.el10",
            "el10",
            Unknown,
        ),
        ("xfs", "norecovery", "6.1", "mainline", Refused),
        ("xfs", "ro,norecovery", "6.1", "mainline", Effect::Ok),
        ("xfs", "data=ordered", "6.1", "mainline", Refused),
        ("ext4", "inode64", "6.1", "mainline", Refused),
        ("btrfs", "logbufs=8", "6.1", "mainline", Refused),
        ("btrfs", "data=writeback", "5.14.0-362.el9", "el9", Refused),
        ("xfs", "nobarier", "6.1", "mainline", Refused),
        ("xfs", "nobarier", "5.4", "mainline", Unknown),
        ("xfs", "nobarier", "7.9", "mainline", Unknown),
        ("ext4", "go-faster", "6.1", "mainline", Refused),
        ("vfat", "nobarrier", "6.1", "mainline", Unknown),
        ("nfs4", "noatime", "6.1", "mainline", Effect::Ok),
        ("xfs", "loop", "6.1", "mainline", Effect::Ok),
        ("squashfs", "loop=/dev/loop3", "6.1", "mainline", Effect::Ok),
        ("iso9660", "loop", "6.1", "mainline", Effect::Ok),
        ("overlay", "lowerdir=/a:/b", "6.1", "mainline", Effect::Ok),
        ("overlay", "upperdir=", "6.1", "mainline", Refused),
        ("overlay", "metacopy=on", "4.19", "mainline", Effect::Ok),
        ("overlay", "metacopy=maybe", "6.1", "mainline", Refused),
        ("overlay", "volatile", "5.4", "mainline", Unknown),
        ("overlay", "frobnicate", "6.1", "mainline", Unknown),
        // Source: nfs(5).
        ("nfs4", "hard", "6.1", "mainline", DefaultAnyway),
        ("nfs", "soft", "3.10.0-1160.el7", "el7", Effect::Ok),
        ("nfs", "softerr", "6.1", "mainline", Unknown),
        // Source: Documentation/admin-guide/ext4.rst, fs/ext4/super.c.
        ("ext4", "nobarrier", "3.10.0-1160.el7", "el7", Effect::Ok),
        ("ext4", "nobarrier", "6.18.44", "mainline", Effect::Ok),
        ("ext4", "barrier=0", "6.18.44", "mainline", Effect::Ok),
        ("ext4", "barrier=1", "6.1", "mainline", Effect::Ok),
        ("ext4", "data=ordered", "6.1", "mainline", Effect::Ok),
        ("ext4", "data=writeback", "6.1", "mainline", Effect::Ok),
        ("ext4", "data=sideways", "6.1", "mainline", Refused),
        ("ext4", "commit=60", "6.1", "mainline", Effect::Ok),
        ("ext4", "commit=soon", "6.1", "mainline", Refused),
        ("ext4", "commit=2147483647", "6.1", "mainline", Unknown),
        (
            "ext4",
            "inode_readahead_blks=33",
            "6.1",
            "mainline",
            Refused,
        ),
        (
            "ext4",
            "inode_readahead_blks=64",
            "6.1",
            "mainline",
            Effect::Ok,
        ),
        ("ext4", "barrier=2", "6.1", "mainline", Effect::Ok),
        ("btrfs", "thread_pool=0", "6.1", "mainline", Refused),
        ("xfs", "allocsize=6k", "6.1", "mainline", Refused),
        ("ext4", "journal_async_commit", "6.1", "mainline", Refused),
        (
            "ext4",
            "data=ordered,journal_async_commit",
            "6.1",
            "mainline",
            Refused,
        ),
        (
            "ext4",
            "data=writeback,journal_async_commit",
            "6.1",
            "mainline",
            Effect::Ok,
        ),
        ("ext4", "dioread_nolock", "5.6", "mainline", DefaultAnyway),
        ("ext4", "dioread_nolock", "5.4", "mainline", Effect::Ok),
        ("ext4", "fast_commit", "6.12", "mainline", Refused),
        ("ext4", "nobh", "6.1", "mainline", NoEffect),
        // ext4 refuses the option on a file system that was not unmounted cleanly or has no
        // journal, and accepts it on any other.
        ("ext4", "noload", "6.18", "mainline", Unknown),
        (
            "ext4",
            "noatime,norecovery",
            "3.10.0-1160.el7",
            "el7",
            Unknown,
        ),
        ("ext4", "norecovery,ro", "6.18", "mainline", Effect::Ok),
        // These effects were observed in the lab, by mounting.
        ("ext4", "noacl", "5.15", "mainline", Deprecated),
        ("ext4", "noacl", "6.1.192", "debian", Refused),
        ("xfs", "lifetime", "6.12.117", "debian", Refused),
        ("btrfs", "ro,norecovery", "6.1.192", "debian", Deprecated),
        // The ext4 driver serves ext3 since Linux 4.3, and in Red Hat 7 already.
        ("ext3", "nobarrier", "6.1", "mainline", Effect::Ok),
        ("ext3", "delalloc", "6.1", "mainline", Refused),
        ("ext3", "barrier=0", "4.2", "mainline", Unknown),
        ("ext3", "barrier=0", "3.10.0-1160.el7", "el7", Effect::Ok),
        // Source: btrfs(5), btrfs: Kernel by version.
        ("btrfs", "nobarrier", "6.1", "mainline", Effect::Ok),
        ("btrfs", "inode_cache", "5.10", "mainline", Effect::Ok),
        ("btrfs", "inode_cache", "6.1.176", "mainline", NoEffect),
        ("btrfs", "inode_cache", "6.8", "mainline", Refused),
        ("btrfs", "recovery", "6.7", "mainline", Deprecated),
        ("btrfs", "recovery", "6.12.117", "mainline", Refused),
        ("btrfs", "check_int", "6.7", "mainline", Refused),
        ("btrfs", "subvolrootid=5", "5.9", "mainline", Refused),
        ("btrfs", "nologreplay", "6.12", "mainline", Refused),
        ("btrfs", "ro,nologreplay", "6.12", "mainline", Deprecated),
        ("btrfs", "ro,nologreplay", "6.16", "mainline", Refused),
        ("btrfs", "space_cache", "6.1", "mainline", Unknown),
        ("btrfs", "space_cache=v2", "6.1", "mainline", Effect::Ok),
        ("btrfs", "compress=zstd", "4.13", "mainline", Refused),
        ("btrfs", "compress=zstd:3", "5.15", "mainline", Effect::Ok),
        ("btrfs", "compress=zstd:19", "5.15", "mainline", Effect::Ok),
        (
            "btrfs",
            "compress-force=zstd:-5",
            "6.15",
            "mainline",
            Effect::Ok,
        ),
        ("btrfs", "compress=zstd:-5", "6.12", "mainline", Unknown),
        (
            "btrfs",
            "ro,rescue=ignoremetacsums",
            "6.12",
            "mainline",
            Effect::Ok,
        ),
        ("btrfs", "rescue=isuperflags", "6.18", "mainline", Refused),
        ("btrfs", "discard=async", "6.2", "mainline", Effect::Ok),
        // Source: mount(8), systemd.mount(5).
        ("ext4", "noatime", "3.10.0-1160.el7", "el7", Effect::Ok),
        ("ext3", "defaults", "2.6.35", "mainline", Effect::Ok),
        ("ext3", "relatime", "2.6.32-754.el6", "el6", DefaultAnyway),
        (
            "xfs",
            "x-systemd.device-timeout=9",
            "6.1",
            "mainline",
            Effect::Ok,
        ),
        ("btrfs", "relatime", "6.1", "mainline", DefaultAnyway),
        ("xfs", "lazytime", "4.16", "mainline", Unknown),
        ("ext4", "mand", "5.15", "mainline", NoEffect),
        ("ext4", "nobarrier", "8.0", "mainline", Unknown),
        ("ext4", "noatime", "2.6.29", "mainline", Unknown),
        ("ext4", "commit=30", "2.6.32", "mainline", Unknown),
    ] {
        assert_eq!(
            effect_of_last_option(fs, options, kernel, vendor),
            expect,
            "{fs} {options} on {kernel} ({vendor})"
        );
    }
}

#[test]
fn options_in_force_decide_remount_support() {
    let ruled = |option: &str, in_force: &str| {
        let (options, in_force) = ([option.to_owned()], [in_force.to_owned()]);
        let fs = if option == "noattr2" { "xfs" } else { "btrfs" };
        mount_options_support(fs, &options, &in_force, &test_version("6.1"), "mainline")
            .remove(0)
            .effect
    };
    assert_eq!(ruled("space_cache", "space_cache=v2"), Refused);
    assert_eq!(ruled("space_cache=v1", "space_cache=v2"), Refused);
    assert_eq!(ruled("space_cache", "space_cache"), Deprecated);
    assert_eq!(ruled("nospace_cache", "space_cache=v2"), Refused);
    assert_eq!(ruled("noattr2", "noattr2"), Deprecated);
    assert_eq!(ruled("noattr2", "attr2"), Refused);
}

#[test]
fn running_kernel_accepts_options_in_force() {
    for (fs, option, in_force, kernel, vendor, here, elsewhere) in [
        (
            "xfs",
            "pquota",
            "prjquota",
            "6.1.102-111.182.amzn2023.x86_64",
            "amazon",
            Effect::Ok,
            Unknown,
        ),
        (
            "xfs",
            "prjquota",
            "usrquota",
            "6.1.102-111.182.amzn2023.x86_64",
            "amazon",
            Effect::Ok,
            Unknown,
        ),
        (
            "xfs",
            "prjquota",
            "noquota",
            "6.1.102-111.182.amzn2023.x86_64",
            "amazon",
            Unknown,
            Unknown,
        ),
        (
            "ext4",
            "noacl",
            "noacl",
            "5.14.0-503.el9",
            "el9",
            Deprecated,
            Unknown,
        ),
        (
            "ext4",
            "prjquota",
            "prjquota",
            "6.1",
            "debian",
            Effect::Ok,
            Unknown,
        ),
        (
            "xfs",
            "max_atomic_write=16k",
            "max_atomic_write=16k",
            "6.18.44",
            "mainline",
            Effect::Ok,
            Unknown,
        ),
        (
            "ext4",
            "norecovery",
            "norecovery",
            "6.18.44",
            "mainline",
            Unknown,
            Unknown,
        ),
        (
            "f2fs",
            "background_gc=on",
            "background_gc=on",
            "6.1",
            "debian",
            Effect::Ok,
            Unknown,
        ),
        // A mount that lists the option proves nothing, because some kernels list the option
        // although they ignore it.
        (
            "xfs",
            "nobarrier",
            "nobarrier",
            "3.10.0-957.el7.x86_64",
            "el7",
            Unknown,
            Unknown,
        ),
        (
            "xfs",
            "nobarrier",
            "nobarrier",
            "4.4.21-69-default",
            "sles",
            Unknown,
            Unknown,
        ),
    ] {
        let backports = vendor.starts_with("el") || vendor == "sles";
        let (options, in_force) = ([option.to_owned()], [in_force.to_owned()]);
        let kernel = test_version(kernel).with_backports(backports);
        let ruled = kernel_support::running_kernel_options_support(
            fs, &options, &in_force, &kernel, vendor,
        )
        .remove(0)
        .effect;
        assert_eq!(ruled, here, "{fs} {option} on this {kernel}");
        let ruled = mount_options_support(fs, &options, &in_force, &kernel, vendor)
            .remove(0)
            .effect;
        assert_eq!(ruled, elsewhere, "{fs} {option} on {kernel}");
    }
}

#[test]
fn later_options_override_earlier_ones() {
    for (fs, line, expect) in [
        ("ext4", "nobarrier,barrier=1", "barrier=1"),
        ("ext4", "barrier=1,nobarrier", "nobarrier"),
        ("ext4", "nobarrier,noatime,barrier", "noatime,barrier"),
        ("ext4", "barrier,barrier=0", "barrier=0"),
        ("ext3", "nobarrier,barrier=1", "barrier=1"),
        ("ext4", "data=journal,data=ordered", "data=ordered"),
        ("ext4", "nodelalloc,delalloc", "delalloc"),
        ("ext4", "usrquota,noquota,grpquota", "noquota,grpquota"),
        ("ext4", "ro,noload,rw", "noload,rw"),
        ("xfs", "inode32,inode64", "inode64"),
        ("xfs", "logbufs=2,logbufs=8", "logbufs=8"),
        ("xfs", "nobarrier,barrier=1", "nobarrier,barrier=1"),
        ("btrfs", "nobarrier,barrier", "barrier"),
        ("btrfs", "nodatacow,compress=zstd:3", "compress=zstd:3"),
        ("btrfs", "compress=zstd:3,nodatacow", "nodatacow"),
        ("btrfs", "nodatacow,compress=no", "nodatacow,compress=no"),
        ("btrfs", "nodatacow,datacow", "nodatasum,datacow"),
        ("btrfs", "nodatacow,nodatasum,datacow", "nodatasum,datacow"),
        ("btrfs", "nodatacow,datacow,datasum", "datacow,datasum"),
        ("btrfs", "ssd_spread,ssd", "ssd_spread,ssd"),
        (
            "btrfs",
            "rescue=usebackuproot,rescue=nologreplay",
            "rescue=usebackuproot,rescue=nologreplay",
        ),
        ("vfat", "sync,async", "async"),
        ("vfat", "nobarrier,barrier=1", "nobarrier,barrier=1"),
        ("ext4", "noatime,relatime", "noatime,relatime"),
        ("ext4", "noatime,atime", "atime"),
    ] {
        let options: Vec<String> = line.split(',').map(str::to_owned).collect();
        assert_eq!(
            options_not_overridden_later(fs, &options).join(","),
            expect,
            "{fs} {line}"
        );
    }
}

#[test]
fn conflicting_options_are_refused() {
    for (fs, line, kernel, expect) in [
        ("ext4", "delalloc,data=journal", "6.18", Refused),
        ("ext4", "delalloc,nodelalloc,data=journal", "6.18", Refused),
        ("ext4", "nodelalloc,data=journal", "6.18", Effect::Ok),
        ("ext4", "commit=30,noload", "6.18", Refused),
        ("ext4", "commit=30,noload", "3.16", Unknown),
        ("ext4", "ro,noload", "6.18", Effect::Ok),
        ("xfs", "ro,rw,norecovery", "6.18", Refused),
        ("xfs", "rw,ro,norecovery", "6.18", Effect::Ok),
        (
            "ext4",
            "data=writeback,data=ordered,journal_async_commit",
            "6.18",
            Refused,
        ),
        ("ext4", "discard=async", "6.18", Refused),
        ("ext4", "commit", "5.10", Refused),
        ("btrfs", "barrier=0", "6.18", Refused),
        ("btrfs", "discard=async", "6.18", Effect::Ok),
        ("xfs", "lazytime=1", "6.18", Unknown),
    ] {
        assert_eq!(
            effect_of_last_option(fs, line, kernel, "mainline"),
            expect,
            "{fs} {line} on {kernel}"
        );
    }
}

#[test]
fn effects_other_than_ok_have_a_reason() {
    for fs in ["ext4", "xfs", "btrfs"] {
        for kernel in ["3.10.1", "4.18.20", "6.1", "6.18.44", "7.1"] {
            for example in mount_option_test_cases(fs) {
                let ruling =
                    mount_option_support(fs, &example.option, &test_version(kernel), "mainline");
                let silent = ruling.because.is_empty() && ruling.effect != Effect::Ok;
                assert!(
                    !silent || ruling.effect == Unknown,
                    "{fs} {} on {kernel}",
                    example.option
                );
                assert!(!ruling.source.is_empty() || ruling.effect == Unknown);
            }
        }
    }
}

#[test]
fn feature_support_by_mkfs_and_kernel_version() {
    let judge = |fs: &str, feature: &str, tool: &str, kernel: &str| {
        let backports = kernel.contains(".el");
        let read =
            |text: &str| Version::parse(text).map(|version| version.with_backports(backports));
        let vendor = if kernel.contains(".el8") {
            "el8"
        } else {
            "mainline"
        };
        let kernel = read(kernel);
        mkfs_feature_support(
            fs,
            feature,
            read(tool).as_ref(),
            kernel.as_ref().map(|kernel| (kernel, vendor)),
        )
        .effect
    };
    for (fs, feature, tool, kernel, expect) in [
        ("ext4", "fast_commit", "1.45.5", "6.12", Refused),
        ("ext4", "fast_commit", "1.46.4", "6.12", Deprecated),
        ("ext4", "fast_commit", "1.47.0", "6.12", Effect::Ok),
        ("ext4", "fast_commit", "1.47.0", "5.4", NoEffect),
        ("ext4", "fast_commit", "1.46.5", "4.18.0-553.el8", Unknown),
        ("ext4", "fast_commit", "?", "6.12", Unknown),
        ("ext4", "fast_commit", "1.47.0", "?", Unknown),
        ("ext4", "orphan_file", "1.47.0", "5.10", NoEffect),
        ("ext4", "metadata_csum", "1.47.0", "3.16", Refused),
        ("ext4", "casefold", "1.47.0", "4.19", Refused),
        ("ext4", "metadata_csum_seed", "1.47.0", "5.10", Effect::Ok),
        ("xfs", "nrext64", "6.5.0", "5.15", Refused),
        ("xfs", "rmapbt", "6.5.0", "4.4", Refused),
        ("xfs", "rmapbt", "6.5.0", "4.9", Effect::Ok),
        ("xfs", "nrext64", "6.5.0", "6.1", Effect::Ok),
        ("btrfs", "block-group-tree", "6.19", "6.1", Effect::Ok),
        ("ext4", "warp_drive", "1.47.0", "6.12", Unknown),
    ] {
        assert_eq!(
            judge(fs, feature, tool, kernel),
            expect,
            "{fs} {feature} {tool} {kernel}"
        );
    }
}

#[test]
fn mkfs_defaults_must_be_mountable() {
    let judge = |fs: &str, tool: &str, kernel: &str, vendor: &str| {
        mkfs_defaults_support(fs, &test_version(tool), &test_version(kernel), vendor, &[]).effect
    };
    assert_eq!(judge("ext4", "1.47.0", "6.1", "debian"), Effect::Ok);
    assert_eq!(
        judge("ext4", "1.47.0", "5.10", "mainline"),
        Effect::Ok,
        "orphan_file is compatible"
    );
    assert_eq!(
        judge("ext4", "1.47.0", "4.3", "mainline"),
        Refused,
        "metadata_csum_seed is not"
    );
    assert_eq!(judge("ext4", "1.46.5", "5.10", "mainline"), Effect::Ok);
    assert_eq!(judge("xfs", "6.18.0", "6.6", "mainline"), Refused);
    assert_eq!(judge("xfs", "6.5.0", "5.14.0-362.el9", "el9"), Unknown);
    assert_eq!(
        judge("xfs", "4.5.0", "3.10.0-1160.el7", "el7"),
        Effect::Ok,
        "what Red Hat 7 makes, it mounts"
    );
    assert_eq!(judge("xfs", "4.5.0", "3.10.1", "mainline"), Refused);
}

#[test]
fn unmountable_mkfs_defaults_are_omitted() {
    for (fs, tool, kernel, vendor, expect) in [
        ("ext4", "1.47.0", "6.1", "debian", ""),
        ("ext4", "1.47.0", "5.10", "mainline", "^orphan_file"),
        ("ext4", "1.47.0", "4.18.0-553.el8", "el8", "^orphan_file"),
        ("ext4", "1.46.5", "5.10", "mainline", ""),
        ("xfs", "6.18.0", "6.6", "mainline", "parent=0,exchange=0"),
        ("xfs", "6.5.0", "5.15.0-91", "ubuntu", "nrext64=0"),
        (
            "xfs",
            "6.5.0",
            "4.4",
            "mainline",
            "rmapbt=0,reflink=0,bigtime=0,inobtcount=0,nrext64=0",
        ),
        ("btrfs", "6.19", "5.15", "mainline", "^block-group-tree"),
        ("btrfs", "6.19", "6.1", "mainline", ""),
    ] {
        let words = mkfs_omit_arguments(fs, &test_version(tool), &test_version(kernel), vendor);
        assert_eq!(words.join(","), expect, "{fs} {tool} on {kernel}");
        let with = mkfs_defaults_support(
            fs,
            &test_version(tool),
            &test_version(kernel),
            vendor,
            &words,
        );
        assert_eq!(
            with.effect,
            Effect::Ok,
            "{fs} {tool} on {kernel}: {}",
            with.because
        );
        assert!(
            words.iter().all(|word| !word.contains("has_journal")),
            "never the journal"
        );
    }
}

mod boot_lines_and_advice {
    use super::super::{RelatedAdvice, derive_compat_facts};
    use super::test_version;
    use crate::facts::catalog::{boot, host, kernel, mount, postgres};
    use crate::facts::{FactSet, Reading, Source, Subject, UnknownReason};

    fn string_list(words: &str) -> Vec<String> {
        words.split(',').map(str::to_owned).collect()
    }

    fn facts_with_kernel(release: &str, vendor: &str) -> FactSet {
        let mut facts = FactSet::default();
        let uname = || Source::from_system_call("uname");
        facts.insert_known(
            &Subject::host(),
            &kernel::VERSION,
            test_version(release),
            uname(),
        );
        facts.insert_known(
            &Subject::host(),
            &kernel::VENDOR,
            vendor.to_owned(),
            uname(),
        );
        facts
    }

    fn with_boot_line(mut facts: FactSet, fs: &str, options: &str) -> FactSet {
        let line = Subject::boot("/data");
        facts.insert_known(
            &line,
            &boot::FSTYPE,
            fs.to_owned(),
            Source::from_file_line("/etc/fstab", 3),
        );
        facts.insert_known(
            &line,
            &boot::OPTIONS,
            string_list(options),
            Source::from_file_line("/etc/fstab", 3),
        );
        facts
    }

    #[test]
    fn boot_options_are_grouped_by_effect() {
        let mut facts = with_boot_line(
            facts_with_kernel("6.1.0-28-amd64", "debian"),
            "xfs",
            "noatime,nobarrier,attr2,inode64,frobnicate,lazytime",
        );
        derive_compat_facts(&mut facts);
        let line = Subject::boot("/data");
        assert_eq!(
            facts.value(&line, &boot::REFUSED),
            Some(string_list("nobarrier,frobnicate"))
        );
        assert_eq!(
            facts.value(&line, &boot::DEPRECATED),
            Some(string_list("attr2"))
        );
        assert_eq!(
            facts.value(&line, &boot::DEFAULT_ANYWAY),
            Some(string_list("inode64"))
        );
        assert_eq!(facts.value(&line, &boot::UNDECIDED), Some(Vec::new()));
        assert_eq!(facts.value(&line, &boot::NO_EFFECT), Some(Vec::new()));
    }

    #[test]
    fn overridden_boot_options_are_not_in_effect() {
        for (fs, options, in_effect) in [
            ("ext4", "nobarrier,barrier=1", "barrier=1"),
            ("ext4", "barrier=1,nobarrier", "nobarrier"),
            ("btrfs", "nodatacow,compress=zstd:3", "compress=zstd:3"),
            ("xfs", "nobarrier,noatime", "nobarrier,noatime"),
        ] {
            let mut facts = with_boot_line(FactSet::default(), fs, options);
            derive_compat_facts(&mut facts);
            let line = Subject::boot("/data");
            assert_eq!(
                facts.value(&line, &boot::IN_EFFECT),
                Some(string_list(in_effect)),
                "{fs} {options}"
            );
        }
    }

    #[test]
    fn boot_option_effects_need_kernel_version() {
        let mut facts = with_boot_line(FactSet::default(), "xfs", "nobarrier");
        derive_compat_facts(&mut facts);
        let line = Subject::boot("/data");
        for key in [
            &boot::REFUSED,
            &boot::NO_EFFECT,
            &boot::DEPRECATED,
            &boot::DEFAULT_ANYWAY,
            &boot::UNDECIDED,
        ] {
            let Reading::Unknown { why, detail, .. } = facts.get(&line, key) else {
                panic!("{}", key.name())
            };
            assert_eq!(why, UnknownReason::NotCollected);
            assert!(detail.contains("kernel.version"), "{detail}");
        }
    }

    #[test]
    fn assumed_kernel_marks_derived_facts() {
        let mut facts = with_boot_line(facts_with_kernel("6.1", "debian"), "xfs", "nobarrier");
        facts.insert_known(
            &Subject::host(),
            &kernel::VERSION,
            test_version("6.12"),
            Source::Assumed,
        );
        derive_compat_facts(&mut facts);
        let reading = facts.get(&Subject::boot("/data"), &boot::REFUSED);
        assert!(!reading.source().unwrap().is_evidence());
    }

    #[test]
    fn current_mount_options_decide_boot_options() {
        let mut facts = with_boot_line(facts_with_kernel("6.1", "debian"), "btrfs", "space_cache");
        let mounted = Subject::mount("/data");
        facts.set_fact_link(&Subject::boot("/data"), &mounted);
        facts.insert_known(
            &mounted,
            &mount::SUPER_OPTIONS,
            string_list("rw,space_cache=v2"),
            Source::from_file("mountinfo"),
        );
        derive_compat_facts(&mut facts);
        assert_eq!(
            facts.value(&Subject::boot("/data"), &boot::REFUSED),
            Some(string_list("space_cache"))
        );
    }

    #[test]
    fn a_file_system_without_a_journal_refuses_journal_options() {
        let line = Subject::boot("/data");
        let journal_options = "data=ordered,commit=30,journal_checksum,journal_async_commit";
        for (journal, in_force, options, refused) in [
            (Some(false), "rw", journal_options, Some(journal_options)),
            (Some(false), "rw", "commit=5,noatime,barrier=1,noload", None),
            (Some(false), "rw", "commit=30,commit=5", None),
            (Some(false), "rw,norecovery", "data=ordered", None),
            (Some(true), "rw", "data=ordered,commit=30", None),
            (None, "rw", "data=ordered", None),
        ] {
            let mut facts = with_boot_line(facts_with_kernel("6.18", "debian"), "ext4", options);
            let mounted = Subject::mount("/data");
            facts.set_fact_link(&line, &mounted);
            let source = || Source::from_file("mountinfo");
            facts.insert_known(&mounted, &mount::FSTYPE, "ext4".to_owned(), source());
            let in_force = string_list(in_force);
            facts.insert_known(&mounted, &mount::SUPER_OPTIONS, in_force, source());
            if let Some(journal) = journal {
                facts.insert_known(&mounted, &mount::EXT4_JOURNAL, journal, source());
            }
            derive_compat_facts(&mut facts);
            assert_eq!(
                facts.value(&line, &boot::REFUSED),
                Some(refused.map(string_list).unwrap_or_default()),
                "{journal:?} {options}"
            );
        }
    }

    #[test]
    fn only_observed_mounts_prove_kernel_support() {
        let judged = |kernel: Source, in_force: Source| {
            let mut facts =
                with_boot_line(facts_with_kernel("6.1.102", "amazon"), "xfs", "prjquota");
            facts.insert_known(
                &Subject::host(),
                &kernel::VERSION,
                test_version("6.1.102"),
                kernel,
            );
            let mounted = Subject::mount("/data");
            facts.set_fact_link(&Subject::boot("/data"), &mounted);
            facts.insert_known(
                &mounted,
                &mount::SUPER_OPTIONS,
                string_list("rw,prjquota"),
                in_force,
            );
            derive_compat_facts(&mut facts);
            let reading = facts.get(&Subject::boot("/data"), &boot::UNDECIDED);
            (
                reading.value().cloned().unwrap(),
                reading.source().unwrap().is_evidence(),
            )
        };
        let seen = || Source::from_file("/proc/self/mountinfo");
        assert_eq!(
            judged(Source::from_system_call("uname"), seen()),
            (Vec::new(), true)
        );
        assert_eq!(
            judged(Source::Assumed, seen()),
            (string_list("prjquota"), false)
        );
        assert_eq!(
            judged(Source::from_system_call("uname"), Source::Assumed),
            (Vec::new(), false)
        );
    }

    fn insert_mount(facts: &mut FactSet, fs: &str) -> Subject {
        let mounted = Subject::mount("/data");
        facts.insert_known(
            &mounted,
            &mount::FSTYPE,
            fs.to_owned(),
            Source::from_file("mountinfo"),
        );
        mounted
    }

    fn check_advice_without_related(
        setting: &str,
        values: &[&str],
        facts: &FactSet,
        subject: &Subject,
    ) -> Result<(), String> {
        crate::compat::check_advice(
            crate::settings::find_by_name(setting).unwrap(),
            values,
            facts,
            subject,
        )
    }

    fn check_advice_with_related(
        setting: &str,
        values: &[&str],
        beside: &RelatedAdvice<'_>,
        facts: &FactSet,
        subject: &Subject,
    ) -> Result<(), String> {
        crate::compat::check_advice_with_related(
            crate::settings::find_by_name(setting).unwrap(),
            values,
            beside,
            facts,
            subject,
        )
    }

    #[test]
    fn advice_that_the_kernel_would_refuse_is_held_back() {
        let mut facts = facts_with_kernel("6.1", "debian");
        let xfs = insert_mount(&mut facts, "xfs");
        assert!(check_advice_without_related("mount.options", &["noatime"], &facts, &xfs).is_ok());
        assert!(check_advice_without_related("mount.options", &["inode64"], &facts, &xfs).is_ok());
        for refused in [
            "nobarrier",
            "data=ordered",
            "attr2",
            "made_up",
            "norecovery",
        ] {
            assert!(
                check_advice_without_related("mount.options", &[refused], &facts, &xfs).is_err(),
                "{refused}"
            );
        }
        assert!(
            check_advice_without_related("mount.options", &["noatime", "nobarrier"], &facts, &xfs)
                .is_err()
        );
        assert!(
            check_advice_without_related("mount.options", &[], &facts, &xfs).is_ok(),
            "taking away is no matter for the kernel"
        );
    }

    #[test]
    fn advice_with_unknown_support_is_rejected() {
        let facts = FactSet::default();
        let mounted = Subject::mount("/data");
        assert!(
            check_advice_without_related("mount.options", &["noatime"], &facts, &mounted).is_err(),
            "no kernel"
        );
        let facts = facts_with_kernel("6.1", "debian");
        assert!(
            check_advice_without_related("mount.options", &["nobarrier"], &facts, &mounted)
                .is_err(),
            "no file system"
        );
        let blank = Subject::target("/dev/sdb");
        assert!(
            check_advice_without_related("mount.options", &["noatime"], &facts, &blank).is_ok(),
            "every file system takes it"
        );
        let errors = ["noatime", "errors=remount-ro"];
        let made = |filesystem| {
            let beside = RelatedAdvice {
                filesystem,
                ..RelatedAdvice::default()
            };
            check_advice_with_related("mount.options", &errors, &beside, &facts, &blank).is_ok()
        };
        assert_eq!(
            [Some("ext4"), Some("xfs"), None].map(made),
            [true, false, false],
            "of what is to be made"
        );
    }

    #[test]
    fn new_file_systems_need_driver_and_mountable_defaults() {
        let blank = Subject::target("/dev/sdb");
        let el9 = facts_with_kernel("5.14.0-362.el9", "el9");
        assert!(check_advice_without_related("filesystem", &["ext4"], &el9, &blank).is_ok());
        assert!(check_advice_without_related("filesystem", &["btrfs"], &el9, &blank).is_err());
        let mut old = facts_with_kernel("5.10.1", "mainline");
        assert!(check_advice_without_related("filesystem", &["xfs"], &old, &blank).is_ok());
        old.insert_known(
            &Subject::host(),
            &host::XFSPROGS,
            test_version("6.5.0"),
            Source::from_system_call("mkfs.xfs -V"),
        );
        assert!(
            check_advice_without_related("filesystem", &["xfs"], &old, &blank).is_err(),
            "nrext64"
        );
        let mut custom = facts_with_kernel("6.12", "mainline");
        assert!(check_advice_without_related("filesystem", &["btrfs"], &custom, &blank).is_err());
        custom.insert_known(
            &Subject::host(),
            &kernel::FILESYSTEMS,
            string_list("ext4,btrfs"),
            Source::from_file("filesystems"),
        );
        assert!(check_advice_without_related("filesystem", &["btrfs"], &custom, &blank).is_ok());
    }

    #[test]
    fn omitted_features_make_newer_mkfs_acceptable() {
        let blank = Subject::target("/dev/sdb");
        let mut facts = facts_with_kernel("5.10.1", "mainline");
        facts.insert_known(
            &Subject::host(),
            &host::XFSPROGS,
            test_version("6.5.0"),
            Source::from_system_call("mkfs.xfs -V"),
        );
        derive_compat_facts(&mut facts);
        let words = facts.host_value(&host::XFS_LEAVE_OUT).unwrap();
        assert_eq!(words, ["nrext64=0"]);
        assert!(
            !facts
                .get(&Subject::host(), &host::EXT4_LEAVE_OUT)
                .is_known(),
            "mke2fs is not known"
        );
        let with = |features: &[String], setting: &str, word: &str| {
            let beside = RelatedAdvice {
                filesystem: Some("xfs"),
                features,
            };
            check_advice_with_related(setting, &[word], &beside, &facts, &blank).is_ok()
        };
        assert!(!with(&[], "filesystem", "xfs"));
        assert!(with(&words, "filesystem", "xfs"));
        assert!(with(&words, "mkfs.features", "nrext64=0"));
        assert!(
            !with(&words, "mkfs.features", "nrext64=1"),
            "this kernel cannot mount it"
        );
        assert!(with(&words, "mkfs.features", "bigtime=1"));
        assert!(
            check_advice_without_related("mkfs.features", &["bigtime=1"], &facts, &blank).is_err(),
            "of which file system?"
        );
    }

    #[test]
    fn postgres_advice_needs_supporting_version() {
        let mut facts = FactSet::default();
        let cluster = Subject::cluster("/pg");
        let none = Subject::target("/new");
        assert!(
            check_advice_without_related("pg.wal_sync_method", &["fdatasync"], &facts, &none)
                .is_ok(),
            "valid in every release"
        );
        assert!(
            check_advice_without_related(
                "pg.wal_sync_method",
                &["fsync_writethrough"],
                &facts,
                &none
            )
            .is_err()
        );
        assert!(check_advice_without_related("pg.wal_init_zero", &["on"], &facts, &none).is_err());
        facts.insert_known(
            &cluster,
            &postgres::VERSION,
            test_version("11.22"),
            Source::from_file("PG_VERSION"),
        );
        assert!(
            check_advice_without_related("pg.wal_init_zero", &["on"], &facts, &cluster).is_err()
        );
        facts.insert_known(
            &cluster,
            &postgres::VERSION,
            test_version("17.2"),
            Source::from_file("PG_VERSION"),
        );
        assert!(
            check_advice_without_related("pg.wal_init_zero", &["on"], &facts, &cluster).is_ok()
        );
        assert!(
            check_advice_without_related("block.write_cache", &["write back"], &facts, &cluster)
                .is_ok()
        );
    }

    #[test]
    fn fast_commit_and_scheduler_advice_is_checked() {
        let mut facts = facts_with_kernel("6.12", "mainline");
        let mounted = insert_mount(&mut facts, "ext4");
        assert!(
            check_advice_without_related("ext4.fast_commit", &["on"], &facts, &mounted).is_err(),
            "no tools known"
        );
        facts.insert_known(
            &Subject::host(),
            &host::E2FSPROGS,
            test_version("1.47.0"),
            Source::from_system_call("mke2fs -V"),
        );
        assert!(
            check_advice_without_related("ext4.fast_commit", &["on"], &facts, &mounted).is_ok()
        );
        assert!(
            check_advice_without_related("ext4.fast_commit", &["off"], &facts, &mounted).is_ok()
        );
        assert!(
            check_advice_without_related("ext4.fast_commit", &["sometimes"], &facts, &mounted)
                .is_err(),
            "no such value"
        );
        assert!(
            check_advice_without_related("block.scheduler", &["mq-deadline"], &facts, &mounted)
                .is_ok()
        );
        assert!(
            check_advice_without_related("block.scheduler", &["cfq"], &facts, &mounted).is_err()
        );
    }
}

#[test]
fn misspelt_option_gets_suggestion() {
    let kernel = Version::parse("6.1").unwrap();
    for (fs, option, expected) in [
        ("ext4", "noatiem", Some("noatime")),
        ("ext4", "comit", Some("commit")),
        ("xfs", "logbsiez", Some("logbsize")),
        ("btrfs", "autodefarg", Some("autodefrag")),
        ("ext4", "noload1", None),
        ("xfs", "frobnicate", None),
    ] {
        let ruling = super::mount_option_support(fs, option, &kernel, "mainline");
        assert_eq!(ruling.effect, Effect::Refused, "{fs} {option}");
        let told = ruling
            .because
            .split_once("Did you mean `")
            .map(|(_, rest)| rest.trim_end_matches("`?"));
        assert_eq!(told, expected, "{fs} {option}: {}", ruling.because);
    }
}
