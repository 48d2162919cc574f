//! The judgement of commands: understood, not understood, and able to lose data in any disguise.

use proptest::prelude::*;

use super::*;
use crate::rules::{Risk, RuleSet};

fn is(command: &str) -> &'static str {
    match judge(command) {
        J::Harmless => "harmless",
        J::Strange { .. } => "strange",
        J::Loses { .. } => "loses",
    }
}

fn all_are(wanted: &str, commands: &[&str]) {
    let wrong: Vec<String> = commands
        .iter()
        .filter(|command| is(command) != wanted)
        .map(|command| format!("{command}: {:?}", judge(command)))
        .collect();
    assert!(wrong.is_empty(), "not {wanted}:\n{}", wrong.join("\n"));
}

const HARMLESS: &[&str] = &[
    "mount -o remount,noatime {mount.point}",
    "mount -oremount,noatime,barrier=1 {mount.point}",
    "mount --options=remount,noatime {mount.point}",
    "mount --options remount,'noatime' {mount.point}",
    "/usr/bin/mount -o remount,noatime {mount.point}",
    "sudo -n mount -o remount,noatime {mount.point}",
    "env LC_ALL=C nice -n 10 timeout 5 mount -o remount,relatime {mount.point}",
    "umount {mount.point}   # stop what uses it first",
    "umount {mount.point} && mount {mount.point}; findmnt {mount.point}",
    "findmnt -no FS-OPTIONS {mount.point}",
    "findmnt -no OPTIONS {mount.point} | grep -w nobarrier",
    "grep -w nobarrier /etc/fstab",
    "echo 'write back' > /sys/class/block/{subject}/queue/write_cache",
    "echo {device.scheduler} > /sys/block/{subject}/queue/scheduler",
    "echo none | sudo tee /sys/class/block/{subject}/queue/scheduler",
    "sysctl -w vm.dirty_background_bytes=67108864",
    "psql{pg.socket_directory? -h }{pg.port? -p } -c 'SHOW fsync' # after SELECT pg_reload_conf()",
    "psql -c 'ALTER SYSTEM SET fsync = on' -c 'SELECT pg_reload_conf()'",
    "psql -Xc \"ALTER SYSTEM SET wal_compression TO 'lz4'; SELECT pg_reload_conf();\"",
    "mysql{mysql.socket? --socket=} -e 'SELECT @@sync_binlog'",
    "mysql -e 'SET GLOBAL sync_binlog = 1'",
    "wipefs -n {device.path}",
    "fdisk -l {device.path}",
    "mount -t xfs {mount.source} {mount.point}",
    "zpool status -v tank",
    "zfs set recordsize=32K {mount.source}",
    "zfs set sync=standard {mount.source}",
    "tune2fs -O fast_commit {mount.source}",
    "chattr +C {target.path}",
    "hdparm -W0 {device.path}",
    "nvme set-feature {device.path} -f 6 -v 0",
    "smartctl -s wcache,off {device.path}",
    "walwise check {mount.point}",
];

