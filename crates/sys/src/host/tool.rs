//! Programs that may be run, with their properties from `tools.toml`, such as package and allowed
//! arguments. The live host finds and runs the programs.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::LazyLock;

use serde::Deserialize;
use walwise_model::toml_table;

/// A row of `tools.toml`: programs with equal properties.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSpec {
    #[serde(borrow)]
    names: Vec<&'static str>,
    pub package: &'static str,
    #[serde(default)]
    pub answer: OutputAcceptancePolicy,
    #[serde(default)]
    vendor_paths: Vec<&'static str>,
    #[serde(default = "system_directories")]
    directories: Vec<&'static str>,
    arguments: Vec<&'static str>,
    #[serde(default)]
    trial_arguments: Vec<&'static str>,
}

pub fn system_directories() -> Vec<&'static str> {
    vec!["/usr/sbin", "/sbin", "/usr/bin", "/bin"]
}

/// Whether the output of a failed program counts as an answer, and how long the program may run.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputAcceptancePolicy {
    /// Output counts only if the program succeeds.
    #[default]
    Success,
    /// Output counts with any exit status, because the exit status reports the state of the disk.
    Printed,
    /// Output counts with any exit status, and the program gets more time, because it first queries
    /// a controller's firmware and every disk behind the controller.
    Firmware,
}

impl ToolSpec {
    /// `None` for a program without a row.
    pub fn find_by_program(name: &str) -> Option<&'static Self> {
        /// If the compiled-in text does not parse, no program is run; a test checks that each
        /// program has a row.
        static ROWS: LazyLock<Vec<ToolSpec>> = LazyLock::new(|| {
            toml_table::parse_rows(include_str!("tools.toml")).unwrap_or_default()
        });
        ROWS.iter().find(|row| row.names.contains(&name))
    }

    pub fn allows_in_trial(&self, words: &[String]) -> bool {
        matches_any_pattern(&self.trial_arguments, words)
    }
}

/// Generates the enum of programs and all lists of them from the rows, so that no list can lack a
/// program.
macro_rules! tools {
    (
        $($tool:ident = $name:literal,)+
        @major: $($major:ident = $major_name:literal,)+
    ) => {
        /// Programs that may be run, from fixed paths that belong to root, and only for reading.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Tool {
            $($tool,)+
            $($major(u32),)+
        }

        impl Tool {
            pub const FIXED: &'static [Self] = &[$(Self::$tool),+];

            pub const MAJOR: &'static [fn(u32) -> Self] = &[$(Self::$major),+];

            pub fn program_name(self) -> &'static str {
                match self {
                    $(Self::$tool => $name,)+
                    $(Self::$major(_) => $major_name,)+
                }
            }

            /// `None` for a program that is not installed once per release.
            pub fn major_release(self) -> Option<u32> {
                match self {
                    $(Self::$tool)|+ => None,
                    $(Self::$major(major))|+ => Some(major),
                }
            }
        }
    };
}

tools! {
    Mke2fs = "mke2fs",
    MkfsXfs = "mkfs.xfs",
    MkfsBtrfs = "mkfs.btrfs",
    Mdadm = "mdadm",
    Mount = "mount",
    Storcli = "storcli",
    Perccli = "perccli",
    Storcli2 = "storcli2",
    Perccli2 = "perccli2",
    MegaCli = "MegaCli",
    Ssacli = "ssacli",
    Hpssacli = "hpssacli",
    Hpacucli = "hpacucli",
    Arcconf = "arcconf",
    Nvme = "nvme",
    Smartctl = "smartctl",
    Hdparm = "hdparm",
    Sdparm = "sdparm",
    Dmsetup = "dmsetup",
    Drbdsetup = "drbdsetup",
    Zfs = "zfs",
    Zpool = "zpool",
    Mysqld = "mysqld",
    Mariadbd = "mariadbd",
// One program for each major release of PostgreSQL.
@major:
    Postgres = "postgres",
    PgCtl = "pg_ctl",
    PgControldata = "pg_controldata",
}

