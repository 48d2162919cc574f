use std::fmt::Write as _;
use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect, Size};

use super::ScreenOptions;
use super::assumptions::{AssumedFact, AssumedHost};
use super::frame;
use super::job::{
    ChangedFacts, ComparisonReference, HostChange, Job, JobProgress, JobResult, ReferenceChoice,
    ReferenceComparison, SaveOutcome,
};
use super::key_press::KeyPress;
use super::model::Model;
use super::msg::{MouseAction, Msg, SideEffect};
use super::screen_id::ScreenId;
use super::update::update;
use crate::durability::{Verdict, VerdictKind};
use crate::facts::catalog::kernel;
use crate::facts::catalog::target::{self, TargetKind};
use crate::facts::{Reading, Remedy, Source, Subject, UnknownReason, Value};
use crate::measure::{
    Comparison, ComparisonConclusion, Estimate, Measurement, Method, MethodResult, ProbePhase,
    ProbeProgress,
};
use crate::report::difference::{ReportSnapshot, compare_snapshots};
use crate::report::view::{baseline, findings, upgrade};
use crate::report::{FactAssumption, Report, TargetSummary, Upgrade, WhatIf, sample_reports};
use crate::rules::{
    Advice, Change, ConditionTrace, Finding, Level, Observation, Risk, RuleFile, RuleOutcomeCounts,
    RuleSet,
};
use crate::settings::NewFilesystem;
use crate::ternary::Ternary;

pub const RICH: ScreenOptions = ScreenOptions {
    colour: true,
    ascii: false,
    in_tmux: false,
};

pub fn at_risk_report() -> Report {
    let mut report = sample_reports::at_risk();
    for finding in &mut report.findings {
        if finding.rule.starts_with("mount.ext4") || finding.rule.starts_with("ext4.") {
            finding.trace = Some(Box::new(sample_trace()));
        }
    }
    set_rule_results(&mut report);
    report
}

const INAPPLICABLE_RULE: &str = "mount.barrier-option";

fn set_rule_results(report: &mut Report) {
    let mut tallies: Vec<RuleOutcomeCounts> = Vec::new();
    for finding in &report.findings {
        if !tallies.iter().any(|tally| tally.rule == finding.rule) {
            tallies.push(RuleOutcomeCounts::new(&finding.rule));
        }
    }
    tallies.push(RuleOutcomeCounts {
        does_not_apply: vec![sample_reports::data_target()],
        ..RuleOutcomeCounts::new(INAPPLICABLE_RULE)
    });
    tallies.push(RuleOutcomeCounts::new("btrfs.raid56"));
    report.rules = tallies;
}

fn sample_rules() -> Arc<RuleSet> {
    let text = include_str!("../../tests/rules/good.toml").to_owned();
    let file = RuleFile {
        name: "good.toml".to_owned(),
        text,
    };
    let (set, _) = RuleSet::parse_as_builtin(&[file]);
    assert!(set.find(INAPPLICABLE_RULE).is_some());
    Arc::new(set)
}

fn sample_trace() -> ConditionTrace {
    let leaf =
        |label: &str, truth, subject: &Subject, fact: &'static str, reading| ConditionTrace {
            label: label.to_owned(),
            truth,
            seen: Some(Observation {
                subject: subject.clone(),
                fact,
                reading: Arc::new(reading),
            }),
            kids: Vec::new(),
        };
    let text = |value: &str, source| Reading::known(Value::Text(value.to_owned()), source);
    let (fs, disk) = (Subject::mount("/srv"), Subject::device("sda"));
    let denied =
        Reading::unknown(UnknownReason::Denied, "reading /dev/sda").with_remedy(Remedy::RunAsRoot);
    let line = Source::from_file_line("/proc/self/mountinfo", 24);
    let battery = leaf(
        "controller.battery is healthy",
        Ternary::Unknown,
        &disk,
        "controller.battery",
        denied,
    );
    ConditionTrace {
        label: "all of".to_owned(),
        truth: Ternary::True,
        seen: None,
        kids: vec![
            leaf(
                "mount.fstype is ext4",
                Ternary::True,
                &fs,
                "mount.fstype",
                text("ext4", line.clone()),
            ),
            ConditionTrace {
                label: "any of".to_owned(),
                truth: Ternary::True,
                seen: None,
                kids: vec![
                    leaf(
                        "mount.barrier is off",
                        Ternary::True,
                        &fs,
                        "mount.barrier",
                        text("off", line),
                    ),
                    battery,
                ],
            },
        ],
    }
}