/// Every phrasing that the settings know, and destruction.
const LOSES: &[&str] = &[
    "mount -o remount,nobarrier {mount.point}",
    "mount -oremount,nobarrier {mount.point}",
    "mount -o remount -o nobarrier {mount.point}",
    "mount -vo remount,noatime,barrier=0 {mount.point}",
    "mount --options=remount,nobarrier {mount.point}",
    "mount --options remount,data=writeback {mount.point}",
    "mount -o 'remount,nobarrier' {mount.point}",
    "mount -o remount,no\"barrier\" {mount.point}",
    "mount -o remount,barrier=00 {mount.point}",
    "mount -o remount,barrier=0x0 {mount.point}",
    "mount -o remount,NOBARRIER {mount.point}",
    "sudo mount -o remount,nobarrier {mount.point}",
    "sudo -u root /bin/mount -o remount,nobarrier {mount.point}",
    "env A=b mount -o remount,nobarrier {mount.point}",
    "nice -n5 mount -o nobarrier {mount.point}",
    "timeout --foreground 5 mount -o nobarrier {mount.point}",
    "ionice -c3 mount -o nobarrier {mount.point}",
    "/opt/bin/mount -o nobarrier {mount.point}",
    "true && mount -o nobarrier {mount.point}",
    "true; mount -o nobarrier {mount.point}",
    "false || mount -o nobarrier {mount.point}",
    "sh -c 'mount -o remount,nobarrier /srv'",
    "bash -c \"mount -o remount,nobarrier /srv\"",
    "$(mount -o remount,nobarrier /srv)",
    "echo `mount -o remount,nobarrier /srv`",
    "(mount -o remount,nobarrier /srv)",
    "if true; then mount -o remount,nobarrier /srv; fi",
    "ssh db7 mount -o remount,nobarrier /srv",
    "mount -o remount,nobarrier {mount.point} > /dev/null",
    "echo '/dev/sda /srv ext4 nobarrier 0 0' >> /etc/fstab",
    "sed -i s/defaults/nobarrier/ /etc/fstab",
    "systemctl edit srv.mount --stdin <<< Options=nobarrier",
    "tune2fs -o nobarrier {mount.source}",
    "tune2fs -onobarrier {mount.source}",
    "tune2fs -o journal_data_writeback {mount.source}",
    "tune2fs -E mount_opts=nobarrier {mount.source}",
    "tune2fs -E mount_opts=noatime,barrier=0 {mount.source}",
    "tune2fs -O ^has_journal {mount.source}",
    "tune2fs -O^has_journal {mount.source}",
    "tune2fs -f -O ^has_journal {mount.source}",
    "echo 'write through' > /sys/class/block/{subject}/queue/write_cache",
    "echo \"write through\" | tee /sys/block/sda/queue/write_cache",
    "printf 'write through' >/sys/block/sda/queue/write_cache",
    "printf '%s' 'write through' | sudo tee -a /sys/block/sda/queue/write_cache",
    "echo 'temporary write through' > /sys/class/scsi_disk/0:0:0:0/cache_type",
    "echo 1 > /sys/module/zfs/parameters/zfs_nocacheflush",
    "psql -c 'ALTER SYSTEM SET fsync=off'",
    "psql -c 'alter system set fsync to off'",
    "psql -c \"ALTER SYSTEM SET fsync = 'off'\"",
    "psql --command='ALTER SYSTEM SET full_page_writes = false'",
    "psql -c 'SHOW fsync; ALTER SYSTEM SET synchronous_commit = off'",
    "psql -c 'SET synchronous_commit TO off'",
    "echo 'fsync = off' >> /etc/postgresql/16/main/postgresql.conf",
    "pg_ctl restart -o '-c fsync=off'",
    "pg_conftool set fsync off",
    "mysql -e 'SET GLOBAL innodb_flush_log_at_trx_commit = 2'",
    "mysql -e 'SET GLOBAL innodb_flush_log_at_trx_commit=0'",
    "mysql -e 'SET PERSIST sync_binlog = 0'",
    "mysql -e 'SET GLOBAL innodb_io_capacity = 200, GLOBAL sync_binlog = 0'",
    "mysql --execute='SET @@GLOBAL.sync_binlog=0'",
    "mariadbd --innodb-flush-log-at-trx-commit=0",
    "mysqld --skip-innodb-doublewrite",
    "zfs set sync=disabled {mount.source}",
    "zfs set atime=off sync=disabled {mount.source}",
    "sudo zfs set sync=disabled tank",
    "hdparm -W1 {device.path}",
    "hdparm -W 1 {device.path}",
    "hdparm -q -W1 {device.path}",
    "sdparm --set=WCE {device.path}",
    "sdparm -s WCE=1 {device.path}",
    "nvme set-feature {device.path} -f 6 -v 1",
    "nvme set-feature {device.path} --feature-id=6 --value=1",
    "nvme format {device.path}",
    "smartctl -s wcache,on {device.path}",
    "storcli64 /c0/v0 set wrcache=awb",
    "storcli /c0/v0 set wrcache=wb",
    "storcli /c0/v0 set pdcache=on",
    "arcconf setcache 1 logicaldrive 0 wbb",
    "ssacli ctrl slot=0 modify dwc=enable",
    "ssacli ctrl slot=0 modify nbwc=enable",
    "MegaCli64 -LDSetProp CachedBadBBU -LAll -aAll",
    "MegaCli64 -LDSetProp -EnDskCache -LAll -aAll",
    "mkfs.ext4 {device.path}",
    "/sbin/mkfs.xfs -f {device.path}",
    "mke2fs -O ^has_journal {device.path}",
    "wipefs -a {device.path}",
    "dd if=/dev/zero of={device.path}",
    "blkdiscard {device.path}",
    "rm -rf {pg.data_directory}",
    "cat /dev/zero > /dev/sda",
    "echo x > /dev/sda",
    "find {pg.data_directory} -delete",
    "pg_resetwal -f {pg.data_directory}",
    "mdadm --create /dev/md0",
    "mdadm --zero-superblock /dev/sda",
    "lvremove vg/lv",
    "lvchange --cachemode writeback vg/lv",
    "dmsetup wipe_table x",
    "drbdsetup disk-options 0 --disk-flushes=no",
    "hpacucli ctrl slot=0 modify nbwc=enable",
    "xfs_repair -L {mount.source}",
    "zpool destroy tank",
    "eatmydata pg_ctl start",
    "echo b > /proc/sysrq-trigger",
    "mysql -e 'SET GLOBAL sync_binlog = 1000'",
    "mysql -e 'SET GLOBAL innodb_flush_log_at_trx_commit = 99'",
    "mount -o remount,nobarrier=1 {mount.point}",
    "dmsetup ls --exec 'wipefs -a'",
    "hdparm -W0 {device.path} # -W1 {device.path}",
];

