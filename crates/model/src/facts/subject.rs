use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::Choice;
use crate::text::escape_display_unsafe;

choice! {
    /// The kind of a subject; every fact belongs to subjects of one scope.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Scope {
        /// The examined computer, with its kernel and distribution.
        Host = "host",
        /// A block device: disk, partition, array, mapping, loop.
        Device = "device",
        /// A file system that is mounted now.
        Mount = "mount",
        /// A mount of the next boot: a line of fstab or a mount unit.
        Boot = "boot",
        /// The data directory of a database server: PostgreSQL, MySQL or MariaDB.
        Cluster = "cluster",
        /// A directory or a free device that walwise gives advice for.
        Target = "target",
    }
}

impl Scope {
    /// The noun for the scope in a sentence. A cluster is called `database server`, because a MySQL
    /// cluster consists of several servers.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Cluster => "database server",
            Self::Boot => "fstab line",
            Self::Host | Self::Device | Self::Mount | Self::Target => self.as_str(),
        }
    }
}

/// One thing that facts are about: a scope and a name unique in that scope, such as `device sda` or
/// `mount /srv`. The name is display-safe and stable between runs. Clones share the name, because
/// findings, edges and traces all hold subjects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub struct Subject {
    scope: Scope,
    name: Arc<str>,
}

impl Subject {
    pub fn host() -> Self {
        Self::lowest_subject_of_scope(Scope::Host)
    }

    fn new(scope: Scope, name: &str) -> Self {
        Self {
            scope,
            name: escape_display_unsafe(name).into(),
        }
    }

    /// A block device by its kernel name: `sda1`, `dm-0`.
    pub fn device(name: impl AsRef<str>) -> Self {
        Self::new(Scope::Device, name.as_ref())
    }

    /// A mount by its mount point. Further mounts on the same point have `#2`, `#3` and so on
    /// appended; the last of them is visible.
    pub fn mount(name: impl AsRef<str>) -> Self {
        Self::new(Scope::Mount, name.as_ref())
    }

    /// A boot mount by its mount point, with `#2` appended for a second line with that mount point.
    pub fn boot(name: impl AsRef<str>) -> Self {
        Self::new(Scope::Boot, name.as_ref())
    }

    pub fn cluster(name: impl AsRef<str>) -> Self {
        Self::new(Scope::Cluster, name.as_ref())
    }

    pub fn target(name: impl AsRef<str>) -> Self {
        Self::new(Scope::Target, name.as_ref())
    }

    /// Parses the display form of a subject, such as `device sda`; `None` for other text. Escapes
    /// in the name stay.
    pub fn parse(text: &str) -> Option<Self> {
        if text == Scope::Host.as_str() {
            return Some(Self::host());
        }
        let (word, name) = text.split_once(' ')?;
        let scope = Scope::from_word(word).filter(|scope| *scope != Scope::Host)?;
        (!name.is_empty()).then(|| Self::new(scope, name))
    }

    /// The subject of the same scope with this name, which must be display-safe.
    #[must_use]
    pub fn with_name(&self, name: &str) -> Self {
        Self::new(self.scope, name)
    }

    /// A lower bound for ranges: sorts before every real subject of the scope.
    pub(super) fn lowest_subject_of_scope(scope: Scope) -> Self {
        Self {
            scope,
            name: Arc::default(),
        }
    }

    pub fn scope(&self) -> Scope {
        self.scope
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scope {
            Scope::Host => f.write_str("host"),
            scope => write!(f, "{scope} {}", self.name),
        }
    }
}

impl Serialize for Subject {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl TryFrom<String> for Subject {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("unknown subject")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subject_round_trips_through_display() {
        for scope in Scope::ALL
            .iter()
            .copied()
            .filter(|scope| *scope != Scope::Host)
        {
            let subject = Subject {
                scope,
                name: "/a b#2".into(),
            };
            assert_eq!(Subject::parse(&subject.to_string()), Some(subject));
        }
        assert_eq!(Subject::parse("host"), Some(Subject::host()));
        for wrong in [
            "",
            "host ",
            "host x",
            "device",
            "device ",
            "disk sda",
            " device sda",
        ] {
            assert_eq!(Subject::parse(wrong), None, "{wrong:?}");
        }
    }
}