pub fn report_without_targets() -> Report {
    let mut report = sample_reports::free_disk();
    report.targets.clear();
    report.stacks.clear();
    report.plans.clear();
    report.findings.clear();
    report
}

pub fn report_with_two_targets() -> Report {
    let (mut report, blank) = (at_risk_report(), sample_reports::free_disk());
    report.targets.extend(blank.targets);
    report.stacks.extend(blank.stacks);
    report.plans.extend(blank.plans);
    report.findings.extend(blank.findings);
    report
}

pub fn report_with_flush_delivery(flush: target::FlushDelivery) -> Report {
    let mut report = at_risk_report();
    let source = Source::derived_from(["mount.barrier"]);
    report.facts.insert_known(
        &sample_reports::data_target(),
        &target::FLUSH,
        flush,
        source,
    );
    report
}

/// Targets of [`report_with_all_verdicts`], in the order in which the screens list them.
pub const WORST_FIRST: [&str; 8] = [
    "/srv/f", "/srv/g", "/srv/e", "/srv/c", "/srv/d", "/srv/h", "/srv/b", "/dev/a",
];

pub fn report_with_all_verdicts() -> Report {
    use VerdictKind::{AtRisk, Contradictory, Durable, Unproven};
    let (mut report, blank) = (at_risk_report(), sample_reports::free_disk());
    let verdict = report.verdicts.remove(0);
    let critical = report
        .findings
        .iter()
        .find(|finding| finding.level == Level::Critical)
        .cloned();
    let (of_directory, of_disk) = (report.targets.remove(0), blank.targets);
    report.findings.clear();
    report.plans.clear();
    report.probes.clear();
    report.stacks.clear();
    report.verdicts.clear();
    for (path, kind, standing) in [
        ("/dev/a", TargetKind::Device, None),
        ("/srv/b", TargetKind::Created, None),
        ("/srv/c", TargetKind::Directory, Some(Durable)),
        ("/srv/d", TargetKind::Directory, Some(Unproven)),
        ("/srv/e", TargetKind::Directory, Some(Contradictory)),
        ("/srv/f", TargetKind::Directory, Some(AtRisk)),
        ("/srv/g", TargetKind::Directory, Some(AtRisk)),
        ("/srv/h", TargetKind::Directory, Some(Durable)),
    ] {
        let target = Subject::target(path);
        let like = if kind.is_device() {
            of_disk.first()
        } else {
            Some(&of_directory)
        };
        report.targets.extend(like.map(|like| TargetSummary {
            target: target.clone(),
            title: format!("{path} {}", "with a name that is too long ".repeat(5)),
            kind,
            subjects: vec![target.clone()],
            ..like.clone()
        }));
        report.verdicts.extend(standing.map(|standing| Verdict {
            target,
            standing,
            ..verdict.clone()
        }));
    }
    // A free disk stays last even with a critical finding.
    for path in ["/srv/c", "/dev/a"] {
        let finding = critical.clone().map(|finding| Finding {
            subject: Subject::target(path),
            ..finding
        });
        report.findings.extend(finding);
    }
    report
}

pub fn session_before_report(size: (u16, u16), options: ScreenOptions) -> Model {
    Model::new_with_first_job(options, Size::new(size.0, size.1)).0
}

pub fn session_with_report(report: Report, size: (u16, u16), options: ScreenOptions) -> Model {
    let mut model = session_before_report(size, options);
    send_job_progress(&mut model, JobProgress::Rules(sample_rules()));
    finish_job(&mut model, JobResult::Report(Box::new(report)));
    model
}