/// Commands that are not understood to the last word.
const STRANGE: &[&str] = &[
    "",
    "   ",
    "/usr/local/bin/tune-our-disks {mount.point}",
    "./tune.sh",
    "mount -o remount,$OPTIONS {mount.point}",
    "mount -o remount,no{mount.fstype} {mount.point}",
    "mount -o {mount.fstype} {mount.point}",
    "mount -o remount,noatimme {mount.point}",
    "mount -o remount,noatime {mount.point} &",
    "mount --make-private {mount.point}",
    "mount -o remount,noa\\time {mount.point}",
    "mount -o remount,noatime /srv*",
    "mount -o remount,noatime ~/srv",
    "mount -o remount,noatime 'half",
    "mount -o remount,noatime {mount.point} | tee /tmp/x",
    "findmnt {mount.point} # or $(id)",
    "FOO=bar findmnt",
    "{mount.fstype} -x",
    "tune2fs -O ^metadata_csum {mount.source}",
    "tune2fs -e continue {mount.source}",
    "echo 'write back' > /etc/thing",
    "echo {device.write_cache} > /sys/class/block/{subject}/queue/write_cache",
    "echo 0 > /sys/class/block/{subject}/queue/unheard_of",
    "sysctl -p",
    "sysctl -w kernel.panic=1",
    "psql -f x.sql",
    "psql -c 'ALTER SYSTEM RESET fsync'",
    "psql -c 'ALTER SYSTEM SET fsync = of'",
    "psql -c 'ALTER SYSTEM SET unheard_of = 1'",
    "psql -c 'SELECT do_things()'",
    "mysql -e 'SET GLOBAL sync_binlog = 1, GLOBAL_x'",
    "mysql --defaults-file=/tmp/x.cnf -e 'SELECT 1'",
    "dmsetup ls --exec /opt/own",
    "zpool status -c own",
    "walwise check -o/srv/pg/global/pg_control",
    "walwise check --save {mount.point}",
    "mount --bind /dev/shm {mount.point}",
    "mount -o bind /dev/shm {mount.point}",
    "systemctl enable --now /opt/own/x.service",
    "systemctl start poweroff.target",
    "e2fsck -f {mount.source}",
    "hostnamectl set-hostname x",
    "mysql -e 'source x.sql'",
    "mysql < x.sql",
    "zfs set sync={mount.zfs_sync} {mount.source}",
    "zfs inherit sync tank",
    "smartctl -t long {device.path}",
    "nvme set-feature {device.path} -f 7 -v 1",
    "storcli /c0 show",
    "curl https://example.org/x | sh",
    "python3 -c 'import os'",
];

#[test]
fn what_is_understood_is_harmless_what_loses_is_found_and_the_rest_is_strange() {
    all_are("loses", LOSES);
    all_are("strange", STRANGE);
    all_are("harmless", HARMLESS);
}

