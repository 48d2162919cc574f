mod changes;
mod export;
mod filesystem;
mod filter_tests;
mod keys;
mod latency;
mod mouse;
mod overview;
mod rules;
mod session;
mod sizes {
    use std::num::NonZero;
    use std::ops::RangeInclusive;
    use std::thread;

    use ratatui::layout::Size;

    use crate::tui::frame::MIN_SIZE;
    use crate::tui::model::Model;
    use crate::tui::test_sessions::{RICH, draw_screen, named_sessions, session_before_report};

    const MAX_SIZE: Size = Size {
        width: 200,
        height: 60,
    };

    const SCREENS: [&str; 7] = [
        "overview unfolded",
        "storage unfolded",
        "after a probe",
        "advice unfolded",
        "rules",
        "export shown",
        "changes",
    ];

    fn draw_at_sizes(sessions: &[Model], widths: RangeInclusive<u16>, heights: &[u16]) {
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let part = |first: usize| {
            for mut model in sessions.iter().cloned() {
                for width in widths.clone().skip(first).step_by(threads) {
                    for height in heights {
                        model.size = Size::new(width, *height);
                        assert_eq!(draw_screen(&model).area.as_size(), model.size);
                    }
                }
            }
        };
        thread::scope(|scope| {
            (0..threads).for_each(|first| drop(scope.spawn(move || part(first))));
        });
    }

    #[test]
    #[ignore = "exhaustive"]
    fn every_screen_is_drawn_at_every_size() {
        let all: Vec<u16> = (0..=MAX_SIZE.height).collect();
        // Below the minimum size all sessions look the same.
        draw_at_sizes(
            &[session_before_report((80, 24), RICH)],
            0..=MAX_SIZE.width,
            &all,
        );
        let screens = named_sessions((80, 24), RICH)
            .into_iter()
            .filter(|(name, _)| SCREENS.contains(name));
        let screens: Vec<Model> = screens.map(|(_, model)| model).collect();
        assert_eq!(screens.len(), SCREENS.len());
        draw_at_sizes(
            &screens,
            MIN_SIZE.width..=MAX_SIZE.width,
            &all[usize::from(MIN_SIZE.height)..],
        );
    }

    #[test]
    #[ignore = "exhaustive"]
    fn every_session_state_is_drawn_at_every_width_and_height() {
        let sessions: Vec<Model> = named_sessions((80, 24), RICH)
            .into_iter()
            .map(|(_, model)| model)
            .collect();
        draw_at_sizes(&sessions, MIN_SIZE.width..=130, &[MIN_SIZE.height, 30]);
        let all: Vec<u16> = (MIN_SIZE.height..=MAX_SIZE.height).collect();
        for width in [MIN_SIZE.width, 120] {
            draw_at_sizes(&sessions, width..=width, &all);
        }
    }
}
mod storage;
mod views;
mod what_if;

use ratatui::layout::Size;

use super::ScreenOptions;
use super::command;
use super::job::{Job, JobProgress, JobResult};
use super::model::{Model, Overlay};
use super::msg::{ExitReason, Msg, SideEffect};
use super::screen_data::BackgroundActivity;
use super::screen_id::ScreenId;
use super::test_sessions::{
    RICH, WORST_FIRST, at_risk_report, buffer_text, draw_screen, finish_job,
    measurement_after_rounds, named_sessions, press_keys, probe_progress_at_round,
    report_with_all_verdicts, report_with_flush_delivery, report_with_measurement,
    report_with_two_targets, report_without_targets, send_job_progress, session_before_report,
    session_with_report, styled_text,
};
use super::update::update;
use super::widgets::text_field::TextField;
use crate::facts::catalog::target::FlushDelivery;
use crate::facts::{Choice, Subject};
use crate::measure::{Measurement, ProbeProgress};
use crate::report::{Report, sample_reports};
use crate::rules::Level;

const PLAIN: ScreenOptions = ScreenOptions {
    colour: false,
    ascii: false,
    in_tmux: false,
};
const ASCII: ScreenOptions = ScreenOptions {
    colour: false,
    ascii: true,
    in_tmux: false,
};

fn screen_text(model: &Model) -> String {
    buffer_text(&draw_screen(model))
}

fn is_overlay_or_filter_active(model: &Model) -> bool {
    model.overlay.is_some() || model.current_page_state().is_typing_filter()
}

