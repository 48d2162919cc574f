use super::chart::forest;
use super::markup::{Markup, tag};
use super::{render_page, section, titled_section};
use crate::json;
use walwise_measure::trial::{LoadComparison, LoadTable, TableCell, TrialRecord, trial_view};

pub fn render_trial_page(record: &TrialRecord) -> String {
    let told = trial_view(record);
    let results = record.load_comparisons();
    let answers = told
        .loads
        .iter()
        .filter(|part| part.is_deciding)
        .map(|part| {
            tag("p")
                .attr("class", "verdict")
                .add(tag("strong").add_text(&part.title))
                .add_text(&format!(": {}", part.sentence))
        });
    let head = told.header.iter().map(|line| tag("p").add_text(line));
    let glance = titled_section("glance", "At a glance")
        .add_all(answers)
        .add_all(head);
    let (deciding, others): (Vec<_>, Vec<_>) = told
        .loads
        .iter()
        .enumerate()
        .partition(|(_, part)| part.is_deciding);
    let of = |(at, part): &(usize, &LoadTable)| {
        workload_section(record, part, results.get(*at), *at + 1)
    };
    let floor = forest::raw_extent_chart(record, told.loads.len() + 1)
        .map(|strip| titled_section("floor", "The raw extent").add(strip));
    let notes = section::list_markup(told.notes.iter().map(|note| Markup::from_text(note)));
    let notes = titled_section("notes", "Notes").add(notes);
    let body = Markup::from(glance)
        .append(Markup::concat(deciding.iter().map(of)))
        .append(Markup::concat(others.iter().map(of)))
        .append(Markup::concat(floor))
        .append(notes);
    let title = format!("Trial of file systems in {}", record.directory);
    render_page(
        &title,
        body,
        "walwise check --trial FILE",
        &json::to_pretty_json(record),
    )
}

/// A load that does not decide the ranking is in a closed `details` element.
fn workload_section(
    record: &TrialRecord,
    part: &LoadTable,
    result: Option<&LoadComparison>,
    place: usize,
) -> Markup {
    let chart = result.map(|result| forest::forest_chart(record, result, place));
    let inner = Markup::from(tag("p").add_text(&part.sentence))
        .append(Markup::concat(chart))
        .append(workload_table(part));
    let heading = tag("h2")
        .attr("id", &format!("load-{place}"))
        .add_text(&part.title);
    if part.is_deciding {
        return Markup::from(heading).append(inner);
    }
    tag("details")
        .add(tag("summary").add(heading))
        .add(inner)
        .into()
}

fn workload_table(part: &LoadTable) -> Markup {
    if part.columns.is_empty() {
        return Markup::default();
    }
    let cell = |cell: &TableCell| match &cell.interval {
        Some(interval) => Markup::from_text(&format!("{} ({interval})", cell.text)),
        None => Markup::from_text(&cell.text),
    };
    let row = |row: &Vec<TableCell>| row.iter().map(cell).collect::<Vec<Markup>>();
    let mut rows: Vec<Vec<Markup>> = part.rows.iter().map(row).collect();
    rows.extend(part.unranked.iter().map(|cells| {
        let mut cells = row(cells);
        if let Some(name) = cells.first_mut() {
            *name = std::mem::take(name).append(Markup::from_text(" (not ranked)"));
        }
        cells
    }));
    let right: Vec<bool> = (0..part.columns.len()).map(|at| at > 0).collect();
    section::table_markup(&part.title, &part.columns, &right, rows)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::report_reader::embedded_json;
    use walwise_measure::trial::Candidate;
    use walwise_measure::trial::fixtures::record_with_commit_rates;

    fn example_record() -> TrialRecord {
        let candidates = [
            (Candidate::Ext4, 4_000.0, Some(1_000)),
            (Candidate::Ext4Nobarrier, 90_000.0, Some(0)),
            (Candidate::Xfs, 5_000.0, Some(1_000)),
        ];
        record_with_commit_rates(&candidates, 15)
    }

    #[test]
    fn page_has_charts_and_parsable_record() {
        let page = render_trial_page(&example_record());
        assert_eq!(page, render_trial_page(&example_record()), "the same bytes");
        for says in [
            "xfs is the fastest, with 95 % confidence.",
            "Throughput relative to the first candidate",
            "ext4 again",
            "ext4-nobarrier (not ranked)",
            "The raw extent, block by block",
            "Certified: a flush of the loop device takes as long as a flush of its file",
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
        assert_eq!(
            TrialRecord::parse(embedded_json(&page)).unwrap(),
            example_record()
        );
    }

    #[test]
    fn hostile_record_is_escaped_and_empty_record_renders() {
        let tags = |page: &str| page.matches('<').count();
        let clean = tags(&render_trial_page(&example_record()));
        for evil in [
            "</script><svg onload=alert(1)>",
            "<!--",
            "\u{202e}\"' onfocus=x ",
            "&lt;b&gt;",
        ] {
            let mut record = example_record();
            record.directory = evil.to_owned();
            record.host_filesystem = evil.to_owned();
            for made in &mut record.candidates {
                (made.version, made.mount) = (evil.to_owned(), evil.to_owned());
            }
            let page = render_trial_page(&record);
            assert_eq!(tags(&page), clean, "{evil}");
            assert!(!page.contains('\u{202e}'));
        }
        for blocks in [0, 1] {
            assert!(
                render_trial_page(&record_with_commit_rates(
                    &[(Candidate::Ext4, 1.0, None)],
                    blocks
                ))
                .ends_with("</html>\n")
            );
        }
    }
}
