//! Texts with placeholders: `{fact}`, `{subject}`, `{which}` for elements found by the condition,
//! and `{fact? --option=}`, which prints nothing if the fact is unknown.
//!
//! Facts are shell-quoted in commands and between backticks. Other braces stay as they are, because
//! commands are full of them.

use std::ops::Range;
use std::sync::Arc;

use crate::escape::{ShellCommand, shell};
use crate::facts::{FactSet, KeyInfo, Subject};
use crate::text::format_names_and_rest;

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
    /// Text to print before the fact. If the fact is unknown, neither is printed.
    prefix: Option<Arc<str>>,
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
    fn as_written(&self) -> String {
        let prefix = self
            .prefix
            .as_ref()
            .map(|prefix| format!("?{prefix}"))
            .unwrap_or_default();
        format!("{{{}{prefix}}}", self.kind.name())
    }

    fn render_for_subject(&self, facts: &FactSet, subject: &Subject, which: &[&Subject]) -> String {
        let shown = match self.kind {
            PlaceholderKind::Subject if self.in_code => {
                shell_quote_or_name(SUBJECT, subject.name())
            }
            PlaceholderKind::Subject => subject.name().to_owned(),
            PlaceholderKind::Which => list_first_subjects_and_count_rest(which),
            PlaceholderKind::Fact(fact) => {
                match (
                    facts.applicable_reading(subject, fact).value(),
                    &self.prefix,
                ) {
                    (None, Some(_)) => return String::new(),
                    (None, None) => "unknown".to_owned(),
                    (Some(value), _) if self.in_code => {
                        shell_quote_or_name(fact.name, &value.to_string())
                    }
                    (Some(value), _) => fact.format_value(value),
                }
            }
        };
        self.prefix.as_deref().unwrap_or_default().to_owned() + &shown
    }
}

/// The value quoted for a shell. If it cannot be quoted, the placeholder's name in capitals, such
/// as `POINT`.
fn shell_quote_or_name(name: &str, shown: &str) -> String {
    shell::quote_display_safe_shell_name(shown)
        .unwrap_or_else(|| name.rsplit('.').next().unwrap_or(name).to_uppercase())
}

impl Template {
    /// `find` looks a fact up by name. The second value lists unknown names, which stay in the
    /// text.
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
        } in placeholder_matches(source)
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

    #[cfg(test)]
    pub(crate) fn placeholder_facts(&self) -> impl Iterator<Item = &'static KeyInfo> {
        self.placeholders().filter_map(|place| match place.kind {
            PlaceholderKind::Fact(fact) => Some(fact),
            PlaceholderKind::Subject | PlaceholderKind::Which => None,
        })
    }

    pub(crate) fn has_all_required_facts(&self, facts: &FactSet, subject: &Subject) -> bool {
        self.placeholders().all(|place| match place.kind {
            PlaceholderKind::Fact(fact) => {
                place.prefix.is_some() || facts.applicable_reading(subject, fact).value().is_some()
            }
            PlaceholderKind::Subject | PlaceholderKind::Which => true,
        })
    }

    pub(crate) fn has_which_placeholder(&self) -> bool {
        self.placeholders()
            .any(|place| matches!(place.kind, PlaceholderKind::Which))
    }

    pub fn as_written(&self) -> String {
        self.render_with(Placeholder::as_written)
    }

    /// The text as prose without a subject: a placeholder prints as `<mount.point>`, an optional
    /// one as nothing.
    pub fn text_without_subject(&self) -> String {
        self.render_with(|place| match place.prefix {
            Some(_) => String::new(),
            None => format!("<{}>", place.kind.name()),
        })
    }

    fn render_with(&self, shown: impl Fn(&Placeholder) -> String) -> String {
        let one = |part: &TemplateSegment| match part {
            TemplateSegment::Text(text) => text.to_string(),
            TemplateSegment::Placeholder(place) => shown(place),
        };
        self.parts.iter().map(one).collect()
    }

    /// An unknown fact prints as `unknown`. `which` are the elements found by the condition.
    pub fn render_for_subject(
        &self,
        facts: &FactSet,
        subject: &Subject,
        which: &[&Subject],
    ) -> Arc<str> {
        if let [TemplateSegment::Text(text)] = self.parts.as_slice() {
            return Arc::clone(text);
        }
        self.render_with(|place| place.render_for_subject(facts, subject, which))
            .into()
    }

    /// The command becomes a comment if a required fact is unknown, or if a value cannot be quoted.
    pub fn shell_command(&self, facts: &FactSet, subject: &Subject) -> ShellCommand {
        let mut command = ShellCommand::new("");
        for part in &self.parts {
            let place = match part {
                TemplateSegment::Text(text) => {
                    command = command.append_rule_text(text);
                    continue;
                }
                TemplateSegment::Placeholder(place) => place,
            };
            let value = match place.kind {
                PlaceholderKind::Subject => Some(subject.name().to_owned()),
                PlaceholderKind::Which => None,
                PlaceholderKind::Fact(fact) => facts
                    .applicable_reading(subject, fact)
                    .value()
                    .map(ToString::to_string),
            };
            let not = |why: &str| {
                ShellCommand::from_comment(&format!(
                    "{}: {} {why}",
                    self.as_written(),
                    place.kind.name()
                ))
            };
            command = match (value, &place.prefix) {
                (None, Some(_)) => command,
                (None, None) => return not("is unknown"),
                (Some(value), prefix) => {
                    let before = command.append_rule_text(prefix.as_deref().unwrap_or_default());
                    match before.append_quoted_name(&value) {
                        Some(command) => command,
                        None => return not("cannot be written in a command"),
                    }
                }
            };
        }
        command
    }
}

