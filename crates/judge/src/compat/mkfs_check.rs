//! Whether a file system can be created and then mounted here.

use super::guard::check_filesystem;
use super::mkfs_tool::MkfsTool;
use crate::facts::{FactSet, Reading, Subject, UnknownReason};
use crate::settings::NewFilesystem;

/// Without the features that the kernel lacks. The error is a sentence.
pub fn can_make(wanted: NewFilesystem, facts: &FactSet) -> Result<(), String> {
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
    check_filesystem(wanted.as_str(), &left_out, facts)
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
        let seen = || Source::call("uname");
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
    fn what_kernel_or_tool_lack_is_named() {
        let debian = facts("debian", "6.1.0-28-amd64", &["ext4"]);
        for filesystem in [
            NewFilesystem::Ext4,
            NewFilesystem::Xfs,
            NewFilesystem::Btrfs,
        ] {
            assert_eq!(
                can_make(filesystem, &debian),
                Ok(()),
                "tools that were not asked for"
            );
        }
        let none = can_make(NewFilesystem::Zfs, &debian).unwrap_err();
        assert!(
            none.contains("/proc/filesystems") && none.contains("modprobe zfs"),
            "{none}"
        );
        assert_eq!(
            can_make(
                NewFilesystem::Zfs,
                &facts("debian", "6.1", &["ext4", "zfs"])
            ),
            Ok(())
        );

        let red_hat = facts("el9", "5.14.0-427.el9", &["xfs"]);
        let none = can_make(NewFilesystem::Btrfs, &red_hat).unwrap_err();
        assert!(none.contains("RHEL 9 has no btrfs"), "{none}");

        let mut bare = debian.clone();
        bare.insert(
            &Subject::host(),
            &host::XFSPROGS,
            Reading::unknown(UnknownReason::Absent, "mkfs.xfs -V"),
        );
        let none = can_make(NewFilesystem::Xfs, &bare).unwrap_err();
        assert_eq!(none, "mkfs.xfs is not installed here: install xfsprogs.");
        bare.insert_known(
            &Subject::host(),
            &host::XFSPROGS,
            Version::parse("6.5").unwrap(),
            Source::Assumed,
        );
        crate::compat::derive(&mut bare);
        let old = facts("debian", "5.10.0-30-amd64", &["xfs"]);
        assert_eq!(can_make(NewFilesystem::Xfs, &bare), Ok(()));
        let mut too_new = old;
        too_new.insert_known(
            &Subject::host(),
            &host::XFSPROGS,
            Version::parse("6.5").unwrap(),
            Source::Assumed,
        );
        assert!(
            can_make(NewFilesystem::Xfs, &too_new).is_err(),
            "nothing is left out yet"
        );
        crate::compat::derive(&mut too_new);
        assert_eq!(
            can_make(NewFilesystem::Xfs, &too_new),
            Ok(()),
            "what the kernel lacks is left out"
        );
    }
}
