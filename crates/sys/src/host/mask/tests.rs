use proptest::prelude::*;

use super::*;
use crate::host::capture_format::{parse_capture, render_capture};

fn mask_capture_text(archive: &str) -> String {
    let (answers, problems) =
        parse_capture(format!("walwise host 1\n{archive}").as_bytes()).unwrap();
    assert_eq!(problems, Vec::<String>::new());
    let text = render_capture(&mask_answers(&answers), "");
    text.strip_prefix("walwise host 1\n").unwrap().to_owned()
}

#[test]
fn database_and_role_names_are_masked_entirely() {
    let told = "(overrides)\tall\n(override)\ta: on, database b\t\tsynchronous_commit\toff\n\
        (override)\tdata\ton\tsynchronous_commit\toff\n(override)\t\tab\tsynchronous_commit\ton\nwal_level\treplica\t\n";
    let question = Question::PgSettings("/run/.s.PGSQL.5432".into());
    let masked = mask_answers(&Answers::from([(
        question.clone(),
        Ok(told.as_bytes().to_vec()),
    )]));
    let shown = String::from_utf8(masked[&question].clone().unwrap()).unwrap();
    assert_eq!(
        shown,
        "(overrides)\tall\n(override)\tname1\t\tsynchronous_commit\toff\n\
         (override)\tname3\tname4\tsynchronous_commit\toff\n(override)\t\tname2\tsynchronous_commit\ton\nwal_level\treplica\t\n"
    );
}

#[test]
fn non_identities_are_not_masked() {
    let archive = "read /proc/version\n|Linux version 6.1.0.28 (gcc 12.2.0) #1 SMP 6.1.119-1 build 10.0.0.1-2\n\
        read /proc/diskstats\n|   8       0 sda 12345678 0 3000592982416 1 2 3\n\
        read /sys/block/sda/dev\n|8:0\n\
        read /sys/block/sda/serial\n|12345678\n\
        read /sys/class/block/nvme0n1/device/address\n|0000:01:00.0\n\
        read /sys/module/megaraid_sas/version\n|07.719.03.00-rc1\n\
        link /sys/block/sda\n:../devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda\n\
        read /proc/net/x\n|127.0.0.1:5432 ::1 0.0.0.0:0\n";
    let expected = archive.replace("serial\n|12345678", "serial\n|00000001");
    let sorted = |text: &str| {
        let (answers, _) = parse_capture(format!("walwise host 1\n{text}").as_bytes()).unwrap();
        answers
    };
    assert_eq!(sorted(&mask_capture_text(archive)), sorted(&expected));
}

#[test]
fn all_spellings_of_a_uuid_get_one_mask() {
    let uuid = "1b4e28ba-2fa1-11d2-883f-0016d3cca427";
    let plain = uuid.replace('-', "");
    let colons = "1b4e28ba:2fa111d2:883f0016:d3cca427";
    let escaped = uuid.replace('-', "\\\\x2d");
    let archive = format!(
        "read /sys/block/dm-0/dm/uuid\n|CRYPT-LUKS2-{plain}-home\n\
         link /dev/disk/by-uuid/{uuid}\n:../../sda1\n\
         read /sys/block/md0/md/uuid\n|{colons}\n\
         read /sys/fs/btrfs/{uuid}/label\n|data\n\
         config fstab /etc/fstab\n|1\t/\tUUID={uuid}\n\
         list /etc/systemd/system\n|dev-disk-by\\\\x2duuid-{escaped}.mount\n\
         read /x\n|{}\n",
        uuid.to_uppercase()
    );
    let text = mask_capture_text(&archive);
    let mask = "10000000-0000-4000-8000-000000000001";
    assert!(!text.to_lowercase().contains("0016d3cca427"), "{text}");
    assert_eq!(text.matches(mask).count(), 4, "{text}");
    assert!(
        text.contains(&format!("CRYPT-LUKS2-{}-home", mask.replace('-', ""))),
        "{text}"
    );
    assert!(
        text.contains("10000000:00004000:80000000:00000001"),
        "{text}"
    );
    assert!(text.contains(&mask.replace('-', "\\\\x2d")), "{text}");
}

