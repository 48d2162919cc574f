//! Draws the sections of [`crate::telling`]: sentences, lists, tables, steps with their commands.

use super::markup::{Markup, Tag, tag};
use super::{anchors, class};
use crate::LayerRow;
use crate::telling::{
    Bullet, Bullets, Cells, Detail, Element, Grid, Instruction, Mark, Phrase, Rank, Section,
};
use crate::text::layer;
use walwise_model::quote::Command;
use walwise_model::text::page::TextBuilder;

/// A group of sections: what concerns a whole target under a heading, each part of it in a fold.
/// Parts with steps are open in an open group.
pub fn group(sections: &[Section], open: bool) -> Markup {
    Markup::all(sections.iter().map(|one| section(one, open)))
}

fn section(section: &Section, open: bool) -> Markup {
    let heading = Markup::phrase(&section.heading);
    let lead = Markup::phrase(&section.lead);
    let lead = if lead.is_empty() {
        lead
    } else {
        tag("p").add(lead).into()
    };
    let inner = lead.and(Markup::all(section.elements.iter().map(element)));
    if heading.is_empty() {
        return inner;
    }
    match section.rank {
        Rank::Top => Markup::from(tag("h2").add(heading)).and(inner),
        Rank::Part => {
            let has_steps = section
                .elements
                .iter()
                .any(|one| matches!(one, Element::Instructions(_)));
            let fold = tag("details");
            let fold = if open && has_steps {
                fold.with("open", "")
            } else {
                fold
            };
            fold.add(tag("summary").add(tag("h3").add(heading)))
                .add(inner)
                .into()
        }
    }
}

fn element(element: &Element) -> Markup {
    match element {
        Element::Sentence(says) => tag("p").add(Markup::phrase(says)).into(),
        Element::Bullets(Bullets { head: [], bullets }) => list(bullets.iter().map(item)),
        Element::Bullets(bullets) => bullet_table(bullets),
        Element::Grid(grid) => figures(grid),
        Element::Stack(layers) => stack(layers),
        Element::Instructions(steps) => instructions(steps),
    }
}

/// A list; nothing without items.
pub fn list(items: impl Iterator<Item = Markup>) -> Markup {
    let items: Vec<Tag> = items.map(|item| tag("li").add(item)).collect();
    if items.is_empty() {
        Markup::default()
    } else {
        tag("ul").adding(items).into()
    }
}

/// A table that scrolls by itself where it is too wide. Columns without a name have no head.
pub fn table(name: &str, head: &[&str], right: &[bool], rows: Vec<Vec<Markup>>) -> Markup {
    let class = |at: usize| {
        if right.get(at) == Some(&true) {
            "right"
        } else {
            ""
        }
    };
    let aligned = |cell: Tag, at: usize| match class(at) {
        "" => cell,
        class => cell.with("class", class),
    };
    let heads = head.iter().enumerate().map(|(at, name)| {
        let cell = if name.is_empty() {
            tag("td")
        } else {
            tag("th").with("scope", "col").text(name)
        };
        aligned(cell, at)
    });
    let row = |cells: Vec<Markup>| {
        let cells = cells
            .into_iter()
            .enumerate()
            .map(|(at, cell)| aligned(tag("td").add(cell), at));
        tag("tr").adding(cells)
    };
    let table = tag("table")
        .add(tag("thead").add(tag("tr").adding(heads)))
        .add(tag("tbody").adding(rows.into_iter().map(row)));
    framed(&format!("Table: {name}"), table).into()
}

/// What scrolls by itself where it is too wide, so that the keyboard reaches it.
pub fn framed(label: &str, inner: impl Into<Markup>) -> Tag {
    let frame = tag("div")
        .with("class", "scroll")
        .with("tabindex", "0")
        .with("role", "group");
    frame.with("aria-label", label).add(inner)
}

pub fn figures(grid: &Grid) -> Markup {
    let rows = grid
        .rows
        .iter()
        .map(|row| row.iter().map(Markup::phrase).collect())
        .collect();
    table(&named(&grid.head), &grid.head, &grid.right, rows)
}

