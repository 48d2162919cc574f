//! Renders the short report. Colour only repeats what words express, symbols have ASCII forms, and
//! commands never wrap.

use super::{TextOutputStyle, write_grid};
use crate::Report;
use crate::model::answer::AnswerAction;
use crate::view::answers::AnswerRow;
use crate::view::flush_path::NO_BREAK_SPACE;
use crate::view::short_report::{FixDetailLimit, ShortPart, VisibleFixes, short_report_parts};
use crate::view::{Bullet, Detail, Tone};
use walwise_model::text::page_layout::{TextPage, WIDTH};
use walwise_model::text::wrap::{WordOverflow, display_width, wrap_text};

/// Width of the labels at the start of lines, in columns.
const LABEL_WIDTH: usize = 11;
/// Width of the levels before fixes, in columns.
const LEVEL_WIDTH: usize = 12;
/// The smallest width of setting names, in columns; shorter names are padded.
const MIN_SETTING_WIDTH: usize = 17;

/// Limits on the lines for one target: the second applies to targets with warnings or critical
/// fixes, the first to all others.
const MAX_LINES: (usize, usize) = (24, 40);

pub fn render(report: &Report, style: TextOutputStyle) -> String {
    let is_one = report.targets.len() == 1 && report.baseline.is_none() && report.what_if.is_none();
    let pieces = short_report_parts(report);
    let is_urgent = pieces
        .iter()
        .any(|piece| matches!(piece, ShortPart::Fixes(list) if list.has_urgent_fix()));
    let most = if is_urgent { MAX_LINES.1 } else { MAX_LINES.0 };
    let mut text = String::new();
    for detail in FixDetailLimit::ALL {
        text = render_short_parts(&pieces, detail, style);
        if !is_one || text.lines().count() <= most {
            break;
        }
    }
    text
}

fn render_short_parts(
    pieces: &[ShortPart],
    detail: FixDetailLimit,
    style: TextOutputStyle,
) -> String {
    let mut page = ShortReportWriter {
        out: String::new(),
        style,
    };
    for piece in pieces {
        match piece {
            ShortPart::Line(bullet) => page.push_bullet(bullet),
            ShortPart::Grid(one) => {
                let mut table = TextPage::default();
                write_grid(&mut table, 0, one);
                page.out.push_str(&table.into_text());
            }
            ShortPart::Answers(rows) => page.push_answers(rows),
            ShortPart::Fixes(list) => page.push_fixes(&list.visible_fixes(detail)),
            ShortPart::Section(section) => {
                page.out
                    .push_str(&super::layout_sections(std::slice::from_ref(section)).into_text());
            }
        }
    }
    let lines = page.out.lines();
    let text: String = lines
        .map(|line| line.replace(NO_BREAK_SPACE, " ").trim_end().to_owned() + "\n")
        .collect();
    if style.ascii {
        symbols_to_ascii(&text)
    } else {
        text
    }
}

struct ShortReportWriter {
    out: String,
    style: TextOutputStyle,
}

impl ShortReportWriter {
    fn push_line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Pushes lines below each other: the label before the first, `margin` blanks before the
    /// others, and `end` right-aligned on the last line, or on its own line if it does not fit.
    fn push_hanging(
        &mut self,
        label: &str,
        colour: Option<&str>,
        margin: usize,
        lines: &[String],
        end: &str,
    ) {
        let mut front = label.to_owned();
        let last = lines.len().saturating_sub(1);
        for (at, line) in lines.iter().enumerate() {
            // The escape sequences for colour take no columns.
            let room = WIDTH.saturating_sub(display_width(&front) + display_width(line));
            let painted = if at == 0 {
                self.colour_text(&front, colour)
            } else {
                front
            };
            if at == last && !end.is_empty() && room > display_width(end) {
                self.push_line(&format!("{painted}{line}{end:>room$}"));
            } else {
                self.push_line(&format!("{painted}{line}"));
                if at == last && !end.is_empty() {
                    self.push_line(&format!("{end:>WIDTH$}"));
                }
            }
            front = " ".repeat(margin);
        }
    }

    fn push_bullet(&mut self, bullet: &Bullet) {
        let (label, colour) = badge_text_and_colour(bullet);
        let label = match display_width(&label) {
            0 => String::new(),
            wide if wide < LABEL_WIDTH => format!("{label:<LABEL_WIDTH$}"),
            _ => format!("{label}  "),
        };
        let lines = wrap_text(
            &bullet.text.to_string(),
            WIDTH - display_width(&label).min(WIDTH / 2),
            WordOverflow::Keep,
        );
        let margin = display_width(&label).min(LABEL_WIDTH);
        self.push_hanging(&label, colour, margin, &lines, &bullet.rule);
        for detail in &bullet.details {
            self.push_detail(detail);
        }
    }

