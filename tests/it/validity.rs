//! Compares the table of options with the running kernel: accepted options must mount, refused ones
//! must not, and options without effect must change nothing. File system features are created and
//! mounted, and advised remounts must take effect. All file systems are real, on loop devices.

use std::collections::BTreeSet;
use std::process::Command;

use walwise_judge::compat::{
    Effect, MountOptionTestCase, mkfs_feature_support, mkfs_feature_test_cases,
    mkfs_omit_arguments, mount_option_test_cases, mount_options_support,
    options_not_overridden_later,
};
use walwise_judge::rules::RuleSet;
use walwise_judge::rules::model::{AdviceSpec, ChangeSpec};
use walwise_model::version::Version;

use super::support::loops::{LoopDevice, MountedFileSystem, mount_file_system};
use super::support::{check_json, run, stderr, stdout, walwise};
use crate::support::deadline::CommandInTime as _;

const MIB: u64 = 512;

/// Returns the running kernel's version without its vendor. The vendors' rows of the table are then
/// unused, so no two rows contradict each other.
fn running_kernel() -> Version {
    Version::parse(run("uname", &["-r"]).trim()).expect("a kernel release")
}

fn disk_with_file_system(fs: &str) -> LoopDevice {
    let disk = LoopDevice::new(MIB);
    let command = format!("mkfs.{fs}");
    disk.mkfs(&[&command, "-q"]);
    disk
}