pub fn assumed_host_with_older_kernel() -> AssumedHost {
    let (real, mut then) = (at_risk_report(), at_risk_report());
    then.findings
        .retain(|finding| finding.rule != "mount.ext4-nobarrier");
    then.findings.push(sample_reports::applying_finding(
        "ext4.option-ignored",
        &Subject::mount("/srv"),
        Level::Warning,
        Vec::new(),
    ));
    then.verdicts[0].standing = VerdictKind::Unproven;
    then.plans[0]
        .steps
        .retain(|step| step.advice.setting.name != "mount.options");
    let key = "kernel.release";
    let value = Value::Text("4.14.200".to_owned());
    then.facts.insert_known(
        &Subject::host(),
        &kernel::RELEASE,
        "4.14.200".to_owned(),
        Source::Assumed,
    );
    let follows = Source::Derived {
        of: vec![key.to_owned()],
        assumed: true,
    };
    then.facts.insert_known(
        &Subject::host(),
        &kernel::VENDOR,
        "mainline".to_owned(),
        follows,
    );
    let mut pretended = then.clone();
    let offer = Advice {
        own: Vec::new(),
        risk: Risk::DataLossIfWrong,
        tradeoff: Some("without power the last commits are gone".to_owned()),
        ..sample_reports::advice_without_current_value(
            "mount.options",
            Change::Add(vec!["nobarrier".to_owned()]),
        )
    };
    pretended.findings.push(sample_reports::applying_finding(
        "mount.barrier-off",
        &Subject::mount("/srv"),
        Level::Optional,
        vec![offer],
    ));
    let really = real.facts.reading_by_name(&Subject::host(), key).clone();
    let assumed = vec![FactAssumption {
        subject: Subject::host(),
        fact: key.to_owned(),
        value,
        really,
    }];
    let what_if = WhatIf::new(assumed, &real, &then, &pretended);
    let suppositions = vec![AssumedFact {
        subject: Subject::host(),
        fact: key,
        value: "4.14.200".to_owned(),
    }];
    AssumedHost {
        suppositions,
        what_if,
        report: then,
    }
}

pub fn finish_job(model: &mut Model, result: JobResult) -> Vec<SideEffect> {
    let job = model.data.activity.job_id().expect("a job runs");
    update(model, Msg::Done(job, result))
}

pub fn send_job_progress(model: &mut Model, partial: JobProgress) {
    let job = model.data.activity.job_id().expect("a job runs");
    update(model, Msg::Progress(job, partial));
}

pub fn press_keys(model: &mut Model, keys: &str) -> Vec<SideEffect> {
    keys.split(' ')
        .flat_map(|key| update(model, Msg::Key(KeyPress::from_name(key))))
        .collect()
}

pub fn measurement_after_rounds(rounds: u32) -> Measurement {
    let mut found = sample_reports::at_risk().probes.remove(0).measurement;
    let error = 0.5 / f64::from(rounds).sqrt();
    let open_sync = MethodResult {
        method: Method::OpenSync,
        ..found.methods[2].clone()
    };
    found.methods.insert(3, open_sync);
    for row in found
        .methods
        .iter_mut()
        .filter_map(|row| row.paced.as_mut())
    {
        let us = row.median_us.value;
        row.median_us = Estimate {
            value: us,
            low: us * (1.0 - error),
            high: us * (1.0 + error),
        };
        row.quantiles_us = (1..=64)
            .map(|step| f64::from(step) / 64.0)
            .map(|share| us * (0.82 + 0.36 * share + 0.6 * share.powi(8)))
            .collect();
        row.rounds_us = (0..rounds)
            .map(|i| us * (1.0 + f64::from(i / 3 * i % 23) / 40.0))
            .collect();
    }
    found.comparisons = [
        (Method::OpenDatasync, 1.6),
        (Method::Fsync, -90.0),
        (Method::OpenSync, -90.0),
    ]
    .map(|(method, gain)| {
        let half = 200.0 * error / f64::from(rounds).sqrt();
        let settled = match (half < 5.0, gain > 0.0) {
            (false, true) => ComparisonConclusion::NotSettled,
            (true, true) => ComparisonConclusion::NoMeaningfulDifference,
            (_, false) => ComparisonConclusion::Settled,
        };
        let gain_percent = Estimate {
            value: gain,
            low: gain - half,
            high: gain + half,
        };
        Comparison {
            method,
            against: Method::Fdatasync,
            gain_percent,
            settled,
        }
    })
    .to_vec();
    found.rounds = rounds;
    found.seconds = f64::from(rounds) / 10.0;
    found
}

pub fn report_with_measurement(measurement: Measurement) -> Report {
    let mut report = at_risk_report();
    report.probes[0].measurement = measurement;
    report
}

