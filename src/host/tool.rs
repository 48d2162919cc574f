//! The programs that may be run. [`table`] has one row for each, with everything particular to it; the live host finds
//! and runs them. PostgreSQL's programs exist once per major version.

use std::borrow::Cow;

/// The properties of a program.
pub struct ToolSpec {
    /// Its file name.
    pub name: &'static str,
    /// The package that brings it, as most distributions call it.
    pub package: &'static str,
    /// Its directories.
    pub home: InstallLocation,
    /// When its output counts as an answer.
    pub answer: OutputPolicy,
    /// The keys in its output that identify a machine.
    pub identities: Identities,
    /// Whether these arguments only read.
    reads: fn(&[&str]) -> bool,
}

/// Where Debian, Red Hat and others put MySQL's and MariaDB's servers.
pub const SERVER_DIRECTORIES: [&str; 3] = ["/usr/sbin", "/usr/libexec", "/usr/bin"];

/// Where a program lies.
#[derive(Clone, Copy, Debug)]
pub enum InstallLocation {
    /// With the system's other programs.
    System,
    /// In [`SERVER_DIRECTORIES`].
    Server,
    /// Where its maker's package puts it, or with the system's programs. It is the tool of a RAID controller.
    Maker(&'static [&'static str]),
    /// In the directory of its major release.
    Major,
}

/// When the output of a program counts as an answer, and how long it may take.
#[derive(Clone, Copy, Debug)]
pub enum OutputPolicy {
    /// On exit status 0 only.
    Success,
    /// On any exit status: the status reports the state of the disk.
    Printed,
    /// The same, with more time, as it first asks a controller's firmware and every disk behind it.
    Firmware,
}

/// The keys before identities in a program's output. Keys are in lower case with single blanks.
#[derive(Clone, Copy, Debug)]
pub struct Identities {
    /// Serial numbers and names made of one.
    pub serials: &'static [&'static str],
    /// Addresses and world-wide names.
    pub names: &'static [&'static str],
    /// Prefixes of keys whose value is a disk's place followed by its serial number.
    pub members: &'static [&'static str],
}

/// Generates the type and every list of all programs from the rows, so that no row can be forgotten.
macro_rules! tools {
    (
        $($(#[$doc:meta])* $tool:ident = $name:literal of $package:literal, $home:expr, $answer:ident, $identities:expr
            => { $($words:pat $(if $guard:expr)?),+ };)+
        @major:
        $($(#[$major_doc:meta])* $major:ident = $major_name:literal of $major_package:literal, $major_home:expr,
            $major_answer:ident, $major_identities:expr => { $($major_words:pat $(if $major_guard:expr)?),+ };)+
    ) => {
        /// Programs that may be run: fixed paths, root-owned, read-only uses.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Tool {
            $($(#[$doc])* $tool,)+
            $($(#[$major_doc])* $major(u32),)+
        }

        impl Tool {
            /// All programs that do not come once per major release.
            pub const FIXED: &'static [Self] = &[$(Self::$tool),+];

            /// The programs that come once per major release.
            pub const MAJOR: &'static [fn(u32) -> Self] = &[$(Self::$major),+];

            /// Its properties.
            pub fn row(self) -> &'static ToolSpec {
                use InstallLocation::{Major, Maker, Server, System};
                match self {
                    $(Self::$tool => {
                        static ROW: ToolSpec = ToolSpec {
                            name: $name,
                            package: $package,
                            home: $home,
                            answer: OutputPolicy::$answer,
                            identities: $identities,
                            reads: |words| $(matches!(words, $words $(if $guard)?))||+,
                        };
                        &ROW
                    })+
                    $(Self::$major(_) => {
                        static ROW: ToolSpec = ToolSpec {
                            name: $major_name,
                            package: $major_package,
                            home: $major_home,
                            answer: OutputPolicy::$major_answer,
                            identities: $major_identities,
                            reads: |words| $(matches!(words, $major_words $(if $major_guard)?))||+,
                        };
                        &ROW
                    })+
                }
            }

            /// The major release it belongs to; `None` for other programs.
            pub fn major(self) -> Option<u32> {
                match self {
                    $(Self::$tool)|+ => None,
                    $(Self::$major(major))|+ => Some(major),
                }
            }
        }
    };
}

mod table;

pub use table::Tool;

impl Tool {
    /// The program's name, with the number of the major release appended where it has one.
    pub fn name(self) -> Cow<'static, str> {
        let name = self.row().name;
        match self.major() {
            Some(major) => Cow::Owned(format!("{name}-{major}")),
            None => Cow::Borrowed(name),
        }
    }

    /// The program of this name, the inverse of [`Tool::name`].
    pub fn of_name(name: &str) -> Option<Self> {
        let of_major = |tool: &fn(u32) -> Self| {
            let number = name.strip_prefix(tool(0).row().name)?.strip_prefix('-')?;
            number.parse().ok().map(tool)
        };
        let fixed = || Self::FIXED.iter().copied().find(|tool| tool.row().name == name);
        Self::MAJOR.iter().find_map(of_major).or_else(fixed)
    }

    /// The package that brings it, as most distributions call it.
    pub fn package(self) -> &'static str {
        self.row().package
    }

    /// Whether it only reads with these arguments.
    pub fn only_reads(self, arguments: &[String]) -> bool {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        (self.row().reads)(&words)
    }
}

#[cfg(test)]
mod tests;
