//! Tests that masking removes each kind of identity from each kind of question, and that related
//! entries stay related.
//!
//! The test data has the format of a capture. The compiler ensures that every kind of question is
//! covered.

use std::collections::BTreeSet;

use super::mask_answers;
use crate::host::Question;
use crate::host::capture_format::{Answers, parse_capture};

/// Questions with their answers; `@` stands for an identity that another entry reveals.
const QUESTIONS_WITH_IDENTITIES: &str = r"
read /srv/@/pg/PG_VERSION
|16
read /proc/self/mountinfo
|40 26 8:1 /@/root /srv/@/pg rw - ext4 /dev/mapper/@-lv rw
|41 26 0:40 / /srv/t rw - tmpfs @-scratch rw
|42 26 0:41 / /srv/o rw - overlay overlay rw,upperdir=/srv/tmp
|43 26 0:42 / /srv/n rw - 9p shared_@ rw
read /proc/10/root/srv/@/postmaster.pid
|10
|/srv/@/pg
read /run/udev/data/b8:1
|S:zvol/@-tank/pg-@
read /sys/block/loop0/loop/backing_file
|/srv/@/disk.img
read /sys/block/dm-0/dm/name
|@-lv
read /sys/fs/btrfs/x/label
|pg-@
list /dev/disk/by-label
|@-pg
list /dev/disk/by-partlabel
|pg-@
list /srv/@
|pg
as 26 read /srv/@/15/PG_VERSION
|15
as 26 link /srv/pg-wal
:/srv/@/wal
as 26 run pg_controldata-15 -D /srv/@/15
|Data page checksum version: 0
superblock ext /dev/mapper/@-lv
|features has_journal
started 10
|1700000000123456789
tablespaces 10
|8 1 33
empty /srv/@/new
|yes
link /dev/disk/by-label/@-pg
:../../sda1
link /srv/pg-link
:/srv/@/pg
real-path /srv/@/pg
:/srv/@/pg
stat /srv/@/pg
|mode=1 changed=1700000000.123456789
stat /srv/@/gone
!failed cannot look at /srv/@/gone
statfs /srv/@/pg
|magic=1
flags /srv/@/pg
|0
log-files binlog /srv/@/my/@-bin
|3 4096 60
uname
!failed of its own
identity
|euid=0
summary
|cpus=2
servers
|10 1 26 postgres
command-line 10
|-D /srv/@/pg
|--socket=/srv/@/sock
environment 10
|PGDATA=/srv/@/pg
user-name 26
|postgres
config postgres /srv/@/postgresql.conf
|1	data_directory	/srv/@/pg
config mysql /srv/@/my.cnf
|1	mysqld.datadir	/srv/@/my
config mysql-persisted /srv/@/mysqld-auto.cnf
|1	persisted.innodb_undo_directory	/srv/@/undo
config service /etc/systemd/system/pg-@.service
|1	data	/srv/@/pg
config fstab /etc/fstab
|1	/srv/@/pg	LABEL=@-pg\\x09ext4\\x09noatime\\x090\\x20 0\\x09whole
|2	/srv/t	@-scratch\\x09tmpfs\\x09rw\\x09\\x09whole
config mount-unit /etc/systemd/system/srv-@.mount
|1	where	/srv/@/pg
|2	what	PARTLABEL=pg-@
config kernel-command-line /proc/cmdline
|1	root	LABEL=@-pg
content passing /dev/mapper/@-lv
|data
pg-settings /srv/@/.s.PGSQL.5432
|data_directory	/srv/@/pg		configuration file	/srv/@/x.conf	3
mysql-settings /srv/@/mysqld.sock
|datadir	/srv/@/my/
run dmsetup table
|@-lv: linear 
run zpool status -P
|pool: @-tank
run zfs get -Hp
|tank/@/pg	sync	standard
run smartctl -j /dev/mapper/@-lv
|  [name: /dev/mapper/@-lv]
";

/// Name of a kind of identity, capture lines that reveal an identity, and two identities of the
/// kind.
const IDENTITIES: [(&str, &str, [&str; 2]); 12] = [
    (
        "serial",
        "list /dev/disk/by-id\n|virtio-@\n",
        ["S4EWNX0N123456", "S4EWNX0N123457"],
    ),
    (
        "short serial",
        "list /dev/disk/by-id\n|virtio-@\n",
        ["K9X2Q7", "K9X2Q8"],
    ),
    (
        "serial of digits",
        "list /dev/disk/by-id\n|virtio-@\n",
        ["20231234", "20231235"],
    ),
    (
        "serial with a dash",
        "list /dev/disk/by-id\n|ata-WDC_@\n",
        ["WD-WCC7K0ABCDEF", "WD-WCC7K0ABCDEG"],
    ),
    (
        "UUID",
        "list /dev/disk/by-uuid\n|@\n",
        [
            "1b4e28ba-2fa1-11d2-883f-0016d3cca427",
            "2b4e28ba-2fa1-11d2-883f-0016d3cca427",
        ],
    ),
    (
        "short UUID",
        "list /dev/disk/by-uuid\n|@\n",
        ["7A1B-22C4", "7A1B-22C5"],
    ),
    (
        "world-wide name",
        "read /sys/block/sda/device/wwid\n|naa.@\n",
        ["5000c500a1b2c3d4", "5000c500a1b2c3d5"],
    ),
    (
        "host",
        "read /proc/1/mountinfo\n|1 2 0:5 / /mnt rw - nfs4 @:/x rw\n",
        ["db-seven", "nas01"],
    ),
    (
        "address",
        "read /proc/1/mountinfo\n|1 2 0:5 / /mnt rw - nfs4 @:/x rw\n",
        ["10.1.2.3", "10.1.2.4"],
    ),
    (
        "IPv6 address",
        "read /proc/1/mountinfo\n|1 2 0:5 / /mnt rw - nfs4 [@]:/x rw\n",
        ["fd00::7:12", "fd00::7:13"],
    ),
    (
        "Ethernet address",
        "read /sys/class/net/eth0/address\n|@\n",
        ["52:54:00:a1:b2:c3", "52:54:00:a1:b2:c4"],
    ),
    (
        "user",
        "config postgres /etc/pg.conf\n|1\tdata_directory\t/home/@/pg\n",
        ["alice", "bob.builder"],
    ),
];

