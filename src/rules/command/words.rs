//! A shell command line as words: a POSIX shell's quoting, and the boundaries between commands.
//!
//! Facts are holes in words. Any expansion, and any text that shells read differently when it is pasted, is an error,
//! because only literal text can be judged.

use std::ops::Range;

use crate::rules::template::Spotted;

/// The character that stands for a fact; no text of a rule contains it.
const HOLE: char = '\0';

/// A character with its place in the command as it was written.
type At = (usize, char);

/// A word, quotes removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    chars: Vec<At>,
    range: Range<usize>,
}

impl Word {
    /// The text; `None` for a word with a fact in it, which can be anything.
    pub fn text(&self) -> Option<String> {
        (!self.has_fact()).then(|| self.shape())
    }

    /// The text, with NUL for every fact.
    pub fn shape(&self) -> String {
        self.chars.iter().map(|(_, c)| *c).collect()
    }

    /// Whether a fact is in it.
    pub fn has_fact(&self) -> bool {
        self.chars.iter().any(|(_, c)| *c == HOLE)
    }

    /// Its place in the command.
    pub fn range(&self) -> Range<usize> {
        let start = self.chars.first().map_or(self.range.start, |(at, _)| *at);
        let end = self
            .chars
            .last()
            .map_or(self.range.end, |(at, c)| at + if *c == HOLE { 0 } else { c.len_utf8() });
        start..end.max(start)
    }

    /// The pieces between occurrences of this character.
    pub fn split(&self, at: char) -> Vec<Self> {
        let pieces = self.chars.split(|(_, c)| *c == at);
        pieces.map(|chars| Self { chars: chars.to_vec(), range: self.range() }).collect()
    }

    /// The parts before and after the first occurrence of this character.
    pub fn split_once(&self, at: char) -> Option<(Self, Self)> {
        let place = self.chars.iter().position(|(_, c)| *c == at)?;
        Some((self.part(..place), self.part(place + 1..)))
    }

    /// The rest after this prefix.
    pub fn behind(&self, prefix: &str) -> Option<Self> {
        let count = prefix.chars().count();
        self.shape().starts_with(prefix).then(|| self.part(count..))
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }

    /// A part of its shape, each character with its place.
    pub fn part(&self, of: impl std::slice::SliceIndex<[At], Output = [At]>) -> Self {
        Self { chars: self.chars.get(of).unwrap_or_default().to_vec(), range: self.range() }
    }

    /// Words that a blank joins, as `echo` does.
    pub fn joined(words: &[Self]) -> Self {
        let mut all = Self::default();
        for (index, word) in words.iter().enumerate() {
            if index > 0 {
                all.chars.push((word.range().start, ' '));
            }
            all.chars.extend(word.chars.iter().copied());
        }
        all
    }
}

/// A program with its arguments, and the file that receives its output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    pub words: Vec<Word>,
    pub into: Option<Word>,
}

/// A line: pipelines, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandList {
    pub pipelines: Vec<Vec<Simple>>,
}

/// A command with some of its optional facts, selected by the bits of `there`, each character with its place.
pub fn spelt(command: &str, places: &[Spotted<'_>], there: usize) -> Vec<At> {
    let mut line = Vec::new();
    let (mut done, mut bit) = (0, 0);
    let text = |from: usize, to: usize| {
        let text = command.get(from..to).unwrap_or_default();
        text.char_indices().map(move |(at, c)| (from + at, c)).collect::<Vec<At>>()
    };
    for place in places {
        line.extend(text(done, place.range.start));
        done = place.range.end;
        let given = place.prefix.is_none() || there & (1 << bit) != 0;
        bit += usize::from(place.prefix.is_some());
        if given {
            let prefix = place.prefix.unwrap_or_default();
            line.extend(prefix.chars().map(|c| (place.range.start, c)));
            line.push((place.range.start, HOLE));
        }
    }
    line.extend(text(done, command.len()));
    line
}

/// Characters that are special to a shell outside of quotes and are not supported here.
fn special(c: char) -> Option<&'static str> {
    match c {
        '$' => Some("it has a variable, or what another command prints"),
        '`' => Some("it has what another command prints"),
        '\\' => Some("it has a backslash"),
        '*' | '?' | '[' | ']' => Some("it has a pattern of names"),
        '{' | '}' => Some("it has braces"),
        '(' | ')' => Some("it has brackets of a shell"),
        '<' => Some("it reads from what another file holds"),
        '!' => Some("it has a `!`, which some shells replace"),
        '\n' | '\r' => Some("it has more than one line"),
        _ => None,
    }
}

