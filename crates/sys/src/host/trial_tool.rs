//! Programs with which a trial creates file systems, on its own loop files or on a given disk.
//! These programs are the only ones that write, and only a trial runs them.
//!
//! They are found and run by the same rules as programs that only read. Their row in `tools.toml`
//! limits the arguments of every caller: mkfs may write only to a loop device, or to an open file
//! under /proc/PID/fd.

use std::path::PathBuf;
use std::time::Duration;
use walwise_model::facts::choice;

use super::HostError;
use super::live::programs;
use super::tool::ToolSpec;

const DEADLINE: Duration = Duration::from_secs(60);

choice! {
    pub enum TrialTool {
        Mke2fs = "mke2fs",
        MkfsXfs = "mkfs.xfs",
        MkfsBtrfs = "mkfs.btrfs",
        Mount = "mount",
        Losetup = "losetup",
    }
}

impl TrialTool {
    /// The package that provides the program in most distributions.
    pub fn package(self) -> &'static str {
        self.spec().map_or("", |spec| spec.package)
    }

    /// Fails if the program is missing, or if a user other than root can change it.
    pub fn find_program_path(self) -> Result<PathBuf, HostError> {
        programs::find_trusted_system_program(self.as_str())
    }

    pub fn run(self, words: &[String]) -> Result<String, HostError> {
        if !self.allows_arguments(words) {
            return Err(HostError::failed(
                "walwise does not run this program with these arguments",
            ));
        }
        let printed = programs::run_trial_tool(self.as_str(), words, DEADLINE)?;
        Ok(String::from_utf8_lossy(&printed).into_owned())
    }

    pub fn allows_arguments(self, words: &[String]) -> bool {
        self.spec().is_some_and(|spec| spec.allows_in_trial(words))
    }

    fn spec(self) -> Option<&'static ToolSpec> {
        ToolSpec::find_by_program(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trial_tools_accept_only_safe_arguments() {
        let may = |maker: TrialTool, line: &str| {
            maker.allows_arguments(
                &line
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>(),
            )
        };
        assert!(may(
            TrialTool::Mke2fs,
            "-q -F -t ext4 -O fast_commit /dev/loop7"
        ));
        assert!(may(TrialTool::MkfsXfs, "-V") && may(TrialTool::MkfsBtrfs, "-q -f -K /dev/loop12"));
        for line in [
            "",
            "/dev/sda",
            "-F /dev/loop0p1",
            "-d /etc /dev/loop0",
            "/dev/loop0 /dev/sda",
            "/dev/loop",
        ] {
            assert!(!may(TrialTool::Mke2fs, line), "{line}");
            assert!(!may(TrialTool::MkfsBtrfs, line), "{line}");
        }
        let open = "/proc/12/fd/3";
        assert!(may(
            TrialTool::Mke2fs,
            &format!("-q -F -E x=0,nodiscard -U 7 {open} 1048576k")
        ));
        assert!(may(
            TrialTool::MkfsXfs,
            &format!("-q -f -K -m uuid=7 -d size=1073741824 {open}")
        ));
        assert!(may(
            TrialTool::MkfsBtrfs,
            &format!("-q -f -K -U 7 -b 1073741824 {open}")
        ));
        for line in [
            "-E nodiscard",
            "-K",
            "-K -d file=1",
            "-K -d size=",
            "-K -b",
            "-K -d name=/dev/sda -d size=1",
        ] {
            for end in [
                open.to_owned(),
                format!("{open} /dev/sda"),
                "/dev/sda 1024k".to_owned(),
                "/dev/sdb".to_owned(),
            ] {
                for maker in [TrialTool::Mke2fs, TrialTool::MkfsXfs, TrialTool::MkfsBtrfs] {
                    assert!(
                        !may(maker, &format!("{line} {end}")),
                        "{maker:?} {line} {end}"
                    );
                }
            }
        }
        let small = "-q -F -t ext2 -b 4096 -E nodiscard";
        assert!(may(
            TrialTool::Mke2fs,
            &format!("{small} /proc/12/fd/3 1024")
        ));
        for file in [
            "/etc/passwd 1024",
            "/proc/12/fd/3/../../1/fd/3 1024",
            "/proc/12/fd/3 /dev/sda",
            "/proc/12/fd/3",
        ] {
            assert!(
                !may(TrialTool::Mke2fs, &format!("{small} {file}")),
                "{file}"
            );
        }
        let mount = "-n -i -t ext4 -o loop,nosuid,nodev,noexec,sizelimit=1024";
        assert!(may(
            TrialTool::Mount,
            &format!("{mount} /proc/12/fd/3 /tmp")
        ));
        for line in [
            "/dev/sda /tmp",
            "/proc/12/fd/3 /etc",
            "/proc/12/fd/3",
            "--bind /proc/12/fd/3 /tmp",
        ] {
            assert!(!may(TrialTool::Mount, &format!("{mount} {line}")), "{line}");
        }
        assert!(!may(
            TrialTool::Mount,
            "-n -i -t ext4 -o loop,suid /proc/12/fd/3 /tmp"
        ));
        assert!(may(TrialTool::Losetup, "--direct-io=on /dev/loop3"));
        assert!(may(TrialTool::Losetup, "--sector-size 4096 /dev/loop3"));
        for line in [
            "--detach-all",
            "--detach /dev/loop0",
            "--direct-io=on /dev/sda",
            "/dev/loop0 /etc/passwd",
        ] {
            assert!(!may(TrialTool::Losetup, line), "{line}");
        }
    }
}
