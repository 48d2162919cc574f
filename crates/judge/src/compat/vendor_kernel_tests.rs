//! Compares the tables' answers about common options with the behaviour of vendors' kernels.
//!
//! `?` marks a combination that was neither read in the vendor's source nor mounted on that kernel;
//! the tables must not accept such a combination.

use super::Effect;
use super::kernel_support::mount_options_support;
use crate::version::Version;

/// The kernels of the columns in [`EXPECTED_EFFECTS`]: vendor, release, and whether the collector
/// marks the kernel as backporting.
const KERNELS: [(&str, &str, bool); 28] = [
    ("el7", "3.10.0-1160.119.1.el7.x86_64", true),
    ("el8", "4.18.0-553.el8_10.x86_64", true),
    ("el9", "5.14.0-503.11.1.el9_5.x86_64", true),
    ("el10", "6.12.0-55.9.1.el10_0.x86_64", true),
    ("sles", "4.12.14-122.37-default", true),
    ("sles", "5.3.18-150300.59.164-default", true),
    ("sles", "5.14.21-150500.55.19-default", true),
    ("sles", "6.4.0-150600.21-default", true),
    ("sles", "6.12.0-160000.5-default", true),
    ("ubuntu", "4.15.18", false),
    ("ubuntu", "5.4.0-200-generic", false),
    ("ubuntu", "5.15.160", false),
    ("ubuntu", "6.8.0-31-generic", false),
    ("ubuntu", "6.14.0-24-generic", false),
    ("debian", "4.19.316", false),
    ("debian", "5.10.218", false),
    ("debian", "6.1.140", false),
    ("debian", "6.12.38", false),
    ("amazon", "4.14.355-275.570.amzn2.x86_64", false),
    ("amazon", "5.10.219-208.866.amzn2.x86_64", false),
    ("amazon", "5.15.160-104.158.amzn2.x86_64", false),
    ("amazon", "6.1.102-111.182.amzn2023.x86_64", false),
    ("amazon", "6.12.22-27.96.amzn2023.x86_64", false),
    ("uek", "5.4.17-2136.330.7.1.el8uek.x86_64", true),
    ("uek", "5.15.0-200.131.27.el8uek.x86_64", true),
    ("uek", "6.12.0-100.28.2.el9uek.x86_64", true),
    ("alibaba", "4.19.91-27.6.al7.x86_64", true),
    ("alibaba", "5.10.134-16.1.al8.x86_64", true),
];

