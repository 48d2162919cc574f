//! A masked capture must not contain secrets, even in places that masks might overlook.

use super::attack_directory::{AttackDirectory, write_attacker_file};
use super::attempts::Attempts;
use super::fakes::{FakeServerPrograms, create_postgres_data};
use super::root;
use super::support::loops::LoopDevice;

const WORDS: [&str; 4] = [
    "S3EVNX0M705",
    "hunter2hunter2",
    "db7.example.org",
    "2001:db8::77",
];

/// A label, mount sources, a unit and an option file contain secrets. The reader of the masked
/// capture wants to learn them.
#[test]
#[ignore = "needs root and loop devices"]
fn masked_capture_contains_no_secret() {
    let mut attempts =
        Attempts::for_attack("secrets in labels, sources of mounts, options and settings");
    let ground = AttackDirectory::new();
    let disk = LoopDevice::new(64);
    disk.mkfs(&[
        "mkfs.ext4",
        "-q",
        "-L",
        &format!("disk-{}", WORDS[0]),
        "-U",
        "5eb5d0c2-7a5f-4d5e-9d3b-1f0c9a7b6e21",
    ]);
    let (one, two) = (
        ground.create_directory("one", 0o755),
        ground.create_directory("two", 0o755),
    );
    let fakes = FakeServerPrograms::install_in(&ground);
    let data = ground.create_attacker_directory("data");
    create_postgres_data(&data);
    let text = format!(
        "primary_conninfo = 'host={} password={}'\nlisten_addresses = '{}'\nfsync = off # {}\n",
        WORDS[2], WORDS[1], WORDS[3], WORDS[1]
    );
    write_attacker_file(&data.join("postgresql.conf"), text, 0o600);
    let fake = fakes.start_postgres(
        &data,
        &["-c", &format!("ssl_passphrase_command=echo {}", WORDS[1])],
    );
    // Without udev, only fstab contains labels and UUIDs.
    let fstab = ground.join("fstab");
    let line = |device: String| format!("{device} {} ext4 noauto 0 0\n", one.display());
    let lines = [
        line(format!("LABEL=disk-{}", WORDS[0])),
        line("UUID=5eb5d0c2-7a5f-4d5e-9d3b-1f0c9a7b6e21".to_owned()),
        format!("[{}]:/export {} nfs noauto 0 0\n", WORDS[3], two.display()),
    ];
    std::fs::write(&fstab, lines.concat()).unwrap();
    let cover = "mount --make-rprivate / && mount --bind \"$6\" /etc/fstab && mount \"$1\" \"$2\" && \
                 mount -i -t tmpfs \"$4:$5/export\" \"$3\" && shift 6 && exec \"$@\"";
    for arguments in [&["capture"][..], &["capture", two.to_str().unwrap()]] {
        let mut command = root::cron_command("unshare");
        command
            .args(["-m", "sh", "-c", cover, "sh", &disk.device])
            .arg(&one)
            .arg(&two)
            .args([WORDS[2], WORDS[1]])
            .arg(&fstab);
        let ended = root::run_with_timeout(
            command
                .arg(crate::support::programs::walwise_path())
                .args(arguments),
        );
        let said = ended.combined_output();
        assert_eq!(ended.code, Some(0), "{said}");
        for word in WORDS
            .iter()
            .chain(&["5eb5d0c2-7a5f-4d5e-9d3b-1f0c9a7b6e21"])
        {
            let line = said.lines().find(|line| line.contains(word));
            let gains: Vec<String> = line
                .map(|line| format!("it is in {line:?}"))
                .into_iter()
                .collect();
            attempts.record_attempt(&format!("{word}, {}", arguments.len()), &gains);
        }
    }
    drop(fake);
    attempts.write_tally_and_assert();
}
