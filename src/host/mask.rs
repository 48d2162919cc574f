//! Masks what identifies a machine in a capture: serials, world-wide names, UUIDs, host names, addresses.
//!
//! First everything asked and answered is searched for identities, then each is replaced everywhere, inside paths and
//! link targets too, by one mask of the same kind and shape: one-to-one, so whatever belonged together still does.
//! Numbers are given in sorted order, so the same capture is always masked the same. The surprise: a serial such as
//! `123456` or a host called `data` is replaced only where such a thing is expected, because elsewhere the same
//! characters mean something else.

mod places;
mod shapes;
mod tools;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::archive::Answers;
use super::{Miss, Question, path_bytes};

/// Kinds of identities, each with a shape of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    /// 32 hexadecimal digits in any grouping: UUIDs, machine ids, long world-wide names.
    Hex32,
    /// LVM's 32 letters and digits.
    Lvm32,
    /// A shorter world-wide name.
    Wwn,
    /// A serial number, or any other name that somebody chose.
    Serial,
    /// A host's name.
    Host,
    /// An Ethernet address.
    Mac,
    /// An IPv4 address.
    Ipv4,
    /// An IPv6 address.
    Ipv6,
}

/// An identity found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Span {
    range: Range<usize>,
    kind: Kind,
    /// What is the same for all ways to write it.
    canonical: Vec<u8>,
}

impl Span {
    fn new(text: &[u8], range: Range<usize>, kind: Kind) -> Self {
        let written = text.get(range.clone()).unwrap_or_default();
        let canonical = match kind {
            Kind::Hex32 | Kind::Wwn | Kind::Mac => alphanumerics(written).to_ascii_lowercase(),
            Kind::Lvm32 => alphanumerics(written),
            Kind::Serial => spaces_as_underscores(written),
            Kind::Host => written.split(|b| *b == b'.').next().unwrap_or_default().to_vec(),
            Kind::Ipv4 | Kind::Ipv6 => written.to_ascii_lowercase(),
        };
        Self { range, kind, canonical }
    }
}

/// The letters and digits, without separators and without systemd's escape for a dash.
fn alphanumerics(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = rest.strip_prefix(b"\\x2d").unwrap_or(after);
        if first.is_ascii_alphanumeric() {
            out.push(*first);
        }
    }
    out
}

/// udev writes the blanks of a serial as underscores.
fn spaces_as_underscores(text: &[u8]) -> Vec<u8> {
    text.iter().map(|b| if *b == b' ' { b'_' } else { *b }).collect()
}

/// Masks a capture.
pub fn mask(answers: &Answers) -> Answers {
    let masks = Masks::learn(answers);
    answers
        .iter()
        .map(|(question, answer)| {
            let masked = match answer {
                Ok(bytes) => Ok(masks.apply(bytes, &places::in_answer(question, bytes))),
                Err(miss) => {
                    let detail = masks.apply(miss.detail.as_bytes(), &[]);
                    Err(Miss::new(miss.kind, String::from_utf8_lossy(&detail)))
                }
            };
            (masks.question(question), masked)
        })
        .collect()
}

/// How far an identity is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Wherever the characters occur.
    Anywhere,
    /// Where no letter or digit touches them.
    Words,
}

/// A way in which an identity that has no shape of its own was written.
struct Token {
    written: Vec<u8>,
    kind: Kind,
    canonical: Vec<u8>,
    reach: Reach,
}

struct Masks {
    /// Letters and digits of the mask (whole for addresses and hosts).
    masks: BTreeMap<(Kind, Vec<u8>), Vec<u8>>,
    /// By their first bytes, longest first.
    tokens: HashMap<[u8; TOKEN_KEY], Vec<Token>>,
}

/// Shorter tokens are replaced only where they are expected.
const TOKEN_KEY: usize = 3;

impl Masks {
    fn learn(answers: &Answers) -> Self {
        let mut identities = BTreeSet::new();
        let mut written = BTreeSet::new();
        let mut vocabulary = places::vocabulary();
        let mut see = |text: &[u8], places: &[(Range<usize>, Kind)]| {
            for span in spans(text, places) {
                if let Some(bytes) = text.get(span.range) {
                    written.insert((spaces_as_underscores(bytes), span.kind, span.canonical.clone()));
                    if span.kind == Kind::Host {
                        for form in host_forms(&span.canonical) {
                            written.insert((form, span.kind, span.canonical.clone()));
                        }
                    }
                }
                identities.insert((span.kind, span.canonical));
            }
        };
        for (question, answer) in answers {
            if let Some(path) = question.path() {
                let path = path_bytes(path);
                see(path, &places::in_path(path));
                places::add_words(&mut vocabulary, question);
            }
            if let Ok(bytes) = answer {
                see(bytes, &places::in_answer(question, bytes));
            }
        }
        let mut tokens: HashMap<[u8; TOKEN_KEY], Vec<Token>> = HashMap::new();
        for (written, kind, canonical) in written {
            let Some(reach) = reach(kind, &written, &vocabulary) else { continue };
            let Some(key) = written.first_chunk::<TOKEN_KEY>() else { continue };
            tokens.entry(*key).or_default().push(Token { written, kind, canonical, reach });
        }
        for list in tokens.values_mut() {
            list.sort_by_key(|token| std::cmp::Reverse(token.written.len()));
        }
        Self { masks: number(&identities), tokens }
    }

