//! What every candidate has to do: the loads of a trial, one after the other in every cell.

use serde::{Deserialize, Serialize};

/// Bytes of a segment of the log.
pub const SEGMENT: u64 = 16 << 20;

/// A load: sessions that commit to a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialLoad {
    /// Sessions, which share flushes as PostgreSQL's do.
    pub clients: u32,
    /// What differs from the usual commit.
    pub shape: CommitShape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommitShape {
    /// One page overwritten in a recycled segment, then fdatasync.
    Usual,
    TwoPages,
    /// A page appended to a growing file.
    Appends,
    /// The file is opened with O_DSYNC, and no call follows the write.
    OpenDatasync,
    Fsync,
    /// The file is opened with O_SYNC, and no call follows the write.
    OpenSync,
    /// The usual commit while another file of the file system is written without a flush.
    Neighbour,
    /// A new file of 16 KiB in one of many directories, then fsync.
    Files,
    /// sysbench's `oltp_write_only` on a temporary MariaDB: no trial runs it any more, and records
    /// of 0.1 hold it.
    WriteOnly,
}

impl CommitShape {
    /// The shapes that differ by the sync method alone, with its name in PostgreSQL; the default
    /// first.
    pub const OF_METHODS: [(Self, &str); 4] = [
        (Self::Usual, "fdatasync"),
        (Self::OpenDatasync, "open_datasync"),
        (Self::Fsync, "fsync"),
        (Self::OpenSync, "open_sync"),
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    Commits,
    /// Commits of one session by each sync method.
    Methods,
    /// Files that are created, written and flushed, as by fs_mark.
    FsMark,
}

impl TrialLoad {
    /// The loads of a trial: commits, or files, of each number of sessions, which decide it, and
    /// other shapes of one session.
    pub fn of(preset: Preset, clients: &[u32]) -> Vec<Self> {
        let by_clients = |shape| {
            clients.iter().map(move |clients| Self {
                clients: *clients,
                shape,
            })
        };
        let others = [
            CommitShape::TwoPages,
            CommitShape::Appends,
            CommitShape::OpenDatasync,
            CommitShape::Neighbour,
        ];
        match preset {
            Preset::Commits => by_clients(CommitShape::Usual)
                .chain(others.map(|shape| Self { clients: 1, shape }))
                .collect(),
            Preset::Methods => CommitShape::OF_METHODS
                .map(|(shape, _)| Self { clients: 1, shape })
                .to_vec(),
            Preset::FsMark => by_clients(CommitShape::Files).collect(),
        }
    }

    /// The fewest flushes that each of its calls can do with; `None` where that is not known:
    /// sessions that flush files at the same moment share a journal's. Of a server's sessions each
    /// waits for its own commit, so that a flush serves as many commits as there are sessions, at
    /// most.
    pub fn least_flushes(self) -> Option<f64> {
        match self.shape {
            CommitShape::Usual => Some(1.0),
            CommitShape::Files => (self.clients == 1).then_some(1.0),
            CommitShape::WriteOnly => Some(1.0 / f64::from(self.clients.max(1))),
            CommitShape::TwoPages
            | CommitShape::Appends
            | CommitShape::OpenDatasync
            | CommitShape::Fsync
            | CommitShape::OpenSync
            | CommitShape::Neighbour => None,
        }
    }

    /// Whether a trial goes on until this load is settled.
    pub fn decides(self) -> bool {
        matches!(
            self.shape,
            CommitShape::Usual | CommitShape::Files | CommitShape::WriteOnly
        )
    }

    /// Whether it also decides which file system suits a database's log.
    pub fn decides_for_a_database(self) -> bool {
        matches!(self.shape, CommitShape::Usual | CommitShape::WriteOnly)
    }

    pub fn name(self) -> String {
        match (self.shape, self.clients) {
            (CommitShape::Usual, 1) => "commits, 1 client".to_owned(),
            (CommitShape::Usual, clients) => format!("commits, {clients} clients"),
            (CommitShape::TwoPages, _) => "commits of 2 pages".to_owned(),
            (CommitShape::Appends, _) => "appends to a new segment".to_owned(),
            (CommitShape::OpenDatasync, _) => "commits by open_datasync".to_owned(),
            (CommitShape::Fsync, _) => "commits by fsync".to_owned(),
            (CommitShape::OpenSync, _) => "commits by open_sync".to_owned(),
            (CommitShape::Files, 1) => "new files, 1 client".to_owned(),
            (CommitShape::Files, clients) => format!("new files, {clients} clients"),
            (CommitShape::Neighbour, _) => "commits beside a writer".to_owned(),
            (CommitShape::WriteOnly, 1) => "transactions (sysbench), 1 client".to_owned(),
            (CommitShape::WriteOnly, clients) => {
                format!("transactions (sysbench), {clients} clients")
            }
        }
    }
}
