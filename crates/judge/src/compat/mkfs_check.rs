use super::advice_check::check_new_file_system;
use super::mkfs_tool::MkfsTool;
use crate::facts::{FactSet, Reading, Subject, UnknownReason};
use crate::settings::NewFilesystem;

/// Whether mkfs can create a new file system that this kernel can mount, if mkfs omits the features
/// that the kernel lacks. The error is a sentence.
pub fn check_can_create_filesystem(wanted: NewFilesystem, facts: &FactSet) -> Result<(), String> {
    let machine = Subject::host();
    let mut left_out = Vec::new();
    if let Some(MkfsTool {
        version,
        leave_out,
        package,
    }) = MkfsTool::for_filesystem(wanted)
    {
        if let Reading::Unknown {
            why: UnknownReason::Absent,
            ..
        } = facts.get(&machine, version)
        {
            return Err(format!(
                "mkfs.{wanted} is not installed here: install {package}."
            ));
        }
        left_out = facts.value(&machine, leave_out).unwrap_or_default();
    }
    check_new_file_system(wanted.as_str(), &left_out, facts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Source;
    use crate::facts::catalog::{host, kernel};
    use crate::version::Version;

    fn facts(vendor: &str, version: &str, loaded: &[&str]) -> FactSet {
        let mut facts = FactSet::default();
        let machine = Subject::host();
        let seen = || Source::system_call("uname");
        facts.insert_known(
            &machine,
            &kernel::VERSION,
            Version::parse(version).unwrap(),
            seen(),
        );
        facts.insert_known(&machine, &kernel::VENDOR, vendor.to_owned(), seen());
        let loaded = loaded
            .iter()
            .map(|&name| name.to_owned())
            .collect::<Vec<_>>();
        facts.insert_known(
            &machine,
            &kernel::FILESYSTEMS,
            loaded,
            Source::file("/proc/filesystems"),
        );
        facts
    }

    #[test]
    fn errors_report_missing_drivers_and_tools() {
        let debian = facts("debian", "6.1.0-28-amd64", &["ext4"]);
        for filesystem in [
            NewFilesystem::Ext4,
            NewFilesystem::Xfs,
            NewFilesystem::Btrfs,
        ] {
            assert_eq!(
                check_can_create_filesystem(filesystem, &debian),
                Ok(()),
                "tools that were not asked for"
            );
        }
        let none = check_can_create_filesystem(NewFilesystem::Zfs, &debian).unwrap_err();
        assert!(
            none.contains("/proc/filesystems") && none.contains("modprobe zfs"),
            "{none}"
        );
        assert_eq!(
            check_can_create_filesystem(
                NewFilesystem::Zfs,
                &facts("debian", "6.1", &["ext4", "zfs"])
            ),
            Ok(())
        );

        let red_hat = facts("el9", "5.14.0-427.el9", &["xfs"]);
        let none = check_can_create_filesystem(NewFilesystem::Btrfs, &red_hat).unwrap_err();
        assert!(none.contains("RHEL 9 has no btrfs"), "{none}");

        let mut bare = debian.clone();
        bare.insert(
            &Subject::host(),
            &host::XFSPROGS,
            Reading::unknown(UnknownReason::Absent, "mkfs.xfs -V"),
        );
        let none = check_can_create_filesystem(NewFilesystem::Xfs, &bare).unwrap_err();
        assert_eq!(none, "mkfs.xfs is not installed here: install xfsprogs.");
        bare.insert_known(
            &Subject::host(),
            &host::XFSPROGS,
            Version::parse("6.5").unwrap(),
            Source::Assumed,
        );
        crate::compat::derive_compat_facts(&mut bare);
        let old = facts("debian", "5.10.0-30-amd64", &["xfs"]);
        assert_eq!(
            check_can_create_filesystem(NewFilesystem::Xfs, &bare),
            Ok(())
        );
        let mut too_new = old;
        too_new.insert_known(
            &Subject::host(),
            &host::XFSPROGS,
            Version::parse("6.5").unwrap(),
            Source::Assumed,
        );
        assert!(
            check_can_create_filesystem(NewFilesystem::Xfs, &too_new).is_err(),
            "nothing is left out yet"
        );
        crate::compat::derive_compat_facts(&mut too_new);
        assert_eq!(
            check_can_create_filesystem(NewFilesystem::Xfs, &too_new),
            Ok(()),
            "what the kernel lacks is left out"
        );
    }
}
