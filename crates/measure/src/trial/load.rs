//! The loads of a trial. In each block, every candidate runs all loads one after the other.

use serde::{Deserialize, Serialize};

pub const SEGMENT_BYTES: u64 = 16 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialLoad {
    pub clients: u32,
    pub shape: LoadShape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadShape {
    /// One page overwritten in a recycled segment, then fdatasync.
    Usual,
    TwoPages,
    /// A page appended to a growing file, then fdatasync.
    Appends,
    /// The file is opened with O_DSYNC; no flush call follows the write.
    OpenDatasync,
    Fsync,
    /// The file is opened with O_SYNC; no flush call follows the write.
    OpenSync,
    /// [`LoadShape::Usual`], while a second writer on the same file system writes without
    /// flushing.
    Neighbour,
    /// A new file of 16 KiB in one of many directories, then fsync.
    Files,
    /// sysbench's `oltp_write_only` on a temporary MariaDB server; only records of walwise 0.1 have
    /// this kind of load.
    WriteOnly,
}

impl LoadShape {
    /// Commit shapes that differ by the sync method alone, each with PostgreSQL's name of the
    /// method. The default is first.
    pub(crate) const SYNC_METHODS: [(Self, &str); 4] = [
        (Self::Usual, "fdatasync"),
        (Self::OpenDatasync, "open_datasync"),
        (Self::Fsync, "fsync"),
        (Self::OpenSync, "open_sync"),
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadPreset {
    Commits,
    /// Commits of one client with each sync method.
    Methods,
    /// Files created, written and flushed, as by fs_mark.
    FsMark,
}

impl TrialLoad {
    /// Makes the loads of a preset. `clients` lists numbers of clients; [`LoadPreset::Methods`]
    /// ignores it.
    pub fn preset_loads(preset: LoadPreset, clients: &[u32]) -> Vec<Self> {
        let by_clients = |shape| {
            clients.iter().map(move |clients| Self {
                clients: *clients,
                shape,
            })
        };
        let others = [
            LoadShape::TwoPages,
            LoadShape::Appends,
            LoadShape::OpenDatasync,
            LoadShape::Neighbour,
        ];
        match preset {
            LoadPreset::Commits => by_clients(LoadShape::Usual)
                .chain(others.map(|shape| Self { clients: 1, shape }))
                .collect(),
            LoadPreset::Methods => LoadShape::SYNC_METHODS
                .map(|(shape, _)| Self { clients: 1, shape })
                .to_vec(),
            LoadPreset::FsMark => by_clients(LoadShape::Files).collect(),
        }
    }

    /// The flushes per call that the flush audit requires; `None` for a load that the audit leaves
    /// out. The audit leaves out file loads with several clients, because clients that flush at the
    /// same time share a flush of the journal.
    ///
    /// For `WriteOnly`, each client of the server waits for its own commit, so one flush serves at
    /// most one commit per client.
    pub(crate) fn min_flushes_per_call(self) -> Option<f64> {
        match self.shape {
            LoadShape::Usual => Some(1.0),
            LoadShape::Files => (self.clients == 1).then_some(1.0),
            LoadShape::WriteOnly => Some(1.0 / f64::from(self.clients.max(1))),
            LoadShape::TwoPages
            | LoadShape::Appends
            | LoadShape::OpenDatasync
            | LoadShape::Fsync
            | LoadShape::OpenSync
            | LoadShape::Neighbour => None,
        }
    }

    /// True if the trial runs until this load is settled.
    pub fn must_be_settled(self) -> bool {
        matches!(
            self.shape,
            LoadShape::Usual | LoadShape::Files | LoadShape::WriteOnly
        )
    }

    /// True if the load counts in the choice of a file system for a database's log; loads of new
    /// files do not.
    pub(crate) fn counts_for_database_ranking(self) -> bool {
        matches!(self.shape, LoadShape::Usual | LoadShape::WriteOnly)
    }

    pub fn name(self) -> String {
        let by_clients = |operations: &str| match self.clients {
            1 => format!("{operations}, 1 client"),
            clients => format!("{operations}, {clients} clients"),
        };
        match self.shape {
            LoadShape::Usual => by_clients("commits"),
            LoadShape::TwoPages => "commits of 2 pages".to_owned(),
            LoadShape::Appends => "appends to a new segment".to_owned(),
            LoadShape::OpenDatasync => "commits by open_datasync".to_owned(),
            LoadShape::Fsync => "commits by fsync".to_owned(),
            LoadShape::OpenSync => "commits by open_sync".to_owned(),
            LoadShape::Files => by_clients("new files"),
            LoadShape::Neighbour => "commits next to a writer".to_owned(),
            LoadShape::WriteOnly => by_clients("transactions (sysbench)"),
        }
    }
}