    fn push_answers(&mut self, rows: &[AnswerRow]) {
        let label = rows
            .iter()
            .map(|row| display_width(row.label) + 1)
            .max()
            .unwrap_or_default()
            .max(MIN_SETTING_WIDTH);
        let now = if label > MIN_SETTING_WIDTH { 15 } else { 24 };
        let rest = WIDTH - label - now - 4;
        self.out.push('\n');
        self.push_line(&format!("{:label$}{:now$}  recommended", "", "now"));
        for row in rows {
            let left = wrap_text(&row.now, now - 1, WordOverflow::Cut);
            let right = wrap_text(&row.recommended, rest, WordOverflow::Cut);
            for at in 0..left.len().max(right.len()) {
                let cell = |cells: &[String]| cells.get(at).cloned().unwrap_or_default();
                let (name, mark) = if at == 0 {
                    (row.label, row.action.action_symbol())
                } else {
                    ("", " ")
                };
                let recommended = self.colour_text(
                    &format!("{mark} {}", cell(&right)),
                    action_colour(row.action),
                );
                let left = cell(&left);
                let gap = " ".repeat(now.saturating_sub(display_width(&left)).max(1));
                self.push_line(&format!("{name:label$}{left}{gap}{recommended}"));
            }
        }
        self.out.push('\n');
    }

    fn push_fixes(&mut self, list: &VisibleFixes) {
        if list.entries.is_empty() && list.more.is_none() {
            return;
        }
        if list.entries.iter().any(|(number, _)| number.is_some()) {
            self.push_line("Fix first");
        }
        for (number, fix) in &list.entries {
            self.push_fix(*number, fix);
        }
        if let Some(more) = &list.more {
            for line in wrap_text(more, WIDTH, WordOverflow::Keep) {
                self.push_line(&line);
            }
        }
        if let Some(command) = &list.persist {
            let text = "To keep mount options across reboots:";
            let fits = display_width(text) + 1 + display_width(command.as_str()) <= WIDTH;
            let command = self.colour_text(command.as_str(), Some(CYAN));
            self.push_line(&format!(
                "{text}{}{command}",
                if fits { " " } else { "\n  " }
            ));
        }
    }

    fn push_fix(&mut self, number: Option<usize>, fix: &Bullet) {
        let number = number
            .map(|number| format!("{number:<2}"))
            .unwrap_or_default();
        let (level, colour) = badge_text_and_colour(fix);
        let front = format!(
            "{number}{level:<width$}",
            width = LEVEL_WIDTH - number.len()
        );
        let lines = wrap_text(
            &fix.text.to_string(),
            WIDTH - LEVEL_WIDTH,
            WordOverflow::Keep,
        );
        self.push_hanging(&front, colour, LEVEL_WIDTH, &lines, &fix.note.to_string());
        let mut seen = String::new();
        for detail in &fix.details {
            if let Detail::Verbose(word, says) = detail {
                seen = format!("  {word} {says}");
            }
            self.push_detail(detail);
        }
        let rules = wrap_text(&fix.rule, WIDTH - 2, WordOverflow::Keep);
        match rules.as_slice() {
            [one] if one.is_empty() && seen.is_empty() => {}
            [one] => self.push_hanging("", None, 0, &[seen], one),
            many => {
                if !seen.is_empty() {
                    self.push_line(&seen);
                }
                for line in many {
                    self.push_line(&format!("  {line}"));
                }
            }
        }
    }

    fn push_detail(&mut self, detail: &Detail) {
        match detail {
            Detail::Commands(_, commands) => {
                for command in commands {
                    let painted = self.colour_text(command.as_str(), Some(CYAN));
                    self.push_line(&format!("  {painted}"));
                }
            }
            Detail::Sentence(says) | Detail::Field(_, says) | Detail::Continuation(says) => {
                for line in wrap_text(&says.to_string(), WIDTH - 2, WordOverflow::Keep) {
                    self.push_line(&format!("  {line}"));
                }
            }
            Detail::Verbose(..) | Detail::Diff { .. } | Detail::UserCommand(_) => {}
        }
    }

