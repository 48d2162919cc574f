//! HTML that is being written, in which nothing from the machine becomes markup: elements and
//! attributes are words of this program, and everything else passes through [`Markup::text`] or
//! [`Tag::with`].

use crate::telling::flush::UNBROKEN;
use crate::telling::{Fragment, Phrase};
use walwise_model::quote::comment;
use walwise_model::text::push_escaped;

#[derive(Clone, Debug, Default)]
pub struct Markup(String);

/// An element that is being written.
#[derive(Clone, Debug)]
pub struct Tag {
    name: &'static str,
    attributes: String,
    inner: Markup,
}

/// Elements within a line, behind which no line ends.
const INLINE: [&str; 13] = [
    "a", "b", "bdi", "code", "h2", "h3", "span", "strong", "td", "th", "text", "title", "dt",
];

/// Elements that end where the next one of their kind begins, or what they stand in ends (HTML,
/// "Optional tags").
const WITHOUT_END: [&str; 3] = ["td", "th", "tr"];

/// An element of this name.
pub fn tag(name: &'static str) -> Tag {
    Tag {
        name,
        attributes: String::new(),
        inner: Markup::default(),
    }
}

impl Markup {
    pub fn text(words: &str) -> Self {
        let mut out = String::with_capacity(words.len());
        escape(&mut out, words);
        Self(out)
    }

    /// Markup of this program.
    pub fn fixed(markup: &'static str) -> Self {
        Self(markup.to_owned())
    }

    /// Data for programs, in an element that browsers do not run. It is JSON, in which `<` stands
    /// in texts alone, and there it may be written as an escape. No text has a line break, so the
    /// indentation of lines says nothing and stays away.
    pub fn data(json: &str) -> Self {
        let lines = json
            .lines()
            .flat_map(|line| [line.trim_start_matches(' '), "\n"]);
        Self(lines.collect::<String>().replace('<', "\\u003c"))
    }

    /// A sentence with its names marked.
    pub fn phrase(phrase: &Phrase) -> Self {
        phrase
            .fragments()
            .iter()
            .fold(Self::default(), |all, fragment| match fragment {
                Fragment::Plain(words) => all.and(Self::text(words)),
                Fragment::Code(name) if name.is_empty() => all,
                Fragment::Code(name) => all.and(tag("code").text(name)),
                Fragment::Command(command) => all.and(tag("code").text(command)),
                Fragment::Strong(words) => all.and(tag("strong").text(words)),
                Fragment::Verdict(words) => all.and(tag("strong").text(&words.to_uppercase())),
                Fragment::Further(heading) => {
                    all.and(Self::text(&format!("see “{heading}” below")))
                }
            })
    }

    /// The same with more behind it.
    #[must_use]
    pub fn and(mut self, more: impl Into<Self>) -> Self {
        self.0.push_str(&more.into().0);
        self
    }

    /// All of them, one behind the other.
    pub fn all<M: Into<Self>>(pieces: impl IntoIterator<Item = M>) -> Self {
        pieces.into_iter().fold(Self::default(), Self::and)
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn finish(self) -> String {
        self.0
    }
}

impl Tag {
    /// The same with an attribute.
    #[must_use]
    pub fn with(mut self, attribute: &'static str, value: &str) -> Self {
        self.attributes.push(' ');
        self.attributes.push_str(attribute);
        self.attributes.push_str("=\"");
        escape(&mut self.attributes, value);
        self.attributes.push('"');
        self
    }

    /// The same with words in it.
    #[must_use]
    pub fn text(self, words: &str) -> Self {
        self.add(Markup::text(words))
    }

    /// The same with words that are drawn in a picture. They stand as character data: browsers draw
    /// it, and browsers without pictures pass over it. Nothing is escaped there, so a sign of
    /// markup becomes its like.
    #[must_use]
    pub fn drawn(self, words: &str) -> Self {
        let like = |c| match c {
            '<' => '‹',
            '>' => '›',
            '&' => '＆',
            c => c,
        };
        let words = comment::inline(words).chars().map(like).collect();
        self.add(Markup::fixed("<![CDATA["))
            .add(Markup(words))
            .add(Markup::fixed("]]>"))
    }

    /// The same with lines in it, which end where they end.
    #[must_use]
    pub fn text_lines(self, lines: &str) -> Self {
        let lines = lines
            .lines()
            .map(|line| Markup::text(line).and(Markup::fixed("\n")));
        self.adding(lines)
    }

    /// The same with markup in it.
    #[must_use]
    pub fn add(mut self, inner: impl Into<Markup>) -> Self {
        self.inner = self.inner.and(inner);
        self
    }

    /// The same with several pieces in it.
    #[must_use]
    pub fn adding<M: Into<Markup>>(self, pieces: impl IntoIterator<Item = M>) -> Self {
        self.add(Markup::all(pieces))
    }
}

impl From<Tag> for Markup {
    fn from(
        Tag {
            name,
            attributes,
            inner,
        }: Tag,
    ) -> Self {
        let end = if INLINE.contains(&name) { "" } else { "\n" };
        let inner = inner.0;
        if WITHOUT_END.contains(&name) {
            return Self(format!("<{name}{attributes}>{inner}{end}"));
        }
        Self(format!("<{name}{attributes}>{inner}</{name}>{end}"))
    }
}

fn escape(out: &mut String, words: &str) {
    for (at, piece) in words.split(UNBROKEN).enumerate() {
        if at > 0 {
            out.push_str("&#160;");
        }
        comment::inline(piece)
            .chars()
            .for_each(|c| push_escaped(out, c));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_text_is_markup(words in prop_oneof![any::<String>(), "[<>&\"'/a-z!\\-\u{202e}\n ]{0,40}"]) {
            let markup = Markup::from(tag("p").with("title", &words).text(&words)).finish();
            prop_assert_eq!(markup.matches('<').count(), 2, "{}", markup);
            prop_assert_eq!(markup.matches('"').count(), 2, "{}", markup);
            prop_assert!(!markup.trim_end().chars().any(walwise_model::text::is_treacherous), "{}", markup);
        }

        #[test]
        fn what_is_drawn_ends_no_character_data(words in prop_oneof![any::<String>(), "[<>&\\]\\[!CDAT\u{202e}\n ]{0,40}"]) {
            let markup = Markup::from(tag("text").drawn(&words)).finish();
            let inner = markup.strip_prefix("<text><![CDATA[").unwrap().strip_suffix("]]></text>").unwrap();
            prop_assert!(!inner.contains(['<', '>', '&']) && !inner.chars().any(walwise_model::text::is_treacherous), "{}", markup);
        }

        #[test]
        fn data_ends_no_element_and_comes_back(words: String) {
            let json = serde_json::to_string(&format!("</script><!--{words}")).unwrap();
            let data = Markup::data(&json).finish();
            prop_assert!(!data.contains('<') && data.ends_with('\n'), "{}", data);
            prop_assert_eq!(
                serde_json::from_str::<String>(&data).unwrap(),
                serde_json::from_str::<String>(&json).unwrap()
            );
        }
    }
}
