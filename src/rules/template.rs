//! Texts with facts in them: `{mount.point} is mounted without barriers`.
//!
//! In titles and reasons a fact comes out as people read it, `unknown` where it is not known. In commands it comes out
//! shell-quoted, and a command with a fact that is unknown or cannot be pasted is not made at all. `{subject}` is the
//! name of the subject itself, `{which}` what of its stack the condition is about. The surprise: only `{a.name}` is a placeholder; `${VAR}`, `{}` and `{ print $1 }` are
//! text, for commands are full of braces.

use std::ops::Range;
use std::sync::Arc;

use crate::facts::{FactSet, KeyInfo, Subject};
use crate::text;

/// A text with placeholders, each of a fact that exists.
#[derive(Clone, Debug, Default)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Text(Arc<str>),
    Fact(&'static KeyInfo),
    Subject,
    Which,
}

impl Part {
    /// As it was written.
    fn source(&self) -> String {
        match self {
            Self::Text(text) => text.to_string(),
            Self::Fact(fact) => format!("{{{}}}", fact.name),
            Self::Subject => format!("{{{SUBJECT}}}"),
            Self::Which => format!("{{{WHICH}}}"),
        }
    }
}

/// The placeholder for the subject's name.
const SUBJECT: &str = "subject";
/// The placeholder for the elements of the first quantifier that made the condition come out as it did.
const WHICH: &str = "which";
/// How many elements are named before the rest is counted.
const NAMED: usize = 4;

impl Template {
    /// Reads a text; `find` says which fact a name means. Names that mean none stay text and are returned.
    pub fn parse(
        source: &str,
        mut find: impl FnMut(&str) -> Option<&'static KeyInfo>,
    ) -> (Self, Vec<String>) {
        let (mut parts, mut unknown, mut done) = (Vec::new(), Vec::new(), 0);
        for Range { start, end } in placeholders(source) {
            let name = source.get(start + 1..end - 1).unwrap_or_default();
            let part = match name {
                SUBJECT => Some(Part::Subject),
                WHICH => Some(Part::Which),
                name => find(name).map(Part::Fact),
            };
            let Some(part) = part else {
                unknown.push(name.to_owned());
                continue;
            };
            parts.push(Part::Text(source.get(done..start).unwrap_or_default().into()));
            parts.push(part);
            done = end;
        }
        parts.push(Part::Text(source.get(done..).unwrap_or_default().into()));
        (Self { parts }, unknown)
    }

    /// The facts in it.
    pub fn facts(&self) -> impl Iterator<Item = &'static KeyInfo> {
        self.parts.iter().filter_map(|part| match part {
            Part::Fact(fact) => Some(*fact),
            Part::Text(_) | Part::Subject | Part::Which => None,
        })
    }

    /// Whether it names elements of a quantifier.
    pub fn names_which(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Which))
    }

    /// As it was written.
    pub fn source(&self) -> String {
        self.parts.iter().map(Part::source).collect()
    }

    /// For reading, of nothing in particular: facts by their names.
    pub fn unfilled(&self) -> String {
        let shown = |part: &Part| match part {
            Part::Text(text) => text.to_string(),
            Part::Fact(fact) => fact.name.to_owned(),
            Part::Subject => "it".to_owned(),
            Part::Which => listed(&[]),
        };
        self.parts.iter().map(shown).collect()
    }

    /// For reading: facts as people read them, `unknown` where they are not known. `which` are the elements that the
    /// condition is about.
    pub fn text(&self, facts: &FactSet, subject: &Subject, which: &[&Subject]) -> Arc<str> {
        if let [Part::Text(text)] = self.parts.as_slice() {
            return Arc::clone(text);
        }
        let shown = |part: &Part| match part {
            Part::Text(text) => text.to_string(),
            Part::Subject => subject.name().to_owned(),
            Part::Which => listed(which),
            Part::Fact(fact) => {
                let reading = facts.lookup(subject, fact);
                reading.value().map_or_else(|| "unknown".to_owned(), |value| fact.show(value))
            }
        };
        self.parts.iter().map(shown).collect::<String>().into()
    }

    /// For a shell: facts quoted. A command that would need an unknown fact, or one that cannot be pasted, becomes a
    /// comment that says so.
    pub fn command(&self, facts: &FactSet, subject: &Subject) -> String {
        let mut out = String::new();
        for part in &self.parts {
            let (name, value) = match part {
                Part::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Part::Subject => (SUBJECT, Some(subject.name().to_owned())),
                Part::Which => (WHICH, None),
                Part::Fact(fact) => (fact.name, facts.lookup(subject, fact).value().map(ToString::to_string)),
            };
            let Some(value) = value else { return format!("# {}: {name} is not known", self.source()) };
            match text::shell_word(&value) {
                Some(word) => out.push_str(&word),
                None => return format!("# {}: {name} cannot be written in a command", self.source()),
            }
        }
        out
    }
}

