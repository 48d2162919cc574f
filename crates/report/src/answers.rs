use std::collections::BTreeMap;

use super::missing_facts::FactRemedy;
use super::model::answer::{
    Answer, AnswerAction, AnswerValue, CommitLatencyValue, ProductionLatency, Topic,
};
use super::{Report, Step, TargetSummary, latency, stack};
use walwise_judge::rules::{AdviceBasis, Confidence, Finding, Level, Outcome};
use walwise_measure::measure::MethodResult;
use walwise_model::escape::ShellCommand;
use walwise_model::facts::catalog::postgres::WalSyncMethod;
use walwise_model::facts::catalog::{self, mount, mysql, postgres};
use walwise_model::facts::{Choice, KeyInfo, Scope, ServerArea, Subject};
use walwise_model::settings::{self, Setting, SettingKind};
use walwise_model::text;
use walwise_model::text::JoinText;

pub fn target_answers(
    report: &Report,
    target: &TargetSummary,
    about: &[&Finding],
) -> BTreeMap<Topic, Answer> {
    let context = TargetAnswerBuilder::new(report, target, about);
    Topic::ALL
        .iter()
        .map(|&topic| (topic, context.topic_answer(topic)))
        .collect()
}

impl Topic {
    /// The topic whose answer shows the setting; `None` for settings that no answer shows, such as
    /// the I/O scheduler.
    pub(crate) fn from_setting(setting: &Setting) -> Option<Self> {
        match setting.kind {
            SettingKind::Filesystem | SettingKind::Placement => Some(Self::Filesystem),
            SettingKind::MkfsOptions | SettingKind::MkfsFeatures => Some(Self::MkfsOptions),
            SettingKind::MountOptions => Some(Self::MountOptions),
            SettingKind::Postgres | SettingKind::Mysql => {
                let current = setting.current?;
                Self::ALL.iter().copied().find(|topic| {
                    topic
                        .setting_fact_keys()
                        .iter()
                        .any(|fact| fact.id == current.id)
                })
            }
            SettingKind::BootOptions
            | SettingKind::DirectoryFlags
            | SettingKind::FastCommit
            | SettingKind::InitDb
            | SettingKind::Queue
            | SettingKind::Scheduler
            | SettingKind::Trim
            | SettingKind::Other => None,
        }
    }

    /// The facts with the setting's value: several if server versions name the setting differently,
    /// none for other topics.
    fn setting_fact_keys(self) -> &'static [&'static KeyInfo] {
        match self {
            Self::WalSyncMethod => &[&postgres::WAL_SYNC_METHOD.info],
            Self::MaxWalSize => &[&postgres::MAX_WAL_SIZE.info],
            Self::FlushMethod => &[&mysql::FLUSH_METHOD.info],
            Self::FlushLog => &[&mysql::FLUSH_LOG.info],
            Self::RedoCapacity => &[&mysql::REDO_CAPACITY.info, &mysql::LOG_FILE_SIZE.info],
            Self::Filesystem | Self::MkfsOptions | Self::MountOptions | Self::CommitLatency => &[],
        }
    }
}

/// The remedy for the first missing fact of the finding, or else the name of that fact.
fn undecided_reason(report: &Report, finding: &Finding) -> String {
    let missing = match &finding.outcome {
        Outcome::Undecided { needs } => needs.first().and_then(|all| all.first()),
        Outcome::Applies | Outcome::DoesNotApply => None,
    };
    let Some(missing) = missing else {
        return finding.title.clone();
    };
    match FactRemedy::from_missing_fact(missing, report) {
        FactRemedy::Remedy(remedy) => format!("unknown: {remedy}"),
        FactRemedy::AnotherCapture => "unknown: not in this capture".to_owned(),
        FactRemedy::NoKnownWay => {
            let name = catalog::find_by_name(&missing.fact).map(KeyInfo::display_label);
            format!("unknown: {}", name.as_deref().unwrap_or(&missing.fact))
        }
    }
}

