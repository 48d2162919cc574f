//! The database layer: whether the server flushes before it reports a commit.
//!
//! It judges the servers on a target; the meaning of their settings is in one file per server.
//! Without a server there is no evidence, and the verdict holds for any database that flushes. A
//! preloaded library can turn fsync into a no-op without any setting.

mod sayer {
    //! What is said of a server while its settings are judged: evidence, and sessions that deviate.

    use crate::durability::ask::Ask;
    use crate::durability::{Bears, Evidence, Layer, Mend};
    use crate::facts::{Database, Key, Reading, Source, Subject};

    /// Sessions whose commits are treated otherwise than by the server's default.
    #[derive(Clone, Debug)]
    pub struct Exceptions {
        /// Each as shown in a heading: `database app: synchronous_commit = off`.
        pub says: Vec<String>,
        /// Those that may lose commits although the default keeps them: `database app`.
        pub lose: Reading<Vec<String>>,
    }

    impl Exceptions {
        /// No exceptions, as where no server has files here.
        pub fn none() -> Self {
            let source = Source::Derived {
                of: Vec::new(),
                assumed: false,
            };
            Self {
                says: Vec::new(),
                lose: Reading::known(Vec::new(), source),
            }
        }

        /// Merged with those of another server here; an unknown one makes all unknown.
        pub fn and(&mut self, other: Self) {
            self.says.extend(other.says);
            self.lose = match (self.lose.clone(), other.lose) {
                (Reading::Known { value: ours, .. }, Reading::Known { value, source }) => {
                    Reading::known([ours, value].concat(), source)
                }
                (unknown @ Reading::Unknown { .. }, _) | (_, unknown @ Reading::Unknown { .. }) => {
                    unknown
                }
            };
        }
    }

    /// Collects evidence, and statements beside it.
    pub struct Sayer {
        pub evidence: Vec<Evidence>,
        pub exceptions: Exceptions,
        /// The fate of commits when this host is lost, in a sentence; empty where nothing is
        /// promised.
        pub host_loss: String,
    }

    impl Sayer {
        /// Adds the judgement of a fact of the cluster.
        pub fn say<T>(
            &mut self,
            ask: &Ask,
            cluster: &Subject,
            key: &Key<T>,
            bears: Bears,
            says: String,
        ) {
            let source = ask.origin(cluster, key);
            self.evidence
                .push(Evidence::new(Layer::Database, cluster, bears, says, source));
        }
    }

    /// Judges whether a preloaded library turns flushes into no-ops.
    pub fn preloaded(ask: &mut Ask, cluster: &Subject, name: &str, sayer: &mut Sayer) -> bool {
        let Database {
            fsync_disabled_by: preload,
            running,
            ..
        } = ask.facts.database(cluster);
        let running = ask.value(cluster, running);
        match ask.value(cluster, preload).as_deref() {
            Some("" | "none") => false,
            Some(library) => {
                let says = format!("{library}, preloaded into {name}, disables its flushes");
                let mend = Mend::Unload {
                    library: library.to_owned(),
                    server: cluster.clone(),
                };
                sayer.say(ask, cluster, preload, Bears::AtRisk(mend), says);
                true
            }
            None if running == Some(false) => false,
            None => {
                ask.miss(cluster, preload, None);
                let says = format!(
                    "it is unknown whether a preloaded library disables the flushes of {name}"
                );
                sayer.say(ask, cluster, preload, Bears::Unproven, says);
                false
            }
        }
    }
}
mod sessions;
mod torn {
    //! Pages that a power failure tears. A server that overwrites a page without keeping a copy
    //! cannot repair a half-written page, and everything committed into that page is lost.
    //!
    //! The copy is unnecessary on a file system that writes pages atomically, and there is one: ZFS
    //! with records as large as a page. Neither a battery, nor a disk's atomic write size, nor
    //! data=journal suffices. Where every link of a provider's documented chain holds
    //! ([`crate::durability::page`]), its word stands for the copy, and that proves nothing.

    use super::sayer::Sayer;
    use crate::durability::Bears::{AtRisk, Durable, Unproven};
    use crate::durability::Mend;
    use crate::durability::ask::Ask;
    use crate::durability::page::{self, PageFate};
    use crate::facts::catalog::target::{self, Role};
    use crate::facts::{FactValue, Key, Subject};
    use crate::truth::Truth;