#[test]
fn disk_serials_and_wwns_keep_their_relations() {
    let archive = "list /dev/disk/by-id\n|ata-Samsung_SSD_860_S4EWNX0N123456-part1\n|nvme-Amazon_Elastic_Block_Store_vol0a1b2c3d4e5f6789a_1\n\
        |wwn-0x5002538e40a1b2c3\n|scsi-35002538e40a1b2c3\n|35002538e40a1b2c3-part2\n|scsi-3600508b400105e210000900000490001\n|virtio-123456\n|md-name-db7:0\n\
        link /dev/disk/by-id/ata-Samsung_SSD_860_S4EWNX0N123456\n:../../sda\n\
        read /sys/block/nvme0n1/device/serial\n|vol0a1b2c3d4e5f6789a \n\
        read /sys/block/sda/device/wwid\n|naa.5002538e40a1b2c3\n\
        read /sys/block/sdb/device/wwid\n|t10.ATA     Samsung SSD 860                         S4EWNX0N123456     \n\
        read /sys/block/vda/serial\n:123456\n\
        read /sys/block/sdc/size\n|123456\n\
        uname\n|Linux\n|db7.corp.internal\n|6.1.0-28-amd64\n|#1 SMP\n|x86_64\n\
        read /sys/block/dm-1/dm/name\n|db7--vg-root\n\
        read /sys/block/dm-2/dm/name\n|3600508b400105e210000900000490001\n\
        read /proc/self/mountinfo\n|9 1 253:2 / /x rw - xfs /dev/mapper/3600508b400105e210000900000490001 rw,uid=bmueller,resgid=vgroup82,\
        logdev=/dev/disk/by-id/ata-Samsung_SSD_870_S9Z9NB0K777777-part1,device=/dev/disk/by-path/ip-san77.example:3260-iscsi-x\n";
    let text = mask_capture_text(archive);
    for secret in [
        "S4EWNX0N123456",
        "5002538e40a1b2c3",
        "600508b4",
        "bmueller",
        "0a1b2c3d4e5f6789a",
        "db7",
        "corp",
        "virtio-123456",
    ] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    // Masks are numbered in the sorted order of the serials: virtual disk, Samsung, Amazon.
    for (mask, times) in [
        ("S0000000000002", 3),
        ("vol000000000000000003", 0),
        ("5000000000000001", 4),
        ("host1", 3),
    ] {
        if times > 0 {
            assert_eq!(text.matches(mask).count(), times, "{mask} in {text}");
        }
    }
    assert!(
        text.contains("Elastic_Block_Store_vol0") && text.contains("|vol0"),
        "{text}"
    );
    assert!(
        text.contains("virtio-000001") && text.contains("\n:000001\n"),
        "{text}"
    );
    assert!(
        text.contains("size\n|123456\n"),
        "a number elsewhere is no serial: {text}"
    );
    assert!(
        text.contains("host1--vg-root")
            && text.contains("|host1.example\n")
            && text.contains("md-name-host1:0"),
        "{text}"
    );
}

#[test]
fn host_name_in_paths_is_masked_consistently() {
    let archive = "uname\n|Linux\n|db-7.corp\n|6.1.0\n|#1\n|x86_64\n\
        read /proc/self/mountinfo\n|40 26 253:0 / /srv/of\\\\040db-7/pg rw - ext4 /dev/mapper/db--7-pg rw\n\
        real-path /srv/of db-7/pg\n:/srv/of db-7/pg\n\
        stat /srv/of db-7/pg\n|mode=1\n\
        read /sys/class/block/dm-0/dm/name\n|db--7-pg\n\
        list /etc/systemd/system\n|srv-db\\\\x2d7.mount\n\
        config mount-unit /etc/systemd/system/srv-db\\\\x2d7.mount\n|3\twhere\t/srv/db-7\n";
    let text = mask_capture_text(archive);
    assert!(!text.contains("db") && !text.contains("corp"), "{text}");
    for kept in [
        "/srv/of\\\\040host1/pg rw - ext4 /dev/mapper/host1-pg",
        "real-path /srv/of host1/pg\n:/srv/of host1/pg",
        "stat /srv/of host1/pg",
        "|host1-pg",
        "|srv-host1.mount",
        "config mount-unit /etc/systemd/system/srv-host1.mount",
        "where\t/srv/host1",
    ] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
}

