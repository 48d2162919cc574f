mod markdown_writer;

use super::Report;
use super::text::layer_cells;
use super::view::{
    self, Badge, Bullet, BulletList, CellRenderer, Detail, Element, Grid, HeadingLevel, Section,
    StepInstruction,
};
use markdown_writer::{
    MarkdownWriter, code_span_or_text, escaped_table_cell, escaped_text, markdown_from_rich_text,
};
use walwise_model::escape::comment;
use walwise_model::parallel;
use walwise_model::text::page_layout::TextPage;

pub fn render(report: &Report) -> String {
    let mut document = MarkdownWriter::default();
    document.push_heading(
        1,
        &format!(
            "Database storage on {}",
            code_span_or_text(&report.host.name)
        ),
    );
    document.push_paragraph(&view::read_before_running_notice(report));
    for group in parallel::map_items(&view::full_report_section_groups(report), |sections| {
        render_sections(sections)
    }) {
        document.append(&group);
    }
    document.into_string()
}

pub(crate) fn render_titled_sections(title: &str, sections: &[Section]) -> String {
    let mut document = MarkdownWriter::default();
    document.push_heading(1, &escaped_text(title));
    document.append(&render_sections(sections));
    document.into_string()
}

fn render_sections(sections: &[Section]) -> MarkdownWriter {
    let mut document = MarkdownWriter::default();
    for section in sections {
        write_section(&mut document, section);
    }
    document
}

fn write_section(document: &mut MarkdownWriter, section: &Section) {
    if !section.heading.is_empty() {
        let level = match section.heading_level {
            HeadingLevel::Top => 2,
            HeadingLevel::Part => 3,
        };
        document.push_heading(level, &markdown_from_rich_text(&section.heading));
    }
    document.push_paragraph(&markdown_from_rich_text(&section.lead));
    for element in &section.elements {
        match element {
            Element::Sentence(says) => document.push_paragraph(&markdown_from_rich_text(says)),
            Element::Bullets(all) => write_bullets(document, all),
            Element::Grid(columns) => write_grid(document, columns),
            Element::Stack(layers) => {
                let mut page = TextPage::with_unlimited_width();
                let safe = |cell: &String| comment::replace_unsafe_chars(cell);
                let rows = layers.iter().map(layer_cells);
                let rows: Vec<_> = rows
                    .map(|row| row.iter().map(safe).collect::<Vec<_>>())
                    .collect();
                page.append_table(0, &rows, &[]);
                document.push_code_block("text", &page.into_text().lines().collect::<Vec<_>>());
            }
            Element::Instructions(steps) => write_steps(document, steps),
        }
    }
}

const CELL_RENDERERS: CellRenderer<String> = CellRenderer {
    text: escaped_text,
    code: code_span_or_text,
    rich_text: markdown_from_rich_text,
    badge: badge_text,
    bullet: bullet_text,
};

fn write_bullets(document: &mut MarkdownWriter, all: &BulletList) {
    let bullets = &all.bullets;
    if all.head.is_empty() {
        document.push_list(&bullets.iter().map(bullet_line).collect::<Vec<_>>());
    } else {
        let (head, rows) = all.headings_and_rows(&CELL_RENDERERS);
        document.push_table(&head, &[], &rows);
    }
    for one in bullets {
        let details: Vec<&Detail> = one
            .details
            .iter()
            .filter(|detail| inline_detail_text(detail).is_none())
            .collect();
        if !details.is_empty() {
            document.push_paragraph(&format!("{}:", markdown_from_rich_text(&one.text)));
            write_details(document, details.into_iter());
        }
    }
}

fn bullet_line(bullet: &Bullet) -> String {
    let mut words: Vec<String> = bullet.badges.iter().map(badge_text).collect();
    let subject = bullet.leading_subject();
    words.extend((!subject.is_empty()).then(|| escaped_text(subject)));
    words.push(bullet_text(bullet));
    words.join(": ")
}

/// Details that need several lines are left out.
fn bullet_text(bullet: &Bullet) -> String {
    bullet
        .details
        .iter()
        .filter_map(inline_detail_text)
        .fold(markdown_from_rich_text(&bullet.text), |all, more| {
            all + " — " + &more
        })
}

fn badge_text(mark: &Badge) -> String {
    if let Badge::Setting(setting) = mark {
        return markdown_from_rich_text(setting);
    }
    escaped_text(&mark.badge_text())
}

fn inline_detail_text(detail: &Detail) -> Option<String> {
    match detail {
        Detail::Sentence(says) | Detail::Continuation(says) => Some(markdown_from_rich_text(says)),
        Detail::Field(label, says) => Some(format!("{label}: {}", markdown_from_rich_text(says))),
        Detail::Verbose(..)
        | Detail::Diff { .. }
        | Detail::Commands(..)
        | Detail::UserCommand(_) => None,
    }
}

fn write_grid(document: &mut MarkdownWriter, grid: &Grid) {
    let rows: Vec<Vec<String>> = grid
        .rows
        .iter()
        .map(|row| row.iter().map(escaped_table_cell).collect())
        .collect();
    document.push_table(&grid.head, &grid.right_aligned, &rows);
}

fn write_steps(document: &mut MarkdownWriter, steps: &[StepInstruction]) {
    document.push_table(
        &StepInstruction::HEAD,
        &[true],
        &StepInstruction::numbered_step_rows(steps, &CELL_RENDERERS),
    );
    for step in steps {
        let number = step
            .number
            .map(|number| format!("{number}. "))
            .unwrap_or_default();
        let what = format!(
            "{} of {}: {}",
            code_span_or_text(step.setting),
            escaped_text(&step.subject),
            escaped_text(&step.change)
        );
        document.push_heading(4, &format!("{number}{what}"));
        match &step.details {
            Some(beneath) => write_details(document, beneath.iter()),
            None => document.push_paragraph("As above."),
        }
    }
}

fn write_details<'d>(document: &mut MarkdownWriter, details: impl Iterator<Item = &'d Detail>) {
    let (mut items, mut commands, mut own): (Vec<String>, Vec<String>, Vec<String>) =
        Default::default();
    for detail in details {
        match detail {
            Detail::Sentence(says) => items.push(markdown_from_rich_text(says)),
            Detail::Continuation(says) => match items.last_mut() {
                Some(last) => last.extend([" — ", &markdown_from_rich_text(says)]),
                None => items.push(markdown_from_rich_text(says)),
            },
            Detail::Field(label, says) | Detail::Verbose(label, says) => {
                items.push(format!("{label}: {}", markdown_from_rich_text(says)));
            }
            Detail::Diff { result: whole, .. } => {
                items.extend(
                    whole
                        .iter()
                        .map(|whole| format!("result: {}", code_span_or_text(whole))),
                );
            }
            Detail::Commands(label, all) => {
                commands.push(format!("# {label}"));
                commands.extend(all.iter().map(ToString::to_string));
            }
            Detail::UserCommand(one) => {
                own.push(format!(
                    "{}: {} — {}",
                    one.purpose,
                    code_span_or_text(&one.command),
                    escaped_text(&one.unchecked_origin_sentence())
                ));
            }
        }
    }
    document.push_list(&items);
    if !commands.is_empty() {
        document.push_code_block("sh", &commands);
    }
    document.push_list(&own);
}

#[cfg(test)]
mod tests;