#[test]
#[ignore = "exhaustive"]
fn keys_never_panic_or_exit() {
    for (width, height) in [(0, 0), (1, 1), (59, 14), (60, 15), (80, 24), (300, 100)] {
        for (name, mut model) in named_sessions((width, height), RICH) {
            press_keys(
                &mut model,
                "j j enter pgdn G k enter g ? down enter esc tab enter t p esc c r y h l e G enter s x m",
            );
            let _ = screen_text(&model);
            assert!(model.exit.is_none(), "{name}");
        }
    }
}

#[test]
fn the_footer_always_says_how_to_get_help_and_leave() {
    for width in [60, 80, 120] {
        for (name, model) in named_sessions((width, 24), RICH)
            .into_iter()
            .filter(|(_, m)| !is_overlay_or_filter_active(m))
        {
            let screen = screen_text(&model);
            let footer = screen.lines().last().unwrap().to_owned();
            assert!(
                footer.contains("? help") && footer.contains("q quit"),
                "{name}: {footer}"
            );
        }
    }
}

#[test]
fn snapshots_of_collecting_empty_and_help_screens() {
    let mut collecting = session_before_report((80, 24), RICH);
    send_job_progress(&mut collecting, JobProgress::Reading("mounts".to_owned()));
    insta::assert_snapshot!("collecting", screen_text(&collecting));
    insta::assert_snapshot!(
        "empty",
        screen_text(&session_with_report(
            report_without_targets(),
            (80, 24),
            RICH
        ))
    );
    insta::assert_snapshot!(
        "free_disk",
        screen_text(&session_with_report(
            sample_reports::free_disk(),
            (80, 24),
            RICH
        ))
    );
    for (name, model) in named_sessions((80, 24), RICH) {
        if ["help", "help filtered", "probe refused"].contains(&name) {
            insta::assert_snapshot!(name.replace(' ', "_"), screen_text(&model));
        }
    }
    insta::assert_snapshot!(
        "too_small",
        screen_text(&session_with_report(at_risk_report(), (48, 10), RICH))
    );
}

#[test]
fn undecided_finding_shows_level_with_question_mark() {
    let mut report = at_risk_report();
    for finding in &mut report.findings {
        if finding.rule == "ext4.journal-features" {
            finding.level = Level::Critical;
        }
    }
    let mut model = session_with_report(report, (60, 40), RICH);
    press_keys(&mut model, "4");
    let screen = screen_text(&model);
    let levels: Vec<&str> = screen
        .lines()
        .skip_while(|line| !line.contains("Undecided"))
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .take(1)
        .collect();
    assert_eq!(levels, ["critical?"], "{screen}");
    assert_eq!(
        screen.matches('?').count(),
        2,
        "only there, and help: {screen}"
    );
}

#[test]
fn enter_on_a_fix_shows_its_reasons_at_full_height() {
    for size in [(80, 24), (120, 40)] {
        let mut model = session_with_report(at_risk_report(), size, RICH);
        press_keys(&mut model, "home n n enter");
        let full = screen_text(&model);
        assert!(
            full.contains("Because of what boot.ext4-nobarrier says.") && full.contains("esc back"),
            "{full}"
        );
        assert!(!full.contains("Answers"), "{full}");
        press_keys(&mut model, "esc");
        assert!(screen_text(&model).contains("Answers"));
        press_keys(&mut model, "esc esc esc");
        assert_eq!((model.exit, model.screen), (None, ScreenId::Overview));
    }
}

#[test]
#[ignore = "exhaustive"]
fn advice_details_are_reached_by_keys() {
    let mut model = session_with_report(at_risk_report(), (80, 24), RICH);
    press_keys(&mut model, "4");
    let mut seen = String::new();
    press_keys(&mut model, "home");
    for _ in 0..20 {
        seen.push_str(&screen_text(&model));
        press_keys(&mut model, "enter");
        for _ in 0..60 {
            seen.push_str(&screen_text(&model));
            press_keys(&mut model, "j");
        }
        press_keys(&mut model, "esc j");
    }
    for said in [
        "lazytime",
        "kernel.fsync-errors",
        "ext4.fast-commit",
        "commit waits 100",
        "undo",
    ] {
        assert!(seen.contains(said), "{said}");
    }
}