struct TargetAnswerBuilder<'r> {
    report: &'r Report,
    target: &'r TargetSummary,
    /// Area of the target's server; for a target without a server, the area that the run assumes.
    area: ServerArea,
    mount: Option<Subject>,
    /// Undecided findings about the target, without those of level `optional`.
    undecided: Vec<&'r Finding>,
}

impl<'r> TargetAnswerBuilder<'r> {
    fn new(report: &'r Report, target: &'r TargetSummary, about: &[&'r Finding]) -> Self {
        let area = target
            .cluster
            .as_ref()
            .and_then(|cluster| report.facts.server_area_of(cluster));
        let is_open = |finding: &&Finding| {
            finding.level != Level::Optional && matches!(finding.outcome, Outcome::Undecided { .. })
        };
        Self {
            report,
            target,
            area: area.unwrap_or(report.engine),
            mount: report
                .facts
                .applicable_subject(&target.target, Scope::Mount),
            undecided: about.iter().copied().filter(is_open).collect(),
        }
    }

    fn topic_answer(&self, topic: Topic) -> Answer {
        let is_used_disk = self.target.kind.is_device() && !self.target.is_free_disk();
        match topic {
            Topic::Filesystem | Topic::MkfsOptions | Topic::MountOptions if is_used_disk => {
                Answer::not_applicable("the disk is not free")
            }
            Topic::Filesystem => self.filesystem_answer(),
            Topic::MkfsOptions => self.mkfs_options_answer(),
            Topic::MountOptions => self.mount_options_answer(),
            Topic::WalSyncMethod | Topic::MaxWalSize => {
                self.server_setting_answer(ServerArea::Pg, topic)
            }
            Topic::FlushMethod | Topic::FlushLog | Topic::RedoCapacity => {
                self.server_setting_answer(ServerArea::Mysql, topic)
            }
            Topic::CommitLatency => Answer {
                production: self.latency_reported_by_server(),
                ..self.latency_answer()
            },
        }
    }

    fn topic_steps(&self, topic: Topic) -> Vec<&'r Step> {
        let steps = self.report.steps(&self.target.target).iter();
        // A plan can have steps about other mounts, such as the mount below a loop device. Such
        // steps do not concern the target's mount.
        let elsewhere = |step: &Step| {
            step.subject.scope() == Scope::Mount
                && self.mount.as_ref().is_some_and(|own| step.subject != *own)
        };
        let answers = |step: &Step| Topic::from_setting(step.advice.setting) == Some(topic);
        let mut steps: Vec<&Step> = steps
            .filter(|step| answers(step) && !elsewhere(step))
            .collect();
        steps.sort_by_key(|step| step.keeps_setting());
        steps
    }

    fn answer_from_plan_or_current(
        &self,
        topic: Topic,
        steps: &[&Step],
        current: Option<String>,
    ) -> Answer {
        if let Some(step) = steps.first() {
            return self.step_answer(step, current);
        }
        let answers = |setting: &&'static Setting| Topic::from_setting(setting) == Some(topic);
        let mut undecided = self.undecided.iter();
        let open = undecided.find(|one| one.settings.iter().any(answers));
        Answer {
            current: to_text_value(current),
            ..match open {
                Some(open) => Answer::undecided(undecided_reason(self.report, open)),
                None => Answer::no_advice("no rule recommends a change"),
            }
        }
    }

    fn step_answer(&self, step: &Step, current: Option<String>) -> Answer {
        let advice = &step.advice;
        let set = || advice.change.set_or_added_values().first().cloned();
        let value = if step.keeps_setting() {
            current.clone()
        } else {
            step.result.clone().or_else(set)
        };
        let action = match step.keeps_setting() {
            true => AnswerAction::Keep,
            false if self.target.kind.is_device() => AnswerAction::Create,
            false => AnswerAction::Change,
        };
        Answer {
            action,
            value: to_text_value(value),
            current: to_text_value(current),
            basis: Some(step.basis),
            confidence: Some(step.confidence),
            apply: advice.apply.clone(),
            risk: Some(advice.risk),
            ..Answer::no_advice(step.title.trim_end_matches('.'))
        }
    }

