//! Draws the short report: verdict, path, answers in columns, fixes with their commands, which are
//! never wrapped.
//!
//! Colour repeats the words in front, and ASCII repeats the marks; what is said is the business of
//! [`crate::telling::short`].

use super::{LineStyle, grid};
use crate::Report;
use crate::model::answer::AnswerAction;
use crate::telling::answers::AnswerRow;
use crate::telling::flush::UNBROKEN;
use crate::telling::short::{FixDetail, Piece, VisibleFixes, pieces};
use crate::telling::{Bullet, Detail, Mark, Tone};
use walwise_model::text::page::{TextBuilder, WIDTH};
use walwise_model::text::wrap::{Overlong, columns, wrap};

/// Columns for the words in front of a line, and in front of a fix.
const LABEL: usize = 11;
const LEVEL: usize = 12;
/// The least columns of the labels of answers.
const SETTING: usize = 17;

/// The most lines about one target: where nothing is to be fixed but advice, and where something
/// is.
const LINES: (usize, usize) = (24, 40);

pub fn render(report: &Report, style: LineStyle) -> String {
    let is_one = report.targets.len() == 1 && report.baseline.is_none() && report.what_if.is_none();
    let pieces = pieces(report);
    let is_urgent = pieces
        .iter()
        .any(|piece| matches!(piece, Piece::Fixes(list) if list.is_urgent()));
    let most = if is_urgent { LINES.1 } else { LINES.0 };
    let mut text = String::new();
    for detail in FixDetail::ALL {
        text = draw(&pieces, detail, style);
        if !is_one || text.lines().count() <= most {
            break;
        }
    }
    text
}

fn draw(pieces: &[Piece], detail: FixDetail, style: LineStyle) -> String {
    let mut page = ShortPage {
        out: String::new(),
        style,
    };
    for piece in pieces {
        match piece {
            Piece::Line(bullet) => page.bullet(bullet),
            Piece::Grid(one) => {
                let mut table = TextBuilder::default();
                grid(&mut table, 0, one);
                page.out.push_str(&table.finish());
            }
            Piece::Answers(rows) => page.answers(rows),
            Piece::Fixes(list) => page.fixes(&list.visible(detail)),
            Piece::Section(section) => {
                page.out
                    .push_str(&super::drawn(std::slice::from_ref(section)).finish());
            }
        }
    }
    let lines = page
        .out
        .lines()
        .map(|line| line.replace(UNBROKEN, " ").trim_end().to_owned() + "\n");
    let text: String = lines.collect();
    if style.ascii { in_ascii(&text) } else { text }
}

struct ShortPage {
    out: String,
    style: LineStyle,
}

impl ShortPage {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// A line whose end stands at the right edge; on a line of its own where both do not fit.
    fn line_and_end(&mut self, text: &str, end: &str) {
        let room = WIDTH.saturating_sub(columns(text));
        if end.is_empty() {
            self.line(text);
        } else if room > columns(end) {
            self.line(&format!("{text}{end:>room$}"));
        } else {
            self.line(text);
            self.line(&format!("{end:>WIDTH$}"));
        }
    }

    fn bullet(&mut self, bullet: &Bullet) {
        let label = bullet.marks.first().map(Mark::words).unwrap_or_default();
        let label = match columns(&label) {
            0 => String::new(),
            wide if wide < LABEL => format!("{label:<LABEL$}"),
            _ => format!("{label}  "),
        };
        let margin = if label.is_empty() {
            0
        } else {
            columns(&label).min(LABEL)
        };
        let colour = bullet.marks.first().and_then(colour);
        let mut lines = wrap(
            &bullet.says.to_string(),
            WIDTH - columns(&label).min(WIDTH / 2),
            Overlong::Whole,
        );
        let last = lines.pop().unwrap_or_default();
        let mut before = self.painted(&label, colour);
        for line in lines {
            self.line(&format!("{before}{line}"));
            before = " ".repeat(margin);
        }
        let escapes = before.len().saturating_sub(label.len());
        let line = format!("{before}{last}");
        if bullet.rule.is_empty() || columns(&line) - escapes + columns(&bullet.rule) >= WIDTH {
            self.line(&line);
            if !bullet.rule.is_empty() {
                self.line(&format!("{:>WIDTH$}", bullet.rule));
            }
        } else {
            let room = WIDTH - (columns(&line) - escapes);
            self.line(&format!("{line}{:>room$}", bullet.rule));
        }
        for detail in &bullet.beneath {
            self.detail(detail);
        }
    }

