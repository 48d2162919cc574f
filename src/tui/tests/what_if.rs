use proptest::prelude::*;
use ratatui::layout::Size;
use walwise_testkit::collapse_whitespace;

use super::*;
use crate::facts::{Value, catalog};
use crate::report::view::wording::plan_interruption_texts;
use crate::report::{FactAssumption, WhatIf};
use crate::rules::{Outcome, Risk};
use crate::tui::assumptions::{AssumedFact, AssumedHost};
use crate::tui::test_sessions::assumed_host_with_older_kernel;

fn session_with_assumption(size: (u16, u16), options: ScreenOptions) -> Model {
    let mut model = session_with_report(at_risk_report(), size, options);
    press_keys(&mut model, "w k e r n enter 4 . 1 4 . 2 0 0 enter");
    finish_job(
        &mut model,
        JobResult::AssumedHost(Box::new(assumed_host_with_older_kernel())),
    );
    model
}

fn tall_screen_text(model: &Model) -> String {
    let mut model = model.clone();
    model.size = Size::new(119, 300);
    press_keys(&mut model, "g");
    screen_text(&model)
}

#[test]
fn snapshots_of_what_if() {
    for (name, model) in named_sessions((80, 24), RICH) {
        if ["which fact", "which value", "no such value", "stating"].contains(&name) {
            insta::assert_snapshot!(
                format!("what_if_{}", name.replace(' ', "_")),
                screen_text(&model)
            );
        }
    }
    let mut texts = Vec::new();
    for size in [(80, 24), (120, 40), (60, 20)] {
        let mut model = session_with_assumption(size, RICH);
        texts.push(screen_text(&model));
        press_keys(&mut model, "4 g");
        texts.push(screen_text(&model));
    }
    insta::assert_snapshot!("what_if_sizes", texts.join("\n\n"));
    insta::assert_snapshot!(
        "what_if_no_colour",
        styled_text(&draw_screen(&session_with_assumption((80, 24), PLAIN)))
    );
}

#[test]
fn fact_is_found_by_typing_and_value_is_sent_unparsed() {
    let mut model = session_with_report(at_risk_report(), (80, 24), RICH);
    press_keys(&mut model, "w");
    assert!(
        screen_text(&model).contains("common"),
        "{}",
        screen_text(&model)
    );
    press_keys(&mut model, "v e r s i o n space h o s t");
    let screen = screen_text(&model);
    assert!(
        screen.contains("kernel.version") && !screen.contains("kernel.release"),
        "{screen}"
    );
    press_keys(
        &mut model,
        "backspace backspace backspace backspace backspace",
    );
    press_keys(&mut model, "esc w m o u n t . o p t enter");
    assert!(
        screen_text(&model).contains("rw,relatime"),
        "what it is now: {}",
        screen_text(&model)
    );
    assert_eq!(press_keys(&mut model, "enter"), [], "nothing is typed yet");
    press_keys(&mut model, "tab");
    assert!(
        screen_text(&model).contains("= rw,relatime_"),
        "the present value is there to be changed"
    );
    let started = press_keys(&mut model, "backspace q enter");
    let wanted = AssumedFact {
        subject: Subject::mount("/srv"),
        fact: "mount.options",
        value: "rw,relatimq".to_owned(),
    };
    assert!(
        matches!(&started[..], [SideEffect::Start(_, Job::Suppose(all))] if *all == [wanted.clone()]),
        "{started:?}"
    );
    assert_eq!(press_keys(&mut model, "enter"), [], "one at a time");
    finish_job(&mut model, JobResult::Failed("`rw` is not".to_owned()));
    let screen = screen_text(&model);
    assert!(
        screen.contains("`rw` is not") && screen.contains("rw,relatimq_"),
        "{screen}"
    );
    press_keys(&mut model, "esc");
    assert!(
        screen_text(&model).contains("choose a fact"),
        "back to the facts"
    );
    press_keys(&mut model, "esc");
    assert!(model.overlay.is_none() && model.exit.is_none());
}