impl Tool {
    /// The program's name, followed by the major release if the program has one.
    pub fn name(self) -> Cow<'static, str> {
        let name = self.program_name();
        match self.major_release() {
            Some(major) => Cow::Owned(format!("{name}-{major}")),
            None => Cow::Borrowed(name),
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        let with_major = || {
            let (program, major) = name.rsplit_once('-')?;
            let mut tools = Self::MAJOR.iter();
            let tool = tools.find(|tool| tool(0).program_name() == program)?;
            major.parse().ok().map(tool)
        };
        let mut fixed = Self::FIXED.iter().copied();
        fixed
            .find(|tool| tool.program_name() == name)
            .or_else(with_major)
    }

    fn spec(self) -> Option<&'static ToolSpec> {
        ToolSpec::find_by_program(self.program_name())
    }

    /// The package that provides the program in most distributions.
    pub fn package(self) -> &'static str {
        self.spec().map_or("", |spec| spec.package)
    }

    pub fn directories(self) -> &'static [&'static str] {
        self.spec().map_or(&[], |spec| spec.directories.as_slice())
    }

    /// `None` unless the program only reads with these arguments.
    pub(crate) fn spec_if_read_only(self, arguments: &[String]) -> Option<&'static ToolSpec> {
        self.spec()
            .filter(|spec| matches_any_pattern(&spec.arguments, arguments))
    }

    /// The paths at which the program may be installed; the first existing one is run.
    pub(crate) fn candidate_paths(self) -> Vec<PathBuf> {
        let Some(spec) = self.spec() else {
            return Vec::new();
        };
        let name = self.program_name();
        let mut names = vec![name.to_owned()];
        if !spec.vendor_paths.is_empty() {
            names.insert(0, format!("{name}64"));
        }
        let major = self.major_release().unwrap_or_default().to_string();
        let directories = spec.directories.iter();
        let directories = directories.map(|place| PathBuf::from(place.replace("{major}", &major)));
        let searched = directories.flat_map(|place| names.iter().map(move |name| place.join(name)));
        let vendor = spec.vendor_paths.iter().map(PathBuf::from);
        vendor.chain(searched).collect()
    }
}

fn matches_any_pattern(patterns: &[&str], words: &[String]) -> bool {
    let mut patterns = patterns.iter();
    patterns.any(|pattern| matches_pattern(pattern, words))
}

fn matches_pattern(pattern: &str, words: &[String]) -> bool {
    let options = pattern.strip_prefix("{options");
    let options = options.and_then(|rest| rest.split_once("} "));
    let parts: Vec<&str> = options
        .map_or(pattern, |(_, rest)| rest)
        .split(' ')
        .collect();
    let Some((before, words)) = words
        .len()
        .checked_sub(parts.len())
        .and_then(|count| words.split_at_checked(count))
    else {
        return false;
    };
    let begins = match options {
        None => before.is_empty(),
        Some((required, _)) => {
            !before.iter().any(|word| word.contains('/'))
                && (required.is_empty()
                    || before
                        .iter()
                        .any(|word| has_option(word, required.trim_start())))
        }
    };
    begins
        && parts
            .iter()
            .zip(words)
            .all(|(part, word)| matches_pattern_word(part, word))
}

/// Whether the word is the option or, for an option without a dash, a list that contains it.
fn has_option(word: &str, option: &str) -> bool {
    word == option || !option.starts_with('-') && word.split(',').any(|part| part == option)
}

fn matches_pattern_word(part: &str, word: &str) -> bool {
    match part {
        "{disk}" => word.starts_with("/dev/") && is_plain_absolute_path(word),
        "{directory}" => is_plain_absolute_path(word),
        "{loop}" => is_loop_device_path(word),
        "{fd}" => is_proc_fd_path(word),
        part => {
            let numbers = [("{n}", 3), ("{count}", 9), ("{bytes}", 13)];
            let number = numbers
                .into_iter()
                .find_map(|(mark, digits)| Some((part.split_once(mark)?, digits)));
            number.map_or(part == word, |((before, after), digits)| {
                word.strip_prefix(before)
                    .and_then(|rest| rest.strip_suffix(after))
                    .is_some_and(|number| is_number(number, digits))
            })
        }
    }
}

