//! Texts with placeholders: `{fact}`, `{fact? --option=}` (text and fact, or nothing if unknown),
//! `{subject}`, and `{which}` for elements found by the condition. Facts are shell-quoted in
//! commands and backticks. Other braces are text: commands are full of them.

use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;
use std::sync::Arc;

use crate::escape::{Command, shell};
use crate::facts::{FactSet, KeyInfo, Subject};
use crate::text::names_and_count;

/// Every placeholder names a fact that exists.
#[derive(Clone, Debug, Default)]
pub struct Template {
    parts: Vec<TemplateSegment>,
}

#[derive(Clone, Debug)]
enum TemplateSegment {
    Text(Arc<str>),
    Placeholder(Placeholder),
}

#[derive(Clone, Debug)]
struct Placeholder {
    kind: PlaceholderKind,
    /// Text before a known fact; if the fact is unknown both are left out.
    prefix: Option<Arc<str>>,
    /// Whether it is between backticks.
    in_code: bool,
}

#[derive(Clone, Copy, Debug)]
enum PlaceholderKind {
    Fact(&'static KeyInfo),
    Subject,
    Which,
}

const SUBJECT: &str = "subject";
const WHICH: &str = "which";
const MAX_NAMED_ELEMENTS: usize = 4;

impl PlaceholderKind {
    fn name(self) -> &'static str {
        match self {
            Self::Fact(fact) => fact.name,
            Self::Subject => SUBJECT,
            Self::Which => WHICH,
        }
    }
}

impl Placeholder {
    fn source(&self) -> String {
        let prefix = self
            .prefix
            .as_ref()
            .map(|prefix| format!("?{prefix}"))
            .unwrap_or_default();
        format!("{{{}{prefix}}}", self.kind.name())
    }

    /// For reading; `which` are the elements found by the condition.
    fn text(&self, facts: &FactSet, subject: &Subject, which: &[&Subject]) -> String {
        let shown = match self.kind {
            PlaceholderKind::Subject if self.in_code => quoted_or_name(SUBJECT, subject.name()),
            PlaceholderKind::Subject => subject.name().to_owned(),
            PlaceholderKind::Which => list_subjects(which),
            PlaceholderKind::Fact(fact) => {
                match (facts.lookup(subject, fact).value(), &self.prefix) {
                    (None, Some(_)) => return String::new(),
                    (None, None) => "unknown".to_owned(),
                    (Some(value), _) if self.in_code => {
                        quoted_or_name(fact.name, &value.to_string())
                    }
                    (Some(value), _) => fact.format_value(value),
                }
            }
        };
        self.prefix.as_deref().unwrap_or_default().to_owned() + &shown
    }
}

/// A name within a command in a sentence; `PATH` for one that cannot be quoted.
fn quoted_or_name(name: &str, shown: &str) -> String {
    shell::quote_name(shown)
        .unwrap_or_else(|| name.rsplit('.').next().unwrap_or(name).to_uppercase())
}

impl Template {
    /// `find` resolves a fact by name. Unresolved names stay text and are returned.
    pub fn parse(
        source: &str,
        mut find: impl FnMut(&str) -> Option<&'static KeyInfo>,
    ) -> (Self, Vec<String>) {
        let (mut parts, mut unknown, mut done) = (Vec::new(), Vec::new(), 0);
        for PlaceholderMatch {
            range: Range { start, end },
            name,
            prefix,
            in_code,
        } in PlaceholderMatches::find_in(source)
        {
            let means = match name {
                SUBJECT => Some(PlaceholderKind::Subject),
                WHICH => Some(PlaceholderKind::Which),
                name => find(name).map(PlaceholderKind::Fact),
            };
            let Some(means) = means else {
                unknown.push(name.to_owned());
                continue;
            };
            parts.push(TemplateSegment::Text(
                source.get(done..start).unwrap_or_default().into(),
            ));
            parts.push(TemplateSegment::Placeholder(Placeholder {
                kind: means,
                prefix: prefix.map(Into::into),
                in_code,
            }));
            done = end;
        }
        parts.push(TemplateSegment::Text(
            source.get(done..).unwrap_or_default().into(),
        ));
        (Self { parts }, unknown)
    }

    fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        self.parts.iter().filter_map(|part| match part {
            TemplateSegment::Placeholder(place) => Some(place),
            TemplateSegment::Text(_) => None,
        })
    }

    pub fn facts(&self) -> impl Iterator<Item = &'static KeyInfo> {
        self.placeholders().filter_map(|place| match place.kind {
            PlaceholderKind::Fact(fact) => Some(fact),
            PlaceholderKind::Subject | PlaceholderKind::Which => None,
        })
    }

    /// Whether every required fact is known here.
    pub fn is_known(&self, facts: &FactSet, subject: &Subject) -> bool {
        self.placeholders().all(|place| match place.kind {
            PlaceholderKind::Fact(fact) => {
                place.prefix.is_some() || facts.lookup(subject, fact).value().is_some()
            }
            PlaceholderKind::Subject | PlaceholderKind::Which => true,
        })
    }

    /// Whether it names elements of a quantifier.
    pub fn uses_which(&self) -> bool {
        self.placeholders()
            .any(|place| matches!(place.kind, PlaceholderKind::Which))
    }

    pub fn source(&self) -> String {
        self.render_with(Placeholder::source)
    }

    /// For reading without a subject: facts left open, optional ones left out.
    pub fn unfilled(&self) -> String {
        self.render_with(|place| match place.kind {
            _ if place.prefix.is_some() => String::new(),
            PlaceholderKind::Fact(_) => "…".to_owned(),
            PlaceholderKind::Subject => "it".to_owned(),
            PlaceholderKind::Which => list_subjects(&[]),
        })
    }

    fn render_with(&self, shown: impl Fn(&Placeholder) -> String) -> String {
        let one = |part: &TemplateSegment| match part {
            TemplateSegment::Text(text) => text.to_string(),
            TemplateSegment::Placeholder(place) => shown(place),
        };
        self.parts.iter().map(one).collect()
    }

    /// For reading, with facts filled in; unknown ones print `unknown`. `which` are the elements
    /// found by the condition.
    pub fn text(&self, facts: &FactSet, subject: &Subject, which: &[&Subject]) -> Arc<str> {
        if let [TemplateSegment::Text(text)] = self.parts.as_slice() {
            return Arc::clone(text);
        }
        self.render_with(|place| place.text(facts, subject, which))
            .into()
    }

    /// For a shell, with facts quoted. A command with an unknown fact, or one that cannot be
    /// quoted, becomes a comment.
    pub fn command(&self, facts: &FactSet, subject: &Subject) -> Command {
        let mut command = Command::new("");
        for part in &self.parts {
            let place = match part {
                TemplateSegment::Text(text) => {
                    command = command.rule_text(text);
                    continue;
                }
                TemplateSegment::Placeholder(place) => place,
            };
            let value = match place.kind {
                PlaceholderKind::Subject => Some(subject.name().to_owned()),
                PlaceholderKind::Which => None,
                PlaceholderKind::Fact(fact) => {
                    facts.lookup(subject, fact).value().map(ToString::to_string)
                }
            };
            let not = |why: &str| {
                Command::comment(&format!("{}: {} {why}", self.source(), place.kind.name()))
            };
            command = match (value, &place.prefix) {
                (None, Some(_)) => command,
                (None, None) => return not("is not known"),
                (Some(value), prefix) => {
                    let before = command.rule_text(prefix.as_deref().unwrap_or_default());
                    match before.value(&value) {
                        Some(command) => command,
                        None => return not("cannot be written in a command"),
                    }
                }
            };
        }
        command
    }
}

/// `sda`, `sda and sdb`, `sda, sdb, sdc, sdd and 8 more`.
fn list_subjects(which: &[&Subject]) -> String {
    let names: Vec<&str> = which.iter().map(|subject| subject.name()).collect();
    match names.as_slice() {
        [] => "something".to_owned(),
        [one] => (*one).to_owned(),
        [some @ .., last] if some.len() < MAX_NAMED_ELEMENTS => {
            format!("{} and {last}", some.join(", "))
        }
        many => names_and_count(many, MAX_NAMED_ELEMENTS),
    }
}