#[test]
fn lvm_uuids_keep_their_volume_group() {
    let group = "abcdefghijklmnopqrstuvwxyzABCDEF";
    let volumes = [
        "0123456789abcdefghijklmnopqrstuv",
        "zzzz456789abcdefghijklmnopqrstuv",
    ];
    let archive = format!(
        "read /sys/block/dm-0/dm/uuid\n|LVM-{group}{}\nread /sys/block/dm-1/dm/uuid\n|LVM-{group}{}-tdata\n\
         list /dev/disk/by-id\n|lvm-pv-uuid-vLTSwx-e07g-CEOF-tYaM-2M4S-GtAk-CoQzsq\n",
        volumes[0], volumes[1]
    );
    let text = mask_capture_text(&archive);
    let uuids: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("|LVM-"))
        .collect();
    let [first, second] = uuids[..] else {
        panic!("{text}")
    };
    assert_eq!(first[..32], second[..32]);
    assert_ne!(first[..32], *group);
    assert_ne!(first[32..], second[32..64]);
    assert!(second.ends_with("-tdata"));
    assert!(
        text.contains("lvm-pv-uuid-v00000-0000-0000-0000-0000-0000-00000"),
        "{text}"
    );
}

#[test]
fn network_addresses_and_qualified_names_are_masked() {
    let archive = "read /proc/self/mountinfo\n\
        |40 26 0:50 / /m rw shared:1 - nfs4 10.1.2.3:/x rw,vers=4.2,addr=10.1.2.3,clientaddr=10.1.2.4\n\
        |41 26 0:51 / /n rw - nfs4 nas01.corp:/x rw,addr=fe80::1:2\n\
        read /sys/class/net/eth0/address\n|52:54:00:12:34:56\n\
        list /dev/disk/by-path\n|ip-10.1.2.3:3260-iscsi-iqn.2001-04.com.corp:storage-lun-1\n\
        read /sys/class/nvme/nvme0/subsysnqn\n|nqn.2019-08.com.maker:S123\n";
    let text = mask_capture_text(archive);
    for secret in ["10.1.2.", "nas01", "corp", "fe80", "52:54", "S123"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert_eq!(text.matches("198.18.0.1").count(), 3, "{text}");
    for kept in [
        "198.18.0.2",
        "2001:db8::0:1",
        "02:00:00:00:00:01",
        "-lun-1",
        "host1.example:/x",
        "nqn.2019-08.com.maker:",
    ] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
}

#[test]
fn server_is_masked_in_every_mount_source_syntax() {
    let archive = "read /proc/self/mountinfo\n|1 2 0:5 / /a rw - davfs https://nas01/x rw\n\
        |1 2 0:6 / /b rw - fuse.sshfs nas01:/x rw\n|1 2 0:7 / /c rw - fuse ftp://nas01:21/ rw\n\
        config fstab /etc/fstab\n|1\t/a\thttps://nas01/x\\\\x09davfs\n|2\t/b\tsshfs#nas01:/x\\\\x09fuse\n\
        |3\t/c\tcurlftpfs#ftp://nas01:21/\\\\x09fuse\n|4\t/d\t//nas01/x\\\\x09cifs\n|5\t/e\tnas01:/x\\\\x09nfs\n";
    let text = mask_capture_text(archive);
    assert_eq!(text.replace("host1", "nas01"), archive, "{text}");
    assert_eq!(text.matches("host1").count(), 8, "{text}");
}

#[test]
fn host_named_like_a_kernel_word_leaves_paths_unchanged() {
    let archive =
        "uname\n|Linux\n|queue\n|6.1.0\n|#1\n|x86_64\nread /sys/block/sda/queue/rotational\n|0\n";
    let text = mask_capture_text(archive);
    assert!(
        text.contains("/sys/block/sda/queue/rotational\n|0\n") && text.contains("|host1\n"),
        "{text}"
    );
}

#[test]
fn serials_in_tool_output_are_masked() {
    let archive = "run storcli /cALL show all J nolog\n\
        |\"Serial Number\" : \"SK74512345\",\n|\"SAS Address\" : \"500605b00d1234a0\",\n|\"PCI Address\" : \"00:02:00:00\",\n\
        |{\"SN\":\"PHYF8123\",\"WWN\":\"5000C5000707AA3C\"}\n|\"Safe ID\" : \" JT7NM98TL2LU1UQ3\",\n\
        run storcli /cALL/vALL show all J nolog\n|\"SCSI NAA Id\" : \"600605b00d1234a02b3c4d5e6f708192\"\n\
        read /sys/block/sda/device/wwid\n|naa.600605b00d1234a02b3c4d5e6f708192\n\
        run ssacli ctrl all show detail\n|   Serial Number: PDNLH0BRH8W123\n|   Host Serial Number: CZJ64012AB\n|   Battery/Capacitor Count: 1\n\
        |   Logical Drive Label: 0D6AA1D6PDNLH0BRH8W123D1C9\n|   Disk Name: /dev/sda\n\
        run arcconf getconfig 1 nologs\n|   Controller Serial Number                 : 4031102\n\
        |   Segment 0                                : Present (0,0) 3LQ1WEH4\n|   World-wide name    : 5000C5000707AA3C\n|   Serial number : 3LQ1WEH4\n\
        run nvme id-ctrl -o json /dev/nvme0n1\n|  \"sn\":\"S4EWNX0N1234  \",\n|  \"mn\":\"Samsung SSD 980 PRO\",\n|  \"vwc\":7,\n";
    let text = mask_capture_text(archive);
    for secret in [
        // The leading letters of a serial identify the vendor and stay.
        "74512345",
        "500605b0",
        "8123",
        "7NM98TL2",
        "600605b00d",
        "H0BRH8W",
        "64012AB",
        "6AA1D6",
        "4031102",
        "LQ1WEH4",
        "5000C5000707",
        "4EWNX0N",
        "d1234a0",
    ] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    for kept in [
        "\"PCI Address\" : \"00:02:00:00\"",
        "Capacitor Count: 1",
        "Disk Name: /dev/sda",
        "Present (0,0) ",
        "Samsung SSD 980 PRO",
        "\"vwc\":7",
    ] {
        assert!(text.contains(kept), "{kept} not in {text}");
    }
    // Related entries keep equal masks: a volume and its disk, a disk array's segment and its disk.
    let of = |before: &str| {
        let (_, rest) = text.split_once(before).unwrap();
        rest.chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect::<String>()
    };
    assert_eq!(of("NAA Id\" : \""), of("|naa."));
    assert_eq!(of("Present (0,0) "), of("|   Serial number : "));
    assert_eq!(
        of("WWN\":\"").to_lowercase(),
        of("World-wide name    : ").to_lowercase()
    );
}

proptest! {
    #[test]
    fn masks_are_one_to_one_and_equal_no_identity(ids in prop::collection::btree_set("[0-2]{8}-[0-1]{4}-4[0-1]{3}-8000-0000000000[0-9]{2}", 1..40)) {
        let archive: String = ids.iter().flat_map(|id| ["read /sys/fs/btrfs/", id, "/label\n|", id, "\n"]).collect();
        let text = mask_capture_text(&archive);
        let paths: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("read /sys/fs/btrfs/")?.strip_suffix("/label")).collect();
        let labels: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix('|')).collect();
        let zero = |id: &str| id.bytes().all(|b| matches!(b, b'0' | b'-'));
        prop_assert_eq!(&paths, &labels);
        prop_assert_eq!(paths.iter().collect::<BTreeSet<_>>().len(), ids.len());
        prop_assert!(paths.iter().all(|mask| zero(mask) || !ids.contains(*mask)));
    }

    #[test]
    fn masking_any_capture_is_deterministic(answers in prop::collection::btree_map(
        crate::host::question::tests::any_question(),
        prop_oneof![any::<Vec<u8>>(), "[0-9a-f:.-]{0,40}".prop_map(String::into_bytes)].prop_map(Ok), 0..8)
    ) {
        prop_assert_eq!(mask_answers(&answers), mask_answers(&answers));
    }
}

