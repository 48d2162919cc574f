//! The flush path as a rail: solid while the flush travels, dashed where that is unknown, absent below a drop; on it each hop
//! with its mark, its name, which leads to its facts, and its fate.

use super::{Illustration, LINE, WIDTH, line, text, text_around, text_before};
use crate::durability::FlushHop;
use crate::facts::catalog::target::Flush;
use crate::report::html::class;
use crate::report::html::evidence::FactsTold;
use crate::report::html::markup::{Markup, Tag};
use crate::report::telling::flush;
use crate::text::wrap::fit;

/// Where rail, names, words and fates stand.
const RAIL: f64 = 14.0;
const NAME: f64 = 30.0;
const SAYS: f64 = 148.0;
/// How many signs of a name and of its words have room; the table beside has all of them.
const LONGEST_NAME: usize = 13;
const LONGEST_WORDS: usize = 32;
/// How many things of one hop are named in the table.
const MOST: usize = 8;

/// The chart; nothing without a path.
pub fn chart(path: &[FlushHop], facts: &FactsTold<'_>) -> Option<Illustration> {
    path.first()?;
    let mut drawn = Vec::new();
    let y = |at: usize| LINE.mul_add(1.4 * at as f64, LINE);
    for (at, hop) in path.iter().enumerate().skip(1) {
        let part = |class| line(class, [(RAIL, y(at - 1) + 8.0), (RAIL, y(at) - 8.0)]);
        match hop.arrival {
            Flush::Sent => drawn.push(part("rail")),
            Flush::Unknown => drawn.push(part("rail doubted")),
            Flush::Suppressed | Flush::NotNeeded => {}
        }
    }
    for (at, hop) in path.iter().enumerate() {
        let (mark, word, tone) = flush::sign(hop);
        let role = class(tone);
        drawn.push(text_around(RAIL, y(at) + 5.0, mark).with("class", role));
        let name = text(NAME, y(at) + 4.0, &fit(&hop.name, LONGEST_NAME));
        drawn.push(match hop.subjects.iter().find_map(|subject| facts.link(subject)) {
            Some(link) => link.add(name),
            None => name,
        });
        drawn.push(text(SAYS, y(at) + 4.0, &fit(&hop.says, LONGEST_WORDS)).with("class", "dim"));
        drawn.push(text_before(WIDTH - 2.0, y(at) + 4.0, word).with("class", role));
    }
    let row = |hop: &FlushHop| {
        let (mark, word, _) = flush::sign(hop);
        let says = [&hop.says, &hop.because].map(String::as_str);
        let says: Vec<&str> = says.into_iter().filter(|says| !says.is_empty()).collect();
        vec![
            Markup::text(mark),
            linked(hop, facts),
            Markup::text(&says.join("; ")),
            Markup::text(word),
            Markup::text(&hop.source),
        ]
    };
    Some(Illustration {
        name: "path",
        title: "The way of a commit's flush",
        says: flush::line(path),
        height: y(path.len() - 1) + LINE,
        drawn,
        has_links: path.iter().flat_map(|hop| &hop.subjects).any(|subject| facts.link(subject).is_some()),
        head: ["mark", "hop", "what it is", "what becomes of the flush", "read from"]
            .map(str::to_owned)
            .to_vec(),
        rows: path.iter().map(row).collect(),
    })
}

/// A hop by its name, with links to the facts of what stands there.
fn linked(hop: &FlushHop, facts: &FactsTold<'_>) -> Markup {
    let name = |words: &str, link: Option<Tag>| match link {
        Some(link) => link.text(words).into(),
        None => Markup::text(words),
    };
    if let [subject] = hop.subjects.as_slice() {
        return name(&hop.name, facts.link(subject));
    }
    let each = hop
        .subjects
        .iter()
        .take(MOST)
        .map(|subject| Markup::fixed(" ").and(name(subject.name(), facts.link(subject))));
    Markup::text(&hop.name).and(Markup::all(each))
}
