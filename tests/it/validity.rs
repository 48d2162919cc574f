//! The validity table against this very kernel: every option that it calls accepted must mount, every one it calls
//! refused must not. File systems are real, on loop devices.

use walwise::validity::{Effect, examples, mount_options};
use walwise::version::Version;

use super::support::loops::Loop;
use super::support::run;

const MIB: u64 = 512;

/// The running kernel as the mainline kernel it claims to be; a vendor's kernel is decided by fewer rows, never by others.
fn kernel() -> Version {
    Version::parse(run("uname", &["-r"]).trim()).expect("a kernel release")
}

/// A loop device with a new file system.
fn disk(fs: &str) -> Loop {
    let disk = Loop::new(MIB);
    let command = format!("mkfs.{fs}");
    disk.mkfs(&[&command, "-q"]);
    disk
}

fn check(fs: &str) {
    let kernel = kernel();
    let (mut mounted, mut refused, mut wrong) = (0, 0, Vec::new());
    // Some options change a file system for good, so each group of effects has one of its own.
    let (good, bad) = (disk(fs), disk(fs));
    let foreign = ["ext4", "xfs", "btrfs"].into_iter().filter(|other| *other != fs).flat_map(examples);
    let alone = examples(fs).into_iter().chain(foreign).map(|example| (example.option, None));
    let accompanied = examples(fs).into_iter().map(|example| (example.option, example.beside));
    for (option, beside) in alone.chain(accompanied) {
        let words: Vec<String> = beside.into_iter().chain([option]).collect();
        let line = words.join(",");
        let Some(ruling) = mount_options(fs, &words, &[], &kernel, "mainline").pop() else { continue };
        match ruling.effect {
            Effect::Unknown => {}
            Effect::Refused => match bad.try_mount(&line) {
                Ok(()) => wrong.push(format!("{line}: mounts, but should be refused: {}", ruling.because)),
                Err(_) => refused += 1,
            },
            effect => match good.try_mount(&line) {
                Ok(()) => mounted += 1,
                Err(said) => wrong.push(format!("{line}: {}, but mount says {said}", effect.word())),
            },
        }
    }
    assert!(wrong.is_empty(), "{fs} on {kernel}:\n{}", wrong.join("\n"));
    assert!(mounted > 40 && refused > 40, "{fs}: only {mounted} mounted and {refused} refused");
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn ext4_takes_and_refuses_what_the_table_says() {
    check("ext4");
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn xfs_takes_and_refuses_what_the_table_says() {
    check("xfs");
}

#[test]
#[ignore = "needs root: mounts loop devices"]
fn btrfs_takes_and_refuses_what_the_table_says() {
    check("btrfs");
}