#[test]
fn y_and_shift_y_copy_commands() {
    let mut model = session_with_report(at_risk_report(), (120, 40), RICH);
    press_keys(&mut model, "4 j");
    let copied = vec![SideEffect::Copy(
        "mount -o remount,barrier=1,noatime /srv".to_owned(),
    )];
    assert_eq!(press_keys(&mut model, "y"), copied);
    assert!(screen_text(&model).contains("clipboard"));
    press_keys(&mut model, "g");
    let line = "walwise check /srv/pg/15/main --no-probe --format fstab".to_owned();
    assert_eq!(
        press_keys(&mut model, "y"),
        [SideEffect::Copy(line.clone())],
        "every step has a command"
    );
    let mount = "mount -o remount,barrier=1,noatime /srv";
    for (screen, all) in [("1", [mount, &line]), ("4", [&line, mount])] {
        press_keys(&mut model, screen);
        let all = [SideEffect::Copy(all.join("\n"))];
        assert_eq!(press_keys(&mut model, "Y"), all, "not what is optional");
    }
}

#[test]
fn a_probe_is_planned_confirmed_watched_and_cancelled() {
    let mut model = session_with_report(at_risk_report(), (80, 24), RICH);
    let target = sample_reports::data_target();
    assert!(
        matches!(&press_keys(&mut model, "p")[..], [SideEffect::Start(_, Job::PlanProbe(of))] if *of == target)
    );
    finish_job(
        &mut model,
        JobResult::Plan(vec!["Writes 16 MiB.".to_owned()]),
    );
    assert!(matches!(model.overlay, Some(Overlay::Confirm { .. })));
    assert_eq!(press_keys(&mut model, "n"), [], "nothing is written");
    press_keys(&mut model, "p");
    finish_job(
        &mut model,
        JobResult::Plan(vec!["Writes 16 MiB.".to_owned()]),
    );
    let started = press_keys(&mut model, "y");
    let [SideEffect::Start(job, Job::Probe(of))] = &started[..] else {
        panic!("{started:?}")
    };
    assert_eq!(*of, target);
    send_job_progress(&mut model, probe_progress_at_round(3));
    assert_eq!(
        model.screen,
        ScreenId::Probe,
        "whoever starts it wants to see it"
    );
    let screen = screen_text(&model);
    assert!(
        screen.contains("measuring, round 3, at most 9.7 s left"),
        "{screen}"
    );
    assert!(screen.contains("so far, against fdatasync: "), "{screen}");
    press_keys(&mut model, "1");
    let mut higher = model.clone();
    higher.size = Size::new(80, 60);
    assert!(screen_text(&higher).contains(" measuring …"));
    assert_eq!(press_keys(&mut model, "p"), [], "one at a time");
    assert_eq!(press_keys(&mut model, "esc"), [SideEffect::Cancel(*job)]);
    assert_eq!(press_keys(&mut model, "c"), [], "it is stopping already");
    let cut = Measurement {
        cancelled: true,
        ..measurement_after_rounds(3)
    };
    finish_job(
        &mut model,
        JobResult::Report(Box::new(report_with_measurement(cut))),
    );
    assert_eq!(model.data.activity, BackgroundActivity::Idle);
    assert!(screen_text(&model).contains("cancelled, results kept"));
    press_keys(&mut model, "3");
    let screen = screen_text(&model);
    assert!(
        screen.contains("3 rounds in 0.3 s") && screen.contains("partial results kept"),
        "{screen}"
    );
    assert!(
        matches!(
            &press_keys(&mut model, "p")[..],
            [SideEffect::Start(_, Job::PlanProbe(_))]
        ),
        "and again"
    );
}

#[test]
fn refused_or_failed_probe_states_reason() {
    let mut model = session_with_report(at_risk_report(), (80, 24), RICH);
    press_keys(&mut model, "p");
    finish_job(
        &mut model,
        JobResult::Failed("less than 5 % of /srv is free".to_owned()),
    );
    assert!(screen_text(&model).contains("less than 5 % of /srv is free"));
    assert_eq!(press_keys(&mut model, "y"), [], "it cannot be started");
    press_keys(&mut model, "esc p");
    finish_job(&mut model, JobResult::Plan(vec!["Writes.".to_owned()]));
    press_keys(&mut model, "y");
    finish_job(
        &mut model,
        JobResult::Failed("this is a bug in walwise: index 7".to_owned()),
    );
    assert!(screen_text(&model).contains("the probe failed: this is a bug in walwise: index 7"));
    assert!(
        screen_text(&model).contains("is meaningfully faster here than"),
        "so does what was measured before"
    );
    press_keys(&mut model, "1");
    assert!(
        screen_text(&model).contains("AT RISK"),
        "what was known stays"
    );
}

