//! The published tables reproduce what their authors concluded, and what they did not notice is remarked.

use proptest::prelude::*;

use super::*;

fn runs(name: &str) -> Vec<Imported> {
    let path = format!("{}/tests/imports/{name}", env!("CARGO_MANIFEST_DIR"));
    import(&std::fs::read(path).unwrap()).unwrap()
}

fn only(name: &str) -> Imported {
    let mut runs = runs(name);
    assert_eq!(runs.len(), 1, "{name}");
    runs.remove(0)
}

fn rate(run: &Imported, group: Group, name: &str) -> f64 {
    run.row(group, name).and_then(|row| row.per_second).unwrap()
}

fn remarks(run: &Imported, word: &str) -> Vec<String> {
    run.remarks.iter().filter(|remark| remark.contains(word)).cloned().collect()
}

#[test]
fn the_blog_of_2015_says_what_its_author_concluded() {
    let [ext4, default, tuned] =
        ["ext4", "btrfs-default", "btrfs-tuned"].map(|name| only(&format!("pg-9.5-{name}.txt")));
    let fdatasync = |run| rate(run, Group::OneWrite, "fdatasync");
    assert!(
        (fdatasync(&ext4) / fdatasync(&tuned) - 2.86).abs() < 0.01,
        "tuned btrfs has a third of ext4's rate"
    );
    assert!((fdatasync(&ext4) / fdatasync(&default) - 11.64).abs() < 0.01);
    for run in [&ext4, &default, &tuned] {
        assert_eq!((run.rows.len(), run.budget.as_str()), (18, "5 seconds per test"));
        assert!(run.sentence.ends_with("; nothing in it argues for another method."), "{}", run.sentence);
    }
    // Nobody flagged that btrfs wrote two pages faster than one.
    assert_eq!(remarks(&default, "two writes with").len(), 1, "{:?}", default.remarks);
    assert!(
        default.remarks[0].contains("fsync were faster (519/s) than one (385/s)"),
        "{:?}",
        default.remarks
    );
    assert!(remarks(&ext4, "two writes with").is_empty() && remarks(&tuned, "two writes with").is_empty());
}

#[test]
fn the_dialect_of_2011_has_operations_and_no_microseconds() {
    let [disk, memory] = ["pg-2011-sas-ext3.txt", "pg-2011-tmpfs.txt"].map(only);
    assert_eq!(disk.budget, "2000 operations per test");
    assert!((rate(&disk, Group::OneWrite, "fdatasync") - 159.689).abs() < 1e-9);
    assert!((rate(&disk, Group::Sizes, "1kB open_sync writes") - 10.13).abs() < 1e-9);
    assert!((rate(&disk, Group::NotSynced, "write") - 170_386.778).abs() < 1e-9);
    assert!(remarks(&disk, "more than any disk").is_empty(), "unflushed writes may be fast");
    let missing = |name| memory.row(Group::OneWrite, name).unwrap().missing.as_deref();
    assert_eq!(missing("open_datasync"), Some("not in this build"));
    assert_eq!(missing("open_sync"), Some("O_DIRECT was refused"));
    assert_eq!(remarks(&memory, "more than any disk can do").len(), 1, "{:?}", memory.remarks);
}

#[test]
fn the_present_dialect_and_several_runs_in_one_text() {
    let run = only("pg-15.txt");
    assert_eq!((run.budget.as_str(), run.rows.len()), ("1 second per test", 18));
    assert!((rate(&run, Group::Sizes, "16 * 1kB open_sync writes")) > 0.0);
    let text = ["pg-15.txt", "pg-2011-tmpfs.txt"].map(|name| {
        std::fs::read_to_string(format!("{}/tests/imports/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    });
    let page = format!("[root@db ~]# pg_test_fsync\r\n{}\nand then\n{}", text[0], text[1]);
    assert_eq!(import(page.as_bytes()).unwrap().len(), 2);
    // It died where a disk of 4 kB sectors refuses smaller writes.
    let cut = text[0].split("2kB open_sync").next().unwrap();
    assert_eq!(remarks(&import(cut.as_bytes()).unwrap()[0], "ended before its last section").len(), 1);
}

#[test]
fn jobs_of_fio_count_only_where_they_flushed() {
    let run = only("fio-fdatasync.json");
    let job = &run.rows[0];
    assert_eq!((run.tool.as_str(), job.name.as_str()), ("fio-3.33", "wal"));
    assert!((job.per_second.unwrap() - 283.009_467).abs() < 1e-6);
    assert!(
        job.percentiles_us.iter().any(|(percent, us)| (*percent - 99.0).abs() < 0.1 && *us > 1_000.0),
        "{job:?}"
    );
    let run = only("fio-dsync-and-dry.json");
    assert_eq!(remarks(&run, "dry flushed nothing").len(), 1, "{:?}", run.remarks);
    assert!(run.sentence.starts_with("dsync flushed 248 times per second"), "{}", run.sentence);
    assert!(run.rows[0].percentiles_us.len() > 10, "with sync= the write is the flush");
}

#[test]
fn other_texts_are_refused() {
    for text in ["", "hello", "{}", "{\"fio version\": \"fio-3\"}", "5 seconds per test\n"] {
        assert!(import(text.as_bytes()).is_err(), "{text}");
    }
}

proptest! {
    /// Whatever stands in a file, it costs at most itself, and what is shown is safe to show.
    #[test]
    fn any_text_does_no_harm(noise in proptest::collection::vec(any::<u8>(), 0..400), at in 0..2_000usize) {
        for name in ["pg-15.txt", "fio-fdatasync.json"] {
            let path = format!("{}/tests/imports/{name}", env!("CARGO_MANIFEST_DIR"));
            let mut text = std::fs::read(path).unwrap();
            let at = at.min(text.len());
            text.splice(at..at, noise.iter().copied());
            for run in import(&text).unwrap_or_default() {
                let shown = table(&run).join("\n");
                prop_assert!(!shown.chars().any(|c| text::is_treacherous(c) && c != '\n'), "{shown:?}");
            }
        }
    }

    /// One bad line costs one line.
    #[test]
    fn a_bad_line_costs_itself(line in 0..40usize, noise in "[ -~]{0,30}") {
        let path = format!("{}/tests/imports/pg-15.txt", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let whole = import(text.as_bytes()).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        let at = line % lines.len();
        prop_assume!(lines[at].contains("ops/sec"));
        lines[at] = &noise;
        let hurt = import(lines.join("\n").as_bytes()).unwrap();
        let lost = whole[0].rows.iter().filter(|row| !hurt[0].rows.contains(row)).count();
        prop_assert!(lost <= 1, "{lost}");
    }
}