    /// Label, value in force, mark and recommended value; a long cell wraps within its column.
    fn answers(&mut self, rows: &[AnswerRow]) {
        let label = rows
            .iter()
            .map(|row| columns(row.label) + 1)
            .max()
            .unwrap_or_default()
            .max(SETTING);
        let now = if label > SETTING { 15 } else { 24 };
        let rest = WIDTH - label - now - 4;
        self.out.push('\n');
        self.line(&format!("{:label$}{:now$}  recommended", "", "now"));
        for row in rows {
            let left = wrap(&row.now, now - 1, Overlong::Cut);
            let right = wrap(&row.recommended, rest, Overlong::Cut);
            for at in 0..left.len().max(right.len()) {
                let cell = |cells: &[String]| cells.get(at).cloned().unwrap_or_default();
                let (name, mark) = if at == 0 {
                    (row.label, row.action.mark())
                } else {
                    ("", " ")
                };
                let recommended =
                    self.painted(&format!("{mark} {}", cell(&right)), role(row.action));
                let left = cell(&left);
                let gap = " ".repeat(now.saturating_sub(columns(&left)).max(1));
                self.line(&format!("{name:label$}{left}{gap}{recommended}"));
            }
        }
        self.out.push('\n');
    }

    fn fixes(&mut self, list: &VisibleFixes) {
        if list.entries.is_empty() && list.more.is_none() {
            return;
        }
        if list.entries.iter().any(|(number, _)| number.is_some()) {
            self.line("Fix first");
        }
        for (number, fix) in &list.entries {
            self.fix(*number, fix);
        }
        if let Some(more) = &list.more {
            for line in wrap(more, WIDTH, Overlong::Whole) {
                self.line(&line);
            }
        }
        if let Some(command) = &list.persist {
            let text = "To keep mount options over a reboot:";
            let fits = columns(text) + 1 + columns(command.as_str()) <= WIDTH;
            let command = self.painted(command.as_str(), Some(CYAN));
            self.line(&format!(
                "{text}{}{command}",
                if fits { " " } else { "\n  " }
            ));
        }
    }

    fn fix(&mut self, number: Option<usize>, fix: &Bullet) {
        let number = number
            .map(|number| format!("{number:<2}"))
            .unwrap_or_default();
        let level = fix.marks.first().map(Mark::words).unwrap_or_default();
        let margin = LEVEL;
        let front = format!("{number}{level:<width$}", width = margin - number.len());
        let aside = fix.aside.to_string();
        let lines = wrap(&fix.says.to_string(), WIDTH - margin, Overlong::Whole);
        let painted = self.painted(&front, fix.marks.first().and_then(colour));
        let escapes = columns(&painted) - columns(&front);
        let mut front = painted;
        for (at, line) in lines.iter().enumerate() {
            let is_last = at + 1 == lines.len();
            let text = format!("{front}{line}");
            let used = columns(&text) - if at == 0 { escapes } else { 0 };
            let room = WIDTH.saturating_sub(used);
            match is_last && !aside.is_empty() {
                true if room > columns(&aside) => self.line(&format!("{text}{aside:>room$}")),
                true => {
                    self.line(&text);
                    self.line(&format!("{aside:>WIDTH$}"));
                }
                false => self.line(&text),
            }
            front = " ".repeat(margin);
        }
        let mut seen = String::new();
        for detail in &fix.beneath {
            match detail {
                Detail::Aside(word, says) => seen = format!("  {word} {says}"),
                Detail::Commands(..)
                | Detail::Sentence(_)
                | Detail::Field(..)
                | Detail::More(_)
                | Detail::Becomes { .. }
                | Detail::Own(_) => self.detail(detail),
            }
        }
        let rules = wrap(&fix.rule, WIDTH - 2, Overlong::Whole);
        match rules.as_slice() {
            [one] if one.is_empty() && seen.is_empty() => {}
            [one] => self.line_and_end(&seen, one),
            many => {
                if !seen.is_empty() {
                    self.line(&seen);
                }
                for line in many {
                    self.line(&format!("  {line}"));
                }
            }
        }
    }

