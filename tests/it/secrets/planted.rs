//! Secrets, a different word for each place, so that a leak reveals the place. Files of the host
//! are covered by mounts in a separate mount namespace, so the host itself does not change.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use walwise_model::facts::Choice as _;
use walwise_report::Format;

use crate::support::deadline::CommandInTime as _;
use crate::support::{stderr, stdout};

#[derive(Default)]
pub struct PlantedSecrets {
    words: RefCell<BTreeMap<&'static str, String>>,
}

impl PlantedSecrets {
    /// Derives the secret of a place, made of letters only so that no mask changes it.
    pub fn secret_for_place(&self, place: &'static str) -> String {
        let mut hasher = DefaultHasher::new();
        place.hash(&mut hasher);
        let letters = |number: u64| {
            format!("{number:016x}")
                .bytes()
                .map(|b| char::from(b'a' + b % 23))
                .collect::<String>()
        };
        let word = format!("Zq{}", letters(hasher.finish()));
        self.words.borrow_mut().insert(place, word.clone());
        word
    }

    pub fn replace_place_names_by_secrets(&self, text: &'static str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (place, after) = after.split_once('}').unwrap();
            out += &(before.to_owned() + &self.secret_for_place(place));
            rest = after;
        }
        out + rest
    }

    pub fn count(&self) -> usize {
        self.words.borrow().len()
    }

    pub fn leaked_places(&self, text: &str) -> Vec<(&'static str, String)> {
        let lower = text.to_lowercase();
        let words = self.words.borrow();
        let found = words
            .iter()
            .filter(|(_, word)| lower.contains(&word.to_lowercase()));
        let line = |word: &str| {
            text.lines()
                .find(|line| line.to_lowercase().contains(&word.to_lowercase()))
        };
        found
            .map(|(place, word)| (*place, line(word).unwrap_or_default().to_owned()))
            .collect()
    }
}

pub struct HostWithSecrets {
    dir: tempfile::TempDir,
    sources: Vec<String>,
}

const FSTAB: &str = "\
# mounted with {fstab comment}
//files/one /srv/one cifs username=u,password={cifs password},pass={cifs pass} 0 0
//files/two /srv/two cifs credentials=/root/{cifs credentials} 0 0
//user:{cifs source}@files/three /srv/three cifs rw 0 0
user:{sshfs source}@files:/four /srv/four fuse.sshfs rw 0 0
https://user:{davfs source}@files/ /srv/five davfs rw,x-systemd.token={davfs option} 0 0
https://files/dir?token={URL query} /srv/query davfs rw 0 0
198.18.0.1:/ /srv/six ceph name=admin,secret={ceph secret} 0 0
:s3,secret_access_key={rclone source}:bucket /srv/s3 rclone rw 0 0
s3fs#bucket /srv/bucket fuse _netdev,passwd={s3fs option} 0 0
DEVICE POINT ext4 nosuid,password={local password},x-own={local option},{rest of a value} 0 {sixth field}
/dev/none /srv/seven ext4 \"pass word={quoted option}\" 0 0
{line of one word}
password {line that is no mount} here
";

const UNIT: &str = "\
# {unit comment}
[Unit]
Description={unit description}
[Mount]
What=https://user:{unit source}@files/
Where=/srv/unit
Type=davfs
Options=rw,password={unit option},credentials={unit credentials}
Environment=PASSWORD={unit environment}
";

const SERVICE: &str = "\
[Service]
User=postgres
Environment=PGDATA=/srv/none \"PGPASSWORD={service environment}\"
Environment=AWS_SECRET_ACCESS_KEY={service key}
ExecStartPre=/bin/sh -c 'login {service command}'
ExecStart=/usr/lib/postgresql/15/bin/postgres -D /srv/none -c primary_conninfo=password={service argument}
";

const KERNEL: &str = "BOOT_IMAGE=/vmlinuz root=iscsi:user:{iSCSI root}@198.18.0.1::3260::iqn.x ro quiet password={kernel password} \
    rd.iscsi.password={iSCSI password} rootflags=noatime,password={root flags} netroot=iscsi:u:{netroot}@files\n";