#[test]
fn unmeasurable_target_states_reason() {
    let mut blank = session_with_report(sample_reports::free_disk(), (80, 24), RICH);
    assert_eq!(press_keys(&mut blank, "p"), []);
    assert!(screen_text(&blank).contains("cannot be measured until the device is"));
    let mut capture = at_risk_report();
    capture.host.live = false;
    let mut capture = session_with_report(capture, (80, 24), RICH);
    assert_eq!(press_keys(&mut capture, "p"), []);
    assert!(screen_text(&capture).contains("a capture cannot be measured"));
}

#[test]
fn result_of_superseded_job_is_dropped() {
    let mut model = session_with_report(at_risk_report(), (80, 24), RICH);
    press_keys(&mut model, "r");
    update(
        &mut model,
        Msg::Done(1, JobResult::Report(Box::new(report_without_targets()))),
    );
    assert!(screen_text(&model).contains("AT RISK"));
    assert!(
        model.data.activity.job_id().is_some(),
        "the second one still runs"
    );
}

#[test]
fn chosen_target_survives_new_report() {
    let mut model = session_with_report(report_with_two_targets(), (120, 40), RICH);
    press_keys(&mut model, "]");
    assert_eq!(
        model.data.focus.target,
        Some(sample_reports::free_disk_target())
    );
    assert!(screen_text(&model).contains("2/2 "));
    press_keys(&mut model, "r");
    let mut fresher = report_with_two_targets();
    fresher.targets.reverse();
    finish_job(&mut model, JobResult::Report(Box::new(fresher)));
    assert_eq!(
        model.data.focus.target,
        Some(sample_reports::free_disk_target())
    );
    press_keys(&mut model, "]");
    assert_eq!(model.data.focus.target, Some(sample_reports::data_target()));
}

#[test]
fn measurement_without_flushes_shows_warning() {
    const SAID: &str = "No flush was sent, so this is not the latency";
    for &flush in FlushDelivery::ALL {
        let said = flush == FlushDelivery::Suppressed;
        let mut model = session_with_report(report_with_flush_delivery(flush), (60, 100), RICH);
        assert_eq!(
            screen_text(&model).contains(SAID),
            said,
            "{flush}:\n{}",
            screen_text(&model)
        );
        press_keys(&mut model, "p");
        finish_job(&mut model, JobResult::Plan(vec!["Writes.".to_owned()]));
        press_keys(&mut model, "y");
        send_job_progress(&mut model, probe_progress_at_round(3));
        assert_eq!(
            screen_text(&model).contains(SAID),
            said,
            "{flush}:\n{}",
            screen_text(&model)
        );
    }
    let mut unmeasured = report_with_flush_delivery(FlushDelivery::Suppressed);
    unmeasured.probes.clear();
    assert!(
        !screen_text(&session_with_report(unmeasured, (60, 40), RICH)).contains(SAID),
        "there are no figures"
    );
}

#[test]
fn worst_target_is_first_and_targets_cycle() {
    let (mut model, order) = (
        session_with_report(report_with_all_verdicts(), (60, 24), RICH),
        WORST_FIRST,
    );
    for (place, path) in order.iter().enumerate() {
        let header = screen_text(&model).lines().next().unwrap().to_owned();
        assert!(
            header.contains(&format!(" {}/{} ", place + 1, order.len())),
            "{header}"
        );
        assert_eq!(model.data.focus.target, Some(Subject::target(*path)));
        press_keys(&mut model, "]");
    }
    assert_eq!(
        model.data.focus.target,
        Some(Subject::target(order[0])),
        "round and round"
    );
}

#[test]
fn target_shown_while_collecting_is_not_a_choice() {
    let mut model = session_before_report((80, 24), RICH);
    let mut early = report_with_all_verdicts();
    early.verdicts.clear();
    send_job_progress(&mut model, JobProgress::Report(Box::new(early)));
    assert_ne!(
        model.data.focus.target,
        Some(Subject::target(WORST_FIRST[0]))
    );
    finish_job(
        &mut model,
        JobResult::Report(Box::new(report_with_all_verdicts())),
    );
    assert_eq!(
        model.data.focus.target,
        Some(Subject::target(WORST_FIRST[0]))
    );
}