/// The subjects in words, with a limit: `sda`, `sda and sdb`, `sda, sdb, sdc, sdd and 8 more`.
fn list_first_subjects_and_count_rest(which: &[&Subject]) -> String {
    let names: Vec<&str> = which.iter().map(|subject| subject.name()).collect();
    match names.as_slice() {
        [] => "an unidentified element".to_owned(),
        [one] => (*one).to_owned(),
        [some @ .., last] if some.len() < MAX_NAMED_ELEMENTS => {
            format!("{} and {last}", some.join(", "))
        }
        many => format_names_and_rest(many, MAX_NAMED_ELEMENTS),
    }
}

struct PlaceholderMatch<'s> {
    range: Range<usize>,
    name: &'s str,
    prefix: Option<&'s str>,
    in_code: bool,
}

fn placeholder_matches(source: &str) -> impl Iterator<Item = PlaceholderMatch<'_>> {
    let is_in_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._".contains(c);
    source.match_indices('{').filter_map(move |(start, _)| {
        let (before, rest) = source.split_at_checked(start)?;
        let (body, _) = rest.strip_prefix('{')?.split_once('}')?;
        let (name, prefix) = match body.split_once('?') {
            Some((name, prefix)) => (name, Some(prefix)),
            None => (body, None),
        };
        let is_placeholder = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(is_in_name)
            && !prefix.is_some_and(|prefix| prefix.contains(['{', '`']))
            && !before.ends_with('$');
        is_placeholder.then(|| PlaceholderMatch {
            range: start..start + body.len() + 2,
            name,
            prefix,
            in_code: before.matches('`').count() % 2 == 1,
        })
    })
}