impl HostWithSecrets {
    pub fn new(secrets: &PlantedSecrets, mounted: (&str, &str)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let (device, point) = mounted;
        write(
            "fstab",
            secrets
                .replace_place_names_by_secrets(FSTAB)
                .replace("DEVICE", device)
                .replace("POINT", point),
        );
        write(
            "units/srv-unit.mount",
            secrets.replace_place_names_by_secrets(UNIT),
        );
        write(
            "units/srv-unit.mount.d/more.conf",
            secrets.replace_place_names_by_secrets("[Mount]\nOptions=password={drop-in}\n"),
        );
        write(
            "units/postgresql-15.service",
            secrets.replace_place_names_by_secrets(SERVICE),
        );
        write("cmdline", secrets.replace_place_names_by_secrets(KERNEL));
        let sources = [
            "https://user:{mounted URL}@files/",
            "user:{mounted account}@files:/x",
            "x?key={mounted query}",
        ];
        let sources: Vec<String> = sources
            .map(|source| secrets.replace_place_names_by_secrets(source))
            .to_vec();
        for number in 0..sources.len() {
            std::fs::create_dir(dir.path().join(format!("remote{number}"))).unwrap();
        }
        Self { dir, sources }
    }

    pub fn run_walwise(&self, arguments: &[&str]) -> String {
        let mut cover = "cd \"$0\" && mount --make-rprivate / && mount --bind fstab /etc/fstab \
             && mount --bind units /etc/systemd/system && mount --bind cmdline /proc/cmdline"
            .to_owned();
        for (number, source) in self.sources.iter().enumerate() {
            cover.extend([
                " && mount -i -t tmpfs '",
                source,
                "' remote",
                &number.to_string(),
            ]);
        }
        cover += " && cd / && exec \"$@\"";
        let out = self.dir.path().join("out");
        let _ = std::fs::remove_dir_all(&out);
        let arguments = arguments
            .iter()
            .map(|argument| argument.replace("OUT", out.to_str().unwrap()));
        let mut command = Command::new("unshare");
        command
            .args(["-m", "sh", "-c", &cover])
            .arg(self.dir.path())
            .arg(crate::support::programs::walwise_path());
        let output = command
            .args(arguments)
            .stdin(Stdio::null())
            .output_in_time();
        let written = std::fs::read_dir(out).into_iter().flatten().flatten();
        let written = written
            .map(|file| std::fs::read_to_string(file.path()).unwrap())
            .collect::<String>();
        let said = stdout(&output) + &stderr(&output) + &written;
        assert!(!said.is_empty(), "nothing was said");
        said
    }

    pub fn remote_mount_path(&self) -> PathBuf {
        self.dir.path().join("remote0")
    }
}

pub fn all_walwise_outputs(covered: &HostWithSecrets, target: &Path) -> Vec<(String, String)> {
    let target = target.to_str().unwrap();
    let mut all: Vec<Vec<&str>> = vec![
        vec!["capture", "--no-mask", target],
        vec!["capture", target],
    ];
    for format in Format::ALL {
        all.push(vec![
            "check",
            "--no-probe",
            "--format",
            format.as_str(),
            target,
        ]);
    }
    all.push(vec![
        "check",
        "--no-probe",
        "--assume",
        "kernel.release=6.18.0",
        target,
    ]);
    all.push(vec!["upgrade", "--kernel", "6.18"]);
    all.push(vec!["explain", "boot.refused-option", target]);
    all.push(vec!["facts", "--target", target]);
    all.push(vec!["facts"]);
    all.push(vec!["probe", "--seconds", "1", target]);
    all.iter()
        .map(|arguments| (arguments.join(" "), covered.run_walwise(arguments)))
        .collect()
}

pub fn assert_no_secret_leaks(
    secrets: &PlantedSecrets,
    covered: &HostWithSecrets,
    target: &Path,
) -> String {
    let mut said = all_walwise_outputs(covered, target);
    let leaks: Vec<_> = said
        .iter()
        .flat_map(|(what, text)| {
            secrets
                .leaked_places(text)
                .into_iter()
                .map(move |leak| (what, leak))
        })
        .collect();
    assert!(leaks.is_empty(), "{} leaks: {leaks:#?}", leaks.len());
    said.swap_remove(0).1
}