struct PlaceholderMatch<'s> {
    /// Braces included.
    range: Range<usize>,
    name: &'s str,
    prefix: Option<&'s str>,
    in_code: bool,
}

/// The placeholders of a text, in order. Each character is examined once.
struct PlaceholderMatches<'s> {
    source: &'s str,
    rest: Peekable<CharIndices<'s>>,
    before: Option<char>,
    in_code: bool,
}

impl<'s> PlaceholderMatches<'s> {
    fn find_in(source: &'s str) -> Self {
        Self {
            source,
            rest: source.char_indices().peekable(),
            before: None,
            in_code: false,
        }
    }

    fn next_char(&mut self) -> Option<(usize, char)> {
        let (at, c) = self.rest.next()?;
        self.in_code ^= c == '`';
        self.before = Some(c);
        Some((at, c))
    }

    fn take_matching(&mut self, fits: impl Fn(char) -> bool) -> &'s str {
        let start = self.position();
        while self.rest.peek().is_some_and(|(_, c)| fits(*c)) {
            self.next_char();
        }
        self.source.get(start..self.position()).unwrap_or_default()
    }

    fn position(&mut self) -> usize {
        self.rest.peek().map_or(self.source.len(), |(at, _)| *at)
    }

    /// The text after an opening brace up to the closing one.
    fn parse_braces(&mut self) -> Option<(&'s str, Option<&'s str>)> {
        let name = self
            .take_matching(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "._".contains(c));
        let prefix = self
            .rest
            .next_if(|(_, c)| *c == '?')
            .map(|_| self.take_matching(|c| !"{}`".contains(c)));
        self.rest.next_if(|(_, c)| *c == '}')?;
        name.starts_with(|c: char| c.is_ascii_lowercase())
            .then_some((name, prefix))
    }
}

impl<'s> Iterator for PlaceholderMatches<'s> {
    type Item = PlaceholderMatch<'s>;

    fn next(&mut self) -> Option<PlaceholderMatch<'s>> {
        loop {
            let before = self.before;
            let (start, c) = self.next_char()?;
            if c != '{' {
                continue;
            }
            let in_code = self.in_code;
            let found = self.parse_braces();
            self.before = if found.is_some() {
                Some('}')
            } else {
                self.before
            };
            if let Some((name, prefix)) = found.filter(|_| before != Some('$')) {
                return Some(PlaceholderMatch {
                    range: start..self.position(),
                    name,
                    prefix,
                    in_code,
                });
            }
        }
    }
}