#[test]
fn probed_target_stays_selected_after_probe() {
    let mut model = session_with_report(report_with_all_verdicts(), (80, 24), RICH);
    press_keys(&mut model, "p");
    finish_job(&mut model, JobResult::Plan(vec!["Writes.".to_owned()]));
    press_keys(&mut model, "y");
    let mut after = report_with_all_verdicts();
    after
        .verdicts
        .retain(|verdict| verdict.target != Subject::target(WORST_FIRST[0]));
    finish_job(&mut model, JobResult::Report(Box::new(after)));
    assert_eq!(
        model.data.focus.target,
        Some(Subject::target(WORST_FIRST[0]))
    );
}

fn session_with_started_probe(report: Report) -> Model {
    let mut model = session_with_report(report, (80, 70), RICH);
    press_keys(&mut model, "p");
    finish_job(&mut model, JobResult::Plan(vec!["Writes.".to_owned()]));
    press_keys(&mut model, "y");
    model
}

#[test]
fn figures_and_histogram_stay_until_newer_ones_arrive() {
    let mut model = session_with_started_probe(at_risk_report());
    assert!(
        !screen_text(&model).contains("p99"),
        "figures of a probe before are not those of this one"
    );
    send_job_progress(&mut model, probe_progress_at_round(12));
    assert!(screen_text(&model).contains("Histogram   fdatasync, 13 344 commits"));
    let JobProgress::Probing(without) = probe_progress_at_round(13) else {
        panic!()
    };
    send_job_progress(
        &mut model,
        JobProgress::Probing(Box::new(ProbeProgress {
            interim: None,
            histogram: Vec::new(),
            ..*without
        })),
    );
    let screen = screen_text(&model);
    assert!(
        screen.contains("round 13") && screen.contains("Histogram   fdatasync, 13 344 commits"),
        "{screen}"
    );
    finish_job(
        &mut model,
        JobResult::Report(Box::new(report_with_measurement(measurement_after_rounds(
            71,
        )))),
    );
    assert!(screen_text(&model).contains("Histogram   fdatasync, 13 344 commits"));
    press_keys(&mut model, "r");
    let mut gone = at_risk_report();
    gone.probes.clear();
    finish_job(&mut model, JobResult::Report(Box::new(gone)));
    let screen = screen_text(&model);
    assert!(
        screen.contains("not measured") && !screen.contains("Histogram"),
        "{screen}"
    );
}

#[test]
fn failed_or_cancelled_probe_keeps_previous_result() {
    for (keys, how) in [("j", "failed"), ("c", "was cancelled")] {
        let mut model = session_with_started_probe(at_risk_report());
        press_keys(&mut model, keys);
        finish_job(
            &mut model,
            JobResult::Failed("Nothing was measured.".to_owned()),
        );
        let screen = screen_text(&model);
        assert!(
            screen.contains(&format!("the probe {how}: Nothing was measured.")),
            "{screen}"
        );
        assert!(screen.contains("71 rounds in 8.4 s"), "{screen}");
        press_keys(&mut model, "p");
        finish_job(&mut model, JobResult::Plan(vec!["Writes.".to_owned()]));
        press_keys(&mut model, "y");
        finish_job(&mut model, JobResult::Report(Box::new(at_risk_report())));
        assert!(!screen_text(&model).contains(how), "old news");
    }
}

#[test]
fn probe_screen_shows_only_the_chosen_target() {
    let mut model = session_with_started_probe(report_with_two_targets());
    send_job_progress(&mut model, probe_progress_at_round(12));
    press_keys(&mut model, "]");
    let screen = screen_text(&model);
    assert!(
        screen.contains("not measured") && !screen.contains("fdatasync"),
        "{screen}"
    );
    assert!(
        screen.contains("cannot be measured until the device is"),
        "{screen}"
    );
    press_keys(&mut model, "]");
    assert!(screen_text(&model).contains("measuring, round 12"));
}

