use super::section::{Badge, Bullet, Detail, Grid};
use super::{RichText, wording};
use crate::fixes::RecommendedFix;
use crate::model::answer::{Answer, AnswerAction, AnswerValue, Topic};
use crate::{FilesystemChoice, Report, TargetSummary};
use walwise_judge::rules::Risk;
use walwise_model::escape::ShellCommand;
use walwise_model::facts::Scope;
use walwise_model::text::{format_latency_summary, format_micros};

#[derive(Clone, Debug)]
pub struct AnswerRow {
    pub topic: Topic,
    pub label: &'static str,
    pub now: String,
    pub action: AnswerAction,
    pub recommended: String,
    pub why: String,
}

/// One row per topic, without topics that do not apply to the target.
pub fn answer_rows(target: &TargetSummary) -> Vec<AnswerRow> {
    let mut rows = Vec::new();
    for (&topic, answer) in &target.answers {
        if answer.action != AnswerAction::NotApplicable {
            rows.push(answer_row(target, topic, answer));
            rows.extend(production_latency_row(topic, answer));
        }
    }
    rows
}

fn answer_row(target: &TargetSummary, topic: Topic, answer: &Answer) -> AnswerRow {
    let value = answer.value.as_ref().map(value_text);
    let basis = answer
        .basis
        .map(|basis| format!(" ({basis})"))
        .unwrap_or_default();
    let recommended = match (answer.action, value) {
        (AnswerAction::Keep, Some(value)) => format!("keep {value}{basis}"),
        (AnswerAction::Change, Some(value)) => match answer.risk {
            Some(Risk::None | Risk::NeedsRemount) | None => format!("{value}{basis}"),
            Some(risk) => format!("{value}{basis}, {}", wording::interruption_text(risk)),
        },
        (AnswerAction::Create, Some(value)) if topic == Topic::Filesystem => {
            format!("create {value}{basis}")
        }
        (AnswerAction::Create, Some(value)) => format!("{value}{basis}"),
        (AnswerAction::NoAdvice, _) if topic == Topic::CommitLatency => "no advice".to_owned(),
        (AnswerAction::NoAdvice, _) => match &answer.current {
            Some(current) => format!("no advice (in force: {})", value_text(current)),
            None => format!("no advice ({})", answer.reason),
        },
        (_, _) => match answer.apply.first() {
            Some(command) => format!("measure: {command}"),
            None => answer.reason.clone(),
        },
    };
    let now = answer
        .current
        .as_ref()
        .map_or_else(|| missing_value_text(target, topic), value_text);
    AnswerRow {
        topic,
        label: answer.setting.unwrap_or(topic.as_str()),
        now: match &answer.usage {
            Some(usage) => format!("{now}; {usage}"),
            None => now,
        },
        action: answer.action,
        recommended,
        why: answer.reason.clone(),
    }
}

fn production_latency_row(topic: Topic, answer: &Answer) -> Option<AnswerRow> {
    let production = answer.production.as_ref()?;
    let since = production
        .since
        .as_ref()
        .map_or_else(String::new, |since| format!(" since {since}"));
    Some(AnswerRow {
        topic,
        label: "in production",
        now: format!(
            "{} per flush (mean)",
            format_micros(production.flush_mean_us)
        ),
        action: AnswerAction::NoAdvice,
        recommended: "no advice".to_owned(),
        why: format!("the server's own counters{since}"),
    })
}

fn missing_value_text(target: &TargetSummary, topic: Topic) -> String {
    match topic {
        Topic::CommitLatency if target.kind.is_device() => "not mounted",
        Topic::CommitLatency => "not measured",
        Topic::Filesystem | Topic::MkfsOptions | Topic::MountOptions if target.kind.is_device() => {
            "none"
        }
        Topic::Filesystem | Topic::MkfsOptions | Topic::MountOptions => "unknown",
        Topic::WalSyncMethod
        | Topic::FlushMethod
        | Topic::FlushLog
        | Topic::MaxWalSize
        | Topic::RedoCapacity => match target.cluster {
            Some(_) => "unknown",
            None => "no server here yet",
        },
    }
    .to_owned()
}

fn value_text(value: &AnswerValue) -> String {
    match value {
        AnswerValue::Text(text) => text.clone(),
        AnswerValue::Latency(of) => {
            format_latency_summary(of.median_us, of.low_us, of.high_us, of.p99_us)
        }
    }
}

