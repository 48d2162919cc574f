//! One secret in every place where people keep them: no output of walwise holds it. The files of the machine are covered
//! by others in a mount namespace of our own, so that the machine is not changed.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::support::loops::ext4;
use super::support::postgres::Cluster;
use super::support::{stderr, stdout};

const SECRET: &str = "Zk7hunter2";

/// fstab and mount units that hold the secret, and what is run where they are in force.
struct Covered {
    dir: tempfile::TempDir,
}

impl Covered {
    /// `mounted` is a device and its mount point, which fstab names too.
    fn new(mounted: (&str, &str)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text.replace("SECRET", SECRET)).unwrap();
        };
        let (device, point) = mounted;
        write(
            "fstab",
            format!(
                "# SECRET\n\
            //files/one /srv/one cifs username=u,password=SECRET,pass=SECRET 0 0\n\
            //files/two /srv/two cifs credentials=/root/SECRET 0 0\n\
            //user:SECRET@files/three /srv/three cifs rw 0 0\n\
            user:SECRET@files:/four /srv/four fuse.sshfs rw 0 0\n\
            https://user:SECRET@files/ /srv/five davfs rw 0 0\n\
            198.18.0.1:/ /srv/six ceph name=admin,secret=SECRET 0 0\n\
            {device} {point} ext4 nosuid,password=SECRET,x-own=SECRET,SECRET 0 SECRET\n\
            SECRET\n\
            /dev/none /srv/seven ext4 \"pass word=SECRET\" 0 0\n"
            ),
        );
        let unit = "# SECRET\n[Unit]\nDescription=SECRET\n[Mount]\nWhat=https://user:SECRET@files/\nWhere=/srv/unit\n\
            Type=davfs\nOptions=rw,password=SECRET,credentials=SECRET\nEnvironment=PASSWORD=SECRET\n";
        write("units/srv-unit.mount", unit.to_owned());
        write("units/srv-unit.mount.d/more.conf", "[Mount]\nOptions=password=SECRET\n".to_owned());
        std::fs::create_dir(dir.path().join("remote")).unwrap();
        Self { dir }
    }

    /// Everything that walwise says, on both channels.
    fn walwise(&self, arguments: &[&str], target: &Path) -> String {
        let cover = format!(
            "cd \"$0\" && mount --make-rprivate / && mount --bind fstab /etc/fstab \
             && mount --bind units /etc/systemd/system && mount -i -t tmpfs https://user:{SECRET}@files/ remote \
             && cd / && exec \"$@\""
        );
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", &cover]).arg(self.dir.path()).arg(env!("CARGO_BIN_EXE_walwise"));
        let output = command.args(arguments).arg(target).output().unwrap();
        let said = stdout(&output) + &stderr(&output);
        assert!(!said.is_empty(), "{arguments:?}");
        said
    }

    fn remote(&self) -> PathBuf {
        self.dir.path().join("remote")
    }
}

/// Every output there is for a target; the plainest capture comes first.
fn outputs(covered: &Covered, target: &Path) -> Vec<(String, String)> {
    let mut all: Vec<Vec<&str>> = vec![vec!["capture", "--no-mask"], vec!["capture"]];
    all.extend(
        ["text", "json", "script", "conf"].map(|format| vec!["check", "--no-probe", "--format", format]),
    );
    all.push(vec!["explain", "boot.refused-option"]);
    all.extend([vec!["facts", "--target"], vec!["probe", "--seconds", "1"]]);
    all.iter().map(|arguments| (arguments.join(" "), covered.walwise(arguments, target))).collect()
}

#[test]
#[ignore = "needs root: loop devices, a mount namespace and PostgreSQL 15"]
fn no_output_holds_a_secret_of_the_machine() {
    let disk = ext4(&[], "");
    let mut cluster = Cluster::beneath(&disk.point, &disk.point);
    let conninfo = format!("primary_conninfo = 'host=x password={SECRET}' # {SECRET}\n");
    cluster.append("postgresql.conf", &format!("{conninfo}include 'more.conf'\nmy.own = '{SECRET}'\n"));
    cluster.append(
        "more.conf",
        &format!("{conninfo}archive_command = 'true {SECRET}'\nwal_sync_method = fsync\n"),
    );
    cluster.append("postgresql.auto.conf", &format!("{conninfo}restore_command = 'get {SECRET}'\n"));
    cluster.environment = ["PGPASSWORD", "MY_OWN"].map(|name| (name.to_owned(), SECRET.to_owned())).into();
    cluster.arguments = format!("-c primary_conninfo=password={SECRET} --my.own={SECRET}");
    cluster.start();
    assert!(cluster.sql("show primary_conninfo").contains(SECRET));

    // As a superuser its owner is told every setting.
    for arguments in [&["capture", "--no-mask"][..], &["facts", "--target"]] {
        let output = cluster.walwise().args(arguments).arg(&cluster.data).output().unwrap();
        let said = stdout(&output) + &stderr(&output);
        assert!(said.contains("wal_sync_method") && !said.contains(SECRET), "{said}");
    }

    let covered = Covered::new((&disk.disk.device, disk.path()));
    for target in [cluster.data.clone(), disk.point.clone(), covered.remote()] {
        let said = outputs(&covered, &target);
        for (what, text) in &said {
            let line = text.lines().find(|line| line.contains(SECRET));
            assert!(line.is_none(), "{what} of {}: {line:?}", target.display());
        }
        let capture = &said[0].1;
        for planted in ["/srv/six", "/srv/unit", "nosuid,password", "more.conf", "wal_sync_method"] {
            assert!(capture.contains(planted), "{planted} was not read: {capture}");
        }
        assert!(capture.contains("tmpfs https://files/"), "the mount table was not read: {capture}");
    }
}
