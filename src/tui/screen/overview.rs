mod sidebar {
    use ratatui::text::Line;

    use crate::report::Report;
    use crate::tui::screen_data::ScreenData;
    use crate::tui::sidebar::SidebarRow;
    use crate::tui::target_row;
    use crate::tui::theme::{BOLD, DIM};
    use crate::tui::widgets::columns::{self, StyledText};

    const CONTENT_WIDTH: usize = 41;

    /// A list with more than `most` targets is scrolled so far that the chosen target is visible.
    pub fn sidebar_rows(data: &ScreenData, report: &Report, most: usize) -> Vec<SidebarRow> {
        let (place, count) = data.focus.place;
        let title = format!(" {count} targets, worst first");
        let mut rows = vec![SidebarRow {
            line: Line::styled(title, BOLD),
            target: None,
        }];
        let skipped = (place + 1).saturating_sub(most);
        let shown = data
            .focus
            .targets_worst_first(report)
            .enumerate()
            .skip(skipped)
            .take(most);
        let (places, cells): (Vec<usize>, Vec<Vec<StyledText>>) = shown
            .map(|(at, target)| (at, target_row::target_cells(report, target, at == place)))
            .unzip();
        let lines = columns::wrapped_rows(&cells, &target_row::COLUMNS, CONTENT_WIDTH)
            .into_iter()
            .zip(places);
        rows.extend(lines.flat_map(|(lines, at)| {
            let row = move |line| SidebarRow {
                line,
                target: Some(at),
            };
            lines.into_iter().map(row)
        }));
        let below = count.saturating_sub(skipped).saturating_sub(most);
        if below > 0 {
            let line = Line::styled(format!("  {below} more (press t)"), DIM);
            rows.push(SidebarRow { line, target: None });
        }
        rows
    }
}

use std::collections::BTreeSet;

use ratatui::style::Modifier;
use ratatui::text::Line;

use super::detail_lines::DetailLines;
use super::sections::SectionRenderer;
use super::{PageContext, commit_latency, curves, storage, what_if};
use crate::durability::FlushHop;
use crate::measure::measurement_summary;
use crate::report::view::answers::{self, AnswerRow};
use crate::report::view::flush_path;
use crate::report::view::host;
use crate::report::view::latency::HEADING;
use crate::report::view::target::{self, device_content_sentences, verdict_or_content_heading};
use crate::report::view::{Detail, Element, ItemRef, Tone, wording};
use crate::report::{AnswerAction, Plan, Report, TargetSummary, Topic};
use crate::tui::page::{Page, PageBlock, RowDetails};
use crate::tui::screen_data::{BackgroundActivity, ScreenData};
use crate::tui::theme::{ACCENT, BOLD, DIM, PLAIN, tone_style, verdict_style};
use crate::tui::viewport::BodyLayout;
use crate::tui::widgets::columns::{self, Column, StyledText};
use crate::tui::widgets::{flush_path as path_widget, text};

/// Minimum rows for latency curves and a drawn flush path; with fewer, the path is one line.
const MIN_ROWS_WITH_PATH: usize = 33;
const CURVE_ROWS: usize = 10;
/// Minimum columns for reasons at the right of the answers.
const MIN_COLUMNS_WITH_REASONS: usize = 104;

pub fn overview_page(data: &ScreenData, view: Option<PageContext<'_>>, room: BodyLayout) -> Page {
    let mut page = Page::default();
    let Some(report) = data.report.as_deref() else {
        page.push_text_block(loading_or_failure_lines(data));
        return page;
    };
    let columns = room.columns;
    match (view, report.targets.get(data.focus.position)) {
        _ if !data.complete => page.push_text_block(found_target_lines(data, report, columns)),
        (Some(view), Some(target)) => view.push_target_content(&mut page, target),
        _ => page.push_text_block(no_target_lines(columns)),
    }
    if let Some(section) = host::run_notes_section(report) {
        let renderer = SectionRenderer {
            data,
            room: columns,
            with_commands: false,
        };
        renderer.push_section(&mut page, &section);
    }
    if data.complete && room.side > 0 {
        page.side = sidebar::sidebar_rows(data, report, room.rows.saturating_sub(2));
    }
    page
}