/// Whether a placeholder is within quotes or after a backslash. The quotes of the inserted value
/// would end the outer quotes, or be escaped.
pub fn has_quoted_placeholder(command: &str) -> bool {
    let mut candidates = placeholder_matches(command)
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
    use crate::facts::{Reading, Source};

    fn render_command(source: &str, subject: &str, point: Option<&str>) -> String {
        let (subject, mut facts) = (Subject::mount(subject), FactSet::default());
        let known = |text: &str| Reading::known(text.to_owned(), Source::Assumed);
        facts.insert(
            &subject,
            &mount::POINT,
            point.map_or(Reading::denied(""), known),
        );
        Template::parse(source, catalog::find_by_name)
            .0
            .shell_command(&facts, &subject)
            .to_string()
    }

    #[test]
    fn only_names_are_placeholders() {
        let source = "{mount.point} ${mount.fstype} {} { print $1 } {a,b} {mount.pont} {subject}";
        let (template, unknown) = Template::parse(source, catalog::find_by_name);
        assert_eq!(
            template
                .placeholder_facts()
                .map(|f| f.name)
                .collect::<Vec<_>>(),
            ["mount.point"]
        );
        assert_eq!(unknown, ["mount.pont"]);
        assert_eq!(template.as_written(), source);
        let text = template.render_for_subject(&FactSet::default(), &Subject::mount("/srv"), &[]);
        assert_eq!(
            &*text,
            "unknown ${mount.fstype} {} { print $1 } {a,b} {mount.pont} /srv"
        );
    }

    #[test]
    fn commands_are_quoted_or_become_comments() {
        let remount = "mount -o remount {mount.point}";
        assert_eq!(
            render_command(remount, "/", Some("/a b")),
            "mount -o remount '/a b'"
        );
        assert_eq!(
            render_command(remount, "/", None),
            "# mount -o remount {mount.point}: mount.point is unknown"
        );
        assert!(render_command(remount, "/", Some("/a\\x0arm")).starts_with("# "));
        assert_eq!(render_command("ls {subject}", "/a b", None), "ls '/a b'");
    }

    #[test]
    fn optional_placeholder_is_rendered_if_fact_is_known() {
        let source = "findmnt{mount.point? --target=} -J";
        assert_eq!(
            render_command(source, "/", Some("/a b")),
            "findmnt --target='/a b' -J"
        );
        assert_eq!(render_command(source, "/", None), "findmnt -J");
        assert!(
            render_command(source, "/", Some("/a\\x0a"))
                .starts_with("# findmnt{mount.point? --target=} -J: ")
        );
    }

    #[test]
    fn placeholders_in_inline_code_are_shell_quoted() {
        let told = |point: &str| {
            let (subject, mut facts) = (Subject::mount("/"), FactSet::default());
            facts.insert_known(&subject, &mount::POINT, point.to_owned(), Source::Assumed);
            let source = "{mount.point} lacks a line: `walwise check {mount.point} --format fstab` prints it";
            Template::parse(source, catalog::find_by_name)
                .0
                .render_for_subject(&facts, &subject, &[])
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
    fn which_lists_few_elements_and_counts_the_rest() {
        let (template, _) = Template::parse("{which} turns", catalog::find_by_name);
        assert!(template.has_which_placeholder());
        let disks: Vec<Subject> = (0..9).map(|n| Subject::device(format!("sd{n}"))).collect();
        for (count, text) in [
            (0, "an unidentified element turns"),
            (1, "sd0 turns"),
            (2, "sd0 and sd1 turns"),
            (4, "sd0, sd1, sd2 and sd3 turns"),
            (9, "sd0, sd1, sd2, sd3 and 5 more turns"),
        ] {
            let which: Vec<&Subject> = disks.iter().take(count).collect();
            assert_eq!(
                &*template.render_for_subject(&FactSet::default(), &Subject::target("/t"), &which),
                text
            );
        }
    }

    #[test]
    fn quoted_placeholders_are_detected() {
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
            assert_eq!(has_quoted_placeholder(command), quoted, "{command}");
        }
    }

    proptest! {
        #[test]
        fn fact_in_command_is_one_shell_word(value in "[ -~]{0,12}") {
            let line = render_command("x {mount.point}", "/", Some(&value));
            if let Some(word) = line.strip_prefix("x ") {
                prop_assert_eq!(shell::quote_display_safe_shell_name(&value), Some(word.to_owned()));
            } else {
                prop_assert!(line.starts_with("# ") && !line.contains('\n'));
            }
        }
    }
}
