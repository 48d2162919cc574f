//! The tests of `pg_test_fsync`, in its order and with its labels (src/bin/pg_test_fsync/pg_test_fsync.c). The text
//! around them is in [`super::pg_layout`].

use super::Method;
use super::group::Group;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PgTest {
    /// So many pages, each in a write of its own, made durable with this method.
    Pages(u8, Method),
    /// 16 kB in so many synchronous writes.
    Sizes(u8),
    WriteFsyncClose,
    /// Write, close, open, fsync.
    WriteCloseFsync,
    NotSynced,
}

use PgTest::{NotSynced, Pages, Sizes, WriteCloseFsync, WriteFsyncClose};

/// All of them, in the tool's order.
pub const PG_TESTS: [PgTest; 16] = [
    Pages(1, Method::OpenDatasyncDirect),
    Pages(1, Method::Fdatasync),
    Pages(1, Method::Fsync),
    Pages(1, Method::OpenSyncDirect),
    Pages(2, Method::OpenDatasyncDirect),
    Pages(2, Method::Fdatasync),
    Pages(2, Method::Fsync),
    Pages(2, Method::OpenSyncDirect),
    Sizes(1),
    Sizes(2),
    Sizes(4),
    Sizes(8),
    Sizes(16),
    WriteFsyncClose,
    WriteCloseFsync,
    NotSynced,
];

impl PgTest {
    /// The section of the tool's output.
    pub fn group(self) -> Group {
        match self {
            Pages(1, _) => Group::OneWrite,
            Pages(..) => Group::TwoWrites,
            Sizes(_) => Group::Sizes,
            WriteFsyncClose | WriteCloseFsync => Group::OtherDescriptor,
            NotSynced => Group::NotSynced,
        }
    }

    pub fn label(self) -> String {
        match self {
            Pages(_, method) => method.server_method().map_or_else(String::new, |method| method.to_string()),
            Sizes(1) => " 1 * 16kB open_sync write".to_owned(),
            Sizes(writes) => format!("{writes:>2} * {:>2}kB open_sync writes", 16 / writes.max(1)),
            WriteFsyncClose => "write, fsync, close".to_owned(),
            WriteCloseFsync => "write, close, fsync".to_owned(),
            NotSynced => "write".to_owned(),
        }
    }

    /// Section and label, as a row of its own.
    pub fn name(self) -> String {
        format!("{}: {}", self.group().words(), self.label().trim_start())
    }

    /// The method of opening and flushing; `None` where the file is reopened for every operation.
    pub fn method(self) -> Option<Method> {
        match self {
            Pages(_, method) => Some(method),
            Sizes(_) => Some(Method::OpenSyncDirect),
            NotSynced => Some(Method::Floor),
            WriteFsyncClose | WriteCloseFsync => None,
        }
    }

    /// Whether it is the last of a section of methods; the tool prints the method that this system lacks before it.
    pub fn is_last_of_its_section(self) -> bool {
        let mut of_section = PG_TESTS.into_iter().rev().filter(|test| test.group() == self.group());
        of_section.next() == Some(self) && self.names_a_method()
    }

    /// Whether its label is the name of a method.
    fn names_a_method(self) -> bool {
        matches!(self, Pages(..))
    }

    /// Writes per operation.
    pub fn writes(self) -> usize {
        match self {
            Pages(writes, _) | Sizes(writes) => writes.into(),
            WriteFsyncClose | WriteCloseFsync | NotSynced => 1,
        }
    }

    /// Bytes per write.
    pub fn bytes(self) -> usize {
        match self {
            Sizes(writes) => 16_384 / usize::from(writes.max(1)),
            _ => 8_192,
        }
    }
}