/// `sda`, `sda and sdb`, `sda, sdb, sdc, sdd and 8 more`.
fn listed(which: &[&Subject]) -> String {
    let names: Vec<&str> = which.iter().map(|subject| subject.name()).collect();
    match names.as_slice() {
        [] => "something".to_owned(),
        [one] => (*one).to_owned(),
        [some @ .., last] if some.len() < NAMED => format!("{} and {last}", some.join(", ")),
        many => {
            let (first, rest) = many.split_at(NAMED);
            format!("{} and {} more", first.join(", "), rest.len())
        }
    }
}

/// Where placeholders stand, braces included.
fn placeholders(source: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (start, _) in source.match_indices('{') {
        let before = source.get(..start).unwrap_or_default();
        let Some((name, _)) = source.get(start + 1..).and_then(|rest| rest.split_once('}')) else { continue };
        let named = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "._".contains(c));
        if named && !before.ends_with('$') {
            found.push(start..start + name.len() + 2);
        }
    }
    found
}

/// Whether a command has a placeholder between quotes of its own, where the quotes that we put around the fact would
/// end those instead.
pub fn quotes_a_placeholder(command: &str) -> bool {
    let spots = placeholders(command);
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in command.char_indices() {
        if quote.is_some() && spots.iter().any(|spot| spot.start == at) {
            return true;
        }
        match (quote, c) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::catalog::{self, mount};
    use crate::facts::{Reading, Source, Why};

    /// What a command comes to on the mount of this name, of which the point is known or not.
    fn command(source: &str, subject: &str, point: Option<&str>) -> String {
        let (subject, mut facts) = (Subject::mount(subject), FactSet::default());
        let known = |text: &str| Reading::known(text.to_owned(), Source::Assumed);
        facts.put(&subject, &mount::POINT, point.map_or(Reading::unknown(Why::Denied, ""), known));
        Template::parse(source, catalog::find).0.command(&facts, &subject)
    }

    #[test]
    fn only_names_are_placeholders() {
        let source = "{mount.point} ${mount.fstype} {} { print $1 } {a,b} {mount.pont} {subject}";
        let (template, unknown) = Template::parse(source, catalog::find);
        assert_eq!(template.facts().map(|f| f.name).collect::<Vec<_>>(), ["mount.point"]);
        assert_eq!(unknown, ["mount.pont"]);
        assert_eq!(template.source(), source);
        let text = template.text(&FactSet::default(), &Subject::mount("/srv"), &[]);
        assert_eq!(&*text, "unknown ${mount.fstype} {} { print $1 } {a,b} {mount.pont} /srv");
    }

    #[test]
    fn commands_are_quoted_or_become_comments() {
        let remount = "mount -o remount {mount.point}";
        assert_eq!(command(remount, "/", Some("/a b")), "mount -o remount '/a b'");
        assert_eq!(command(remount, "/", None), "# mount -o remount {mount.point}: mount.point is not known");
        assert!(command(remount, "/", Some("/a\\x0arm")).starts_with("# "));
        assert_eq!(command("ls {subject}", "/a b", None), "ls '/a b'");
    }

    #[test]
    fn a_few_elements_are_named_and_the_rest_is_counted() {
        let (template, _) = Template::parse("{which} turns", catalog::find);
        assert!(template.names_which());
        let disks: Vec<Subject> = (0..9).map(|n| Subject::device(format!("sd{n}"))).collect();
        for (count, text) in [
            (0, "something turns"),
            (1, "sd0 turns"),
            (2, "sd0 and sd1 turns"),
            (4, "sd0, sd1, sd2 and sd3 turns"),
            (9, "sd0, sd1, sd2, sd3 and 5 more turns"),
        ] {
            let which: Vec<&Subject> = disks.iter().take(count).collect();
            assert_eq!(&*template.text(&FactSet::default(), &Subject::target("/t"), &which), text);
        }
    }

    #[test]
    fn quotes_around_placeholders_are_seen() {
        for (command, quoted) in [
            ("sh -c 'x {mount.point}'", true),
            ("echo \"{mount.point}\"", true),
            ("echo 'a' {mount.point} \"b\"", false),
            ("echo \\' {mount.point}", false),
            ("echo \"\\\"\" {mount.point}", false),
        ] {
            assert_eq!(quotes_a_placeholder(command), quoted, "{command}");
        }
    }

    proptest! {
        #[test]
        fn a_fact_in_a_command_is_one_inert_word(value in "[ -~]{0,12}") {
            let line = command("x {mount.point}", "/", Some(&value));
            if let Some(word) = line.strip_prefix("x ") {
                prop_assert_eq!(text::shell_word(&value), Some(word.to_owned()));
            } else {
                prop_assert!(line.starts_with("# ") && !line.contains('\n'));
            }
        }
    }
}
