//! Every parser at once, on recorded hosts with one answer replaced by noise or refused. walwise
//! never panics, and all output stays display-safe. [`super::lost`] tests what lost answers do to a
//! verdict.

use std::sync::LazyLock;

use proptest::prelude::*;
use walwise::session::Session;
use walwise_collect::{Request, run_all_collectors};
use walwise_judge::rules::RuleSet;
use walwise_model::facts::{FactRow, FactSet, Reading};
use walwise_model::text::is_display_unsafe;
use walwise_report::{Report, json, text};
use walwise_sys::host::capture_format::{self, Answers};
use walwise_sys::host::{Host, HostError, HostErrorKind, HostResult, Question};

pub struct GarbledHost<'a> {
    pub answers: &'a Answers,
    pub question: Option<&'a Question>,
    pub answer: HostResult,
}

impl<'a> GarbledHost<'a> {
    pub fn with_unchanged_answers(answers: &'a Answers) -> Self {
        Self {
            answers,
            question: None,
            answer: Ok(Vec::new()),
        }
    }
}

impl Host for GarbledHost<'_> {
    fn ask(&self, question: &Question) -> Result<Vec<u8>, HostError> {
        if self.question == Some(question) {
            return self.answer.clone();
        }
        let unknown = || {
            Err(HostError::new(
                HostErrorKind::NotCollected,
                "not in the capture",
            ))
        };
        self.answers.get(question).cloned().unwrap_or_else(unknown)
    }
}

pub static HOSTS: LazyLock<Vec<(String, String, Answers)>> = LazyLock::new(|| {
    let of = |name: String| {
        let (answers, _) =
            capture_format::parse_capture(&std::fs::read(super::host(&name)).unwrap()).unwrap();
        let target = super::table::recorded_target(&name).to_owned();
        (name, target, answers)
    };
    super::recorded_host_names().into_iter().map(of).collect()
});

pub fn collect_facts(host: &GarbledHost<'_>, target: &str) -> FactSet {
    let request = Request {
        target: Some(target.into()),
        ..Request::default()
    };
    run_all_collectors(host, &request, &mut |_, _| {})
}

pub fn collect_and_report(host: &GarbledHost<'_>, target: &str) -> (Session, Report) {
    let request = Request {
        target: Some(target.into()),
        ..Request::default()
    };
    let session = Session::collect_from_host(host, &request, RuleSet::builtin(), &mut |_, _| {});
    let report = session.build_report();
    (session, report)
}

fn is_display_safe(text: &str) -> bool {
    !text.chars().any(|c| is_display_unsafe(c) && c != '\n')
}

fn garble_answer(bytes: &[u8], noise: &[u8], at: usize, how: u8) -> HostResult {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    let line = if lines.is_empty() {
        0
    } else {
        at % lines.len()
    };
    let (before, after) = lines.split_at(line);
    match how {
        0 => Ok(noise.to_vec()),
        1 => Ok([&before.concat(), noise, b"\n", &after.concat()].concat()),
        2 => Ok([
            &before.concat(),
            noise,
            &after.get(1..).unwrap_or_default().concat(),
        ]
        .concat()),
        3 => Ok(bytes[..if bytes.is_empty() {
            0
        } else {
            at % bytes.len()
        }]
            .to_vec()),
        4 => Ok([bytes, bytes].concat()),
        _ => Err(HostError::new(
            [
                HostErrorKind::Denied,
                HostErrorKind::TimedOut,
                HostErrorKind::Failed,
            ][at % 3],
            "refused",
        )),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn noise_answer_never_fails_and_is_display_safe(
        host in any::<prop::sample::Index>(),
        question in any::<prop::sample::Index>(),
        noise in prop_oneof![any::<Vec<u8>>(), "[ -~]{0,40}".prop_map(String::into_bytes)],
        at: usize,
        how in 0u8..6,
    ) {
        let (name, target, answers) = host.get(&HOSTS);
        let (question, answer) = answers.iter().nth(question.index(answers.len())).unwrap();
        let answer = garble_answer(answer.as_deref().unwrap_or_default(), &noise, at, how);
        let host = GarbledHost { answers, question: Some(question), answer };
        let (session, report) = collect_and_report(&host, target);
        for FactRow { subject, fact, reading } in session.facts.rows() {
            let shown = match reading {
                Reading::Known { value, source } => format!("{value} {source}"),
                Reading::Unknown { detail, .. } => detail.clone(),
            };
            prop_assert!(is_display_safe(&shown) && is_display_safe(subject.name()), "{name}, {question:?}: {fact} of {subject}: {shown:?}");
        }
        prop_assert!(is_display_safe(&text::render(&report)) && is_display_safe(&json::render_report(&report)), "{name}, {question:?}");
    }
}
