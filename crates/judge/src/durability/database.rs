//! The database layer: whether the server flushes before it reports a commit.
//!
//! Without a server there is no evidence, and the verdict holds for any database that flushes. A
//! preloaded library can turn fsync into a no-op without any setting.

mod evidence_log {
    //! Collects the evidence about one server, and the sessions that deviate from its default.

    use crate::durability::fact_reader::FactReader;
    use crate::durability::{Evidence, Impact, Layer, Remedy};
    use crate::facts::{Database, Key, Reading, Source, Subject};

    /// Sessions whose commits are treated differently from the server's default.
    #[derive(Clone, Debug)]
    pub struct SessionExceptions {
        /// One each, as shown in a heading: `database app: synchronous_commit = off`.
        pub texts: Vec<String>,
        /// Those that may lose commits although the default keeps them: `database app`.
        pub losing: Reading<Vec<String>>,
    }

    impl SessionExceptions {
        /// No exceptions, as for a target without a server.
        pub fn empty() -> Self {
            let source = Source::Derived {
                of: Vec::new(),
                assumed: false,
            };
            Self {
                texts: Vec::new(),
                losing: Reading::known(Vec::new(), source),
            }
        }

        /// Adds those of another server; one unknown list makes the result unknown.
        pub fn merge(&mut self, other: Self) {
            self.texts.extend(other.texts);
            self.losing = match (self.losing.clone(), other.losing) {
                (Reading::Known { value: ours, .. }, Reading::Known { value, source }) => {
                    Reading::known([ours, value].concat(), source)
                }
                (unknown @ Reading::Unknown { .. }, _) | (_, unknown @ Reading::Unknown { .. }) => {
                    unknown
                }
            };
        }
    }

    pub struct EvidenceLog {
        pub evidence: Vec<Evidence>,
        pub exceptions: SessionExceptions,
        /// What happens to commits if this host is lost, in a sentence; empty if nothing is
        /// promised.
        pub host_loss: String,
    }

    impl EvidenceLog {
        pub fn push<T>(
            &mut self,
            ask: &FactReader,
            cluster: &Subject,
            key: &Key<T>,
            bears: Impact,
            says: String,
        ) {
            let source = ask.source_text(cluster, key);
            self.evidence
                .push(Evidence::new(Layer::Database, cluster, bears, says, source));
        }
    }

    /// Whether a preloaded library turns flushes into no-ops.
    pub fn preload_disables_flush(
        ask: &mut FactReader,
        cluster: &Subject,
        name: &str,
        sayer: &mut EvidenceLog,
    ) -> bool {
        let Database {
            fsync_disabled_by: preload,
            running,
            ..
        } = ask.facts.database(cluster);
        let running = ask.get(cluster, running);
        match ask.get(cluster, preload).as_deref() {
            Some("" | "none") => false,
            Some(library) => {
                let says = format!("{library}, preloaded into {name}, disables its flushes");
                let mend = Remedy::RemovePreload {
                    library: library.to_owned(),
                    server: cluster.clone(),
                };
                sayer.push(ask, cluster, preload, Impact::AtRisk(mend), says);
                true
            }
            None if running == Some(false) => false,
            None => {
                ask.note_missing(cluster, preload, None);
                let says = format!(
                    "it is unknown whether a preloaded library disables the flushes of {name}"
                );
                sayer.push(ask, cluster, preload, Impact::Unproven, says);
                false
            }
        }
    }
}
mod sessions;
mod torn_pages {
    //! Torn pages: a server that overwrites pages without keeping a copy cannot repair a
    //! half-written one. No copy is needed on ZFS with large enough records. A battery, an atomic
    //! write size or data=journal is not enough; a provider's documented chain proves nothing.

    use super::evidence_log::EvidenceLog;
    use crate::durability::Impact::{AtRisk, Durable, Unproven};
    use crate::durability::Remedy;
    use crate::durability::fact_reader::FactReader;
    use crate::durability::page::{self, PageOutcome};
    use crate::facts::catalog::target::{self, Role};
    use crate::facts::{FactValue, Key, Subject};
    use crate::ternary::Ternary;

    /// A server setting that keeps copies of pages.
    pub struct PageProtection<'k, T> {
        pub key: &'k Key<T>,
        /// `None` if unknown.
        pub enabled: Option<bool>,
        /// In words: `full_page_writes is off`.
        pub setting_text: String,
        pub remedy: Remedy,
    }

    /// Whether pages lie on a target that a power failure can tear permanently; true if the
    /// contents are unknown.
    pub fn may_tear(ask: &mut FactReader, of: &Subject) -> bool {
        let holds = |role: &Role| matches!(role, Role::Data | Role::Tablespace | Role::Undo);
        ask.get(of, &target::ROLES)
            .is_none_or(|roles| roles.iter().any(holds))
    }

    pub fn judge_page_copies<T: FactValue>(
        ask: &mut FactReader,
        of: &Subject,
        cluster: &Subject,
        copies: &PageProtection<'_, T>,
        sayer: &mut EvidenceLog,
    ) {
        if copies.enabled == Some(true) || !may_tear(ask, of) {
            return;
        }
        let PageProtection {
            key,
            setting_text: reads,
            remedy: mend,
            ..
        } = copies;
        if copies.enabled.is_none() {
            ask.note_missing(cluster, key, None);
            let says = format!(
                "it is unknown whether a torn page can be repaired ({})",
                key.name()
            );
            return sayer.push(ask, cluster, key, Unproven, says);
        }
        let lost = format!("a page torn by a power failure cannot be repaired ({reads})");
        let (bears, says) = match page::page_outcome(ask, of, cluster) {
            PageOutcome::NeverOverwritten => (
                Durable,
                format!("ZFS writes pages atomically here, so none can be torn ({reads})"),
            ),
            PageOutcome::Unknown(says, _) => (Unproven, format!("{lost}, and {says}")),
            PageOutcome::Chain(chain) => match chain.holds() {
                Ternary::True => (
                    Unproven,
                    format!(
                        "only Amazon's documentation says that no page can be torn here ({reads})"
                    ),
                ),
                Ternary::Unknown | Ternary::False => (
                    AtRisk(mend.clone()),
                    format!("{lost}, and commits in it are lost"),
                ),
            },
        };
        sayer.push(ask, cluster, key, bears, says);
    }
}
mod mysql;
mod postgres {
    //! PostgreSQL: fsync, synchronous_commit and full_page_writes (manual, *Reliability and the
    //! Write-Ahead Log*).