impl PageContext<'_> {
    /// Adds the parts, the most important first: a short terminal hides the last ones.
    fn push_target_content(&self, page: &mut Page, target: &TargetSummary) {
        self.push_verdict(page, target);
        what_if::push_what_if_summary(page, self.section_renderer());
        self.push_flush_path(page);
        let answers = self.answer_table_blocks(target);
        let other_fixes = self.push_fitting_fixes(page, &answers);
        page.hints = self.status_hints(page.blocks.iter().chain(&other_fixes));
        page.blocks.extend(answers);
        if !other_fixes.is_empty() {
            page.push_heading("Fix next", &other_fixes.len().to_string());
            page.blocks.extend(other_fixes);
        }
        self.push_latency(page);
        let advised = &self.data.focus.advised;
        if let Some(section) = &advised.undecided {
            self.section_renderer().push_section(page, section);
        }
        self.push_unknown_section(page);
        for section in advised.sections_without_repeated_fixes() {
            self.section_renderer().push_section(page, section);
        }
        let verdict = self.data.target_verdict();
        for section in verdict.into_iter().flat_map(target::evidence_sections) {
            self.section_renderer().push_section(page, &section);
        }
        if let Some(sentence) = verdict.and_then(target::known_faults_sentence) {
            let lines = text::wrapped_lines(&sentence, PLAIN, self.room.columns);
            page.blocks.push(PageBlock::new_text(lines));
        }
    }

    fn push_verdict(&self, page: &mut Page, target: &TargetSummary) {
        let columns = self.room.columns;
        let verdict = self.data.target_verdict();
        let wish = self
            .data
            .target_plan()
            .and_then(Plan::requested_filesystem_sentence);
        let mut sentences = device_content_sentences(target);
        sentences.extend(wish.map(|wish| format!("Planned: {wish}.")));
        let mut style = BOLD;
        if let Some(verdict) = verdict {
            style = verdict_style(verdict.standing);
            let says = [
                &verdict.sentence,
                &verdict.second_fault,
                &verdict.host_loss,
                &verdict.limits,
            ];
            sentences = says.map(String::clone).to_vec();
        }
        // A part that does not fit beside the verdict is left out, because the sentence and the
        // header repeat it.
        let mut bar = verdict_or_content_heading(self.report, target).to_string();
        let cause = verdict
            .map(flush_path::verdict_cause_text)
            .unwrap_or_default();
        if !cause.is_empty() && text::width(&bar) + text::width(&cause) + 2 <= columns {
            bar = format!("{bar}  {cause}");
        }
        let gap = columns.saturating_sub(text::width(&bar) + text::width(&target.title));
        if gap > 1 {
            bar = format!("{bar}{}{}", text::spaces(gap), target.title);
        }
        let bar = text::wrap_with_prefix(&bar, "", columns).into_iter();
        let mut lines: Vec<Line<'static>> = bar
            .map(|row| {
                let row = text::pad_or_truncate(&row, columns);
                Line::styled(row, style.add_modifier(Modifier::REVERSED))
            })
            .collect();
        sentences.retain(|says| !says.is_empty());
        lines.extend(text::wrapped_lines(&sentences.join(" "), PLAIN, columns));
        let details =
            verdict.map(|of| RowDetails::Sections("evidence", target::evidence_sections(of)));
        page.blocks.push(match details {
            Some(details) => PageBlock::new_row("verdict", details, lines),
            None => PageBlock::new_text(lines),
        });
    }

    /// Adds the flush path, one row per hop or, with few rows, as a line. Hops with a remark can be
    /// selected.
    fn push_flush_path(&self, page: &mut Page) {
        let Some(path) = self
            .data
            .target_verdict()
            .map(|verdict| &verdict.flush_path)
        else {
            return;
        };
        if path.is_empty() {
            return;
        }
        if self.room.rows < MIN_ROWS_WITH_PATH {
            let mut line = DetailLines::new(self.room.columns);
            line.push_field("Path", &flush_path::flush_path_line(path));
            return page.push_text_block(line.lines);
        }
        page.push_heading("Path of a commit", "");
        let block = |(hop, lines): (&FlushHop, Vec<Line<'static>>)| match hop.subjects.first() {
            Some(subject) if !flush_path::is_hop_unremarkable(hop) => {
                let details = RowDetails::Layer(subject.clone());
                PageBlock::new_row(storage::layer_block_key(subject), details, lines)
            }
            _ => PageBlock::new_text(lines),
        };
        let rows = path_widget::path_rows(path, self.room.columns);
        page.blocks.extend(rows.into_iter().map(block));
    }

    /// Adds as many fixes as leave room for the answers, at least one. The result holds the others.
    fn push_fitting_fixes(&self, page: &mut Page, answers: &[PageBlock]) -> Vec<PageBlock> {
        const HEADING: &str = "Fix first";
        let Some(section) = &self.data.focus.advised.fixes else {
            page.push_heading(HEADING, "");
            page.push_text_block(vec![Line::raw("Nothing to fix.")]);
            return Vec::new();
        };
        let view = SectionRenderer {
            with_commands: true,
            ..self.section_renderer()
        };
        let mut fixes = Page::default();
        view.push_section(&mut fixes, section);
        let mut fixes: Vec<PageBlock> = fixes.blocks.into_iter().skip(1).collect();
        let height =
            |blocks: &[PageBlock]| blocks.iter().map(|block| block.lines.len()).sum::<usize>();
        let used = page.height() + height(answers) + 1;
        let mut room = self.room.rows_above_pane().saturating_sub(used);
        let fitting = fixes.iter().take_while(|block| {
            let fits = block.lines.len() <= room;
            room = room.saturating_sub(block.lines.len());
            fits
        });
        let shown = fitting.count().max(1).min(fixes.len());
        let count = fixes.len();
        let keys = match fixes.iter().any(|block| !block.commands.is_empty()) {
            false => "",
            true if self.data.assumed_host.is_some() => "y copy",
            true => "y copy  Y copy all",
        };
        let others = fixes.split_off(shown);
        let mut aside = match others.len() {
            0 => count.to_string(),
            _ => format!("{shown} of {count}, the others below the answers"),
        };
        let taken = HEADING.len() + aside.len() + keys.len() + 4;
        let gap = self.room.columns.saturating_sub(taken);
        if gap > 1 {
            // A heading is drawn in parts that begin at even columns of blanks.
            aside += &(text::spaces(gap - gap % 2) + keys);
        }
        page.push_heading(HEADING, &aside);
        page.blocks.extend(fixes);
        others
    }

    /// Sentences for the status row: how to keep a remount over a reboot, and how to see what is
    /// unknown.
    fn status_hints<'b>(&self, mut fixes: impl Iterator<Item = &'b PageBlock>) -> Vec<String> {
        let lasts = |detail: &Detail| matches!(detail, Detail::Field("lasts", _));
        let remounts = |block: &PageBlock| matches!(&block.details, RowDetails::Item(_, _, all) if all.iter().any(lasts));
        let lasts = fixes
            .any(remounts)
            .then(|| "A remount lasts until the next mount: e exports the fstab line".to_owned());
        let needs = &self.data.focus.needs;
        let rules: BTreeSet<&String> = needs.iter().flat_map(|(_, rules)| rules).collect();
        let unknown = (!rules.is_empty()).then(|| {
            format!(
                "{} would decide {}: u shows how to read them",
                wording::count_with_noun(needs.len(), "unknown fact"),
                wording::count_with_noun(rules.len(), "rule")
            )
        });
        lasts.into_iter().chain(unknown).collect()
    }

    fn answer_table_blocks(&self, target: &TargetSummary) -> Vec<PageBlock> {
        const COLUMNS: [Column; 4] = [
            Column::new_cuttable(15),
            Column::new_wrapping(14),
            Column::new_wrapping(24),
            Column::new_wrapping(20),
        ];
        let has_reasons = self.room.columns >= MIN_COLUMNS_WITH_REASONS;
        let rows = answers::answer_rows(target);
        let cells = |row: &AnswerRow| -> Vec<StyledText> {
            let style = match row.action {
                AnswerAction::Keep => tone_style(Tone::Good),
                AnswerAction::Change | AnswerAction::Create => ACCENT,
                AnswerAction::Undecided => tone_style(Tone::Doubt),
                AnswerAction::NoAdvice | AnswerAction::NotApplicable => DIM,
            };
            let why = if has_reasons {
                self.reason_beside_recommendation(row)
            } else {
                String::new()
            };
            let recommended = format!(
                "{} {}",
                row.action.action_symbol(),
                self.recommended_text(row)
            );
            vec![
                (row.label.to_owned(), PLAIN),
                (row.now.clone(), PLAIN),
                (recommended, style),
                (why, DIM),
            ]
        };
        let why = if has_reasons { "why" } else { "" };
        let mut head = ["Answers", "now", "recommended", why].map(|word| (word.to_owned(), DIM));
        let [title, ..] = &mut head;
        title.1 = BOLD;
        let all: Vec<Vec<StyledText>> = [head.to_vec()]
            .into_iter()
            .chain(rows.iter().map(cells))
            .collect();
        let mut drawn = columns::wrapped_rows(&all, &COLUMNS, self.room.columns).into_iter();
        let mut head = drawn.next().unwrap_or_default();
        // A heading is drawn one column further right than rows, so its first cell is narrowed.
        if let Some(title) = head.first_mut().and_then(|line| line.spans.first_mut()) {
            title.content.to_mut().pop();
        }
        let mut page = Page::default();
        page.blocks.push(PageBlock::new_heading(head));
        for (row, lines) in rows.into_iter().zip(drawn) {
            let key = format!("answer {}", row.label);
            let apply = target
                .answers
                .get(&row.topic)
                .map(|answer| answer.apply.clone());
            let shown = [("now", &row.now), ("why", &row.why)];
            let mut details = shown
                .map(|(label, says)| Detail::Field(label, says.clone().into()))
                .to_vec();
            let commands = apply.unwrap_or_default();
            if !commands.is_empty() {
                details.push(Detail::Commands("apply", commands.clone()));
            }
            let title = format!("{}: {}", row.label, self.recommended_text(&row));
            let details = RowDetails::Item(title, ItemRef::default(), details);
            page.blocks.push(PageBlock {
                commands,
                ..PageBlock::new_row(key, details, lines)
            });
        }
        if let Some(grid) = answers::filesystem_candidates_grid(self.report, target) {
            page.push_heading("Candidates", "");
            self.section_renderer().push_grid(&mut page, &grid);
        }
        page.blocks
    }

    /// The title of a fix is not repeated, but replaced by the number of the fix. An answer without
    /// a recommendation shows its reason in the column of recommendations.
    fn reason_beside_recommendation(&self, row: &AnswerRow) -> String {
        match row.action {
            AnswerAction::Keep | AnswerAction::Change | AnswerAction::Create => {}
            AnswerAction::Undecided | AnswerAction::NoAdvice | AnswerAction::NotApplicable => {
                return String::new();
            }
        }
        let fixes = self.data.focus.advised.fixes.iter();
        let elements = fixes.flat_map(|section| &section.elements);
        let mut number = None;
        for element in elements {
            if let Element::Instructions(steps) = element {
                let same = steps.iter().find(|step| step.change == row.why);
                number = number.or_else(|| same?.number);
            }
        }
        number.map_or_else(|| row.why.clone(), |number| format!("fix {number}"))
    }

    /// The report recommends a command to measure; the screens offer the key `p` instead.
    fn recommended_text(&self, row: &AnswerRow) -> String {
        match (
            row.topic,
            commit_latency::live_or_last_measurement(self.data),
        ) {
            (Topic::CommitLatency, None) => commit_latency::measure_hint_or_reason(self.data),
            _ => row.recommended.clone(),
        }
    }

    fn push_latency(&self, page: &mut Page) {
        let columns = self.room.columns;
        let Some((measurement, when)) = commit_latency::live_or_last_measurement(self.data) else {
            return;
        };
        page.push_heading(
            HEADING,
            &format!("{}   {when}", measurement.paced_conditions_text()),
        );
        self.push_method_table(page, measurement);
        let mut details = DetailLines::new(columns);
        let in_force = self.data.method_in_force();
        details.push_paragraph(&measurement_summary(measurement, in_force));
        commit_latency::push_caveats(&mut details, measurement);
        page.push_text_block(details.lines);
        if self.room.rows >= MIN_ROWS_WITH_PATH {
            let curves = curves::latency_curve_lines(
                measurement,
                in_force,
                self.data.options.ascii,
                columns,
                CURVE_ROWS,
            );
            page.push_text_block(curves);
        }
    }
}

fn loading_or_failure_lines(data: &ScreenData) -> Vec<Line<'static>> {
    let said = match &data.activity {
        BackgroundActivity::Collecting { what, .. } => format!("reading {what} …"),
        _ => "Reading the host failed; press r to try again.".to_owned(),
    };
    vec![Line::default(), Line::styled(said, DIM)]
}

/// Verdicts are left out, because they could still change.
fn found_target_lines(data: &ScreenData, report: &Report, room: usize) -> Vec<Line<'static>> {
    let mut lines = loading_or_failure_lines(data);
    lines.push(Line::default());
    for target in &report.targets {
        lines.push(Line::raw(text::truncate_to_width(
            &format!("found  {}", target.title),
            room,
        )));
    }
    lines
}

fn no_target_lines(room: usize) -> Vec<Line<'static>> {
    let mut details = DetailLines::new(room);
    details.push_empty_line();
    details.push_paragraph(
        "No database, data mount or free disk was found. To check a directory, run `walwise DIR`.",
    );
    details.lines
}
