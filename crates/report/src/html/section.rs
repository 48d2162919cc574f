use super::markup::{Markup, Tag, tag};
use super::{anchors, tone_class};
use crate::LayerRow;
use crate::text::layer_cells;
use crate::view::{
    Badge, Bullet, BulletList, CellRenderer, Detail, Element, Grid, HeadingLevel, RichText,
    Section, StepInstruction,
};

use walwise_model::text::JoinText;
use walwise_model::text::page_layout::TextPage;

/// Subsections become collapsible `details` elements. `open` expands the subsections that contain
/// steps.
pub fn render_sections(sections: &[Section], open: bool) -> Markup {
    Markup::concat(sections.iter().map(|one| section_markup(one, open)))
}

fn section_markup(section: &Section, open: bool) -> Markup {
    let heading = Markup::from_rich_text(&section.heading);
    let lead = tag("p").add(Markup::from_rich_text(&section.lead));
    let inner = lead
        .none_if_empty()
        .append(Markup::concat(section.elements.iter().map(element_markup)));
    if heading.is_empty() {
        return inner;
    }
    match section.heading_level {
        HeadingLevel::Top => Markup::from(tag("h2").add(heading)).append(inner),
        HeadingLevel::Part => {
            let has_steps = section
                .elements
                .iter()
                .any(|one| matches!(one, Element::Instructions(_)));
            let fold = tag("details");
            let fold = if open && has_steps {
                fold.attr("open", "")
            } else {
                fold
            };
            fold.add(tag("summary").add(tag("h3").add(heading)))
                .add(inner)
                .into()
        }
    }
}

fn element_markup(element: &Element) -> Markup {
    match element {
        Element::Sentence(says) => tag("p").add(Markup::from_rich_text(says)).into(),
        Element::Bullets(BulletList { head: [], bullets }) => {
            list_markup(bullets.iter().map(bullet_item))
        }
        Element::Bullets(bullets) => {
            let (head, rows) = bullets.headings_and_rows(&CELL_RENDERERS);
            table_markup(&table_name(&head), &head, &[], rows)
        }
        Element::Grid(grid) => grid_table(grid),
        Element::Stack(layers) => stack_markup(layers),
        Element::Instructions(steps) => instructions_markup(steps),
    }
}

pub fn list_markup(items: impl Iterator<Item = Markup>) -> Markup {
    let items = items.map(|item| tag("li").add(item));
    tag("ul").add_all(items).none_if_empty()
}

/// Renders a table that screen readers announce as `name`. Columns with an empty string in `head`
/// have no header cell; `right` is true for right-aligned columns.
pub fn table_markup(name: &str, head: &[&str], right: &[bool], rows: Vec<Vec<Markup>>) -> Markup {
    let aligned = |cell: Tag, at: usize| {
        if right.get(at) == Some(&true) {
            cell.attr("class", "right")
        } else {
            cell
        }
    };
    let heads = head.iter().enumerate().map(|(at, name)| {
        let cell = if name.is_empty() {
            tag("td")
        } else {
            tag("th").attr("scope", "col").add_text(name)
        };
        aligned(cell, at)
    });
    let row = |cells: Vec<Markup>| {
        let cells = cells
            .into_iter()
            .enumerate()
            .map(|(at, cell)| aligned(tag("td").add(cell), at));
        tag("tr").add_all(cells)
    };
    let table = tag("table")
        .add(tag("thead").add(tag("tr").add_all(heads)))
        .add(tag("tbody").add_all(rows.into_iter().map(row)));
    scrollable_frame(&format!("Table: {name}"), table).into()
}

/// Wraps wide content in a frame that can have the focus, so that the content can be scrolled by
/// keyboard.
pub fn scrollable_frame(label: &str, inner: impl Into<Markup>) -> Tag {
    tag("div")
        .attr("class", "scroll")
        .attr("tabindex", "0")
        .attr("role", "group")
        .attr("aria-label", label)
        .add(inner)
}

pub fn grid_table(grid: &Grid) -> Markup {
    let rows = grid
        .rows
        .iter()
        .map(|row| row.iter().map(Markup::from_rich_text).collect());
    let name = table_name(&grid.head);
    table_markup(&name, &grid.head, &grid.right_aligned, rows.collect())
}

