//! A trial as one document of the same house: what it answers first, then a picture and the figures
//! of each load, the bare extent, what a reader has to know; and the record inside, as data.

use super::chart::forest;
use super::markup::{Markup, tag};
use super::{page, section};
use crate::json;
use walwise_measure::trial::{LoadResult, TableCell, TableOfLoad, TrialRecord, tell};

pub fn render(record: &TrialRecord) -> String {
    let told = tell(record);
    let results = record.results();
    let answers = told.loads.iter().filter(|part| part.decides).map(|part| {
        tag("p")
            .with("class", "verdict")
            .add(tag("strong").text(&part.title))
            .text(&format!(": {}", part.sentence))
    });
    let head = told.head.iter().map(|line| tag("p").text(line));
    let glance = tag("section")
        .with("id", "glance")
        .add(tag("h2").text("At a glance"))
        .adding(answers)
        .adding(head);
    let (deciding, others): (Vec<_>, Vec<_>) = told
        .loads
        .iter()
        .enumerate()
        .partition(|(_, part)| part.decides);
    let of = |(at, part): &(usize, &TableOfLoad)| load(record, part, results.get(*at), *at + 1);
    let floor = forest::strip(record, told.loads.len() + 1).map(|strip| {
        tag("section")
            .with("id", "floor")
            .add(tag("h2").text("The bare extent"))
            .add(strip)
    });
    let notes = section::list(told.notes.iter().map(|note| Markup::text(note)));
    let notes = tag("section")
        .with("id", "notes")
        .add(tag("h2").text("Notes"))
        .add(notes);
    let body = Markup::from(glance)
        .and(Markup::all(deciding.iter().map(of)))
        .and(Markup::all(others.iter().map(of)))
        .and(Markup::all(floor))
        .and(notes);
    let title = format!("Trial of file systems in {}", record.directory);
    page(
        &title,
        body,
        "walwise check --trial FILE",
        &json::pretty(record),
    )
}

/// A load: open where it decides, in a fold otherwise.
fn load(
    record: &TrialRecord,
    part: &TableOfLoad,
    result: Option<&LoadResult>,
    place: usize,
) -> Markup {
    let chart = result.map(|result| forest::forest(record, result, place));
    let inner = Markup::from(tag("p").text(&part.sentence))
        .and(Markup::all(chart))
        .and(table(part));
    let heading = tag("h2")
        .with("id", &format!("load-{place}"))
        .text(&part.title);
    if part.decides {
        return Markup::from(heading).and(inner);
    }
    tag("details")
        .add(tag("summary").add(heading))
        .add(inner)
        .into()
}

/// The figures; nothing where nothing could be compared.
fn table(part: &TableOfLoad) -> Markup {
    if part.columns.is_empty() {
        return Markup::default();
    }
    let cell = |cell: &TableCell| match &cell.interval {
        Some(interval) => Markup::text(&format!("{} ({interval})", cell.says)),
        None => Markup::text(&cell.says),
    };
    let row = |row: &Vec<TableCell>| row.iter().map(cell).collect::<Vec<Markup>>();
    let mut rows: Vec<Vec<Markup>> = part.rows.iter().map(row).collect();
    rows.extend(part.below.iter().map(|cells| {
        let mut cells = row(cells);
        if let Some(name) = cells.first_mut() {
            *name = std::mem::take(name).and(Markup::text(" (not ranked)"));
        }
        cells
    }));
    let right: Vec<bool> = (0..part.columns.len()).map(|at| at > 0).collect();
    section::table(&part.title, &part.columns, &right, rows)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::inside::ReportReader;
    use walwise_measure::trial::Contender;
    use walwise_measure::trial::sample::record;

    fn example() -> TrialRecord {
        let candidates = [
            (Contender::Ext4, 4_000.0, Some(1_000)),
            (Contender::Ext4Nobarrier, 90_000.0, Some(0)),
            (Contender::Xfs, 5_000.0, Some(1_000)),
        ];
        record(&candidates, 15)
    }

    #[test]
    fn the_page_answers_draws_and_holds_its_record() {
        let page = render(&example());
        assert_eq!(page, render(&example()), "the same bytes");
        for says in [
            "xfs is the fastest, with 95 % confidence.",
            "Throughput against the first candidate",
            "ext4 again",
            "ext4-nobarrier (not ranked)",
            "The bare extent, block by block",
            "Certified: a flush of the loop device takes as long as one of its file",
        ] {
            assert!(page.contains(says), "{says}: {page}");
        }
        assert!(!page.contains("<script>") && page.contains("default-src 'none'"));
        let values = |attribute: &str| -> Vec<&str> {
            page.split(attribute)
                .skip(1)
                .filter_map(|rest| rest.split('"').next())
                .collect()
        };
        let ids = values(" id=\"");
        let places: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(places.len(), ids.len(), "{ids:?}");
        for named in values(" aria-labelledby=\"")
            .into_iter()
            .chain(values(" aria-describedby=\""))
        {
            assert!(places.contains(named), "{named}");
        }
        let mut json = String::new();
        std::io::Read::read_to_string(&mut ReportReader::new(page.as_bytes()), &mut json).unwrap();
        assert_eq!(TrialRecord::parse(&json).unwrap(), example());
    }

    #[test]
    fn nothing_in_a_record_is_markup_and_an_empty_one_is_a_page() {
        let tags = |page: &str| page.matches('<').count();
        let clean = tags(&render(&example()));
        for evil in [
            "</script><svg onload=alert(1)>",
            "<!--",
            "\u{202e}\"' onfocus=x ",
            "&lt;b&gt;",
        ] {
            let mut record = example();
            record.directory = evil.to_owned();
            record.host_filesystem = evil.to_owned();
            for made in &mut record.candidates {
                (made.version, made.mount) = (evil.to_owned(), evil.to_owned());
            }
            let page = render(&record);
            assert_eq!(tags(&page), clean, "{evil}");
            assert!(!page.contains('\u{202e}'));
        }
        for blocks in [0, 1] {
            assert!(
                render(&record(&[(Contender::Ext4, 1.0, None)], blocks)).ends_with("</html>\n")
            );
        }
    }
}