/// `zpool status -P` may name a device by its serial. Its mask must equal the mask in the name of
/// the disk's link.
#[test]
fn serials_in_a_pool_are_masked_like_those_of_links() {
    let link = "/dev/disk/by-id/ata-WDC_WD40EFRX-68N_WD-WCC7K0ABCDEF-part1";
    let text = mask_capture_text(&format!(
        "real-path {link}\n:/dev/sda1\nrun zpool status -P\n|pool: tank\n|\ttank ONLINE\n|\t    {link} ONLINE\n"
    ));
    assert!(!text.contains("WCC7K0ABCDEF"), "{text}");
    let names: Vec<&str> = text
        .split_whitespace()
        .filter(|word| word.contains("by-id"))
        .collect();
    assert!(names.len() == 2 && names[0] == names[1], "{names:?}");
}

/// A database cluster may be below /home, and walwise looks for files such as PG_VERSION in every
/// directory above the cluster.
#[test]
fn home_owner_is_masked_but_probed_file_names_are_not() {
    let archive = "real-path /home/alice/pg\n:/home/alice/pg\nstat /home/alice/pg/PG_VERSION\n|mode=1\n\
        stat /home/alice/PG_VERSION\n!absent gone\nstat /home/PG_VERSION\n!absent gone\nstat /home/alice\n|mode=2\n\
        user-name 1000\n|alice\nuser-name 26\n|postgres\nstat /home/postgres/pg\n|mode=3\nlink /x\n:/home/Bob\n\
        read /sys/block/sda/device/model\n|alice\n";
    let text = mask_capture_text(archive);
    for kept in [
        "real-path /home/user1/pg\n:/home/user1/pg\n",
        "stat /home/user1/pg/PG_VERSION",
        "stat /home/user1/PG_VERSION",
        "stat /home/PG_VERSION",
        "stat /home/user1\n",
        "user-name 1000\n|user1\n",
        "user-name 26\n|postgres\n",
        "stat /home/postgres/pg",
        ":/home/user2\n",
        "read /sys/block/sda/device/model\n|alice\n",
    ] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
}