    fn detail(&mut self, detail: &Detail) {
        match detail {
            Detail::Commands(_, commands) => {
                for command in commands {
                    let painted = self.painted(command.as_str(), Some(CYAN));
                    self.line(&format!("  {painted}"));
                }
            }
            Detail::Sentence(says) | Detail::Field(_, says) | Detail::More(says) => {
                for line in wrap(&says.to_string(), WIDTH - 2, Overlong::Whole) {
                    self.line(&format!("  {line}"));
                }
            }
            Detail::Aside(..) | Detail::Becomes { .. } | Detail::Own(_) => {}
        }
    }

    fn painted(&self, text: &str, colour: Option<&str>) -> String {
        match colour {
            Some(colour) if self.style.colour && !text.is_empty() => {
                format!("\x1b[{colour}m{text}\x1b[0m")
            }
            _ => text.to_owned(),
        }
    }
}

const RED: &str = "1;31";
const GREEN: &str = "32";
const MAGENTA: &str = "35";
const CYAN: &str = "36";

/// The colour of a word in front, from the sixteen of the user's own palette.
fn colour(mark: &Mark) -> Option<&'static str> {
    match mark.tone() {
        Tone::Bad => Some(RED),
        Tone::Doubt => Some(MAGENTA),
        Tone::Good => Some(GREEN),
        Tone::Dim => None,
    }
}

/// The colour of a recommended value.
fn role(action: AnswerAction) -> Option<&'static str> {
    match action {
        AnswerAction::Keep => Some(GREEN),
        AnswerAction::Change | AnswerAction::Create => Some(CYAN),
        AnswerAction::Undecided => Some(MAGENTA),
        AnswerAction::NoAdvice | AnswerAction::NotApplicable => None,
    }
}