/// Every word that a setting marks as losing data is found in every command that would set it.
#[test]
fn every_word_that_a_setting_says_can_lose_data_is_found() {
    for setting in crate::settings::ALL {
        for word in setting.loses() {
            let own = setting.own_name();
            let commands = match setting.name {
                "mount.options" | "boot.options" => {
                    vec![
                        format!("mount -o remount,noatime,{word} /srv"),
                        format!("./own mount --options='ro,{word}'"),
                    ]
                }
                "filesystem" => vec![format!("mount -t {word} /dev/sda /srv")],
                "mkfs.features" => vec![format!("tune2fs -O {word} /dev/sda")],
                "mkfs.options" => vec![format!("tune2fs {word} /dev/sda")],
                "block.write_cache" => vec![format!("echo '{word}' > /sys/block/sda/queue/{own}")],
                "zfs.sync" => vec![format!("zfs set sync={word} tank")],
                "zfs.no_cache_flush" => {
                    vec![format!("echo {word} > /sys/module/zfs/parameters/zfs_nocacheflush")]
                }
                name if name.starts_with("pg.") => {
                    vec![
                        format!("psql -c \"ALTER SYSTEM SET {own} = '{word}'\""),
                        format!("postgres -c {own}={word}"),
                    ]
                }
                name if name.starts_with("mysql.") => {
                    vec![
                        format!("mysql -e 'SET GLOBAL {own} = {word}'"),
                        format!("mysqld --{}={word}", own.replace('_', "-")),
                    ]
                }
                name => panic!("no command here sets {name}"),
            };
            for command in commands {
                assert_eq!(is(&command), "loses", "{command}: {:?}", judge(&command));
            }
        }
    }
}

/// The built-in rules are held to the same: a command that loses data is allowed only where the rule says so.
#[test]
fn commands_of_our_own_rules_lose_nothing_unsaid() {
    let mut understood = 0;
    for rule in RuleSet::builtin().rules() {
        for advice in rule.advise.iter().filter(|advice| advice.risk < Risk::NeedsNewFilesystem) {
            for command in advice.apply.iter().chain(&advice.verify) {
                let judged = judge(&command.source());
                assert!(!matches!(judged, J::Loses { .. }), "{}: {}: {judged:?}", rule.id, command.source());
                understood += usize::from(matches!(judged, J::Harmless));
            }
        }
    }
    assert!(understood > 60, "{understood}");
}

#[test]
fn a_culprit_is_shown_where_it_stands() {
    for (command, culprit) in [
        ("mount -o remount,nobarrier {mount.point}", "nobarrier"),
        ("mount -o remount,barrier=0 /mnt/barrier=0", "barrier=0"),
        ("findmnt{mount.point? --target=} && zfs set sync=disabled tank", "disabled"),
        ("psql -c 'ALTER SYSTEM SET fsync = off'", "off"),
        ("sh -c 'mount -o nobarrier /srv'", "nobarrier"),
        ("echo ä; wipefs -a /dev/sda", "wipefs"),
    ] {
        let J::Loses { range, .. } = judge(command) else { panic!("{command}") };
        assert_eq!(command.get(range), Some(culprit), "{command}");
    }
}

#[test]
fn commands_in_sentences_are_commands() {
    for (text, culprit) in [
        ("Run `mount -o remount,nobarrier {mount.point}`.", Some("nobarrier")),
        ("Look, then wipefs -a /dev/sda.", Some("wipefs")),
        ("Then mount -o remount,nobarrier /srv.", Some("nobarrier")),
        ("Take nobarrier out of /etc/fstab and mount it again.", None),
        ("Run `mount -o remount,barrier=1 {mount.point}`, without nobarrier.", None),
        ("Do not rm anything, and do not set fsync = off.", None),
    ] {
        let found = in_text(text).and_then(|(range, _)| text.get(range));
        assert_eq!(found, culprit, "{text}");
    }
}

/// A harmless command is not harmless any more with a losing one appended, however they are joined.
#[test]
fn what_loses_is_not_hidden_by_what_is_harmless() {
    let mut hidden = Vec::new();
    for before in HARMLESS {
        let before = before.split('#').next().unwrap_or_default().trim_end();
        for loses in LOSES {
            let joins = [" && ", "; ", " | ", " || ", " & ", "\n", " ;"];
            let both = joins.map(|joined| format!("{before}{joined}{loses}"));
            hidden.extend(both.into_iter().filter(|both| is(both) != "loses"));
        }
    }
    assert!(hidden.is_empty(), "{hidden:#?}");
}

proptest! {
    #[test]
    fn no_text_is_too_strange(text: String) {
        if let J::Loses { range, .. } = judge(&text) {
            prop_assert!(text.get(range.clone()).is_some(), "{range:?}");
        }
        in_text(&text);
    }

    /// Quotes within a word are no words of their own.
    #[test]
    fn quotes_hide_nothing(at in 0usize..9, quote in prop::sample::select(vec!["''", "\"\"", "\\"])) {
        let mut word = "nobarrier".to_owned();
        word.insert_str(at, quote);
        prop_assert_ne!(is(&format!("mount -o remount,{word} /srv")), "harmless");
        prop_assert_eq!(is(&format!("mount -o remount,{word} /srv")), "loses", "{}", word);
    }
}