/// A table is named by its first columns.
fn named(head: &[&str]) -> String {
    let names: Vec<&str> = head
        .iter()
        .copied()
        .filter(|name| !name.is_empty())
        .take(2)
        .collect();
    names.join(", ")
}

fn stack(layers: &[LayerRow]) -> Markup {
    let mut page = TextBuilder::unbounded();
    page.table(0, &layers.iter().map(layer).collect::<Vec<_>>(), &[]);
    framed("Table: stack", tag("pre").text_lines(&page.finish())).into()
}

/// A word in front, which is coloured by what it means.
pub fn mark(mark: &Mark) -> Markup {
    if let Mark::Setting(setting) = mark {
        return Markup::phrase(setting);
    }
    tag("span")
        .with("class", class(mark.tone()))
        .text(&mark.words())
        .into()
}

/// A rule, as a link to what it says where the document has that.
pub fn rule(id: &str) -> Markup {
    tag("a")
        .with("href", &format!("#{}", anchors::rule(id)))
        .add(tag("code").text(id))
        .into()
}

fn item(bullet: &Bullet) -> Markup {
    let mut out = Markup::default();
    for one in &bullet.marks {
        out = out.and(mark(one)).and(Markup::fixed(": "));
    }
    if !bullet.of.is_empty() {
        out = out.and(Markup::text(&bullet.of)).and(Markup::fixed(": "));
    }
    out = out.and(Markup::phrase(&bullet.says));
    if !bullet.aside.is_empty() {
        out = out
            .and(Markup::fixed(" ("))
            .and(Markup::phrase(&bullet.aside))
            .and(Markup::fixed(")"));
    }
    out.and(details(&bullet.beneath))
}

/// What stands in the cells of a table.
const CELLS: Cells<Markup> = Cells {
    text: Markup::text,
    code: |name| tag("code").text(name).into(),
    phrase: Markup::phrase,
    mark,
    told: |bullet| Markup::phrase(&bullet.says).and(details(&bullet.beneath)),
};

fn bullet_table(bullets: &Bullets) -> Markup {
    let (head, rows) = bullets.table(&CELLS);
    table(&named(&head), &head, &[], rows)
}

/// Steps in a table, then each with its reasons and commands.
fn instructions(steps: &[Instruction]) -> Markup {
    let numbered = Instruction::table(steps, &CELLS);
    let mut out = Markup::default();
    if !numbered.is_empty() {
        out = table("steps", &Instruction::HEAD, &[true], numbered);
    }
    for step in steps {
        let number = step
            .number
            .map(|number| format!("{number}. "))
            .unwrap_or_default();
        let heading = tag("h4").text(&number).add(tag("code").text(step.setting));
        out = out.and(heading.text(&format!(" of {}: {}", step.of, step.change)));
        out = out.and(match &step.beneath {
            Some(beneath) => details(beneath),
            None => tag("p").text("As told above.").into(),
        });
    }
    out
}

/// What stands beneath a bullet or a step.
pub fn details(all: &[Detail]) -> Markup {
    Markup::all(all.iter().map(|detail| {
        match detail {
            Detail::Sentence(says) | Detail::More(says) => {
                tag("p").add(Markup::phrase(says)).into()
            }
            Detail::Field(label, says) | Detail::Aside(label, says) => field(label, says),
            Detail::Becomes { whole, .. } => whole
                .as_ref()
                .map(|whole| field("becomes", &Phrase::code(whole)))
                .unwrap_or_default(),
            Detail::Commands(label, commands) => {
                let label = if label.is_empty() {
                    Markup::default()
                } else {
                    field(label, &Phrase::default())
                };
                let lines: Vec<&str> = commands.iter().map(Command::as_str).collect();
                label.and(tag("pre").text_lines(&lines.join("\n")))
            }
            Detail::Own(one) => {
                let says = Phrase::code(&one.command).and(format!(" — {}", one.sentence()));
                field(one.purpose.word(), &says)
            }
        }
    }))
}

fn field(label: &str, says: &Phrase) -> Markup {
    let label = tag("span")
        .with("class", "label")
        .text(&format!("{label}: "));
    tag("p").add(label).add(Markup::phrase(says)).into()
}