    use super::evidence_log::{EvidenceLog, preload_disables_flush};
    use super::sessions;
    use super::torn_pages::{self, PageProtection};
    use crate::durability::Impact::{AtRisk, Durable, Unproven};
    use crate::durability::Remedy;
    use crate::durability::fact_reader::FactReader;
    use crate::facts::catalog::postgres::{self, SynchronousCommit};
    use crate::facts::{Source, Subject};
    use crate::text;

    /// Whether the settings turn flushes off altogether.
    pub fn judge_settings(
        ask: &mut FactReader,
        of: &Subject,
        cluster: &Subject,
        sayer: &mut EvidenceLog,
    ) -> bool {
        let fsync = ask.require(cluster, &postgres::FSYNC);
        let (bears, says) = match fsync {
            Some(true) => (Durable, "PostgreSQL flushes its WAL (fsync is on)"),
            Some(false) => (
                AtRisk(enable_remedy(cluster, "fsync")),
                "PostgreSQL flushes nothing (fsync is off), so a crash can also corrupt the cluster",
            ),
            None => (Unproven, "it is unknown whether PostgreSQL flushes (fsync)"),
        };
        sayer.push(ask, cluster, &postgres::FSYNC, bears, says.to_owned());

        let commit = ask.require(cluster, &postgres::SYNCHRONOUS_COMMIT);
        let (bears, says) = match commit {
            Some(SynchronousCommit::Off) => (
                AtRisk(enable_remedy(cluster, "synchronous_commit")),
                format!(
                    "PostgreSQL reports commits before it flushes them (synchronous_commit is off): a crash loses {}, \
                 but corrupts nothing",
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
        sayer.push(ask, cluster, &postgres::SYNCHRONOUS_COMMIT, bears, says);

        sessions::judge_sessions(ask, cluster, commit, sayer);
        sayer.host_loss = sessions::host_loss(ask, cluster, commit);

        let copies = PageProtection {
            key: &postgres::FULL_PAGE_WRITES,
            enabled: ask.get(cluster, &postgres::FULL_PAGE_WRITES),
            setting_text: "full_page_writes is off".to_owned(),
            remedy: enable_remedy(cluster, "full_page_writes"),
        };
        torn_pages::judge_page_copies(ask, of, cluster, &copies, sayer);

        preload_disables_flush(ask, cluster, "PostgreSQL", sayer) || fsync == Some(false)
    }

    /// What a crash loses if no commit waits for its flush (manual, *Asynchronous Commit*). A
    /// running server that did not report the delay may differ from the default.
    fn unflushed_commits(ask: &mut FactReader, cluster: &Subject) -> String {
        let key = &postgres::WAL_WRITER_DELAY;
        let is_default = matches!(
            ask.facts.reading(cluster, key.id()).source(),
            Some(Source::Default { .. })
        );
        let is_guess = is_default && ask.get(cluster, &postgres::RUNNING) == Some(true);
        match ask.get(cluster, key).filter(|_| !is_guess) {
            Some(delay) => {
                format!(
                    "the commits of up to the last {} (three times wal_writer_delay)",
                    text::micros(3.0 * delay)
                )
            }
            None => "the commits of up to three times wal_writer_delay".to_owned(),
        }
    }

    fn enable_remedy(cluster: &Subject, setting: &'static str) -> Remedy {
        Remedy::SetSetting {
            setting,
            value: "on",
            server: cluster.clone(),
        }
    }
}

use super::Evidence;
use super::fact_reader::FactReader;
use crate::facts::Area;
use crate::facts::catalog::target;
use crate::facts::{FactSet, Scope, Subject};
use evidence_log::EvidenceLog;

pub use evidence_log::SessionExceptions;
pub use torn_pages::may_tear;

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

pub struct ClusterJudgement {
    /// Whether its settings turn flushes off altogether.
    pub disables_flush: bool,
    pub evidence: Vec<Evidence>,
    pub exceptions: SessionExceptions,
    /// What happens to commits if this host is lost, in a sentence; empty if nothing is promised.
    pub host_loss: String,
}

pub fn judge_cluster(ask: &mut FactReader, of: &Subject, cluster: &Subject) -> ClusterJudgement {
    let mut sayer = EvidenceLog {
        evidence: Vec::new(),
        exceptions: SessionExceptions::empty(),
        host_loss: String::new(),
    };
    let off = match ask.facts.area_of(cluster) {
        Some(Area::Mysql) => mysql::judge_settings(ask, of, cluster, &mut sayer),
        Some(Area::Pg) | None => postgres::judge_settings(ask, of, cluster, &mut sayer),
    };
    let EvidenceLog {
        evidence,
        exceptions,
        host_loss,
    } = sayer;
    ClusterJudgement {
        disables_flush: off,
        evidence,
        exceptions,
        host_loss,
    }
}