    fn question(&self, question: &Question) -> Question {
        let mut question = question.clone();
        if let Some(path) = question.path_mut() {
            let bytes = path_bytes(path);
            *path = PathBuf::from(OsString::from_vec(self.apply(bytes, &places::in_path(bytes))));
        }
        if let Question::Run(_, arguments) = &mut question {
            for argument in arguments {
                let masked = self.apply(argument.as_bytes(), &places::in_path(argument.as_bytes()));
                *argument = String::from_utf8_lossy(&masked).into_owned();
            }
        }
        question
    }

    /// The text with every identity replaced.
    fn apply(&self, text: &[u8], places: &[(Range<usize>, Kind)]) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len());
        let mut at = 0;
        for span in spans(text, places) {
            self.apply_tokens(text, at..span.range.start, &mut out);
            let written = text.get(span.range.clone()).unwrap_or_default();
            out.extend_from_slice(&self.render(span.kind, &span.canonical, written));
            at = span.range.end;
        }
        self.apply_tokens(text, at..text.len(), &mut out);
        out
    }

    fn apply_tokens(&self, text: &[u8], range: Range<usize>, out: &mut Vec<u8>) {
        let mut at = range.start;
        while at < range.end {
            if let Some(token) = self.token(text, at..range.end) {
                let end = at + token.written.len();
                let written = text.get(at..end).unwrap_or_default();
                out.extend_from_slice(&self.render(token.kind, &token.canonical, written));
                at = end;
            } else {
                out.extend(text.get(at));
                at += 1;
            }
        }
    }

    /// The longest token that begins here.
    fn token(&self, text: &[u8], range: Range<usize>) -> Option<&Token> {
        let key = spaces_as_underscores(text.get(range.clone())?.get(..TOKEN_KEY)?);
        let list = self.tokens.get(key.first_chunk::<TOKEN_KEY>()?)?;
        let free_before = !shapes::before(text, range.start).is_some_and(|b| b.is_ascii_alphanumeric())
            || follows_escape(text, range.start);
        list.iter().find(|token| {
            let end = range.start + token.written.len();
            let here = text.get(range.start..end).filter(|_| end <= range.end);
            let free_after = !text.get(end).is_some_and(u8::is_ascii_alphanumeric);
            here.is_some_and(|here| spaces_as_underscores(here) == token.written)
                && (token.reach == Reach::Anywhere || free_before && free_after)
        })
    }

    /// The mask in the shape of what was written.
    fn render(&self, kind: Kind, canonical: &[u8], written: &[u8]) -> Vec<u8> {
        let Some(mask) = self.masks.get(&(kind, canonical.to_vec())) else { return written.to_vec() };
        match kind {
            Kind::Host if written.contains(&b'.') => return [mask, &b".example"[..]].concat(),
            Kind::Ipv4 | Kind::Ipv6 | Kind::Host => return mask.clone(),
            _ => {}
        }
        let upper = kind != Kind::Serial && kind != Kind::Lvm32 && written.iter().any(u8::is_ascii_uppercase);
        let mut digits = mask.iter().map(|b| if upper { b.to_ascii_uppercase() } else { *b });
        let mut out = Vec::with_capacity(written.len());
        let mut rest = written;
        while let Some((first, after)) = rest.split_first() {
            if let Some(behind) = rest.strip_prefix(b"\\x2d") {
                out.extend_from_slice(b"\\x2d");
                rest = behind;
                continue;
            }
            rest = after;
            out.push(if first.is_ascii_alphanumeric() { digits.next().unwrap_or(b'0') } else { *first });
        }
        out.extend(digits);
        out
    }
}

/// Identities by shape and by place, in order and without overlap; a shape wins over a place.
fn spans(text: &[u8], places: &[(Range<usize>, Kind)]) -> Vec<Span> {
    let mut spans = shapes::spans(text);
    for (range, kind) in places {
        let overlaps = |span: &Span| span.range.start < range.end && range.start < span.range.end;
        if !range.is_empty() && !spans.iter().any(overlaps) {
            spans.push(Span::new(text, range.clone(), *kind));
        }
    }
    spans.sort_by_key(|span| span.range.start);
    spans
}