pub fn is_loop_device_path(path: &str) -> bool {
    path.strip_prefix("/dev/loop")
        .is_some_and(|number| is_number(number, 9))
}

fn is_proc_fd_path(path: &str) -> bool {
    let parts = path
        .strip_prefix("/proc/")
        .and_then(|rest| rest.split_once("/fd/"));
    parts.is_some_and(|(process, number)| is_number(process, 9) && is_number(number, 9))
}

/// Whether the word is a number of at most `most` digits.
fn is_number(word: &str, most: usize) -> bool {
    (1..=most).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit())
}

/// Whether the path is absolute and has no component `.` or `..`.
fn is_plain_absolute_path(path: &str) -> bool {
    let plain =
        |part: &str| !matches!(part, "" | "." | "..") && !part.chars().any(char::is_control);
    path.strip_prefix('/')
        .is_some_and(|rest| rest.split('/').all(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_tool_arguments_are_allowed() {
        let allowed = |tool: Tool, arguments: &[&str]| {
            tool.spec_if_read_only(&arguments.iter().map(|&a| a.to_owned()).collect::<Vec<_>>())
                .is_some()
        };
        assert!(allowed(Tool::Mke2fs, &["-V"]));
        assert!(allowed(Tool::Hdparm, &["-W", "/dev/mapper/vg-lv"]));
        assert!(allowed(
            Tool::PgControldata(15),
            &["-D", "/var/lib/postgresql/15/main"]
        ));
        let refused: [(Tool, &[&str]); 15] = [
            (Tool::PgControldata(15), &["-D", "pg"]),
            (Tool::PgControldata(15), &["-D", "/srv/../etc"]),
            (Tool::PgControldata(15), &["/srv/pg"]),
            (Tool::Postgres(15), &["-D", "/srv/pg"]),
            (Tool::Mysqld, &["--version", "--initialize"]),
            (Tool::Mke2fs, &["/dev/sda"]),
            (Tool::Mke2fs, &["-V", "/dev/sda"]),
            (Tool::Hdparm, &["-W", "/etc/passwd"]),
            (Tool::Hdparm, &["-W", "/dev/../etc/passwd"]),
            (Tool::Hdparm, &["-W", "/dev/"]),
            (Tool::Hdparm, &["-W", "-o"]),
            (Tool::Mount, &[]),
            (Tool::Postgres(16), &["-V", "--single"]),
            (Tool::PgCtl(16), &["start"]),
            (Tool::PgCtl(16), &["--version", "stop"]),
        ];
        for (tool, arguments) in refused {
            assert!(!allowed(tool, arguments), "{} {arguments:?}", tool.name());
        }
    }

    #[test]
    fn only_reading_storage_commands_are_allowed() {
        let allowed = |tool: Tool, line: &str| {
            let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            tool.spec_if_read_only(&arguments).is_some()
        };
        for (tool, line) in [
            (Tool::Storcli, "/cALL show all J nolog"),
            (Tool::Perccli, "/cALL/vALL show all J nolog"),
            (Tool::Storcli, "/c0/cv show status nolog"),
            (Tool::Storcli, "/c12/bbu show status nolog"),
            (Tool::Storcli2, "/call show all nolog J"),
            (Tool::Perccli2, "/call/vall show all nolog J"),
            (Tool::MegaCli, "-LDInfo -Lall -aALL -NoLog"),
            (Tool::Ssacli, "ctrl slot=0 ld all show detail"),
            (Tool::Arcconf, "getconfig 1 nologs"),
            (Tool::Nvme, "get-feature -f 6 -H /dev/nvme0n1"),
            (Tool::Nvme, "get-log -i 0xc0 -l 512 /dev/nvme0n1"),
            (Tool::Hdparm, "-W /dev/sda"),
            (Tool::Sdparm, "--get=WCE /dev/sda"),
            (Tool::Dmsetup, "table"),
            (Tool::Drbdsetup, "show --show-defaults"),
            (Tool::Zpool, "status -P"),
            (
                Tool::Zfs,
                "get -Hp -t filesystem,volume -o name,property,value sync,logbias,recordsize",
            ),
            (
                Tool::Smartctl,
                "-q noserial -n standby -j -i -g wcache /dev/sda",
            ),
        ] {
            assert!(allowed(tool, line), "{} {line}", tool.name());
        }
        for (tool, line) in [
            (Tool::Dmsetup, "table --showkeys"),
            (Tool::Dmsetup, "remove vg-lv"),
            (Tool::Dmsetup, "status vg-lv"),
            (Tool::Drbdsetup, "show"),
            (Tool::Drbdsetup, "down r0"),
            (Tool::Drbdsetup, "disk-options 0 --disk-flushes=no"),
            (Tool::Zpool, "status -v"),
            (Tool::Zfs, "set sync=disabled tank"),
            (Tool::Zfs, "get all"),
            (Tool::Storcli, "/cALL show all J"),
            (Tool::Storcli, "/c0/v0 set wrcache=awb nolog"),
            (Tool::Storcli, "/c0/vALL del nolog"),
            (Tool::Storcli2, "/call show all J"),
            (Tool::Storcli2, "/call/vall set wrcache=awb nolog J"),
            (Tool::Storcli, "/c/cv show status nolog"),
            (Tool::Storcli, "/c0/v0/cv show status nolog"),
            (Tool::MegaCli, "-LDInfo -Lall -aALL"),
            (Tool::MegaCli, "-AdpBbuCmd -BbuLearn -aALL -NoLog"),
            (Tool::MegaCli, "-LDSetProp WB -Lall -aALL -NoLog"),
            (Tool::Ssacli, "ctrl slot=all ld all show detail"),
            (
                Tool::Ssacli,
                "ctrl slot=0 modify nobatterywritecache=enable",
            ),
            (Tool::Arcconf, "setcache 1 logicaldrive 0 wb"),
            (Tool::Arcconf, "getconfig 1"),
            (Tool::Nvme, "set-feature -f 6 -v 0 /dev/nvme0n1"),
            (Tool::Nvme, "get-log -i 0xd -l 512 /dev/nvme0n1"),
            (Tool::Nvme, "ocp clear-fw-activate-history /dev/nvme0n1"),
            (Tool::Nvme, "format /dev/nvme0n1"),
            (Tool::Hdparm, "-W0 /dev/sda"),
            (Tool::Hdparm, "-W 0 /dev/sda"),
            (Tool::Hdparm, "-W 1"),
            (Tool::Sdparm, "--set=WCE /dev/sda"),
            (Tool::Smartctl, "-s wcache,off /dev/sda"),
            (Tool::Smartctl, "-j -i /dev/sda"),
        ] {
            assert!(!allowed(tool, line), "{} {line}", tool.name());
        }
    }

    #[test]
    fn tool_names_round_trip() {
        let major = Tool::MAJOR.iter().map(|of| of(17));
        for tool in Tool::FIXED.iter().copied().chain(major) {
            assert_eq!(Tool::from_name(&tool.name()), Some(tool));
            assert!(tool.spec().is_some(), "{}", tool.name());
            assert!(tool.spec_if_read_only(&[]).is_none(), "{}", tool.name());
        }
        assert_eq!(Tool::PgControldata(15).name(), "pg_controldata-15");
        for none in [
            "postgres",
            "postgres-",
            "postgres-x",
            "postgres--1",
            "sh",
            "",
            "mdadm-4",
        ] {
            assert_eq!(Tool::from_name(none), None, "{none}");
        }
    }
}