    /// A setting that makes a server keep copies of pages.
    pub struct Copies<'k, T> {
        pub key: &'k Key<T>,
        /// Whether copies are kept; `None` where that is unknown.
        pub kept: Option<bool>,
        /// The setting in words: `full_page_writes is off`.
        pub reads: String,
        /// The remedy that makes the server keep copies.
        pub mend: Mend,
    }

    /// Whether pages lie on a target that a power failure can tear permanently; true also where the
    /// contents of the target are unknown.
    pub fn may_tear(ask: &mut Ask, of: &Subject) -> bool {
        let holds = |role: &Role| matches!(role, Role::Data | Role::Tablespace | Role::Undo);
        ask.value(of, &target::ROLES)
            .is_none_or(|roles| roles.iter().any(holds))
    }

    /// Judges the setting for the pages on a target.
    pub fn judge<T: FactValue>(
        ask: &mut Ask,
        of: &Subject,
        cluster: &Subject,
        copies: &Copies<'_, T>,
        sayer: &mut Sayer,
    ) {
        if copies.kept == Some(true) || !may_tear(ask, of) {
            return;
        }
        let Copies {
            key, reads, mend, ..
        } = copies;
        if copies.kept.is_none() {
            ask.miss(cluster, key, None);
            let says = format!(
                "it is unknown whether a torn page can be repaired ({})",
                key.name()
            );
            return sayer.say(ask, cluster, key, Unproven, says);
        }
        let lost = format!("a page torn by a power failure cannot be repaired ({reads})");
        let (bears, says) = match page::judge(ask, of, cluster) {
            PageFate::Whole => (
                Durable,
                format!("ZFS writes pages atomically here, so none can be torn ({reads})"),
            ),
            PageFate::Unread(says, _) => (Unproven, format!("{lost}, and {says}")),
            PageFate::Chain(chain) => match chain.holds() {
                Truth::True => (
                    Unproven,
                    format!(
                        "only Amazon's documentation says that no page can be torn here ({reads})"
                    ),
                ),
                Truth::Unknown | Truth::False => (
                    AtRisk(mend.clone()),
                    format!("{lost}, and what was committed into it is gone"),
                ),
            },
        };
        sayer.say(ask, cluster, key, bears, says);
    }
}
mod mysql;
mod postgres {
    //! PostgreSQL: fsync, synchronous_commit and full_page_writes (PostgreSQL manual, *Reliability
    //! and the Write-Ahead Log* and *Write Ahead Log* settings).

    use super::sayer::{Sayer, preloaded};
    use super::sessions;
    use super::torn::{self, Copies};
    use crate::durability::Bears::{AtRisk, Durable, Unproven};
    use crate::durability::Mend;
    use crate::durability::ask::Ask;
    use crate::facts::catalog::postgres::{self, SynchronousCommit};
    use crate::facts::{Source, Subject};
    use crate::text;

    /// The evidence in the settings for a target, and whether they turn flushes off altogether.
    pub fn judge(ask: &mut Ask, of: &Subject, cluster: &Subject, sayer: &mut Sayer) -> bool {
        let fsync = ask.need(cluster, &postgres::FSYNC);
        let (bears, says) = match fsync {
            Some(true) => (Durable, "PostgreSQL flushes its WAL (fsync is on)"),
            Some(false) => (
                AtRisk(on(cluster, "fsync")),
                "PostgreSQL flushes nothing (fsync is off), so a crash can also corrupt the cluster",
            ),
            None => (Unproven, "it is unknown whether PostgreSQL flushes (fsync)"),
        };
        sayer.say(ask, cluster, &postgres::FSYNC, bears, says.to_owned());

        let commit = ask.need(cluster, &postgres::SYNCHRONOUS_COMMIT);
        let (bears, says) = match commit {
            Some(SynchronousCommit::Off) => (
                AtRisk(on(cluster, "synchronous_commit")),
                format!(
                    "PostgreSQL reports commits before it flushes them (synchronous_commit is off): {}, though nothing is \
                 corrupted",
                    unflushed_commits(ask, cluster)
                ),
            ),
            Some(
                value @ (SynchronousCommit::On
                | SynchronousCommit::Local
                | SynchronousCommit::RemoteWrite
                | SynchronousCommit::RemoteApply),
            ) => (
                Durable,
                format!(
                    "PostgreSQL reports a commit after its flush (synchronous_commit is {value})"
                ),
            ),
            None => (
                Unproven,
                "it is unknown whether PostgreSQL waits for the flush (synchronous_commit)"
                    .to_owned(),
            ),
        };
        sayer.say(ask, cluster, &postgres::SYNCHRONOUS_COMMIT, bears, says);

        sessions::judge(ask, cluster, commit, sayer);
        sayer.host_loss = sessions::host_loss(ask, cluster, commit);

        let copies = Copies {
            key: &postgres::FULL_PAGE_WRITES,
            kept: ask.value(cluster, &postgres::FULL_PAGE_WRITES),
            reads: "full_page_writes is off".to_owned(),
            mend: on(cluster, "full_page_writes"),
        };
        torn::judge(ask, of, cluster, &copies, sayer);

        preloaded(ask, cluster, "PostgreSQL", sayer) || fsync == Some(false)
    }