pub fn probe_progress_at_round(round: u32) -> JobProgress {
    let shape = [
        3_u64, 40, 210, 380, 260, 120, 60, 22, 9, 4, 0, 1, 0, 0, 2, 1,
    ];
    let up_to = |i: i32| 128.0 * 2_f64.powf(f64::from(i) / 4.0);
    JobProgress::Probing(Box::new(ProbeProgress {
        phase: ProbePhase::Rounds,
        round,
        seconds: f64::from(round) / 10.0,
        share: f64::from(round) / 100.0,
        remaining_seconds: 10.0 - f64::from(round) / 10.0,
        interim: Some(measurement_after_rounds(round)),
        histogram: (0..)
            .zip(shape)
            .map(|(i, count)| (up_to(i), count * u64::from(round)))
            .collect(),
    }))
}

pub fn click_on_text(model: &mut Model, on: &str) -> Vec<SideEffect> {
    let mut buffer = Buffer::empty(Rect::new(0, 0, model.size.width, model.size.height));
    model.hits = frame::draw(model, &mut buffer);
    let shown = buffer_text(&buffer);
    let found = shown
        .lines()
        .zip(0_u16..)
        .find_map(|(line, row)| Some((line.split_once(on)?.0, row)));
    let (before, row) = found.unwrap_or_else(|| panic!("{on} is not on the screen:\n{shown}"));
    let column = u16::try_from(before.chars().count()).unwrap();
    update(
        model,
        Msg::Mouse(MouseAction::Click, Position::new(column, row)),
    )
}

pub fn draw_screen(model: &Model) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, model.size.width, model.size.height));
    frame::draw(model, &mut buffer);
    buffer
}

pub fn buffer_text(buffer: &Buffer) -> String {
    walwise_testkit::drawn_screens::buffer_rows(buffer).join("\n") + "\n"
}

/// Prints each row, then a row with one letter per styled cell, and at the end a legend of the
/// letters.
pub fn styled_text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width).max(1);
    let mut legend: Vec<String> = Vec::new();
    let mut out = String::new();
    for row in buffer.content.chunks(width) {
        let line: String = row.iter().map(ratatui::buffer::Cell::symbol).collect();
        let styles: String = row
            .iter()
            .map(|cell| style_letter(cell, &mut legend))
            .collect();
        let _ = writeln!(out, "|{}", line.trim_end());
        if !styles.trim().is_empty() {
            let _ = writeln!(out, ".{}", styles.trim_end());
        }
    }
    for (letter, meaning) in ('a'..='z').zip(&legend) {
        let _ = writeln!(out, "{letter} = {meaning}");
    }
    out
}

fn style_letter(cell: &ratatui::buffer::Cell, legend: &mut Vec<String>) -> char {
    let plain = ratatui::buffer::Cell::default();
    if (cell.fg, cell.bg, cell.modifier) == (plain.fg, plain.bg, plain.modifier) {
        return ' ';
    }
    let meaning = format!("{:?} on {:?} {:?}", cell.fg, cell.bg, cell.modifier);
    let at = legend
        .iter()
        .position(|known| *known == meaning)
        .unwrap_or_else(|| {
            legend.push(meaning);
            legend.len() - 1
        });
    ('a'..='z').nth(at).unwrap_or('?')
}

pub fn sample_document() -> String {
    (1..=40).fold("The report as text.\n\n".to_owned(), |text, i| {
        text + &format!("line {i} of it\n")
    })
}

pub fn session_with_open_export(size: (u16, u16), options: ScreenOptions) -> Model {
    let mut model = session_with_report(at_risk_report(), size, options);
    let effects = press_keys(&mut model, "6 enter");
    finish_started_job(
        &mut model,
        &effects,
        JobResult::Document(sample_document().into()),
    );
    model
}

pub fn sample_upgrade_choices() -> Vec<ReferenceChoice> {
    ["debian13", "rhel10"]
        .map(|name| ReferenceChoice {
            name: name.to_owned(),
            label: name.to_owned(),
            text: "Linux 6.12".to_owned(),
        })
        .to_vec()
}

/// A session that compares the host with an upgrade and with a saved report.
pub fn session_with_comparisons(size: (u16, u16), options: ScreenOptions) -> Model {
    let mut model = session_with_report(at_risk_report(), size, options);
    let effects = press_keys(&mut model, "o");
    let listed = JobResult::References(sample_upgrade_choices());
    finish_started_job(&mut model, &effects, listed);
    for effect in press_keys(&mut model, "enter") {
        let SideEffect::Start(job, Job::Compare(with, _)) = effect else {
            continue;
        };
        let compared = JobResult::Comparison(Some(Box::new(sample_comparison(with))));
        update(&mut model, Msg::Done(job, compared));
    }
    model
}