    fn colour_text(&self, text: &str, colour: Option<&str>) -> String {
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

fn badge_text_and_colour(bullet: &Bullet) -> (String, Option<&'static str>) {
    let Some(badge) = bullet.badges.first() else {
        return (String::new(), None);
    };
    let colour = match badge.tone() {
        Tone::Bad => Some(RED),
        Tone::Doubt => Some(MAGENTA),
        Tone::Good => Some(GREEN),
        Tone::Dim => None,
    };
    (badge.badge_text(), colour)
}

fn action_colour(action: AnswerAction) -> Option<&'static str> {
    match action {
        AnswerAction::Keep => Some(GREEN),
        AnswerAction::Change | AnswerAction::Create => Some(CYAN),
        AnswerAction::Undecided => Some(MAGENTA),
        AnswerAction::NoAdvice | AnswerAction::NotApplicable => None,
    }
}

fn symbols_to_ascii(text: &str) -> String {
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
    use crate::{WithheldAdvice, sample_reports};
    use walwise_judge::rules::{Level, Outcome};
    use walwise_model::facts::Subject;
    use walwise_model::settings::NewFilesystem;
    use walwise_model::text::JoinText;

    fn render_plain(report: &Report) -> String {
        render(
            report,
            TextOutputStyle {
                colour: false,
                ascii: false,
            },
        )
    }

    fn collapse_whitespace(text: &str) -> String {
        text.split_whitespace().join_with(" ")
    }

    #[test]
    fn at_risk_report_as_short_text() {
        insta::assert_snapshot!(render_plain(&sample_reports::at_risk()));
    }

    #[test]
    fn lines_fit_width_and_commands_are_unwrapped() {
        for report in sample_reports::at_risk_and_free_disk() {
            for line in render_plain(&report).lines() {
                assert!(
                    line.starts_with("  ") || display_width(line) <= WIDTH,
                    "{line}"
                );
            }
            let text = render_plain(&report);
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
    fn script_command_has_requested_filesystem() {
        let text = render_plain(&sample_reports::free_disk_with_request(NewFilesystem::Ext4));
        let script = "  walwise check /dev/sdc --fs ext4 --format script --output setup.sh";
        assert!(text.lines().any(|line| line == script), "{text}");
    }

    #[test]
    fn critical_and_withheld_lines_are_never_cut() {
        let mut report = sample_reports::at_risk();
        let target = report.targets[0].target.clone();
        for number in 0..40 {
            let rule = format!("critical.number-{number}");
            report.findings.push(sample_reports::applying_finding(
                &rule,
                &target,
                Level::Critical,
                Vec::new(),
            ));
            let mut open = sample_reports::applying_finding(
                &format!("open.number-{number}"),
                &target,
                Level::Critical,
                Vec::new(),
            );
            open.outcome = Outcome::Undecided { needs: Vec::new() };
            report.findings.push(open);
            report.findings.push(sample_reports::applying_finding(
                &format!("warning.number-{number}"),
                &target,
                Level::Warning,
                Vec::new(),
            ));
            report.withheld.push(WithheldAdvice {
                rule: format!("withheld.number-{number}"),
                subject: target.clone(),
                advice: "mount.options: nobarrier".to_owned(),
                because: "the kernel refuses it".to_owned(),
            });
            report
                .warnings
                .push(format!("the stack below /run-{number} has 9 layers").into());
        }
        report.verdicts[0].limits = "Seen from a guest: a caveat.".to_owned();
        report
            .findings
            .sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        let text = collapse_whitespace(&render_plain(&report));
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
    fn excess_targets_are_only_counted() {
        let text = render_plain(&sample_reports::free_disks(200));
        assert!(text.lines().count() <= 60, "{text}");
        assert!(text.contains("+ 188 more targets (-v)"), "{text}");
    }

    #[test]
    fn colours_leave_the_text_unchanged() {
        let report = sample_reports::at_risk();
        let coloured = render(
            &report,
            TextOutputStyle {
                colour: true,
                ascii: false,
            },
        );
        let mut without = coloured.clone();
        for code in [RED, GREEN, MAGENTA, CYAN, "0"] {
            without = without.replace(&format!("\x1b[{code}m"), "");
        }
        assert_ne!(coloured, without);
        assert_eq!(without, render_plain(&report));
    }

    #[test]
    fn ascii_style_has_only_ascii() {
        for report in sample_reports::at_risk_and_free_disk() {
            let text = render(
                &report,
                TextOutputStyle {
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