/// The text of a comment that is harmless even in a shell that reads comments as words.
fn is_plain_comment(rest: &[At]) -> bool {
    // A function is named with its parentheses.
    let text: String = rest.iter().map(|(_, c)| *c).collect();
    let bad = |c: char| special(c).is_some_and(|_| c != '?') || ";|&>'\"\0".contains(c);
    let option = text.split_whitespace().any(|word| word.starts_with('-'));
    !option && !text.replace("=(", "$").replace("()", "").contains(bad)
}

impl CommandList {
    /// Parses a line; the error names the unsupported text.
    pub fn read(line: &[At]) -> Result<Self, String> {
        let mut reader = ShellLexer::default();
        let mut at = 0;
        while let Some((place, c)) = line.get(at).copied() {
            at += 1;
            let next = line.get(at).map(|(_, c)| *c);
            match c {
                '\'' | '"' => at = reader.quoted(line, at, c)?,
                ' ' | '\t' => reader.end_word()?,
                '#' if reader.word.is_none() => {
                    if !is_plain_comment(line.get(at..).unwrap_or_default()) {
                        return Err("its comment would run in a shell that has none".to_owned());
                    }
                    break;
                }
                '~' if reader.word.is_none() => return Err("it has a home directory".to_owned()),
                ';' => reader.end_pipeline()?,
                '&' => match next {
                    Some('&') => {
                        at += 1;
                        reader.end_pipeline()?;
                    }
                    _ => return Err("it goes on in the background, or redirects".to_owned()),
                },
                '|' => match next {
                    Some('|' | '&') => return Err("it does one thing or another".to_owned()),
                    _ => reader.end_simple()?,
                },
                '>' => {
                    if reader.is_a_number() {
                        return Err("it redirects by number".to_owned());
                    }
                    reader.end_word()?;
                    at += usize::from(next == Some('>'));
                    reader.redirect()?;
                }
                c => match special(c) {
                    Some(why) => return Err(why.to_owned()),
                    None => reader.push(place, c),
                },
            }
        }
        reader.end_all()
    }
}

#[derive(Default)]
struct ShellLexer {
    word: Option<Word>,
    simple: Simple,
    /// Whether the next word is a file to write.
    redirects: bool,
    pipeline: Vec<Simple>,
    line: CommandList,
}

impl ShellLexer {
    fn push(&mut self, place: usize, c: char) {
        self.word.get_or_insert_default().chars.push((place, c));
    }

    /// The text from here to the closing quote; the position after it.
    fn quoted(&mut self, line: &[At], from: usize, quote: char) -> Result<usize, String> {
        self.word.get_or_insert_default();
        let mut at = from;
        loop {
            let Some((place, c)) = line.get(at).copied() else {
                return Err("a quote is not closed".to_owned());
            };
            at += 1;
            match (quote, c) {
                (open, c) if open == c => return Ok(at),
                ('"', '$' | '`' | '\\' | '!') => return Err(special(c).unwrap_or_default().to_owned()),
                (_, '\n' | '\r') => return Err("it has more than one line".to_owned()),
                (_, c) => self.push(place, c),
            }
        }
    }

    fn is_a_number(&self) -> bool {
        let number = |word: &Word| !word.is_empty() && word.chars.iter().all(|(_, c)| c.is_ascii_digit());
        self.word.as_ref().is_some_and(number)
    }

    fn end_word(&mut self) -> Result<(), String> {
        let Some(word) = self.word.take() else { return Ok(()) };
        if !self.redirects {
            self.simple.words.push(word);
            return Ok(());
        }
        self.redirects = false;
        match self.simple.into.replace(word) {
            None => Ok(()),
            Some(_) => Err("it redirects twice".to_owned()),
        }
    }

    fn redirect(&mut self) -> Result<(), String> {
        if self.redirects {
            return Err("it redirects to nothing".to_owned());
        }
        self.redirects = true;
        Ok(())
    }

    fn end_simple(&mut self) -> Result<(), String> {
        self.end_word()?;
        if self.redirects || self.simple.words.is_empty() {
            return Err("a command is empty, or redirects to nothing".to_owned());
        }
        self.pipeline.push(std::mem::take(&mut self.simple));
        Ok(())
    }

    fn end_pipeline(&mut self) -> Result<(), String> {
        self.end_simple()?;
        self.line.pipelines.push(std::mem::take(&mut self.pipeline));
        Ok(())
    }

    fn end_all(mut self) -> Result<CommandList, String> {
        self.end_pipeline()?;
        Ok(self.line)
    }
}