pub fn sample_comparison(with: ComparisonReference) -> ReferenceComparison {
    let (mut now, then) = (at_risk_report(), assumed_host_with_older_kernel());
    let (title, mut sections) = match with {
        ComparisonReference::Upgrade => {
            let changes = Upgrade::from_reports(&now, &then.report);
            let sections = upgrade::upgrade_change_sections(&then.what_if, &changes);
            ("debian13: Linux 6.12", sections)
        }
        ComparisonReference::SavedReport => {
            let (mut before, today) = (
                ReportSnapshot::from_report(&then.report),
                ReportSnapshot::from_report(&now),
            );
            before.rules = today
                .findings
                .keys()
                .map(|(rule, _)| rule.clone())
                .collect();
            now.baseline = Some(compare_snapshots(&before, &today));
            let title = "2026-11-19T03:10:00Z, saved by root, walwise 0.1.0";
            (title, baseline::baseline_sections(&now))
        }
    };
    findings::add_fixes_to_bullets(&now, &mut sections);
    ReferenceComparison {
        name: "chosen".to_owned(),
        title: title.to_owned(),
        sections,
    }
}

pub fn sample_host_change() -> HostChange {
    HostChange {
        report: at_risk_report(),
        changed: ChangedFacts {
            facts: [(Subject::mount("/srv"), "mount.super_options")].into(),
            sentences: vec!["mount.super_options of /srv: removed nobarrier".to_owned()],
            sections: Vec::new(),
        },
    }
}

pub fn finish_started_job(
    model: &mut Model,
    effects: &[SideEffect],
    result: JobResult,
) -> Vec<SideEffect> {
    let job = effects.iter().find_map(|effect| match effect {
        SideEffect::Start(job, _) => Some(*job),
        _ => None,
    });
    update(model, Msg::Done(job.expect("a job was started"), result))
}

fn session_after_save(size: (u16, u16), options: ScreenOptions, told: JobResult) -> Model {
    let mut model = session_with_open_export(size, options);
    let effects = press_keys(&mut model, "s enter");
    finish_started_job(&mut model, &effects, told);
    model
}

pub const PLAN: [&str; 3] = [
    "The measurement writes at most 336 MiB to a scratch directory in /srv/pg/15, 16 MiB at a time, in at most 10 s; that \
     uses under 0.001 % of the endurance of an SSD of 960 GB.",
    "The measurement compares fdatasync, open_datasync, fsync, open_sync.",
    "The measurement ends early when the result is clear; press c to stop and keep the results so \
     far.",
];

const FILE: &str = "/root/walwise-db7-srv-pg-15-main.txt";

pub fn session_with_chosen_filesystem(size: (u16, u16), options: ScreenOptions) -> Model {
    let mut model = session_with_report(sample_reports::free_disk(), size, options);
    press_keys(&mut model, "f home enter");
    finish_job(
        &mut model,
        JobResult::Report(Box::new(sample_reports::free_disk_with_request(
            NewFilesystem::Ext4,
        ))),
    );
    model
}

