//! Draws the short report: a word in the left column, what it says beside it, its rule at the right edge, and commands beneath,
//! which are never wrapped.
//!
//! Colour repeats the words in front, and ASCII repeats the marks; what is said is the business of
//! [`crate::report::telling::short`].

use std::fmt::Write as _;

use super::{LineStyle, grid};
use crate::report::Report;
use crate::report::telling::flush::UNBROKEN;
use crate::report::telling::short::{Piece, pieces};
use crate::report::telling::{Bullet, Detail, Mark, Tone};
use crate::text::page::{TextBuilder, WIDTH};
use crate::text::wrap::{Overlong, columns, wrap};

/// Columns for the words in front.
const LABEL: usize = 9;

pub fn render(report: &Report, style: LineStyle) -> String {
    let mut page = ShortPage { out: String::new(), style };
    for piece in pieces(report) {
        match piece {
            Piece::Line(bullet) => page.bullet(&bullet),
            Piece::Targets(targets) => {
                let mut table = TextBuilder::default();
                grid(&mut table, 0, &targets);
                page.out.push_str(&table.finish());
            }
            Piece::Section(section) => {
                page.out.push_str(&super::drawn(&[section]).finish());
            }
        }
    }
    let lines = page.out.lines().map(|line| line.replace(UNBROKEN, " ").trim_end().to_owned() + "\n");
    let text: String = lines.collect();
    if style.ascii { in_ascii(&text) } else { text }
}

struct ShortPage {
    out: String,
    style: LineStyle,
}

impl ShortPage {
    fn bullet(&mut self, bullet: &Bullet) {
        let label = bullet.marks.first().map(Mark::words).unwrap_or_default();
        let label = match columns(&label) {
            0 => String::new(),
            wide if wide < LABEL => format!("{label:<LABEL$}"),
            _ => format!("{label}  "),
        };
        let margin = if label.is_empty() { 0 } else { LABEL };
        let mut lines = hanging(&bullet.says.to_string(), WIDTH - columns(&label).min(WIDTH / 2), margin);
        if let Some(last) = lines.last_mut()
            && !bullet.rule.is_empty()
        {
            let used = if lines_are_one(&bullet.says.to_string(), last) { columns(&label) } else { margin };
            let room = WIDTH.saturating_sub(used + columns(last));
            let wide = columns(&bullet.rule);
            if room > wide + 1 {
                let _ = write!(last, "{:>room$}", bullet.rule);
            } else {
                let room = WIDTH.saturating_sub(margin).max(wide);
                lines.push(format!("{:>room$}", bullet.rule));
            }
        }
        let colour = bullet.marks.first().and_then(colour);
        for (at, line) in lines.iter().enumerate() {
            if at == 0 {
                let painted = self.painted(&label, colour);
                let _ = writeln!(self.out, "{painted}{line}");
            } else {
                let _ = writeln!(self.out, "{:margin$}{line}", "");
            }
        }
        for detail in &bullet.beneath {
            self.detail(detail);
        }
    }

    fn detail(&mut self, detail: &Detail) {
        match detail {
            Detail::Commands(_, commands) => {
                for command in commands {
                    let painted = self.painted(command.as_str(), Some(CYAN));
                    let _ = writeln!(self.out, "  {painted}");
                }
            }
            Detail::Sentence(says) | Detail::Field(_, says) | Detail::More(says) => {
                for line in wrap(&says.to_string(), WIDTH - LABEL, Overlong::Whole) {
                    let _ = writeln!(self.out, "{:LABEL$}{line}", "");
                }
            }
            Detail::Aside(..) | Detail::Becomes { .. } | Detail::Own(_) => {}
        }
    }

    fn painted(&self, text: &str, colour: Option<&str>) -> String {
        match colour {
            Some(colour) if self.style.colour && !text.is_empty() => format!("\x1b[{colour}m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }
}

/// Lines of which the first has other room than the rest, which begin at a margin.
fn hanging(text: &str, first: usize, margin: usize) -> Vec<String> {
    let text = text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let mut lines = wrap(&text, first, Overlong::Whole);
    lines.truncate(1);
    let rest = lines.first().and_then(|line| text.get(line.len()..)).unwrap_or_default().trim_start();
    if !rest.is_empty() {
        lines.extend(wrap(rest, WIDTH - margin, Overlong::Whole));
    }
    lines
}

/// Whether a line is all of a text.
fn lines_are_one(text: &str, line: &str) -> bool {
    columns(text.trim()) == columns(line)
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

/// Our own marks in ASCII; what names of the machine hold stays as it is.
fn in_ascii(text: &str) -> String {
    let plain = [
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
    plain.iter().fold(text.to_owned(), |text, (rich, plain)| text.replace(rich, plain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Subject;
    use crate::facts::note::RunNote;
    use crate::report::{Withheld, sample};
    use crate::rules::{Level, Outcome};

    fn plain(report: &Report) -> String {
        render(report, LineStyle { colour: false, ascii: false })
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
                    && text.contains(&step.title)
                {
                    assert!(text.lines().any(|line| line.trim() == one.as_str()), "{one}\n{text}");
                }
            }
        }
    }

    /// However much there is, nothing of this is cut.
    #[test]
    fn what_no_limit_cuts() {
        let mut report = sample::at_risk();
        let target = report.targets[0].target.clone();
        for number in 0..40 {
            let rule = format!("critical.number-{number}");
            report.findings.push(sample::finding(&rule, &target, Level::Critical, Vec::new()));
            let mut open =
                sample::finding(&format!("open.number-{number}"), &target, Level::Critical, Vec::new());
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
                RunNote::LayersBeyondBound { target: format!("/run-{number}"), layers: 9, hidden: 1 }.into(),
            );
        }
        report.verdicts[0].limits = "Seen from a guest: a caveat.".to_owned();
        report.findings.sort_by(|a, b| a.place().cmp(&b.place()));
        let text = flat(&plain(&report));
        for number in 0..40 {
            for what in ["critical.number", "withheld.number", "open.number"] {
                assert!(text.contains(&format!("{what}-{number}")), "{what}-{number}\n{text}");
            }
            assert!(text.contains(&format!("/run-{number}")), "{number}\n{text}");
        }
        assert!(text.contains("open 40 critical, undecided: "), "{text}");
        assert!(text.contains("Seen from a guest: a caveat."), "{text}");
        assert!(!text.contains("warning.number-39") && text.contains(" more (-v)"), "{text}");
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
        let coloured = render(&report, LineStyle { colour: true, ascii: false });
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
            let text = render(&report, LineStyle { colour: false, ascii: true });
            let subjects: Vec<&Subject> = report.facts.all_subjects().collect();
            let ours = |c: char| !c.is_ascii() && !subjects.iter().any(|subject| subject.name().contains(c));
            assert!(!text.contains(ours), "{text}");
        }
    }
}