fn table_name(head: &[&str]) -> String {
    head.iter()
        .filter(|name| !name.is_empty())
        .take(2)
        .join_with(", ")
}

fn stack_markup(layers: &[LayerRow]) -> Markup {
    let mut page = TextPage::with_unlimited_width();
    page.append_table(0, &layers.iter().map(layer_cells).collect::<Vec<_>>(), &[]);
    scrollable_frame("Table: stack", tag("pre").add_lines(&page.into_text())).into()
}

pub fn badge_markup(mark: &Badge) -> Markup {
    if let Badge::Setting(setting) = mark {
        return Markup::from_rich_text(setting);
    }
    tag("span")
        .attr("class", tone_class(mark.tone()))
        .add_text(&mark.badge_text())
        .into()
}

pub fn rule_link(id: &str) -> Markup {
    tag("a")
        .attr("href", &format!("#{}", anchors::rule_anchor(id)))
        .add(tag("code").add_text(id))
        .into()
}

fn bullet_item(bullet: &Bullet) -> Markup {
    let mut out = Markup::default();
    for one in &bullet.badges {
        out = out
            .append(badge_markup(one))
            .append(Markup::from_static(": "));
    }
    let subject = bullet.leading_subject();
    if !subject.is_empty() {
        out = out
            .append(Markup::from_text(subject))
            .append(Markup::from_static(": "));
    }
    out = out.append(Markup::from_rich_text(&bullet.text));
    if !bullet.note.is_empty() {
        out = out
            .append(Markup::from_static(" ("))
            .append(Markup::from_rich_text(&bullet.note))
            .append(Markup::from_static(")"));
    }
    out.append(details_markup(&bullet.details))
}

const CELL_RENDERERS: CellRenderer<Markup> = CellRenderer {
    text: Markup::from_text,
    code: |name| tag("code").add_text(name).into(),
    rich_text: Markup::from_rich_text,
    badge: badge_markup,
    bullet: |bullet| Markup::from_rich_text(&bullet.text).append(details_markup(&bullet.details)),
};

fn instructions_markup(steps: &[StepInstruction]) -> Markup {
    let numbered = StepInstruction::numbered_step_rows(steps, &CELL_RENDERERS);
    let mut out = Markup::default();
    if !numbered.is_empty() {
        out = table_markup("steps", &StepInstruction::HEAD, &[true], numbered);
    }
    for step in steps {
        let number = step
            .number
            .map(|number| format!("{number}. "))
            .unwrap_or_default();
        let heading = tag("h4")
            .add_text(&number)
            .add(tag("code").add_text(step.setting));
        out = out.append(heading.add_text(&format!(" of {}: {}", step.subject, step.change)));
        out = out.append(match &step.details {
            Some(beneath) => details_markup(beneath),
            None => tag("p").add_text("As above.").into(),
        });
    }
    out
}

pub fn details_markup(all: &[Detail]) -> Markup {
    Markup::concat(all.iter().map(|detail| {
        match detail {
            Detail::Sentence(says) | Detail::Continuation(says) => {
                tag("p").add(Markup::from_rich_text(says)).into()
            }
            Detail::Field(label, says) | Detail::Verbose(label, says) => {
                labelled_paragraph(label, says)
            }
            Detail::Diff { result: whole, .. } => whole
                .as_ref()
                .map(|whole| labelled_paragraph("result", &RichText::code(whole)))
                .unwrap_or_default(),
            Detail::Commands(label, commands) => {
                let label = if label.is_empty() {
                    Markup::default()
                } else {
                    labelled_paragraph(label, &RichText::default())
                };
                label.append(tag("pre").add_lines(&commands.iter().join_with("\n")))
            }
            Detail::UserCommand(one) => {
                let says = RichText::code(&one.command)
                    .append(format!(" — {}", one.unchecked_origin_sentence()));
                labelled_paragraph(one.purpose.as_str(), &says)
            }
        }
    }))
}

fn labelled_paragraph(label: &str, says: &RichText) -> Markup {
    let label = tag("span")
        .attr("class", "label")
        .add_text(&format!("{label}: "));
    tag("p").add(label).add(Markup::from_rich_text(says)).into()
}
