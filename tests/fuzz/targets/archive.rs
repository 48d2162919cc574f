//! Fuzzes captures: the readable part survives writing and reading again, and errors are
//! display-safe.
#![no_main]

use libfuzzer_sys::fuzz_target;
use walwise_sys::host::archive;

#[path = "../shown.rs"]
mod shown;

fuzz_target!(|bytes: &[u8]| {
    let with_header = [b"walwise host 1\n", bytes].concat();
    for text in [bytes, &with_header] {
        let Ok((answers, problems)) = archive::parse(text) else {
            continue;
        };
        problems.iter().for_each(|problem| shown::assert_display_safe(problem));
        let written = archive::render(&answers, "a comment");
        written.split(['\n', '\t']).for_each(shown::assert_display_safe);
        let (again, problems) = archive::parse(written.as_bytes()).expect("it has the header");
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(answers, again);
    }
});
