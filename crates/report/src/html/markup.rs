//! Builds HTML in which text from the host cannot become markup. Elements and attribute names are
//! constants; all other text passes through [`Markup::from_text`], [`Tag::add_text`] or
//! [`Tag::attr`].

use crate::view::flush_path::NO_BREAK_SPACE;
use crate::view::{RichText, TextSpan};
use walwise_model::escape::comment;
use walwise_model::text::push_xml_escaped;

#[derive(Clone, Default)]
pub struct Markup(String);

pub struct Tag {
    name: &'static str,
    attributes: String,
    inner: Markup,
}

/// Elements that are written without a newline after them.
const INLINE_ELEMENTS: [&str; 13] = [
    "a", "b", "bdi", "code", "h2", "h3", "span", "strong", "td", "th", "text", "title", "dt",
];

/// Elements without an end tag, which HTML makes optional (HTML Standard, "Optional tags").
const OPTIONAL_END_TAGS: [&str; 3] = ["td", "th", "tr"];

pub fn tag(name: &'static str) -> Tag {
    Tag {
        name,
        attributes: String::new(),
        inner: Markup::default(),
    }
}

impl Markup {
    pub fn from_text(words: &str) -> Self {
        let mut out = String::with_capacity(words.len());
        push_html_escaped(&mut out, words);
        Self(out)
    }

    pub fn from_static(markup: &'static str) -> Self {
        Self(markup.to_owned())
    }

    /// Escapes JSON for a script element of a type that browsers do not run. `<` occurs only inside
    /// JSON strings and is escaped. JSON strings contain no line breaks, so indentation can be
    /// dropped.
    pub fn from_json_data(json: &str) -> Self {
        let lines = json
            .lines()
            .flat_map(|line| [line.trim_start_matches(' '), "\n"]);
        Self(lines.collect::<String>().replace('<', "\\u003c"))
    }

    pub fn from_rich_text(phrase: &RichText) -> Self {
        phrase
            .spans()
            .iter()
            .fold(Self::default(), |all, fragment| match fragment {
                TextSpan::Plain(words) => all.append(Self::from_text(words)),
                TextSpan::Code(name) if name.is_empty() => all,
                TextSpan::Code(name) => all.append(tag("code").add_text(name)),
                TextSpan::Command(command) => all.append(tag("code").add_text(command)),
                TextSpan::Strong(words) => all.append(tag("strong").add_text(words)),
                TextSpan::Verdict(words) => {
                    all.append(tag("strong").add_text(&words.to_uppercase()))
                }
                TextSpan::SeeSection(heading) => {
                    all.append(Self::from_text(&format!("see “{heading}” below")))
                }
            })
    }

    #[must_use]
    pub fn append(mut self, more: impl Into<Self>) -> Self {
        self.0.push_str(&more.into().0);
        self
    }

    pub fn concat<M: Into<Self>>(pieces: impl IntoIterator<Item = M>) -> Self {
        pieces.into_iter().fold(Self::default(), Self::append)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

impl Tag {
    #[must_use]
    pub fn attr(mut self, attribute: &'static str, value: &str) -> Self {
        self.attributes.push(' ');
        self.attributes.push_str(attribute);
        self.attributes.push_str("=\"");
        push_html_escaped(&mut self.attributes, value);
        self.attributes.push('"');
        self
    }

    #[must_use]
    pub fn add_text(self, words: &str) -> Self {
        self.add(Markup::from_text(words))
    }

    /// Adds text inside an SVG as CDATA, which text browsers without SVG skip. CDATA has no
    /// escapes, so markup characters are replaced by similar ones.
    #[must_use]
    pub fn add_cdata(self, words: &str) -> Self {
        let like = |c| match c {
            '<' => '‹',
            '>' => '›',
            '&' => '＆',
            c => c,
        };
        let words = comment::replace_unsafe_chars(words)
            .chars()
            .map(like)
            .collect();
        self.add(Markup::from_static("<![CDATA["))
            .add(Markup(words))
            .add(Markup::from_static("]]>"))
    }

    #[must_use]
    pub fn add_lines(self, lines: &str) -> Self {
        let lines = lines
            .lines()
            .map(|line| Markup::from_text(line).append(Markup::from_static("\n")));
        self.add_all(lines)
    }

    #[must_use]
    pub fn add(mut self, inner: impl Into<Markup>) -> Self {
        self.inner = self.inner.append(inner);
        self
    }

    /// An element without content is left out.
    pub fn none_if_empty(self) -> Markup {
        if self.inner.is_empty() {
            self.inner
        } else {
            self.into()
        }
    }

    #[must_use]
    pub fn add_all<M: Into<Markup>>(self, pieces: impl IntoIterator<Item = M>) -> Self {
        self.add(Markup::concat(pieces))
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
        let end = if INLINE_ELEMENTS.contains(&name) {
            ""
        } else {
            "\n"
        };
        let inner = inner.0;
        if OPTIONAL_END_TAGS.contains(&name) {
            return Self(format!("<{name}{attributes}>{inner}{end}"));
        }
        Self(format!("<{name}{attributes}>{inner}</{name}>{end}"))
    }
}

fn push_html_escaped(out: &mut String, words: &str) {
    for (at, piece) in words.split(NO_BREAK_SPACE).enumerate() {
        if at > 0 {
            out.push_str("&#160;");
        }
        comment::replace_unsafe_chars(piece)
            .chars()
            .for_each(|c| push_xml_escaped(out, c));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn text_and_attributes_are_escaped(words in prop_oneof![any::<String>(), "[<>&\"'/a-z!\\-\u{202e}\n ]{0,40}"]) {
            let markup = Markup::from(tag("p").attr("title", &words).add_text(&words)).into_string();
            prop_assert_eq!(markup.matches('<').count(), 2, "{}", markup);
            prop_assert_eq!(markup.matches('"').count(), 2, "{}", markup);
            prop_assert!(!markup.trim_end().chars().any(walwise_model::text::is_display_unsafe), "{}", markup);
        }

        #[test]
        fn cdata_text_cannot_end_cdata(words in prop_oneof![any::<String>(), "[<>&\\]\\[!CDAT\u{202e}\n ]{0,40}"]) {
            let markup = Markup::from(tag("text").add_cdata(&words)).into_string();
            let inner = markup.strip_prefix("<text><![CDATA[").unwrap().strip_suffix("]]></text>").unwrap();
            prop_assert!(!inner.contains(['<', '>', '&']) && !inner.chars().any(walwise_model::text::is_display_unsafe), "{}", markup);
        }

        #[test]
        fn embedded_json_has_no_tags_and_parses_back(words: String) {
            let json = serde_json::to_string(&format!("</script><!--{words}")).unwrap();
            let data = Markup::from_json_data(&json).into_string();
            prop_assert!(!data.contains('<') && data.ends_with('\n'), "{}", data);
            prop_assert_eq!(
                serde_json::from_str::<String>(&data).unwrap(),
                serde_json::from_str::<String>(&json).unwrap()
            );
        }
    }
}