fn assert_mount_options_match_table(fs: &str) {
    let kernel = running_kernel();
    let (mut mounted, mut refused, mut wrong) = (0, 0, Vec::new());
    // Some options change a file system permanently, so accepted and refused options use different
    // file systems.
    let (good, bad) = (disk_with_file_system(fs), disk_with_file_system(fs));
    let foreign = ["ext4", "xfs", "btrfs"]
        .into_iter()
        .filter(|other| *other != fs)
        .flat_map(mount_option_test_cases);
    let alone = mount_option_test_cases(fs)
        .into_iter()
        .chain(foreign)
        .map(|example| (example.option, None));
    let accompanied = mount_option_test_cases(fs)
        .into_iter()
        .map(|example| (example.option, example.companion));
    for (option, beside) in alone.chain(accompanied) {
        let words: Vec<String> = beside.into_iter().chain([option]).collect();
        let line = words.join(",");
        let Some(ruling) = mount_options_support(fs, &words, &[], &kernel, "mainline").pop() else {
            continue;
        };
        match ruling.effect {
            Effect::Unknown => {}
            Effect::Refused => match bad.try_mount(&line) {
                Ok(()) => wrong.push(format!(
                    "{line}: mounts, but should be refused: {}",
                    ruling.because
                )),
                Err(_) => refused += 1,
            },
            effect => match good.try_mount(&line) {
                Ok(()) => mounted += 1,
                Err(said) => {
                    wrong.push(format!(
                        "{line}: {}, but mount says {said}",
                        effect.as_str()
                    ));
                }
            },
        }
    }
    assert!(wrong.is_empty(), "{fs} on {kernel}:\n{}", wrong.join("\n"));
    assert!(
        mounted > 40 && refused > 40,
        "{fs}: only {mounted} mounted and {refused} refused"
    );
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn ext4_takes_and_refuses_what_the_table_says() {
    assert_mount_options_match_table("ext4");
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn xfs_takes_and_refuses_what_the_table_says() {
    assert_mount_options_match_table("xfs");
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn btrfs_takes_and_refuses_what_the_table_says() {
    assert_mount_options_match_table("btrfs");
}

const FAMILIES: [&str; 3] = ["ext4", "xfs", "btrfs"];

fn sorted_and_deduplicated(mut options: Vec<String>) -> Vec<String> {
    options.sort();
    options.dedup();
    options
}

fn option_effect(fs: &str, example: &MountOptionTestCase) -> (String, Effect) {
    let words: Vec<String> = example
        .companion
        .iter()
        .chain([&example.option])
        .cloned()
        .collect();
    let ruling = mount_options_support(fs, &words, &[], &running_kernel(), "mainline")
        .pop()
        .unwrap();
    (words.join(","), ruling.effect)
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn options_without_effect_leave_options_in_force_unchanged() {
    for fs in FAMILIES {
        let disk = disk_with_file_system(fs);
        let without = sorted_and_deduplicated(disk.mount_and_read_options("").unwrap());
        let (mut wrong, mut tried) = (Vec::new(), 0);
        for (line, effect) in mount_option_test_cases(fs)
            .iter()
            .map(|example| option_effect(fs, example))
        {
            if !matches!(effect, Effect::NoEffect | Effect::DefaultAnyway) {
                continue;
            }
            tried += 1;
            let with = sorted_and_deduplicated(disk.mount_and_read_options(&line).unwrap());
            // Some kernels print options that they ignore, so a printed option without effect is no
            // difference.
            let printed = |word: &&String| effect == Effect::NoEffect && **word == line;
            let new = with
                .iter()
                .filter(|word| !without.contains(word) && !printed(word));
            let differ: Vec<&String> = new
                .chain(without.iter().filter(|word| !with.contains(word)))
                .collect();
            if !differ.is_empty() {
                wrong.push(format!(
                    "{fs} {line} is `{}` and changes {differ:?}",
                    effect.as_str()
                ));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(tried > 8, "{fs}: only {tried}");
    }
}

fn lab_mount_option_lines(fs: &str) -> Vec<String> {
    let file = format!(
        "{}/tests/lab/guest/option-lines",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(file).unwrap();
    let of_it = text
        .lines()
        .filter_map(|line| line.strip_prefix(fs)?.strip_prefix(' '));
    of_it.map(str::to_owned).collect()
}

#[test]
fn lab_option_lines_are_decided_for_every_kernel() {
    let all: Vec<(&str, String)> = FAMILIES
        .into_iter()
        .flat_map(|fs| {
            lab_mount_option_lines(fs)
                .into_iter()
                .map(move |line| (fs, line))
        })
        .collect();
    assert!(all.len() >= 300, "{}", all.len());
    let mut undecided = Vec::new();
    for kernel in ["6.1.176", "6.12.117", "6.18.44"] {
        for (fs, line) in &all {
            let words: Vec<String> = line.split(',').map(str::to_owned).collect();
            let rulings =
                mount_options_support(fs, &words, &[], &Version::parse(kernel).unwrap(), "debian");
            if rulings
                .iter()
                .any(|ruling| ruling.effect == Effect::Unknown)
            {
                undecided.push(format!("{fs} {line} on {kernel}"));
            }
        }
    }
    assert!(undecided.is_empty(), "{}", undecided.join("\n"));
}

/// A line mounts if the kernel accepts each of its options. Options in force are those that no
/// other option of the line undoes.
#[test]
#[ignore = "needs root: mounts loop devices"]
fn option_lines_behave_as_the_table_says() {
    let kernel = running_kernel();
    let (mut taken, mut refused, mut same, mut wrong) = (0, 0, 0, Vec::new());
    for fs in FAMILIES {
        let disk = disk_with_file_system(fs);
        for line in lab_mount_option_lines(fs) {
            let words: Vec<String> = line.split(',').map(str::to_owned).collect();
            let rulings = mount_options_support(fs, &words, &[], &kernel, "mainline");
            let refusal = rulings
                .iter()
                .find(|ruling| ruling.effect == Effect::Refused);
            match (disk.mount_and_read_options(&line), refusal) {
                (Err(_), Some(_)) => refused += 1,
                (Err(said), None) => {
                    wrong.push(format!("{fs} {line}: taken, but mount says {said}"));
                }
                (Ok(_), Some(ruling)) => {
                    wrong.push(format!("{fs} {line}: mounts, but {}", ruling.because));
                }
                (Ok(whole), None) => {
                    taken += 1;
                    let holds = options_not_overridden_later(fs, &words);
                    if holds.len() < words.len() {
                        same += 1;
                        let (found, held) = (
                            sorted_and_deduplicated(whole),
                            sorted_and_deduplicated(
                                disk.mount_and_read_options(&holds.join(",")).unwrap(),
                            ),
                        );
                        if found != held {
                            wrong.push(format!(
                                "{fs} {line} is not {}: {found:?} {held:?}",
                                holds.join(",")
                            ));
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "on {kernel}:\n{}", wrong.join("\n"));
    assert!(
        taken > 300 && refused > 120 && same > 100,
        "{taken} taken, {refused} refused, {same} compared"
    );
}

fn mount_options_advised_by_rules() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for rule in RuleSet::builtin().rules() {
        let mounts =
            |advice: &&AdviceSpec| ["mount.options", "boot.options"].contains(&advice.setting.name);
        for advice in rule.advise.iter().filter(mounts) {
            if let ChangeSpec::Fixed(change) = &advice.change {
                all.extend(
                    change
                        .set_or_added_values()
                        .iter()
                        .map(|value| (rule.id.clone(), value.clone())),
                );
            }
        }
    }
    all
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn every_option_that_rules_advise_mounts() {
    let disks = FAMILIES.map(|fs| (fs, disk_with_file_system(fs)));
    for (rule, option) in mount_options_advised_by_rules() {
        let mut taken = option == "hard";
        for (fs, disk) in &disks {
            let ruling = mount_options_support(
                fs,
                std::slice::from_ref(&option),
                &[],
                &running_kernel(),
                "mainline",
            )
            .remove(0);
            if matches!(ruling.effect, Effect::Ok | Effect::DefaultAnyway) {
                disk.try_mount(&option)
                    .unwrap_or_else(|said| panic!("{rule}: {option} on {fs}: {said}"));
                taken = true;
            }
        }
        assert!(taken, "{rule}: {option} is withheld on every file system");
    }
}

fn apply_and_undo_commands(mounted: &MountedFileSystem, rule: &str) -> [String; 2] {
    let (_, report) = check_json(&[
        mounted.create_subdirectory("data").to_str().unwrap(),
        "--no-probe",
    ]);
    let findings = report["findings"].as_array().unwrap().iter();
    let advice = findings
        .filter(|finding| finding["rule"] == rule && finding["outcome"]["outcome"] == "applies");
    let advice: Vec<&serde_json::Value> = advice
        .flat_map(|finding| finding["advice"].as_array().unwrap())
        .collect();
    ["apply", "undo"].map(|word| {
        let commands = advice
            .iter()
            .flat_map(|advice| advice[word].as_array().unwrap());
        let commands = commands.map(|command| command.as_str().unwrap());
        let of_mount =
            |command: &&str| command.starts_with("mount ") || command.starts_with("umount ");
        commands.filter(of_mount).collect::<Vec<_>>().join("\n")
    })
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn advised_remounts_take_effect_and_are_undone() {
    let (mut tried, mut wrong) = (BTreeSet::new(), Vec::new());
    for rule in RuleSet::builtin().rules() {
        for removed in rule.advise.iter().flat_map(|advice| match &advice.change {
            ChangeSpec::Fixed(change) if advice.setting.name == "mount.options" => {
                change.removed_options().to_vec()
            }
            _ => Vec::new(),
        }) {
            for fs in FAMILIES {
                let words = std::slice::from_ref(&removed);
                let ruling =
                    mount_options_support(fs, words, &[], &running_kernel(), "mainline").remove(0);
                if ruling.effect != Effect::Ok {
                    continue;
                }
                let mounted = mount_file_system(MIB, &[&format!("mkfs.{fs}"), "-q"], &removed);
                let [apply, undo] = apply_and_undo_commands(&mounted, &rule.id);
                if apply.is_empty() {
                    continue;
                }
                let in_force =
                    || sorted_and_deduplicated(mounted.disk.options_in_force(&mounted.point));
                let before = in_force();
                run("sh", &["-e", "-c", &apply]);
                if in_force().contains(&removed) || in_force() == before {
                    wrong.push(format!(
                        "{}: {removed} is in force on {fs} after {apply}",
                        rule.id
                    ));
                }
                run("sh", &["-e", "-c", &undo]);
                if in_force() != before {
                    wrong.push(format!(
                        "{}: {:?} instead of {before:?} on {fs} after {undo}",
                        rule.id,
                        in_force()
                    ));
                }
                tried.insert(format!("{fs} {removed}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for known in [
        "ext4 nobarrier",
        "ext4 discard",
        "ext4 sync",
        "btrfs nobarrier",
        "btrfs nodatacow",
        "btrfs notreelog",
        "btrfs autodefrag",
        "ext4 data=journal",
        "xfs discard",
    ] {
        assert!(tried.contains(known), "{known} was not tried: {tried:?}");
    }
}

/// mountinfo does not show default options stored in the superblock (`tune2fs -o`).
#[test]
#[ignore = "needs root: mounts loop devices"]
fn advised_remount_reverts_superblock_defaults() {
    for (default, removed, rule) in [
        ("nobarrier", "nobarrier", "barrier.ext4-off"),
        ("journal_data", "data=journal", "ext4.data-journal"),
    ] {
        let disk = disk_with_file_system("ext4");
        run("tune2fs", &["-o", default, &disk.device]);
        let mounted = disk.mount("");
        let in_force = || {
            mounted
                .disk
                .options_in_force(&mounted.point)
                .contains(&removed.to_owned())
        };
        assert!(in_force(), "{default}");
        let [apply, _] = apply_and_undo_commands(&mounted, rule);
        run("sh", &["-e", "-c", &apply]);
        assert!(!in_force(), "{removed} after {apply}");
    }
}

fn mkfs_version(fs: &str) -> Version {
    let flag = if fs == "btrfs" { "--version" } else { "-V" };
    let output = Command::new(format!("mkfs.{fs}"))
        .arg(flag)
        .output_in_time();
    let text = format!(
        "{} {}",
        String::from_utf8_lossy(&output.stdout),
        stderr(&output)
    );
    let number = |word: &str| {
        word.trim_start_matches('v')
            .starts_with(|c: char| c.is_ascii_digit())
    };
    text.split_whitespace()
        .find(|word| number(word))
        .and_then(Version::parse)
        .expect("a version")
}

fn mkfs_and_mount(fs: &str, words: &[String]) -> Result<(), String> {
    let disk = LoopDevice::new(MIB);
    let mut mkfs = Command::new(format!("mkfs.{fs}"));
    let output = mkfs
        .arg("-q")
        .args(words)
        .arg(&disk.device)
        .output_in_time();
    if !output.status.success() {
        return Err(format!("mkfs: {}", stderr(&output)));
    }
    disk.try_mount("").map_err(|said| format!("mount: {said}"))
}

#[test]
#[ignore = "needs root: makes file systems on loop devices"]
fn features_are_made_and_mounted_or_refused_as_the_table_says() {
    let kernel = running_kernel();
    let mut wrong = Vec::new();
    for fs in FAMILIES {
        let tool = mkfs_version(fs);
        let (mut made, mut left_out, mut refused) = (0, 0, 0);
        for feature in mkfs_feature_test_cases(fs) {
            let ruling =
                mkfs_feature_support(fs, feature.name, Some(&tool), Some((&kernel, "mainline")));
            let (with, without) = (&feature.with, &feature.without);
            match ruling.effect {
                // The version of a kernel does not show whether the feature was built in, so both
                // results are accepted.
                _ if feature.by_build => {}
                Effect::Ok | Effect::Deprecated => {
                    made += 1;
                    wrong.extend(
                        mkfs_and_mount(fs, with)
                            .err()
                            .map(|said| format!("{fs} {with:?}: {said}")),
                    );
                }
                _ => {
                    refused += 1;
                    wrong.extend(
                        mkfs_and_mount(fs, with)
                            .is_ok()
                            .then(|| format!("{fs} {with:?} is taken")),
                    );
                }
            }
            if tool >= *feature.tool && !feature.needed {
                left_out += 1;
                wrong.extend(
                    mkfs_and_mount(fs, without)
                        .err()
                        .map(|said| format!("{fs} {without:?}: {said}")),
                );
            }
        }
        assert!(
            made > 2 && left_out > 2,
            "{fs}: {made} made, {left_out} left out, {refused} refused"
        );
        // Features that this kernel lacks are newer than the installed tools.
        let words: Vec<String> = mkfs_omit_arguments(fs, &tool, &kernel, "mainline");
        assert_eq!(words, [""; 0], "{fs}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs root: makes file systems on loop devices"]
fn advised_mkfs_options_create_mountable_file_systems() {
    let mut tried = 0;
    for rule in RuleSet::builtin().rules() {
        let of = |setting: &str| -> Vec<String> {
            let pieces = rule
                .advise
                .iter()
                .filter(|advice| advice.setting.name == setting);
            let fixed = pieces.filter_map(|advice| match &advice.change {
                ChangeSpec::Fixed(change) => Some(change.set_or_added_values().to_vec()),
                _ => None,
            });
            fixed.flatten().collect()
        };
        let (systems, options) = (of("filesystem"), of("mkfs.options"));
        for fs in systems.iter().filter(|fs| FAMILIES.contains(&fs.as_str())) {
            let words: Vec<String> = options
                .iter()
                .flat_map(|word| word.split(' '))
                .map(str::to_owned)
                .collect();
            mkfs_and_mount(fs, &words)
                .unwrap_or_else(|said| panic!("{}: {fs} {words:?}: {said}", rule.id));
            tried += 1;
        }
    }
    assert!(tried > 2);
}

/// The virtual machines of tests/lab test older kernels with their own lists: stacks/options.sh,
/// and guest/lib.sh for every file system.
#[test]
fn the_lab_tries_every_option_of_the_table() {
    let lab = |file: &str| {
        std::fs::read_to_string(format!("{}/tests/lab/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    };
    let lib = lab("guest/lib.sh");
    let (_, common) = lib.split_once("\nof_every_file_system() {").unwrap();
    let (common, _) = common.split_once("\n}").unwrap();
    for fs in FAMILIES {
        let options = lab("stacks/options.sh");
        let (_, text) = options
            .split_once(&format!("\n### options-{fs}\n"))
            .unwrap();
        let text = text.split("\n### ").next().unwrap();
        let lines: BTreeSet<&str> = text.lines().chain(common.split_whitespace()).collect();
        let mut missing = Vec::new();
        let decided = |example: &MountOptionTestCase| {
            ["6.1.176", "6.12.117"].into_iter().any(|kernel| {
                let options = std::slice::from_ref(&example.option);
                let kernel = Version::parse(kernel).unwrap();
                mount_options_support(fs, options, &[], &kernel, "mainline")
                    .remove(0)
                    .effect
                    != Effect::Unknown
            })
        };
        for MountOptionTestCase {
            option,
            companion: beside,
        } in mount_option_test_cases(fs).into_iter().filter(decided)
        {
            missing.extend((!lines.contains(option.as_str())).then(|| option.clone()));
            let together = beside.map(|beside| format!("{beside},{option}"));
            missing.extend(together.filter(|words| !lines.contains(words.as_str())));
        }
        assert!(missing.is_empty(), "options-{fs}.sh lacks {missing:?}");
    }
}

#[test]
#[ignore = "needs root: makes a file system on a loop device"]
fn mkfs_disables_features_an_older_kernel_cannot_mount() {
    let disk = LoopDevice::new(MIB);
    let captured = walwise().args(["capture", &disk.device]).output_in_time();
    let older = stdout(&captured).replace(run("uname", &["-r"]).trim(), "5.10.0");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), older).unwrap();
    let asked = [
        "check",
        &disk.device,
        "--host",
        file.path().to_str().unwrap(),
        "--format",
        "script",
    ];
    let script = stdout(&walwise().args(asked).output_in_time());
    let line = script
        .lines()
        .find(|line| line.starts_with("mkfs."))
        .expect("a file system");
    let command = &line.replace("\"$DEVICE\"", &disk.device);
    let kernel = Version::parse("5.10.0").unwrap();
    let words = mkfs_omit_arguments("ext4", &mkfs_version("ext4"), &kernel, "mainline");
    assert!(
        words.iter().all(|word| command.contains(word.as_str())),
        "{command} lacks one of {words:?}"
    );
    assert!(
        mkfs_version("ext4") < Version::parse("1.47.0").unwrap() || words == ["^orphan_file"],
        "{words:?}"
    );
    run("sh", &["-c", command]);
    disk.try_mount("").unwrap();
    let superblock = run("dumpe2fs", &["-h", &disk.device]);
    let features = superblock
        .lines()
        .find(|line| line.starts_with("Filesystem features:"))
        .unwrap();
    assert!(
        words
            .iter()
            .all(|word| !features.contains(word.trim_start_matches('^'))),
        "{features}"
    );
}