    fn filesystem_answer(&self) -> Answer {
        let fstype = self
            .mount
            .as_ref()
            .and_then(|mount| self.report.facts.value(mount, &mount::FSTYPE));
        if fstype.is_none() && !self.target.kind.is_device() {
            return Answer::undecided("the type of the file system could not be read");
        }
        self.answer_from_plan_or_current(
            Topic::Filesystem,
            &self.topic_steps(Topic::Filesystem),
            fstype,
        )
    }

    fn mkfs_options_answer(&self) -> Answer {
        if !self.target.kind.is_device() {
            return Answer::not_applicable("the file system already exists");
        }
        let steps = self.topic_steps(Topic::MkfsOptions);
        let mut answer = self.answer_from_plan_or_current(Topic::MkfsOptions, &steps, None);
        let results = steps
            .iter()
            .filter(|step| !step.keeps_setting())
            .filter_map(|step| step.result.as_deref());
        let value = results.join_with(" ");
        if !value.is_empty() {
            answer.value = to_text_value(Some(value));
        }
        answer
    }

    fn mount_options_answer(&self) -> Answer {
        let in_force = self
            .mount
            .as_ref()
            .and_then(|mount| stack::mount_options(&self.report.facts, mount));
        let shown = in_force.map(|words| {
            let mut shown = stack::displayed_mount_options(&words);
            // `explicit_mount_options` leaves out the default `relatime`, which the mount table
            // shows.
            if words.iter().any(|word| word == "relatime") {
                shown.insert(shown.len().min(1), "relatime".to_owned());
            }
            shown.join(",")
        });
        let shown = shown.filter(|words| !words.is_empty());
        if shown.is_none() && !self.target.kind.is_device() {
            return Answer::undecided("the mount options could not be read");
        }
        self.answer_from_plan_or_current(
            Topic::MountOptions,
            &self.topic_steps(Topic::MountOptions),
            shown,
        )
    }

    fn server_setting_answer(&self, area: ServerArea, topic: Topic) -> Answer {
        if self.area != area {
            return Answer::not_applicable(match area {
                ServerArea::Pg => "not a PostgreSQL server",
                ServerArea::Mysql => "not a MySQL or MariaDB server",
            });
        }
        let (facts, steps) = (topic.setting_fact_keys(), self.topic_steps(topic));
        let Some(cluster) = &self.target.cluster else {
            let none = if self.target.kind.is_device() {
                "not mounted"
            } else {
                "no server here yet"
            };
            return match steps.first() {
                Some(step) if step.keeps_setting() => {
                    // Without a server, rules give *keep* only for `wal_sync_method`, at its Linux
                    // default.
                    let default = WalSyncMethod::Fdatasync.as_str().to_owned();
                    Answer {
                        value: to_text_value(Some(default)),
                        ..self.step_answer(step, None)
                    }
                }
                Some(_) | None => match self.answer_from_plan_or_current(topic, &steps, None) {
                    answer if answer.action == AnswerAction::NoAdvice => Answer::no_advice(none),
                    answer => answer,
                },
            };
        };
        let known = facts
            .iter()
            .position(|fact| self.report.facts.reading(cluster, fact.id).is_known());
        let fact = facts.get(known.unwrap_or_default());
        let setting = fact.and_then(|fact| settings::find_by_name(fact.name));
        let written = fact.and_then(|fact| {
            let value = self.report.facts.reading(cluster, fact.id).value()?.clone();
            let setting = setting?;
            Some(setting.format_with_unit(&setting.format_config_value(&value)))
        });
        let mut answer = self.answer_from_plan_or_current(topic, &steps, written.clone());
        if let (Some(AnswerValue::Text(value)), Some(setting)) = (&answer.value, setting) {
            answer.value = to_text_value(Some(setting.format_with_unit(value)));
        }
        if steps.is_empty() && written.is_none() {
            answer = Answer::undecided("the value in force could not be read");
        }
        let measured = self.report.measurement(&self.target.target).is_some();
        if topic == Topic::WalSyncMethod && answer.action == AnswerAction::NoAdvice && !measured {
            let current = answer.current.take();
            answer = Answer {
                current,
                apply: self.measure_commands(),
                ..Answer::undecided("not measured")
            };
        }
        let is_other = known.is_some_and(|place| place > 0);
        Answer {
            setting: setting.filter(|_| is_other).map(Setting::name_without_area),
            usage: self.log_usage_text(cluster, topic),
            ..answer
        }
    }