#[test]
fn allowed_values_of_a_choice_fact_are_offered() {
    let mut model = session_with_report(at_risk_report(), (80, 24), RICH);
    press_keys(&mut model, "w b a t t e r y space s d a enter");
    let screen = screen_text(&model);
    for word in ["healthy", "charging", "failed", "absent"] {
        assert!(screen.contains(word), "{word}: {screen}");
    }
    let started = press_keys(&mut model, "f a i enter");
    assert!(
        matches!(&started[..], [SideEffect::Start(_, Job::Suppose(all))] if all[0].value == "failed"),
        "{started:?}"
    );
}

#[test]
fn assumed_differences_are_shown_beside_the_real_plan() {
    let real = session_with_report(at_risk_report(), (120, 40), RICH);
    let mut model = session_with_assumption((120, 40), RICH);
    let overview = tall_screen_text(&model);
    for says in [
        "AT RISK",
        "unproven",
        "kernel.release = 4.14.200 (assumed; actual: 6.1.0-28-amd64)",
        "W: real host",
    ] {
        assert!(overview.contains(says), "{says}: {overview}");
    }
    press_keys(&mut model, "4");
    let advice = tall_screen_text(&model);
    for says in [
        "Title of ext4.option-ignored (ext4.option-ignored)",
        "kernel.vendor of host: unknown → mainline (assumed)",
        "without  mount.options: ",
        "Assumptions do not affect plans, exports or the exit code.",
    ] {
        assert!(advice.contains(says), "{says}: {advice}");
    }
    // The real plan must stay complete and in its place, and copied commands must be those for the
    // real host.
    let mut plain = real.clone();
    press_keys(&mut plain, "4");
    let of_plan = |screen: &str| {
        let from = screen.find("Plan, in order of application").unwrap();
        let lines = screen[from..].lines().filter(|line| !line.is_empty());
        let lines = lines.take_while(|line| !line.contains("────"));
        lines.map(|line| line.replace('▌', " ")).collect::<Vec<_>>()
    };
    assert_eq!(of_plan(&advice), of_plan(&tall_screen_text(&plain)));
    for screen in ["1", "3", "4"] {
        press_keys(&mut model, screen);
        assert!(
            screen_text(&model).contains("WHAT IF  kernel.release = 4.14.200"),
            "on every screen"
        );
    }
    press_keys(&mut model, "W");
    for screen in ["1", "3", "4"] {
        let mut plain = real.clone();
        press_keys(&mut plain, screen);
        press_keys(&mut model, screen);
        model.notice = None;
        // The footer depends on the previous screen.
        let page = |model: &Model| {
            let shown = tall_screen_text(model);
            shown
                .lines()
                .filter(|line| !line.contains("q quit"))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(page(&model), page(&plain));
    }
}

#[test]
#[ignore = "exhaustive"]
fn risky_assumed_advice_is_listed_but_never_copied() {
    let mut model = session_with_assumption((120, 40), RICH);
    press_keys(&mut model, "4");
    let page = tall_screen_text(&model);
    assert!(
        page.contains("Would be offered") && page.contains("add nobarrier on /srv"),
        "{page}"
    );
    let rows = page.lines().count();
    assert_eq!(press_keys(&mut model, "Y"), [], "of no real host");
    press_keys(&mut model, "g");
    for _ in 0..rows {
        for effect in press_keys(&mut model, "enter y j") {
            let SideEffect::Copy(text) = effect else {
                panic!("{effect:?}")
            };
            assert!(!text.contains("nobarrier"), "{text}");
        }
        let screen = tall_screen_text(&model);
        assert!(
            !screen.contains("remount,nobarrier /srv\n") || screen.contains("undo"),
            "{screen}"
        );
    }
    let report = model.data.report.as_ref().unwrap();
    let risky = |step: &&crate::report::Step| step.advice.risk == Risk::DataLossIfWrong;
    assert_eq!(
        report
            .plans
            .iter()
            .flat_map(|plan| &plan.steps)
            .filter(risky)
            .count(),
        0
    );
}

#[test]
fn assumptions_accumulate_change_and_are_removed() {
    let mut model = session_with_assumption((80, 24), RICH);
    press_keys(&mut model, "w");
    assert!(
        screen_text(&model).contains("assumed 4.14.200"),
        "{}",
        screen_text(&model)
    );
    let started = press_keys(&mut model, "esc w f s t y p e enter x f s enter");
    let [SideEffect::Start(_, Job::Suppose(all))] = &started[..] else {
        panic!("{started:?}")
    };
    let facts: Vec<&str> = all.iter().map(|one| one.fact).collect();
    assert_eq!(facts, ["kernel.release", "mount.fstype"]);
    let mut both = assumed_host_with_older_kernel();
    both.suppositions.clone_from(all);
    finish_job(&mut model, JobResult::AssumedHost(Box::new(both)));
    // Choosing a fact again replaces its value.
    let started = press_keys(&mut model, "w f s t y p e enter z f s enter");
    let [SideEffect::Start(_, Job::Suppose(all))] = &started[..] else {
        panic!("{started:?}")
    };
    let values: Vec<&str> = all.iter().map(|one| one.value.as_str()).collect();
    assert_eq!(values, ["4.14.200", "zfs"]);
    finish_job(
        &mut model,
        JobResult::AssumedHost(Box::new(assumed_host_with_older_kernel())),
    );
    // Removing the last assumption returns to the real host.
    press_keys(&mut model, "w enter");
    assert!(
        screen_text(&model).contains("the real value"),
        "{}",
        screen_text(&model)
    );
    assert_eq!(press_keys(&mut model, "enter"), []);
    assert!(model.data.assumed_host.is_none() && model.overlay.is_none());
    assert!(!screen_text(&model).contains("WHAT IF"));
}

#[test]
fn rescan_reevaluates_assumptions() {
    let mut model = session_with_assumption((80, 24), RICH);
    press_keys(&mut model, "r");
    let effects = finish_job(&mut model, JobResult::Report(Box::new(at_risk_report())));
    assert!(
        matches!(&effects[..], [SideEffect::Start(_, Job::Suppose(all))] if all[0].fact == "kernel.release"),
        "{effects:?}"
    );
    let mut left = model.clone();
    finish_job(
        &mut model,
        JobResult::Failed("there is no such fact any more".to_owned()),
    );
    assert!(model.data.assumed_host.is_none());
    assert!(screen_text(&model).contains("assumptions dropped: there is no such fact any more"));
    // A result that arrives after the user has left the assumptions is dropped.
    let job = left.data.activity.job_id().unwrap();
    press_keys(&mut left, "W");
    update(
        &mut left,
        Msg::Done(
            job,
            JobResult::AssumedHost(Box::new(assumed_host_with_older_kernel())),
        ),
    );
    assert!(left.data.assumed_host.is_none() && left.data.activity == BackgroundActivity::Idle);
}

#[test]
fn missing_fact_offers_root_command_and_value_entry() {
    let mut model = session_with_report(at_risk_report(), (120, 60), RICH);
    model.page_state_mut().list.selected = Some("need ext4.features mount /srv".to_owned());
    press_keys(&mut model, "enter");
    let screen = screen_text(&model);
    assert!(
        screen.contains("as root") && screen.contains("enters a value"),
        "{screen}"
    );
    assert_eq!(
        press_keys(&mut model, "y"),
        [SideEffect::Copy("sudo walwise /srv/pg/15/main".to_owned())]
    );
    press_keys(&mut model, "i");
    let screen = screen_text(&model);
    assert!(
        screen.contains("Enter a value: ext4.features of mount /srv"),
        "{screen}"
    );
    assert!(screen.contains("unknown: denied"), "{screen}");
    press_keys(&mut model, "esc");
    assert!(model.overlay.is_none(), "there is no list to return to");
    press_keys(&mut model, "i");
    let effects = press_keys(&mut model, "f a s t _ c o m m i t enter");
    let [SideEffect::Start(_, Job::Suppose(all))] = &effects[..] else {
        panic!("{effects:?}")
    };
    let stated = crate::tui::AssumedHost {
        suppositions: all.clone(),
        ..assumed_host_with_older_kernel()
    };
    finish_job(&mut model, JobResult::AssumedHost(Box::new(stated)));
    assert!(
        tall_screen_text(&model).contains("stated: fast_commit"),
        "{}",
        tall_screen_text(&model)
    );
    press_keys(&mut model, "1 g");
    assert_eq!(
        press_keys(&mut model, "i"),
        [],
        "the verdict is no fact to be stated"
    );
    let mut capture = at_risk_report();
    capture.host.live = false;
    let mut capture = session_with_report(capture, (120, 40), RICH);
    capture.page_state_mut().list.selected = Some("need ext4.features mount /srv".to_owned());
    assert_eq!(
        press_keys(&mut capture, "y"),
        [],
        "no command here would look at that machine"
    );
}

#[test]
fn advice_screen_states_interruptions_as_in_text() {
    for report in [at_risk_report(), sample_reports::free_disk()] {
        let mut model = session_with_report(report, (120, 40), RICH);
        press_keys(&mut model, "4");
        let says = plan_interruption_texts(model.data.target_plan().unwrap()).join("; ");
        assert!(
            tall_screen_text(&model).contains(&format!("interrupts  {says}")),
            "{says}: {}",
            tall_screen_text(&model)
        );
    }
}

#[test]
fn step_details_equal_text_report() {
    for report in sample_reports::at_risk_and_free_disk() {
        let text = crate::report::text::render(&report);
        let mut model = session_with_report(report, (120, 40), RICH);
        press_keys(&mut model, "4");
        let plan = model.data.target_plan().unwrap().clone();
        for step in plan.steps.iter().chain(&plan.options) {
            model.pages.clear();
            let key = crate::report::view::ItemRef::from_step(step).key;
            let is_option = plan.options.contains(step);
            let selected = if is_option {
                format!("option {key}")
            } else {
                key
            };
            model.page_state_mut().list.selected = Some(selected);
            press_keys(&mut model, "enter");
            let page = without_whitespace(&tall_screen_text(&model));
            for label in [
                "affects",
                "trade-off",
                "or",
                "lasts",
                "apply",
                "verify",
                "undo",
            ] {
                for said in step_field_texts(&text, step, label) {
                    assert!(
                        page.contains(&without_whitespace(&said)),
                        "{label} {said}:\n{}",
                        tall_screen_text(&model)
                    );
                }
            }
        }
    }
}

fn without_whitespace(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn step_field_texts(text: &str, step: &crate::report::Step, label: &str) -> Vec<String> {
    let head = format!(
        "{} of {}: ",
        step.advice.setting,
        crate::report::view::wording::describe_subject(&step.subject)
    );
    let lines = text
        .lines()
        .skip_while(|line| !line.contains(&head))
        .skip(1);
    let own =
        lines.take_while(|line| line.starts_with("        ") || line.starts_with("    Already"));
    own.filter_map(|line| line.trim_start().strip_prefix(label)?.strip_prefix(' '))
        .map(|said| said.trim().to_owned())
        .collect()
}

fn assumed_host_with_entered_fact() -> AssumedHost {
    let (real, mut then) = (at_risk_report(), at_risk_report());
    then.findings
        .retain(|finding| finding.rule != "ext4.journal-features");
    for finding in then
        .findings
        .iter_mut()
        .filter(|finding| finding.rule == "ext4.fast-commit")
    {
        finding.outcome = Outcome::Applies;
    }
    let (subject, fact) = (Subject::mount("/srv"), "ext4.features");
    let really = real.facts.reading_by_name(&subject, fact).clone();
    let value = Value::List(vec!["fast_commit".to_owned()]);
    let assumed = vec![FactAssumption {
        subject: subject.clone(),
        fact: fact.to_owned(),
        value,
        really,
    }];
    let suppositions = vec![AssumedFact {
        subject,
        fact,
        value: "fast_commit".to_owned(),
    }];
    AssumedHost {
        suppositions,
        what_if: WhatIf::new(assumed, &real, &then, &then),
        report: then,
    }
}

#[test]
fn entered_fact_shows_decided_rules_and_its_limits() {
    let told = [
        "stated ext4.features of mount /srv = fast_commit (stated, never permits changes that can lose data; actual: unknown: \
         denied)",
        "decided ext4.journal-features does not apply, ext4.fast-commit applies",
    ];
    for width in [80, 119] {
        let mut model = session_with_report(at_risk_report(), (width, 24), PLAIN);
        press_keys(&mut model, "u j i f a s t _ c o m m i t enter");
        finish_job(
            &mut model,
            JobResult::AssumedHost(Box::new(assumed_host_with_entered_fact())),
        );
        let screen = screen_text(&model);
        let banner = screen.lines().nth(2).unwrap();
        assert!(
            banner.contains("WHAT IF  ext4.features of mount /srv = fast_commit (stated) ─"),
            "{banner}"
        );
        for said in told {
            assert!(
                collapse_whitespace(&screen).contains(said),
                "{said}: {screen}"
            );
        }
        press_keys(&mut model, "4");
        for said in told {
            assert!(
                collapse_whitespace(&screen_text(&model)).contains(said),
                "{said}: {}",
                screen_text(&model)
            );
        }
    }
    let report = Report {
        what_if: Some(assumed_host_with_entered_fact().what_if),
        ..at_risk_report()
    };
    let text = crate::report::text::render(&report);
    for said in told {
        assert!(collapse_whitespace(&text).contains(said), "{said}: {text}");
    }
}

proptest! {
    #[test]
    #[ignore = "exhaustive"]
    fn picker_keys_start_only_assumption_evaluation(keys in prop::collection::vec(any_picker_key(), 0..25)) {
        let mut model = session_with_assumption((80, 24), RICH);
        press_keys(&mut model, "w");
        for key in keys {
            for effect in press_keys(&mut model, &key) {
                prop_assert!(matches!(effect, SideEffect::Start(_, Job::Suppose(_))), "{key}: {effect:?}");
            }
            if model.overlay.is_none() {
                break;
            }
        }
        let _ = screen_text(&model);
        prop_assert!(model.exit.is_none());
        prop_assert_eq!(model.data.report.as_deref(), Some(&at_risk_report()));
    }

    #[test]
    fn picker_offers_only_assumable_facts(which: prop::sample::Index) {
        let model = session_with_report(at_risk_report(), (80, 24), RICH);
        let all: Vec<_> = catalog::all_keys().collect();
        let key = which.get(&all);
        for subject in &model.data.focus.related.clone() {
            let offered = crate::tui::what_if::AssumptionPicker::for_fact(&model.data, subject, key.name).is_some();
            prop_assert!(!offered || crate::report::can_be_assumed(key.name), "{}", key.name);
            prop_assert!(!offered || key.scope == subject.scope(), "{}", key.name);
        }
    }
}

fn any_picker_key() -> impl Strategy<Value = String> {
    let special = [
        "up",
        "down",
        "pgup",
        "pgdn",
        "home",
        "end",
        "enter",
        "tab",
        "backspace",
        "esc",
    ];
    prop_oneof![
        prop::sample::select(special.to_vec()).prop_map(str::to_owned),
        "[a-z.]".prop_map(|typed| typed),
    ]
}

#[test]
fn leading_equals_sign_is_refused_with_hint() {
    let mut model = session_with_report(at_risk_report(), (80, 24), RICH);
    press_keys(&mut model, "w k e r n enter = 6 . 1");
    assert!(
        screen_text(&model).contains("type the value of kernel.release without “=”: 6.1"),
        "{}",
        screen_text(&model)
    );
    assert_eq!(press_keys(&mut model, "enter"), [], "it is no kernel");
    press_keys(&mut model, "ctrl-u 6 . 1");
    assert!(!screen_text(&model).contains("without “=”"));
    assert!(matches!(
        &press_keys(&mut model, "enter")[..],
        [SideEffect::Start(..)]
    ));
}