/// For each option, a letter per kernel: `o` ok, `d` default anyway, `n` no effect, `w` deprecated,
/// `R` refused, `?` unknown. The groups of columns are el, sles, ubuntu, debian, amazon, uek and
/// alibaba. Each comment gives the source of the rows below.
const EXPECTED_EFFECTS: [(&str, &str, &str); 33] = [
    // Source: Documentation/admin-guide/ext4.rst of each series, unchanged since 3.10.
    ("ext4", "noatime",                "oooo ooooo ooooo oooo ooooo ooo oo"),
    ("ext4", "nobarrier",              "oooo ooooo ooooo oooo ooooo ooo oo"),
    ("ext4", "barrier=1",              "oooo ooooo ooooo oooo ooooo ooo oo"),
    ("ext4", "data=journal",           "oooo ooooo ooooo oooo ooooo ooo oo"),
    ("ext4", "commit=30",              "oooo ooooo ooooo oooo ooooo ooo oo"),
    ("ext4", "errors=remount-ro",      "oooo ooooo ooooo oooo ooooo ooo oo"),
    ("ext4", "discard",                "oooo ooooo ooooo oooo ooooo ooo oo"),
    ("ext4", "nodelalloc",             "oooo ooooo ooooo oooo ooooo ooo oo"),
    ("ext4", "acl",                    "dddd ddddd ddddd dddd ddddd ddd dd"),
    // Source: commits 2d544ec923db and 1ff20307393e, both of 6.1.
    ("ext4", "noacl",                  "???R ???RR wwwRR wwRR wwwRR ??R ??"),
    ("ext4", "i_version",              "???n ???nn ooonn oonn ooonn ??n ??"),
    // The option is the default from 5.6 on (`d`). Older kernels that have the option honour it
    // (`o`).
    ("ext4", "dioread_nolock",         "oodd ooddd ooddd oddd odddd odd od"),
    ("ext4", "fast_commit",            "RRRR RRRRR RRRRR RRRR RRRRR RRR RR"),
    // All these kernels accept the options, since 5.10 with a warning (c23c393eaab5). Sources:
    // fs/xfs/xfs_super.c of ctrliq/kernel-src-tree for el8, alibaba/cloud-kernel for alibaba.
    ("xfs", "attr2",                   "ddww ddwww ddwww dwww dwwww dww dw"),
    ("xfs", "noikeep",                 "ddww ddwww ddwww dwww dwwww dww dw"),
    ("xfs", "ikeep",                   "ooww oowww oowww owww owwww oww ow"),
    // Sources of Red Hat's kernels, SUSE KB 000020240; alibaba/cloud-kernel does not have the
    // option.
    ("xfs", "nobarrier",               "nRRR nRRRR nRRRR RRRR nRRRR RRR RR"),
    ("xfs", "inode64",                 "dddd ddddd ddddd dddd ddddd ddd dd"),
    ("xfs", "logbufs=8",               "dddd ddddd ddddd dddd ddddd ddd dd"),
    ("xfs", "logbsize=256k",           "oooo ooooo ooooo oooo ooooo ooo oo"),
    ("xfs", "allocsize=64m",           "oooo ooooo ooooo oooo ooooo ooo oo"),
    ("xfs", "discard",                 "oooo ooooo ooooo oooo ooooo ooo oo"),
    ("xfs", "largeio",                 "oooo ooooo ooooo oooo ooooo ooo oo"),
    // CONFIG_XFS_QUOTA as each vendor sets it; Amazon's setting is unknown.
    ("xfs", "prjquota",                "oooo ooooo ooooo oooo ????? ooo oo"),
    ("xfs", "uquota",                  "oooo ooooo ooooo oooo ????? ooo oo"),
    ("xfs", "norecovery",              "RRRR RRRRR RRRRR RRRR RRRRR RRR RR"),
    // Added in 6.16; `?` where the vendor may have backported the option.
    ("xfs", "max_atomic_write=16k",    "???? ????? RRRRR RRRR RRRRR ??? ??"),
    // Source: btrfs(5); btrfs: Kernel by version.
    ("btrfs", "nobarrier",             "oooo ooooo ooooo oooo ooooo ooo oo"),
    ("btrfs", "autodefrag",            "oooo ooooo ooooo oooo ooooo ooo oo"),
    ("btrfs", "compress=zstd",         "?ooo ?oooo ooooo oooo ooooo ooo oo"),
    ("btrfs", "space_cache=v2",        "?ooo ooooo ooooo oooo ooooo ooo oo"),
    ("btrfs", "inode_cache",           "???R ????R oonRR oonR oonnR ??R ??"),
    ("btrfs", "discard=async",         "??oo ??ooo ??ooo ?ooo ?oooo ?oo ?o"),
];

fn option_effect_on_kernel(fs: &str, option: &str, (vendor, kernel, backports): (&str, &str, bool)) -> Effect {
    let kernel = Version::parse(kernel).unwrap().with_backports(backports);
    mount_options_support(fs, &[option.to_owned()], &[], &kernel, vendor).remove(0).effect
}

fn effect_letter(effect: Effect) -> char {
    match effect {
        Effect::Ok => 'o',
        Effect::DefaultAnyway => 'd',
        Effect::NoEffect => 'n',
        Effect::Deprecated => 'w',
        Effect::Refused => 'R',
        Effect::Unknown => '?',
    }
}

#[test]
fn tables_match_vendor_kernels() {
    let mut wrong = Vec::new();
    for (fs, option, letters) in EXPECTED_EFFECTS {
        let letters: Vec<char> = letters.chars().filter(|c| *c != ' ').collect();
        assert_eq!(letters.len(), KERNELS.len(), "{fs} {option}");
        for (kernel, truth) in KERNELS.into_iter().zip(letters) {
            let says = effect_letter(option_effect_on_kernel(fs, option, kernel));
            if says != truth {
                wrong.push(format!("{fs} {option} on {} {}: {says}, but is {truth}", kernel.0, kernel.1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