/// Builds the answers of a capture, in which each question or line with `@` occurs once for each
/// name.
fn build_answers(places: &str, names: &[&str]) -> Answers {
    let mut text = String::from("walwise host 1\n");
    let mut entries: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in places.lines().filter(|line| !line.is_empty()) {
        match entries.last_mut() {
            Some((_, answer)) if line.starts_with(['|', ':', '!']) => answer.push(line),
            _ => entries.push((line, Vec::new())),
        }
    }
    for (question, answer) in &entries {
        let of_each: Vec<&[&str]> = if question.contains('@') {
            names.chunks(1).collect()
        } else {
            vec![names]
        };
        for names in of_each {
            text.push_str(&question.replace('@', names[0]));
            text.push('\n');
            for line in answer {
                // Only complete lines (`|`) are repeated for each name; text without a newline
                // occurs once.
                let lines = if line.contains('@') && line.starts_with('|') {
                    names
                } else {
                    &names[..1]
                };
                text.extend(
                    lines
                        .iter()
                        .map(|name| format!("{}\n", line.replace('@', name))),
                );
            }
        }
    }
    let (answers, problems) = parse_capture(text.as_bytes()).unwrap();
    assert_eq!(problems, Vec::<String>::new());
    answers
}

fn question_kind_number(question: &Question) -> u8 {
    match question {
        Question::Read(_) => 0,
        Question::List(_) => 1,
        Question::IsEmpty(_) => 2,
        Question::Link(_) => 3,
        Question::RealPath(_) => 4,
        Question::Stat(_) => 5,
        Question::StatFs(_) => 6,
        Question::Flags(_) => 7,
        Question::Uname => 8,
        Question::Identity => 9,
        Question::Resources => 10,
        Question::Servers => 11,
        Question::CommandLine(_) => 12,
        Question::Environment(_) => 13,
        Question::UserName(_) => 14,
        Question::Config(..) => 15,
        Question::Content(..) => 16,
        Question::PgSettings(_) => 17,
        Question::MysqlSettings(_) => 18,
        Question::Run(..) => 19,
        Question::Tablespaces(_) => 20,
        Question::AsUser(..) => 21,
        Question::Superblock(..) => 22,
        Question::ProcessStart(_) => 23,
        Question::LogFiles(..) => 24,
    }
}

#[test]
fn every_question_is_masked_and_equal_identities_stay_equal() {
    let kinds: BTreeSet<u8> = build_answers(QUESTIONS_WITH_IDENTITIES, &["x"])
        .keys()
        .map(question_kind_number)
        .collect();
    assert_eq!(
        kinds,
        (0..=24).collect(),
        "every kind of question has a place"
    );
    for (what, known, names) in IDENTITIES {
        let places = format!("{known}{QUESTIONS_WITH_IDENTITIES}");
        let masked = mask_answers(&build_answers(&places, &names));
        let shown = crate::host::capture_format::render_capture(&masked, "");
        let masks: Vec<String> = (masked.keys())
            .filter_map(|question| match question {
                Question::IsEmpty(path) => path
                    .to_str()?
                    .strip_prefix("/srv/")?
                    .strip_suffix("/new")
                    .map(str::to_owned),
                _ => None,
            })
            .collect();
        for name in names {
            let line = shown
                .lines()
                .find(|line| line.to_lowercase().contains(&name.to_lowercase()));
            assert!(line.is_none(), "{what} {name}: {line:?}");
        }
        // The masked capture must equal a capture with the masks in place of the names, in either
        // order.
        let [one, other] = &masks[..] else {
            panic!("{what}: {masks:?}")
        };
        let expected = [[one, other], [other, one]]
            .map(|masks| build_answers(&places, &masks.map(String::as_str)));
        let same = |expected: &Answers| {
            expected
                .iter()
                .find(|(question, answer)| masked.get(question) != Some(answer))
                .map(|found| {
                    (
                        found.0.clone(),
                        String::from_utf8_lossy(found.1.as_deref().unwrap_or_default())
                            .into_owned(),
                    )
                })
        };
        let differences = expected.each_ref().map(same);
        assert!(
            differences.iter().any(Option::is_none),
            "{what}: {differences:#?}\n{shown}"
        );
    }
}