/// Whether a placeholder is within quotes, which our quoting would end, or after a backslash, which
/// would escape our first quote.
pub fn quotes_a_placeholder(command: &str) -> bool {
    let mut candidates = PlaceholderMatches::find_in(command)
        .map(|candidate| candidate.range.start)
        .peekable();
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in command.char_indices() {
        if candidates.next_if_eq(&at).is_some() && (quote.is_some() || escaped) {
            return true;
        }
        match (quote, c) {
            _ if escaped => escaped = false,
            (None | Some('"' | '`'), '\\') => escaped = true,
            (None, '\'' | '"' | '`') => quote = Some(c),
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
    use crate::facts::{Reading, Source, UnknownReason};

    /// The rendered command on the mount of this name; `point` may be unknown.
    fn command(source: &str, subject: &str, point: Option<&str>) -> String {
        let (subject, mut facts) = (Subject::mount(subject), FactSet::default());
        let known = |text: &str| Reading::known(text.to_owned(), Source::Assumed);
        facts.insert(
            &subject,
            &mount::POINT,
            point.map_or(Reading::unknown(UnknownReason::Denied, ""), known),
        );
        Template::parse(source, catalog::find)
            .0
            .command(&facts, &subject)
            .to_string()
    }

    #[test]
    fn only_names_are_placeholders() {
        let source = "{mount.point} ${mount.fstype} {} { print $1 } {a,b} {mount.pont} {subject}";
        let (template, unknown) = Template::parse(source, catalog::find);
        assert_eq!(
            template.facts().map(|f| f.name).collect::<Vec<_>>(),
            ["mount.point"]
        );
        assert_eq!(unknown, ["mount.pont"]);
        assert_eq!(template.source(), source);
        let text = template.text(&FactSet::default(), &Subject::mount("/srv"), &[]);
        assert_eq!(
            &*text,
            "unknown ${mount.fstype} {} { print $1 } {a,b} {mount.pont} /srv"
        );
    }

    #[test]
    fn commands_are_quoted_or_become_comments() {
        let remount = "mount -o remount {mount.point}";
        assert_eq!(
            command(remount, "/", Some("/a b")),
            "mount -o remount '/a b'"
        );
        assert_eq!(
            command(remount, "/", None),
            "# mount -o remount {mount.point}: mount.point is not known"
        );
        assert!(command(remount, "/", Some("/a\\x0arm")).starts_with("# "));
        assert_eq!(command("ls {subject}", "/a b", None), "ls '/a b'");
    }

    #[test]
    fn what_is_optional_is_there_where_the_fact_is_known() {
        let source = "findmnt{mount.point? --target=} -J";
        assert_eq!(
            command(source, "/", Some("/a b")),
            "findmnt --target='/a b' -J"
        );
        assert_eq!(command(source, "/", None), "findmnt -J");
        assert!(
            command(source, "/", Some("/a\\x0a"))
                .starts_with("# findmnt{mount.point? --target=} -J: ")
        );
    }

    #[test]
    fn a_command_in_a_sentence_is_quoted_too() {
        let told = |point: &str| {
            let (subject, mut facts) = (Subject::mount("/"), FactSet::default());
            facts.insert_known(&subject, &mount::POINT, point.to_owned(), Source::Assumed);
            let source = "{mount.point} lacks a line: `walwise check {mount.point} --format fstab` prints it";
            Template::parse(source, catalog::find)
                .0
                .text(&facts, &subject, &[])
                .to_string()
        };
        assert_eq!(
            told("/$(id)"),
            "/$(id) lacks a line: `walwise check '/$(id)' --format fstab` prints it"
        );
        assert_eq!(
            told("/\\x1b"),
            "/\\x1b lacks a line: `walwise check POINT --format fstab` prints it"
        );
    }

    #[test]
    fn a_few_elements_are_named_and_the_rest_is_counted() {
        let (template, _) = Template::parse("{which} turns", catalog::find);
        assert!(template.uses_which());
        let disks: Vec<Subject> = (0..9).map(|n| Subject::device(format!("sd{n}"))).collect();
        for (count, text) in [
            (0, "something turns"),
            (1, "sd0 turns"),
            (2, "sd0 and sd1 turns"),
            (4, "sd0, sd1, sd2 and sd3 turns"),
            (9, "sd0, sd1, sd2, sd3 and 5 more turns"),
        ] {
            let which: Vec<&Subject> = disks.iter().take(count).collect();
            assert_eq!(
                &*template.text(&FactSet::default(), &Subject::target("/t"), &which),
                text
            );
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
            ("echo \\{mount.point}", true),
            ("echo `ls {mount.point}`", true),
            ("echo $(ls {mount.point})", false),
        ] {
            assert_eq!(quotes_a_placeholder(command), quoted, "{command}");
        }
    }

    proptest! {
        #[test]
        fn a_fact_in_a_command_is_one_inert_word(value in "[ -~]{0,12}") {
            let line = command("x {mount.point}", "/", Some(&value));
            if let Some(word) = line.strip_prefix("x ") {
                prop_assert_eq!(shell::quote_name(&value), Some(word.to_owned()));
            } else {
                prop_assert!(line.starts_with("# ") && !line.contains('\n'));
            }
        }
    }
}