#[test]
fn help_filters_and_runs_commands_and_states_reasons() {
    let mut model = session_with_report(at_risk_report(), (80, 24), RICH);
    press_keys(&mut model, "? r e s c a n");
    let listed = screen_text(&model);
    assert!(
        listed.contains("rescan") && !listed.contains("next target"),
        "{listed}"
    );
    assert!(matches!(
        &press_keys(&mut model, "enter")[..],
        [SideEffect::Start(_, Job::Collect)]
    ));
    assert!(model.overlay.is_none());
    press_keys(&mut model, "? p r o b e");
    assert!(
        screen_text(&model).contains("unavailable: facts are still being collected"),
        "{}",
        screen_text(&model)
    );
    press_keys(&mut model, "q backspace esc");
    assert_eq!(model.exit, None, "typing in help is typing");
    press_keys(&mut model, "q");
    assert_eq!(model.exit, Some(ExitReason::Quit));
}

#[test]
fn help_list_scrolls_by_keys() {
    for height in [15, 24] {
        let mut model = session_with_report(at_risk_report(), (80, height), RICH);
        press_keys(&mut model, "?");
        let top = screen_text(&model);
        assert!(top.contains("▸ enter") && !top.contains("ctrl-l"), "{top}");
        press_keys(&mut model, "end");
        let bottom = screen_text(&model);
        assert!(bottom.contains("▸ ctrl-l"), "{bottom}");
        press_keys(&mut model, "home");
        assert_eq!(screen_text(&model), top);
        let mut seen = top.clone();
        for _ in command::matching_help_commands(&model, &TextField::default()) {
            press_keys(&mut model, "pgdn");
            seen.push_str(&screen_text(&model));
        }
        assert_eq!(screen_text(&model), bottom);
        for command in command::matching_help_commands(&model, &TextField::default()) {
            assert!(seen.contains(command.label), "{}", command.label);
        }
        press_keys(&mut model, &vec!["pgup"; 30].join(" "));
        assert_eq!(screen_text(&model), top);
        press_keys(&mut model, "G");
        assert!(screen_text(&model).contains("/ G_"), "letters are typed");
    }
}

#[test]
fn signals_exit_suspend_or_redraw() {
    let ended = |msg| {
        let mut model = session_before_report((80, 24), RICH);
        let effects = update(&mut model, msg);
        (model.exit, effects)
    };
    assert_eq!(
        ended(Msg::Signal(15)),
        (Some(ExitReason::Signal(15)), vec![])
    );
    assert_eq!(ended(Msg::Hangup), (Some(ExitReason::Signal(1)), vec![]));
    assert_eq!(
        ended(Msg::Signal(signal_hook::consts::SIGTSTP)),
        (None, vec![SideEffect::Suspend])
    );
    assert_eq!(
        ended(Msg::Signal(signal_hook::consts::SIGCONT)),
        (None, vec![SideEffect::Resume])
    );
    assert_eq!(
        ended(Msg::Signal(signal_hook::consts::SIGWINCH)),
        (None, vec![SideEffect::Redraw])
    );
    let mut model = session_before_report((80, 24), RICH);
    press_keys(&mut model, "ctrl-c");
    assert_eq!(model.exit, Some(ExitReason::Signal(2)));
}

#[test]
fn no_verdict_is_shown_before_all_facts_are_read() {
    let mut model = session_before_report((80, 24), RICH);
    send_job_progress(&mut model, JobProgress::Report(Box::new(at_risk_report())));
    send_job_progress(&mut model, JobProgress::Reading("block devices".to_owned()));
    for screen in ScreenId::ALL {
        let key = screen.digit_key();
        press_keys(&mut model, key);
        let screen = screen_text(&model);
        assert!(
            screen.contains("reading block devices") && !screen.contains("AT RISK"),
            "{screen}"
        );
        assert!(!screen.contains("nobarrier"), "{screen}");
    }
    press_keys(&mut model, "1");
    assert!(
        screen_text(&model).contains("found  postgresql 15/main"),
        "{}",
        screen_text(&model)
    );
    finish_job(&mut model, JobResult::Report(Box::new(at_risk_report())));
    assert!(screen_text(&model).contains("AT RISK"));
}

#[test]
fn rescan_keeps_old_report_until_complete() {
    let mut model = session_with_report(at_risk_report(), (80, 24), RICH);
    press_keys(&mut model, "r");
    send_job_progress(
        &mut model,
        JobProgress::Report(Box::new(report_without_targets())),
    );
    assert!(screen_text(&model).contains("AT RISK"));
    finish_job(
        &mut model,
        JobResult::Report(Box::new(report_without_targets())),
    );
    assert!(!screen_text(&model).contains("AT RISK"));
}