/// How a host's name is written: as it is; in names of device-mapper, which double a dash; and in names of systemd's units,
/// which escape it (systemd.unit(5)), once more where an answer is display-safe.
fn host_forms(name: &[u8]) -> [Vec<u8>; 4] {
    let with = |dash: &[u8]| name.split(|b| *b == b'-').collect::<Vec<_>>().join(dash);
    [name.to_vec(), with(b"--"), with(b"\\x2d"), with(b"\\\\x2d")]
}

/// Whether an escape ends here, of a blank for instance: `\040` in a mount table, `\x20` elsewhere.
fn follows_escape(text: &[u8], at: usize) -> bool {
    match text.get(..at) {
        Some([.., b'\\', a, b, c]) if [a, b, c].iter().all(|digit| (b'0'..=b'7').contains(digit)) => true,
        Some([.., b'\\', b'x', a, b]) => a.is_ascii_hexdigit() && b.is_ascii_hexdigit(),
        _ => false,
    }
}

/// How far what has no shape of its own is replaced; `None` where it is expected only.
fn reach(kind: Kind, written: &[u8], vocabulary: &BTreeSet<Vec<u8>>) -> Option<Reach> {
    let has = |test: fn(&u8) -> bool| written.iter().any(test);
    let mixed = has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit);
    match kind {
        // Found by their shapes wherever they are; a long one may also stand where the shape is not to be seen.
        Kind::Hex32 | Kind::Wwn if alphanumerics(written).len() >= 16 => Some(Reach::Anywhere),
        Kind::Ipv4 | Kind::Ipv6 => Some(Reach::Words),
        Kind::Serial | Kind::Host if vocabulary.contains(&written.to_ascii_lowercase()) => None,
        Kind::Serial if mixed && written.len() >= 16 => Some(Reach::Anywhere),
        Kind::Serial if mixed && written.len() >= 6 => Some(Reach::Words),
        Kind::Host if has(u8::is_ascii_alphabetic) && written.len() >= 3 => Some(Reach::Words),
        _ => None,
    }
}

/// A mask for each identity, none of which is itself an identity.
fn number(identities: &BTreeSet<(Kind, Vec<u8>)>) -> BTreeMap<(Kind, Vec<u8>), Vec<u8>> {
    let taken: BTreeSet<&[u8]> = identities.iter().map(|(_, canonical)| canonical.as_slice()).collect();
    let mut masks = BTreeMap::new();
    let mut next: BTreeMap<Kind, u64> = BTreeMap::new();
    for (kind, canonical) in identities {
        let counter = next.entry(*kind).or_default();
        let mask = loop {
            *counter += 1;
            let mask = mask_of(*kind, canonical, *counter);
            if !taken.contains(mask.as_slice()) {
                break mask;
            }
        };
        masks.insert((*kind, canonical.clone()), mask);
    }
    masks
}

/// The n-th mask of a kind, for this identity.
fn mask_of(kind: Kind, canonical: &[u8], n: u64) -> Vec<u8> {
    let first = char::from(canonical.first().copied().unwrap_or(b'0'));
    match kind {
        // Such as a UUID of version 4.
        Kind::Hex32 => format!("{first}{}{n:012x}", "0000000000040008000").into_bytes(),
        Kind::Lvm32 => format!("{first}{n:031}").into_bytes(),
        Kind::Wwn => format!("{first}{n:0width$x}", width = canonical.len().saturating_sub(1)).into_bytes(),
        Kind::Mac => format!("02{n:010x}").into_bytes(),
        Kind::Host => format!("host{n}").into_bytes(),
        // Networks for benchmarks (RFC 2544) and for documentation (RFC 3849).
        Kind::Ipv4 => format!("198.{}.{}.{}", 18 + (n >> 16 & 1), n >> 8 & 255, n & 255).into_bytes(),
        Kind::Ipv6 => format!("2001:db8::{:x}:{:x}", n >> 16 & 0xffff, n & 0xffff).into_bytes(),
        Kind::Serial => {
            // Leading letters say whose number it is: `vol` and `AWS` in Amazon's cloud, `WD` of a maker.
            let digits = alphanumerics(canonical);
            let letters = digits.iter().take_while(|b| b.is_ascii_alphabetic()).count();
            let kept = letters.min(4).min(digits.len() / 2);
            let width = digits.len() - kept;
            let prefix = digits.get(..kept).unwrap_or_default();
            [prefix, format!("{n:0width$}").as_bytes()].concat()
        }
    }
}

#[cfg(test)]
mod tests;