    /// The commits that a crash loses where none waits for its flush (PostgreSQL manual,
    /// *Asynchronous Commit*). A server that runs and did not report the delay may have another one
    /// than the default.
    fn unflushed_commits(ask: &mut Ask, cluster: &Subject) -> String {
        let key = &postgres::WAL_WRITER_DELAY;
        let is_default = matches!(
            ask.facts.reading(cluster, key.id()).source(),
            Some(Source::Default { .. })
        );
        let is_guess = is_default && ask.value(cluster, &postgres::RUNNING) == Some(true);
        match ask.value(cluster, key).filter(|_| !is_guess) {
            Some(delay) => {
                format!(
                    "the commits of up to the last {} (three times wal_writer_delay)",
                    text::micros(3.0 * delay)
                )
            }
            None => "the commits of up to three times wal_writer_delay".to_owned(),
        }
    }

    /// The remedy of a setting that should be on.
    fn on(cluster: &Subject, setting: &'static str) -> Mend {
        Mend::Set {
            setting,
            value: "on",
            server: cluster.clone(),
        }
    }
}

use super::Evidence;
use super::ask::Ask;
use crate::facts::Area;
use crate::facts::catalog::target;
use crate::facts::{FactSet, Scope, Subject};
use sayer::Sayer;

pub use sayer::Exceptions;
pub use torn::may_tear;

/// The clusters with files on a target.
pub fn clusters(facts: &FactSet, of: &Subject) -> Vec<Subject> {
    let linked = facts.resolve(of, Scope::Cluster);
    let named = facts.value(of, &target::CLUSTERS).unwrap_or_default();
    let lies_here = |cluster: &&Subject| {
        facts.resolve(cluster, Scope::Target).as_ref() == Some(of)
            || named.iter().any(|name| name == cluster.name())
    };
    let others = facts.subjects(Scope::Cluster).filter(lies_here).cloned();
    let mut all: Vec<Subject> = linked.into_iter().chain(others).collect();
    all.sort();
    all.dedup();
    all
}

/// The judgement of a cluster's settings for a target.
pub struct ClusterJudgement {
    /// Whether they turn its flushes off altogether.
    pub off: bool,
    /// The evidence that follows from them.
    pub evidence: Vec<Evidence>,
    pub exceptions: Exceptions,
    /// The fate of commits when this host is lost, in a sentence; empty where nothing is promised.
    pub host_loss: String,
}

/// Judges the settings of a cluster for a target.
pub fn judge(ask: &mut Ask, of: &Subject, cluster: &Subject) -> ClusterJudgement {
    let mut sayer = Sayer {
        evidence: Vec::new(),
        exceptions: Exceptions::none(),
        host_loss: String::new(),
    };
    let off = match ask.facts.area_of(cluster) {
        Some(Area::Mysql) => mysql::judge(ask, of, cluster, &mut sayer),
        Some(Area::Pg) | None => postgres::judge(ask, of, cluster, &mut sayer),
    };
    let Sayer {
        evidence,
        exceptions,
        host_loss,
    } = sayer;
    ClusterJudgement {
        off,
        evidence,
        exceptions,
        host_loss,
    }
}