/// Our own marks in ASCII; what names of the machine hold stays as it is.
fn in_ascii(text: &str) -> String {
    let plain = [
        ("→ ", "> "),
        ("→", "->"),
        ("·", "-"),
        ("–", "-"),
        ("×", "x"),
        ("µ", "u"),
        ("✗", "X"),
        ("◆", "@"),
        ("≠", "#"),
        ("●", "*"),
        ("○", "o"),
    ];
    plain.iter().fold(text.to_owned(), |text, (rich, plain)| {
        text.replace(rich, plain)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Withheld, sample};
    use walwise_judge::rules::{Level, Outcome};
    use walwise_model::facts::Subject;
    use walwise_model::facts::note::RunNote;
    use walwise_model::settings::NewFilesystem;

    fn plain(report: &Report) -> String {
        render(
            report,
            LineStyle {
                colour: false,
                ascii: false,
            },
        )
    }

    /// All in one line, as words can be wrapped anywhere.
    fn flat(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_database_at_risk() {
        insta::assert_snapshot!(plain(&sample::at_risk()));
    }

    #[test]
    fn prose_fits_the_page_and_commands_stay_whole() {
        for report in sample::all() {
            for line in plain(&report).lines() {
                assert!(line.starts_with("  ") || columns(line) <= WIDTH, "{line}");
            }
            let text = plain(&report);
            for step in report.plans.iter().flat_map(|plan| &plan.steps) {
                if let [one] = step.advice.apply.as_slice()
                    && !one.as_str().starts_with("mkfs")
                    && text.contains(&step.title)
                {
                    assert!(
                        text.lines().any(|line| line.trim() == one.as_str()),
                        "{one}\n{text}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_script_of_a_wanted_file_system_makes_that_one() {
        let text = plain(&sample::wanting(NewFilesystem::Ext4));
        let script = "  walwise check /dev/sdc --fs ext4 --format script --output setup.sh";
        assert!(text.lines().any(|line| line == script), "{text}");
    }

    /// However much there is, nothing of this is cut.
    #[test]
    fn what_no_limit_cuts() {
        let mut report = sample::at_risk();
        let target = report.targets[0].target.clone();
        for number in 0..40 {
            let rule = format!("critical.number-{number}");
            report
                .findings
                .push(sample::finding(&rule, &target, Level::Critical, Vec::new()));
            let mut open = sample::finding(
                &format!("open.number-{number}"),
                &target,
                Level::Critical,
                Vec::new(),
            );
            open.outcome = Outcome::Undecided { needs: Vec::new() };
            report.findings.push(open);
            report.findings.push(sample::finding(
                &format!("warning.number-{number}"),
                &target,
                Level::Warning,
                Vec::new(),
            ));
            report.withheld.push(Withheld {
                rule: format!("withheld.number-{number}"),
                subject: target.clone(),
                advice: "mount.options: nobarrier".to_owned(),
                because: "the kernel refuses it".to_owned(),
            });
            report.warnings.push(
                RunNote::LayersBeyondBound {
                    target: format!("/run-{number}"),
                    layers: 9,
                    hidden: 1,
                }
                .into(),
            );
        }
        report.verdicts[0].limits = "Seen from a guest: a caveat.".to_owned();
        report.findings.sort_by(|a, b| a.place().cmp(&b.place()));
        let text = flat(&plain(&report));
        for number in 0..40 {
            for what in ["critical.number", "withheld.number", "open.number"] {
                assert!(
                    text.contains(&format!("{what}-{number}")),
                    "{what}-{number}\n{text}"
                );
            }
            assert!(text.contains(&format!("/run-{number}")), "{number}\n{text}");
        }
        assert!(text.contains("Undecided 40 critical: "), "{text}");
        assert!(text.contains("Seen from a guest: a caveat."), "{text}");
        assert!(
            !text.contains("warning.number-39") && text.contains("… (--only plan)"),
            "{text}"
        );
    }

    #[test]
    fn the_least_urgent_of_many_targets_are_counted() {
        let text = plain(&sample::disks(200));
        assert!(text.lines().count() <= 60, "{text}");
        assert!(text.contains("+ 188 more targets (-v)"), "{text}");
    }

    #[test]
    fn colour_repeats_what_words_say() {
        let report = sample::at_risk();
        let coloured = render(
            &report,
            LineStyle {
                colour: true,
                ascii: false,
            },
        );
        let mut without = coloured.clone();
        for code in [RED, GREEN, MAGENTA, CYAN, "0"] {
            without = without.replace(&format!("\x1b[{code}m"), "");
        }
        assert_ne!(coloured, without);
        assert_eq!(without, plain(&report));
    }

    #[test]
    fn an_ascii_terminal_gets_ascii() {
        for report in sample::all() {
            let text = render(
                &report,
                LineStyle {
                    colour: false,
                    ascii: true,
                },
            );
            let subjects: Vec<&Subject> = report.facts.all_subjects().collect();
            let ours = |c: char| {
                !c.is_ascii() && !subjects.iter().any(|subject| subject.name().contains(c))
            };
            assert!(!text.contains(ours), "{text}");
        }
    }
}