pub fn named_sessions(size: (u16, u16), options: ScreenOptions) -> Vec<(&'static str, Model)> {
    let session = |report: Report, keys: &str| {
        let mut model = session_with_report(report, size, options);
        press_keys(&mut model, keys);
        model
    };
    let mut planned = session(at_risk_report(), "p");
    finish_job(
        &mut planned,
        JobResult::Plan(vec![
            "Writes 16 MiB in /srv/.walwise, at most 10 s."
                .to_owned();
            3
        ]),
    );
    let mut refused = session(at_risk_report(), "p");
    finish_job(
        &mut refused,
        JobResult::Failed("less than 5 % of /srv is free".to_owned()),
    );
    let mut probing = planned.clone();
    press_keys(&mut probing, "y");
    send_job_progress(&mut probing, probe_progress_at_round(12));
    let mut watched_from_afar = probing.clone();
    press_keys(&mut watched_from_afar, "1");
    let mut unmeasured = at_risk_report();
    unmeasured.probes.clear();
    let mut before = session(unmeasured, "3 p");
    finish_job(
        &mut before,
        JobResult::Plan(PLAN.map(str::to_owned).to_vec()),
    );
    let mut done = probing.clone();
    finish_job(
        &mut done,
        JobResult::Report(Box::new(report_with_measurement(measurement_after_rounds(
            71,
        )))),
    );
    let mut cancelled = probing.clone();
    press_keys(&mut cancelled, "c");
    let cut = Measurement {
        cancelled: true,
        ..measurement_after_rounds(12)
    };
    finish_job(
        &mut cancelled,
        JobResult::Report(Box::new(report_with_measurement(cut))),
    );
    let mut failed = session_before_report(size, options);
    finish_job(
        &mut failed,
        JobResult::Failed("this is a bug in walwise".to_owned()),
    );
    let supposing = session(at_risk_report(), "w k e r n enter 6 enter");
    let mut mistaken = supposing.clone();
    finish_job(
        &mut mistaken,
        JobResult::Failed("kernel.release is text, and `6` is not".to_owned()),
    );
    let mut supposed = supposing.clone();
    finish_job(
        &mut supposed,
        JobResult::AssumedHost(Box::new(assumed_host_with_older_kernel())),
    );
    let seen = |model: &Model, keys: &str| {
        let mut model = model.clone();
        press_keys(&mut model, keys);
        model
    };
    let failing = JobResult::Failed(format!("cannot write {FILE}: No space left on device"));
    let mut naming = session_with_open_export(size, options);
    press_keys(&mut naming, "s");
    let mut waiting = naming.clone();
    press_keys(&mut waiting, "enter");
    let mut references = session(at_risk_report(), "esc");
    let effects = press_keys(&mut references, "o");
    let listed = JobResult::References(sample_upgrade_choices());
    finish_started_job(&mut references, &effects, listed);
    let of_each = ScreenId::ALL.map(|screen| {
        (
            screen.title(),
            session(at_risk_report(), screen.digit_key()),
        )
    });
    let states = vec![
        ("upgrade list", references),
        ("changes", session_with_comparisons(size, options)),
        ("export", session(report_with_two_targets(), "e G")),
        ("export shown", session_with_open_export(size, options)),
        ("naming a file", naming),
        ("saving a file", waiting),
        (
            "naming a file again",
            session_after_save(size, options, failing),
        ),
        (
            "replacing a file",
            session_after_save(
                size,
                options,
                JobResult::Saved(SaveOutcome::Exists(FILE.to_owned())),
            ),
        ),
        (
            "saved",
            session_after_save(
                size,
                options,
                JobResult::Saved(SaveOutcome::At(FILE.to_owned())),
            ),
        ),
        ("beginning", session_before_report(size, options)),
        ("failed", failed),
        ("empty", session(report_without_targets(), "esc")),
        ("free disk", session(sample_reports::free_disk(), "esc")),
        (
            "which file system",
            session(sample_reports::free_disk(), "f j"),
        ),
        (
            "another file system",
            session_with_chosen_filesystem(size, options),
        ),
        ("overview", session(at_risk_report(), "esc")),
        (
            "overview unfolded",
            session(at_risk_report(), "enter j G enter"),
        ),
        (
            "advice unfolded",
            session(at_risk_report(), "4 enter G enter g"),
        ),
        ("which fact", session(at_risk_report(), "w")),
        (
            "which value",
            session(at_risk_report(), "w k e r n enter 6"),
        ),
        ("no such value", mistaken),
        ("stating", session(at_risk_report(), "u j i")),
        ("supposing", supposing),
        ("supposed", supposed.clone()),
        ("supposed advice", seen(&supposed, "4 enter j enter")),
        ("supposed probe", seen(&supposed, "3")),
        (
            "storage unfolded",
            session(at_risk_report(), "2 enter j enter j j j enter"),
        ),
        (
            "storage filtered",
            session(at_risk_report(), "2 / c a c h e"),
        ),
        (
            "storage of a free disk",
            session(sample_reports::free_disk(), "2 enter j enter"),
        ),
        (
            "only what is unknown",
            session(at_risk_report(), "2 u enter"),
        ),
        ("rules", session(at_risk_report(), "5 j enter")),
        (
            "rules filtered",
            session(at_risk_report(), "5 / n o t enter enter"),
        ),
        ("which target", session(report_with_two_targets(), "t")),
        ("help", session(at_risk_report(), "?")),
        ("help filtered", session(at_risk_report(), "? p r o")),
        ("probe plan", planned),
        ("probe refused", refused),
        ("probing", probing),
        ("probing seen from the overview", watched_from_afar),
        ("before a probe", before),
        ("after a probe", done),
        ("after a cancelled probe", cancelled),
    ];
    of_each.into_iter().chain(states).collect()
}