    fn log_usage_text(&self, cluster: &Subject, topic: Topic) -> Option<String> {
        let facts = &self.report.facts;
        match topic {
            Topic::MaxWalSize => {
                let files = facts.value(cluster, &postgres::WAL_FILES)?;
                let used = format!("{} used", text::format_bytes(files));
                let holder = facts.value(cluster, &postgres::WAL_HOLDER);
                Some(match holder.filter(|holder| !holder.is_empty()) {
                    Some(holder) => format!("{used}; {holder}"),
                    None => used,
                })
            }
            Topic::RedoCapacity => {
                let files = facts.value(cluster, &mysql::BINLOG_FILES)?;
                Some(format!("binary logs: {}", text::format_bytes(files)))
            }
            Topic::Filesystem
            | Topic::MkfsOptions
            | Topic::MountOptions
            | Topic::WalSyncMethod
            | Topic::FlushMethod
            | Topic::FlushLog
            | Topic::CommitLatency => None,
        }
    }

    fn measure_commands(&self) -> Vec<ShellCommand> {
        // A capture holds the facts of another host, on which this run cannot measure.
        ShellCommand::walwise_check_command(self.target.target.name(), "")
            .filter(|_| self.report.host.live)
            .into_iter()
            .collect()
    }

    fn latency_reported_by_server(&self) -> Option<ProductionLatency> {
        let cluster = self.target.cluster.as_ref()?;
        let facts = &self.report.facts;
        Some(ProductionLatency {
            flush_mean_us: facts.value(cluster, &postgres::WAL_FLUSH_MEAN)?,
            since: facts.value(cluster, &postgres::WAL_SINCE),
        })
    }

    fn latency_answer(&self) -> Answer {
        if self.target.kind.is_device() {
            return Answer::undecided("not mounted");
        }
        if latency::are_flushes_suppressed(self.report, &self.target.target) {
            return Answer::undecided("no flush reaches the disk");
        }
        let found = latency::measurement_and_main_row(self.report, self.target);
        let current = found.and_then(|(_, row)| paced_latency(row));
        let (Some((measurement, _)), Some(current)) = (found, current) else {
            let reason = if self.report.host.live {
                "not measured"
            } else {
                "captures contain no measurements"
            };
            return Answer {
                apply: self.measure_commands(),
                ..Answer::undecided(reason)
            };
        };
        let current = Some(AnswerValue::Latency(current));
        let reason = measurement.paced_conditions_text();
        let changes = |step: &&Step| step.basis == AdviceBasis::Measured && !step.keeps_setting();
        let best = measurement
            .one_page_server_rows_without_error()
            .find(|row| row.method == measurement.best)
            .and_then(paced_latency);
        match (
            self.topic_steps(Topic::WalSyncMethod)
                .into_iter()
                .find(changes),
            best,
        ) {
            (Some(_), Some(best)) => Answer {
                action: AnswerAction::Change,
                value: Some(AnswerValue::Latency(best)),
                current,
                basis: Some(AdviceBasis::Measured),
                confidence: Some(Confidence::Measured),
                ..Answer::no_advice(reason)
            },
            (Some(_) | None, _) => Answer {
                current,
                ..Answer::no_advice(reason)
            },
        }
    }
}

fn paced_latency(row: &MethodResult) -> Option<CommitLatencyValue> {
    let paced = row.paced.as_ref()?;
    Some(CommitLatencyValue {
        method: row.method.name().to_owned(),
        median_us: paced.median_us.value,
        low_us: paced.median_us.low,
        high_us: paced.median_us.high,
        p99_us: paced.p99_us,
    })
}

fn to_text_value(value: Option<String>) -> Option<AnswerValue> {
    value.map(AnswerValue::Text)
}
