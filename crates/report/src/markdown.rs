//! The whole report as a Markdown document, for a ticket or a review.
//!
//! It says what [`super::telling`] has, in lists, tables and blocks of code, and at its end the
//! sources; what is escaped, and how, is the business of [`write`].

mod write;

use super::Report;
use super::telling::{
    self, Bullet, Bullets, Cells, Detail, Element, Grid, Instruction, Mark, Rank, Section,
};
use super::text::layer;
use walwise_model::quote::comment;
use walwise_model::text::page::TextBuilder;
use walwise_model::workers;
use write::{MarkdownWriter, cell, code, phrase, text};

pub fn render(report: &Report) -> String {
    let mut document = MarkdownWriter::default();
    document.heading(
        1,
        &format!("Storage under databases on {}", code(&report.host.name)),
    );
    let masked = if report.host.live {
        ""
    } else {
        " In a capture names and numbers may be masked."
    };
    document.para(&format!(
        "For review: nothing was changed, commands are to be read before they are run, and what needs root says so.{masked}"
    ));
    for group in workers::each(&telling::groups(report), |sections| drawn(sections)) {
        document.append(&group);
    }
    document.finish()
}

/// Sections alone under a title, such as those of a kept report.
pub fn sections(title: &str, sections: &[Section]) -> String {
    let mut document = MarkdownWriter::default();
    document.heading(1, &text(title));
    document.append(&drawn(sections));
    document.finish()
}

fn drawn(sections: &[Section]) -> MarkdownWriter {
    let mut document = MarkdownWriter::default();
    for section in sections {
        draw(&mut document, section);
    }
    document
}

fn draw(document: &mut MarkdownWriter, section: &Section) {
    if !section.heading.is_empty() {
        let level = match section.rank {
            Rank::Top => 2,
            Rank::Part => 3,
        };
        document.heading(level, &phrase(&section.heading));
    }
    document.para(&phrase(&section.lead));
    for element in &section.elements {
        match element {
            Element::Sentence(says) => document.para(&phrase(says)),
            Element::Bullets(all) => bullets(document, all),
            Element::Grid(columns) => grid(document, columns),
            Element::Stack(layers) => {
                let mut page = TextBuilder::unbounded();
                let row = |one| {
                    layer(one)
                        .iter()
                        .map(|cell| comment::inline(cell))
                        .collect()
                };
                page.table(
                    0,
                    &layers.iter().map(row).collect::<Vec<Vec<String>>>(),
                    &[],
                );
                document.code("text", &page.finish().lines().collect::<Vec<_>>());
            }
            Element::Instructions(steps) => instructions(document, steps),
        }
    }
}

/// What stands in the cells of a table.
const CELLS: Cells<String> = Cells {
    text,
    code,
    phrase,
    mark,
    told,
};

fn bullets(document: &mut MarkdownWriter, all: &Bullets) {
    let bullets = &all.bullets;
    if all.head.is_empty() {
        document.list(&bullets.iter().map(item).collect::<Vec<_>>());
    } else {
        let (head, rows) = all.table(&CELLS);
        document.table(&head, &[], &rows);
    }
    for one in bullets
        .iter()
        .filter(|one| one.beneath.iter().any(|detail| inline(detail).is_none()))
    {
        document.para(&format!("{}:", phrase(&one.says)));
        details(
            document,
            one.beneath.iter().filter(|detail| inline(detail).is_none()),
        );
    }
}

/// A bullet as a sentence.
fn item(bullet: &Bullet) -> String {
    let mut words: Vec<String> = bullet.marks.iter().map(mark).collect();
    words.extend((!bullet.of.is_empty()).then(|| text(&bullet.of)));
    words.push(told(bullet));
    words.join(": ")
}

/// What is said of a bullet, with the sentences beneath it.
fn told(bullet: &Bullet) -> String {
    bullet
        .beneath
        .iter()
        .filter_map(inline)
        .fold(phrase(&bullet.says), |all, more| all + " — " + &more)
}

fn mark(mark: &Mark) -> String {
    match mark {
        Mark::Setting(setting) => phrase(setting),
        Mark::Level(..)
        | Mark::Standing(_)
        | Mark::Verdict(..)
        | Mark::Layer(_)
        | Mark::Change(_)
        | Mark::Remark(_) => text(&mark.words()),
    }
}

/// What may stand in the cell of a table.
fn inline(detail: &Detail) -> Option<String> {
    match detail {
        Detail::Sentence(says) | Detail::More(says) => Some(phrase(says)),
        Detail::Field(label, says) => Some(format!("{label}: {}", phrase(says))),
        Detail::Aside(..) | Detail::Becomes { .. } | Detail::Commands(..) | Detail::Own(_) => None,
    }
}

fn grid(document: &mut MarkdownWriter, grid: &Grid) {
    let rows: Vec<Vec<String>> = grid
        .rows
        .iter()
        .map(|row| row.iter().map(cell).collect())
        .collect();
    document.table(&grid.head, &grid.right, &rows);
}

/// Steps in a table, then each with its reasons and commands.
fn instructions(document: &mut MarkdownWriter, steps: &[Instruction]) {
    document.table(
        &Instruction::HEAD,
        &[true],
        &Instruction::table(steps, &CELLS),
    );
    for step in steps {
        let number = step
            .number
            .map(|number| format!("{number}. "))
            .unwrap_or_default();
        let what = format!(
            "{} of {}: {}",
            code(step.setting),
            text(&step.of),
            text(&step.change)
        );
        document.heading(4, &format!("{number}{what}"));
        match &step.beneath {
            Some(beneath) => details(document, beneath.iter()),
            None => document.para("As told above."),
        }
    }
}

/// Fields as a list, commands as one block.
fn details<'d>(document: &mut MarkdownWriter, details: impl Iterator<Item = &'d Detail>) {
    let (mut items, mut commands, mut own): (Vec<String>, Vec<String>, Vec<String>) =
        Default::default();
    for detail in details {
        match detail {
            Detail::Sentence(says) => items.push(phrase(says)),
            Detail::More(says) => match items.last_mut() {
                Some(last) => last.extend([" — ", &phrase(says)]),
                None => items.push(phrase(says)),
            },
            Detail::Field(label, says) | Detail::Aside(label, says) => {
                items.push(format!("{label}: {}", phrase(says)));
            }
            Detail::Becomes { whole, .. } => {
                items.extend(
                    whole
                        .iter()
                        .map(|whole| format!("becomes: {}", code(whole))),
                );
            }
            Detail::Commands(label, all) => {
                commands.push(format!("# {label}"));
                commands.extend(all.iter().map(ToString::to_string));
            }
            Detail::Own(one) => {
                own.push(format!(
                    "{}: {} — {}",
                    one.purpose.word(),
                    code(&one.command),
                    text(&one.sentence())
                ));
            }
        }
    }
    document.list(&items);
    if !commands.is_empty() {
        document.code("sh", &commands);
    }
    document.list(&own);
}

#[cfg(test)]
mod tests;
