//! The loads of a trial: every candidate runs them one after the other in every cell.

use serde::{Deserialize, Serialize};

/// Bytes of a log segment.
pub const SEGMENT_BYTES: u64 = 16 << 20;

/// A load: clients that commit to a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialLoad {
    /// Clients; they share flushes as in PostgreSQL.
    pub clients: u32,
    /// The difference to the usual commit.
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
    /// Opened with O_DSYNC: no call after the write.
    OpenDatasync,
    Fsync,
    /// Opened with O_SYNC: no call after the write.
    OpenSync,
    /// The usual commit next to an unflushed writer on the same file system.
    Neighbour,
    /// A new file of 16 KiB in one of many directories, then fsync.
    Files,
    /// sysbench's `oltp_write_only` on a temporary MariaDB; only records of 0.1 have it.
    WriteOnly,
}

impl CommitShape {
    /// Shapes that differ by the sync method alone, with its PostgreSQL name; the default first.
    pub const SYNC_METHODS: [(Self, &str); 4] = [
        (Self::Usual, "fdatasync"),
        (Self::OpenDatasync, "open_datasync"),
        (Self::Fsync, "fsync"),
        (Self::OpenSync, "open_sync"),
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    Commits,
    /// Commits of 1 client with each sync method.
    Methods,
    /// Files created, written and flushed, as by fs_mark.
    FsMark,
}

impl TrialLoad {
    /// One deciding load per number of clients, then shapes of 1 client that are only reported.
    pub fn preset_loads(preset: Preset, clients: &[u32]) -> Vec<Self> {
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
            Preset::Methods => CommitShape::SYNC_METHODS
                .map(|(shape, _)| Self { clients: 1, shape })
                .to_vec(),
            Preset::FsMark => by_clients(CommitShape::Files).collect(),
        }
    }

    /// Fewest flushes per call; `None` if unknown, as clients that flush files at the same time
    /// share a journal's flush. With a server each client waits for its own commit, so one flush
    /// serves at most one commit of each.
    pub fn min_flushes_per_call(self) -> Option<f64> {
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

    /// True if the trial runs until this load is settled.
    pub fn is_deciding(self) -> bool {
        matches!(
            self.shape,
            CommitShape::Usual | CommitShape::Files | CommitShape::WriteOnly
        )
    }

    /// True if it also decides the file system for a database's log.
    pub fn is_deciding_for_database(self) -> bool {
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
            (CommitShape::Neighbour, _) => "commits next to a writer".to_owned(),
            (CommitShape::WriteOnly, 1) => "transactions (sysbench), 1 client".to_owned(),
            (CommitShape::WriteOnly, clients) => {
                format!("transactions (sysbench), {clients} clients")
            }
        }
    }
}