impl AnswerAction {
    pub fn action_symbol(self) -> &'static str {
        match self {
            Self::Keep => "=",
            Self::Change => "→",
            Self::Create => "+",
            Self::NoAdvice => "·",
            Self::Undecided => "?",
            Self::NotApplicable => "–",
        }
    }
}

pub(crate) fn answers_grid(rows: Vec<AnswerRow>) -> Grid {
    let cells = |row: AnswerRow| {
        let recommended = format!("{} {}", row.action.action_symbol(), row.recommended);
        vec![
            RichText::code(row.label),
            row.now.into(),
            recommended.into(),
            row.why.into(),
        ]
    };
    Grid {
        head: vec!["setting", "now", "recommended", "why"],
        narrow_splits: &[&[0, 1, 2], &[0, 3]],
        rows: rows.into_iter().map(cells).collect(),
        ..Grid::default()
    }
}

/// Makes a table that compares the file systems for a free disk. `None` for other targets, or if no
/// file system can be created.
pub fn filesystem_candidates_grid(report: &Report, target: &TargetSummary) -> Option<Grid> {
    let plan = report.plan(&target.target)?;
    let is_first = |choice: &FilesystemChoice| {
        plan.accepted_filesystem_request()
            .map_or(choice.first, |wanted| wanted == choice)
    };
    let mut choices = plan.filesystems.iter();
    let best = choices
        .find(|choice| choice.first)
        .and_then(|best| best.rank);
    let row = |choice: &FilesystemChoice| {
        let has = choice.filesystem.properties();
        let yes = |one: bool| RichText::plain(if one { "yes" } else { "no" });
        let published = match choice.first {
            true => "first choice",
            false if best.is_some() && choice.rank == best => "equal",
            false => "for its features",
        };
        vec![
            format!(
                "{} {}",
                if is_first(choice) { "+" } else { " " },
                choice.filesystem
            )
            .into(),
            format!("{}{}", has.flushes, if has.flushes > 1 { "+" } else { "" }).into(),
            yes(has.data_checksums),
            yes(has.shrinks),
            yes(has.snapshots),
            published.into(),
        ]
    };
    let made = plan
        .filesystems
        .iter()
        .filter(|choice| choice.refused.is_none());
    let rows: Vec<_> = made.map(row).collect();
    (!rows.is_empty()).then(|| Grid {
        head: vec![
            "  candidate",
            "flushes/commit",
            "checksums",
            "shrinks",
            "snapshots",
            "published",
        ],
        right_aligned: vec![false, true, false, false, false, false],
        rows,
        ..Grid::default()
    })
}

pub(crate) fn fix_bullet(
    report: &Report,
    target: Option<&TargetSummary>,
    fix: &RecommendedFix<'_>,
) -> Bullet {
    let explain = || {
        let mut command =
            ShellCommand::new("walwise explain ").append_quoted_name(fix.rules.first()?)?;
        if let Some(target) = target {
            let separated = command.append_literal(" ");
            command = separated.append_quoted_name(target.target.name())?;
        }
        report.host.append_run_options_to_command(command)
    };
    let how = match (&fix.commands[..], &fix.remedy) {
        ([], Some(remedy)) => Some(Detail::Sentence(remedy.into())),
        ([], None) => explain().map(|command| Detail::Commands("", vec![command])),
        (commands, _) => Some(Detail::Commands("", commands.to_vec())),
    };
    Bullet {
        note: fix.setting.map_or_else(RichText::default, |_| {
            format!("interrupts: {}", wording::interruption_text(fix.risk)).into()
        }),
        rule: fix.rules.join(", "),
        details: how.into_iter().chain(source_detail(fix)).collect(),
        ..Bullet::with_badge(
            Badge::Level(fix.level, false),
            fix_title(report, target, fix),
        )
    }
}

pub(super) fn source_detail(fix: &RecommendedFix<'_>) -> Option<Detail> {
    let source = fix.source.as_ref()?;
    Some(Detail::Verbose("read from", source.into()))
}

pub(super) fn fix_title(
    report: &Report,
    target: Option<&TargetSummary>,
    fix: &RecommendedFix<'_>,
) -> String {
    let subject = wording::describe_subject(fix.subject);
    // A target can have several disks, but only one mount and one server, so the title needs to
    // name only disks.
    let is_plain = target.is_some() && fix.subject.scope() != Scope::Device;
    let title = if is_plain || fix.title.contains(&subject) {
        fix.title.clone()
    } else {
        format!("{subject}: {}", fix.title)
    };
    fix.rules.iter().fold(title, |title, rule| {
        title + &wording::original_level_suffix(report, rule)
    })
}
