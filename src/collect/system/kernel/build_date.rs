//! The day on which a kernel was built, from the end of its build text (uname(2), version): Debian writes
//! `6.1.140-1 (2025-05-22)`, Arch Linux `Thu, 10 Oct 2024 17:15:23 +0000`, others `Tue Nov 12 17:28:15 UTC 2024`.

use jiff::civil::Date;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The day, in the time zone of the builder.
pub fn of(build: &str) -> Option<Date> {
    let words: Vec<&str> = build.split_ascii_whitespace().collect();
    let last = words.last()?;
    if let Some(day) = last.strip_prefix('(').and_then(|day| day.strip_suffix(')')) {
        return day.parse().ok();
    }
    // From the right, since the compiler's date may stand before.
    let (at, month) = words.iter().enumerate().rev().find_map(|(at, word)| {
        let month = MONTHS.iter().position(|month| month == word)?;
        Some((at, i8::try_from(month).ok()? + 1))
    })?;
    // `Nov 12 17:28:15 UTC 2024`, and Arch Linux's `12 Nov 2024 17:28:15 +0000`.
    let after = *words.get(at + 1)?;
    let (day, year) =
        if after.len() == 4 { (*words.get(at.checked_sub(1)?)?, after) } else { (after, *last) };
    Date::new(year.parse().ok()?, month, day.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_builder_writes_a_day() {
        for (build, expect) in [
            ("#1 SMP PREEMPT_DYNAMIC Debian 6.1.140-1 (2025-05-22)", Some("2025-05-22")),
            (
                "Linux version 5.10.92 (a@b) (gcc (GCC) 11.2.0) #1 SMP Sun Jan 16 10:03:12 UTC 2022",
                Some("2022-01-16"),
            ),
            ("#129-Ubuntu SMP Fri Aug 2 19:25:20 UTC 2024", Some("2024-08-02")),
            ("#1 SMP PREEMPT_DYNAMIC Thu, 10 Oct 2024 17:15:23 +0000", Some("2024-10-10")),
            ("#1 SMP", None),
            ("", None),
        ] {
            assert_eq!(of(build).map(|day| day.to_string()).as_deref(), expect, "{build}");
        }
    }

    proptest! {
        #[test]
        fn any_text_does_no_harm(build in "[ -~]{0,60}") {
            of(&build);
        }
    }
}