#[test]
fn label_serials_and_tmpfs_sources_are_masked() {
    let archive = "config fstab /etc/fstab\n|1\t/a\tLABEL=pgdata\n|2\t/b\tLABEL=bak-Z1P3495C\n\
        link /dev/disk/by-label/bak-Z1P3495C\n:../../sdb1\n\
        read /proc/self/mountinfo\n|1 2 0:5 / /mnt/Z1P3495C rw - tmpfs tmpfs rw\n\
        |1 2 0:6 / /run/user/1000 rw - tmpfs alice-liddell-tmp rw\n|1 2 0:7 / /proc rw - proc proc rw\n\
        |1 2 0:8 / /var/lib/docker/overlay2/3f4e5d6c7b8a90123f4e5d6c7b8a90123f4e5d6c7b8a90123f4e5d6c7b8a9012/merged rw - overlay overlay rw\n\
        |1 2 0:9 / /lustre rw - lustre mgs1@tcp:10.1.2.3@tcp:/fs rw\n";
    let text = mask_capture_text(archive);
    for secret in ["Z1P3495C", "alice", "liddell", "3f4e5d", "mgs1", "10.1.2.3"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    for kept in [
        "=pgdata",
        "by-label/bak-Z",
        "- tmpfs tmpfs",
        "-tmp rw",
        "- proc proc",
        "/merged rw - overlay overlay",
        "@tcp:/fs",
    ] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
}
