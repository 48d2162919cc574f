//! Places in the document that a link can name: a rule, and each finding.
//!
//! A place is known from the finding alone, so that monitoring can link to it without having read the document.

use std::fmt::Write as _;

use crate::facts::Subject;
use crate::text;

/// The longest part of a name that is taken as it is.
const LONGEST: usize = 120;

/// The place of a finding: `finding-barrier.ext4-off-mount:~2fimages`. No two findings of a report share one.
pub fn finding(rule: &str, subject: &Subject) -> String {
    // A rule has no colon and the word of a scope no hyphen, so the last hyphen before the first colon is between them.
    format!("finding-{}-{}", encoded(rule), encoded(&subject.to_string()))
}

/// The place of what a rule says.
pub fn rule(rule: &str) -> String {
    format!("rule-{}", encoded(rule))
}

/// The place of the facts about something.
pub fn facts(subject: &Subject) -> String {
    format!("facts-{}", encoded(&subject.to_string()))
}

/// A name as part of an identity, which has no blank and nothing that a link would have to escape. A long one is cut and
/// told apart.
fn encoded(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' => out.push(char::from(byte)),
            b' ' => out.push(':'),
            byte => drop(write!(out, "~{byte:02x}")),
        }
    }
    text::cut_apart(out, LONGEST, "~~", name.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn places_are_plain_and_told_apart() {
        let long = "/x".repeat(5000);
        let longer = "/x".repeat(5001);
        let names =
            ["/images", "/images/", "/a b", "/a:b", "a-b", "/é", "\"><svg onload=x>", "", &long, &longer];
        let mut seen = BTreeSet::new();
        for rule in ["barrier.ext4-off", "barrier.ext4", "barrier"] {
            for name in names {
                for subject in [Subject::mount(name), Subject::target(name), Subject::device(name)] {
                    let place = finding(rule, &subject);
                    assert!(
                        place.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:~".contains(&b)),
                        "{place}"
                    );
                    assert!(place.len() <= 300 && seen.insert(place.clone()), "{place}");
                }
            }
        }
    }
}
