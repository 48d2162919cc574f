//! Masks what identifies a machine in a capture: serials, world-wide names, UUIDs, host names,
//! users, addresses.
//!
//! First all questions and answers are searched for identities. Then each identity is replaced
//! everywhere, inside paths and link targets too, by one mask of the same kind and shape. The
//! mapping is one-to-one, so related entries stay related. Masks are numbered in sorted order, so
//! the same capture is always masked the same. Ambiguous words are replaced only in some places,
//! because elsewhere the same characters mean something else. A serial such as `123456` or a user
//! called `max` is replaced only where people give names, a host called `data` only where a host is
//! expected.

mod again;
mod names;
mod parts;
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
pub use again::before_masking;

/// Kinds of identities, each with a shape of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum IdentityKind {
    /// 32 hexadecimal digits in any grouping: UUIDs, machine ids, long world-wide names.
    Hex32,
    /// LVM's 32 letters and digits.
    Lvm32,
    /// A shorter world-wide name.
    Wwn,
    /// A serial number, or any other name that a person chose.
    Serial,
    Host,
    /// The name of a person's account or home.
    User,
    /// A word that a person chose for a source that is no device.
    Name,
    Mac,
    Ipv4,
    Ipv6,
}

/// An identity found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct IdentityMatch {
    range: Range<usize>,
    kind: IdentityKind,
    /// The canonical form, common to all spellings.
    canonical: Vec<u8>,
}

impl IdentityMatch {
    fn new(text: &[u8], range: Range<usize>, kind: IdentityKind) -> Self {
        let written = text.get(range.clone()).unwrap_or_default();
        let canonical = match kind {
            IdentityKind::Hex32 | IdentityKind::Wwn | IdentityKind::Mac => {
                alphanumerics(written).to_ascii_lowercase()
            }
            IdentityKind::Lvm32 => alphanumerics(written),
            IdentityKind::Serial => spaces_as_underscores(written),
            IdentityKind::Host => written
                .split(|b| *b == b'.')
                .next()
                .unwrap_or_default()
                .to_ascii_lowercase(),
            IdentityKind::User | IdentityKind::Name | IdentityKind::Ipv4 | IdentityKind::Ipv6 => {
                written.to_ascii_lowercase()
            }
        };
        Self {
            range,
            kind,
            canonical,
        }
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
    text.iter()
        .map(|b| if *b == b' ' { b'_' } else { *b })
        .collect()
}

/// The places of interest in a text.
#[derive(Default)]
struct MaskRanges {
    /// Identities whose kind follows from their place.
    identities: Vec<(Range<usize>, IdentityKind)>,
    /// Words of labels that look like identities; they are found again like any other.
    labels: Vec<Range<usize>>,
    /// Places where people give names.
    names: Vec<Range<usize>>,
    /// Places where people give arbitrary sources.
    sources: Vec<Range<usize>>,
    /// Whether it is a path that was asked about: its last part may be the name of a file that
    /// walwise looks for.
    asked: bool,
}

impl MaskRanges {
    fn in_path(path: &[u8]) -> Self {
        Self {
            identities: places::in_path(path),
            labels: names::serials_in_path(path),
            names: names::in_path(path),
            sources: Vec::new(),
            asked: true,
        }
    }

    fn in_answer(question: &Question, answer: &[u8]) -> Self {
        // The place of an identity does not depend on the user it was read as.
        let question = question.bare();
        Self {
            identities: places::in_answer(question, answer),
            labels: names::serials_in_labels(question, answer),
            names: names::in_answer(question, answer),
            sources: names::sources(question, answer),
            asked: false,
        }
    }
}

pub fn mask(answers: &Answers) -> Answers {
    let masks = Masks::learn(answers);
    answers
        .iter()
        .map(|(question, answer)| {
            let masked = match answer {
                Ok(bytes) => Ok(masks.apply(bytes, &MaskRanges::in_answer(question, bytes))),
                Err(miss) => {
                    let names = names::in_path(miss.detail.as_bytes());
                    let detail = masks.apply(
                        miss.detail.as_bytes(),
                        &MaskRanges {
                            names,
                            ..MaskRanges::default()
                        },
                    );
                    Err(Miss::new(miss.kind, String::from_utf8_lossy(&detail)))
                }
            };
            (masks.question(question), masked)
        })
        .collect()
}

/// Where an identity is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReplacementScope {
    /// At every occurrence of its characters.
    Anywhere,
    /// As a whole word; in places where people give names, at every occurrence.
    Words,
    /// As a whole word only.
    WordsOnly,
    /// As a whole word, and only in places where people give names.
    Names,
}

/// A spelling of an identity that has no shape of its own.
struct IdentitySpelling {
    written: Vec<u8>,
    kind: IdentityKind,
    canonical: Vec<u8>,
    reach: ReplacementScope,
}

struct Masks {
    /// Letters and digits of the mask (whole for addresses and hosts).
    masks: BTreeMap<(IdentityKind, Vec<u8>), Vec<u8>>,
    /// By their first bytes, longest first.
    tokens: HashMap<[u8; TOKEN_KEY], Vec<IdentitySpelling>>,
}

/// The length of the key by which tokens are found; shorter tokens are replaced only where they are
/// expected.
const TOKEN_KEY: usize = 3;

/// The identities seen so far.
#[derive(Default)]
struct IdentitySet {
    identities: BTreeSet<(IdentityKind, Vec<u8>)>,
    written: BTreeSet<(Vec<u8>, IdentityKind, Vec<u8>)>,
}

impl IdentitySet {
    fn see(&mut self, text: &[u8], places: &MaskRanges) {
        for span in spans(text, places) {
            self.add(text, span);
        }
        for label in &places.labels {
            self.add(
                text,
                IdentityMatch::new(text, label.clone(), IdentityKind::Serial),
            );
        }
        for word in places
            .sources
            .iter()
            .flat_map(|source| words(text, source.clone()))
        {
            let canonical = text.get(word).unwrap_or_default().to_ascii_lowercase();
            self.identities.insert((IdentityKind::Name, canonical));
        }
    }

    fn add(&mut self, text: &[u8], span: IdentityMatch) {
        if let Some(bytes) = text.get(span.range) {
            self.written.insert((
                spaces_as_underscores(bytes),
                span.kind,
                span.canonical.clone(),
            ));
            for form in forms(span.kind, &span.canonical) {
                self.written
                    .insert((form, span.kind, span.canonical.clone()));
            }
        }
        self.identities.insert((span.kind, span.canonical));
    }
}

impl Masks {
    fn learn(answers: &Answers) -> Self {
        let mut seen = IdentitySet::default();
        let mut vocabulary = places::vocabulary();
        for (question, answer) in answers {
            if let Some(path) = question.path() {
                let path = path_bytes(path);
                seen.see(path, &MaskRanges::in_path(path));
                places::add_words(&mut vocabulary, question);
            }
            if let Question::Run(_, arguments) = question.bare() {
                for argument in arguments {
                    seen.see(
                        argument.as_bytes(),
                        &MaskRanges::in_path(argument.as_bytes()),
                    );
                }
            }
            if let Ok(bytes) = answer {
                seen.see(bytes, &MaskRanges::in_answer(question, bytes));
            }
        }
        let mut tokens: HashMap<[u8; TOKEN_KEY], Vec<IdentitySpelling>> = HashMap::new();
        for (written, kind, canonical) in seen.written {
            let Some(reach) = reach(kind, &written, &vocabulary) else {
                continue;
            };
            let Some(key) = token_key(&written) else {
                continue;
            };
            tokens.entry(key).or_default().push(IdentitySpelling {
                written,
                kind,
                canonical,
                reach,
            });
        }
        for list in tokens.values_mut() {
            list.sort_by_key(|token| std::cmp::Reverse(token.written.len()));
        }
        Self {
            masks: number(&seen.identities),
            tokens,
        }
    }

    fn question(&self, question: &Question) -> Question {
        let mut question = question.clone();
        if let Some(path) = question.path_mut() {
            let bytes = path_bytes(path);
            *path = PathBuf::from(OsString::from_vec(
                self.apply(bytes, &MaskRanges::in_path(bytes)),
            ));
        }
        if let Question::Run(_, arguments) = question.bare_mut() {
            for argument in arguments {
                let masked = self.apply(
                    argument.as_bytes(),
                    &MaskRanges::in_path(argument.as_bytes()),
                );
                *argument = String::from_utf8_lossy(&masked).into_owned();
            }
        }
        question
    }

    /// The text with every identity replaced.
    fn apply(&self, text: &[u8], places: &MaskRanges) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len());
        let mut at = 0;
        for span in spans(text, places) {
            self.apply_tokens(text, at..span.range.start, places, &mut out);
            let written = text.get(span.range.clone()).unwrap_or_default();
            out.extend_from_slice(&self.render(span.kind, &span.canonical, written));
            at = span.range.end;
        }
        self.apply_tokens(text, at..text.len(), places, &mut out);
        out
    }

    fn apply_tokens(
        &self,
        text: &[u8],
        range: Range<usize>,
        places: &MaskRanges,
        out: &mut Vec<u8>,
    ) {
        let mut at = range.start;
        let (mut names, mut sources) = (
            RangeCursor::new(&places.names),
            RangeCursor::new(&places.sources),
        );
        while at < range.end {
            let in_source = sources.holds(at);
            let in_names = names.holds(at).or(in_source).is_some();
            if let Some(token) = self.token(text, at..range.end, in_names) {
                let end = at + token.written.len();
                let written = text.get(at..end).unwrap_or_default();
                out.extend_from_slice(&self.render(token.kind, &token.canonical, written));
                at = end;
                continue;
            }
            let begins = !shapes::before(text, at).is_some_and(|b| b.is_ascii_alphanumeric());
            let word = in_source
                .filter(|_| begins)
                .and_then(|source| words(text, at..source.end).next());
            if let Some(word) = word.filter(|word| word.start == at && word.end <= range.end) {
                let written = text.get(word.clone()).unwrap_or_default();
                out.extend_from_slice(&self.render(
                    IdentityKind::Name,
                    &written.to_ascii_lowercase(),
                    written,
                ));
                at = word.end;
                continue;
            }
            out.extend(text.get(at));
            at += 1;
        }
    }

    /// The longest token that begins here.
    fn token(&self, text: &[u8], range: Range<usize>, in_names: bool) -> Option<&IdentitySpelling> {
        let list = self.tokens.get(&token_key(text.get(range.clone())?)?)?;
        let free_before = !shapes::before(text, range.start)
            .is_some_and(|b| b.is_ascii_alphanumeric())
            || follows_escape(text, range.start);
        let fits = |token: &&IdentitySpelling| {
            let end = range.start + token.written.len();
            let here = text.get(range.start..end).filter(|_| end <= range.end);
            let free_after = !text.get(end).is_some_and(u8::is_ascii_alphanumeric);
            let free = free_before && free_after;
            here.is_some_and(|here| {
                spaces_as_underscores(here).eq_ignore_ascii_case(&token.written)
            }) && match token.reach {
                ReplacementScope::Anywhere => true,
                ReplacementScope::Words => free || in_names,
                ReplacementScope::WordsOnly => free,
                ReplacementScope::Names => free && in_names,
            }
        };
        let exact = |token: &&IdentitySpelling| {
            let here = text.get(range.start..range.start + token.written.len());
            here.is_some_and(|here| spaces_as_underscores(here) == token.written)
        };
        let found = list.iter().find(fits)?;
        // Of those that differ in case alone, the one that is written like this.
        let alike = list
            .iter()
            .filter(|token| token.written.len() == found.written.len());
        Some(alike.filter(fits).find(exact).unwrap_or(found))
    }

    /// The mask in the spelling of the original.
    fn render(&self, kind: IdentityKind, canonical: &[u8], written: &[u8]) -> Vec<u8> {
        let Some(mask) = self.masks.get(&(kind, canonical.to_vec())) else {
            return written.to_vec();
        };
        match kind {
            IdentityKind::Host if written.contains(&b'.') => {
                return [mask, &b".example"[..]].concat();
            }
            IdentityKind::Host | IdentityKind::User | IdentityKind::Name
                if !written.iter().any(u8::is_ascii_lowercase) =>
            {
                return mask.to_ascii_uppercase();
            }
            IdentityKind::Host
            | IdentityKind::User
            | IdentityKind::Name
            | IdentityKind::Ipv4
            | IdentityKind::Ipv6 => return mask.clone(),
            IdentityKind::Hex32
            | IdentityKind::Lvm32
            | IdentityKind::Wwn
            | IdentityKind::Mac
            | IdentityKind::Serial => {}
        }
        let upper = kind != IdentityKind::Serial
            && kind != IdentityKind::Lvm32
            && written.iter().any(u8::is_ascii_uppercase);
        let mut digits = mask
            .iter()
            .map(|b| if upper { b.to_ascii_uppercase() } else { *b });
        let mut out = Vec::with_capacity(written.len());
        let mut rest = written;
        while let Some((first, after)) = rest.split_first() {
            if let Some(behind) = rest.strip_prefix(b"\\x2d") {
                out.extend_from_slice(b"\\x2d");
                rest = behind;
                continue;
            }
            rest = after;
            out.push(if first.is_ascii_alphanumeric() {
                digits.next().unwrap_or(b'0')
            } else {
                *first
            });
        }
        out.extend(digits);
        out
    }
}

/// Identities by shape and by place, ordered and without overlap; a shape takes precedence over a
/// place.
fn spans(text: &[u8], places: &MaskRanges) -> Vec<IdentityMatch> {
    let mut spans = shapes::spans(text);
    spans.retain(|span| {
        !(places.asked && span.kind == IdentityKind::User && span.range.end == text.len())
    });
    for (range, kind) in &places.identities {
        let overlaps =
            |span: &IdentityMatch| span.range.start < range.end && range.start < span.range.end;
        if !range.is_empty() && !spans.iter().any(overlaps) {
            spans.push(IdentityMatch::new(text, range.clone(), *kind));
        }
    }
    spans.sort_by_key(|span| span.range.start);
    spans
}

/// Further spellings of a name: in device-mapper names, which double a dash; in systemd unit names,
/// which escape it (systemd.unit(5)), twice where an answer is display-safe. An Ethernet address
/// may have other separators, or none.
fn forms(kind: IdentityKind, canonical: &[u8]) -> Vec<Vec<u8>> {
    let with = |dash: &[u8]| {
        canonical
            .split(|b| *b == b'-')
            .collect::<Vec<_>>()
            .join(dash)
    };
    match kind {
        IdentityKind::Host | IdentityKind::User => {
            vec![
                canonical.to_vec(),
                with(b"--"),
                with(b"\\x2d"),
                with(b"\\\\x2d"),
            ]
        }
        IdentityKind::Mac => [&b":"[..], b"-", b"_", b""]
            .map(|separator| canonical.chunks(2).collect::<Vec<_>>().join(separator))
            .to_vec(),
        IdentityKind::Serial
        | IdentityKind::Name
        | IdentityKind::Hex32
        | IdentityKind::Lvm32
        | IdentityKind::Wwn
        | IdentityKind::Ipv4
        | IdentityKind::Ipv6 => Vec::new(),
    }
}

/// The first bytes, by which tokens are found.
fn token_key(text: &[u8]) -> Option<[u8; TOKEN_KEY]> {
    let mut key = *text.first_chunk::<TOKEN_KEY>()?;
    for byte in &mut key {
        *byte = if *byte == b' ' {
            b'_'
        } else {
            byte.to_ascii_lowercase()
        };
    }
    Some(key)
}

/// The words of a source that do not name its purpose.
fn words(text: &[u8], source: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut at = source.start;
    std::iter::from_fn(move || {
        while at < source.end {
            let word = names::word_at(text, at..source.end);
            at = word.end.max(at + 1);
            let bytes = text.get(word.clone()).unwrap_or_default();
            if !bytes.is_empty() && !bytes.starts_with(b"\\") && !names::is_purpose(bytes) {
                return Some(word);
            }
        }
        None
    })
}

/// Sorted ranges, queried by ascending positions.
struct RangeCursor<'r> {
    ranges: &'r [Range<usize>],
}

impl<'r> RangeCursor<'r> {
    fn new(ranges: &'r [Range<usize>]) -> Self {
        Self { ranges }
    }

    /// The range that holds this position.
    fn holds(&mut self, at: usize) -> Option<&'r Range<usize>> {
        while let Some((first, rest)) = self.ranges.split_first() {
            if at < first.end {
                return (first.start <= at).then_some(first);
            }
            self.ranges = rest;
        }
        None
    }
}

/// Whether an escape ends here, such as one of a blank: `\040` in a mount table, `\x20` elsewhere.
fn follows_escape(text: &[u8], at: usize) -> bool {
    match text.get(..at) {
        Some([.., b'\\', a, b, c])
            if [a, b, c].iter().all(|digit| (b'0'..=b'7').contains(digit)) =>
        {
            true
        }
        Some([.., b'\\', b'x', a, b]) => a.is_ascii_hexdigit() && b.is_ascii_hexdigit(),
        _ => false,
    }
}

/// Where an identity without a shape of its own is replaced; `None` where it is only expected.
fn reach(
    kind: IdentityKind,
    written: &[u8],
    vocabulary: &BTreeSet<Vec<u8>>,
) -> Option<ReplacementScope> {
    let has = |test: fn(&u8) -> bool| written.iter().any(test);
    let mixed = has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit);
    match kind {
        // Found by their shapes wherever they are; a long one may also stand where the shape is not
        // to be seen.
        IdentityKind::Hex32 | IdentityKind::Wwn if alphanumerics(written).len() >= 16 => {
            Some(ReplacementScope::Anywhere)
        }
        IdentityKind::Mac => Some(ReplacementScope::Words),
        IdentityKind::Ipv4 | IdentityKind::Ipv6 => Some(ReplacementScope::WordsOnly),
        IdentityKind::Serial | IdentityKind::Host | IdentityKind::User
            if vocabulary.contains(&written.to_ascii_lowercase()) =>
        {
            None
        }
        IdentityKind::Serial if mixed && written.len() >= 16 => Some(ReplacementScope::Anywhere),
        IdentityKind::Serial if mixed && written.len() >= 8 => Some(ReplacementScope::Words),
        IdentityKind::Serial if mixed && written.len() >= 6 => Some(ReplacementScope::WordsOnly),
        IdentityKind::Serial if written.len() >= 6 => Some(ReplacementScope::Names),
        IdentityKind::Host if has(u8::is_ascii_alphabetic) && written.len() >= 3 => {
            Some(ReplacementScope::WordsOnly)
        }
        IdentityKind::User if written.len() >= 3 => Some(ReplacementScope::Names),
        IdentityKind::Serial
        | IdentityKind::Host
        | IdentityKind::User
        | IdentityKind::Name
        | IdentityKind::Hex32
        | IdentityKind::Wwn
        | IdentityKind::Lvm32 => None,
    }
}

/// A mask for each identity, none of which is itself an identity.
fn number(
    identities: &BTreeSet<(IdentityKind, Vec<u8>)>,
) -> BTreeMap<(IdentityKind, Vec<u8>), Vec<u8>> {
    let taken: BTreeSet<&[u8]> = identities
        .iter()
        .map(|(_, canonical)| canonical.as_slice())
        .collect();
    let mut masks = BTreeMap::new();
    let mut next: BTreeMap<IdentityKind, u64> = BTreeMap::new();
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
fn mask_of(kind: IdentityKind, canonical: &[u8], n: u64) -> Vec<u8> {
    let first = char::from(canonical.first().copied().unwrap_or(b'0'));
    match kind {
        // Such as a UUID of version 4.
        IdentityKind::Hex32 => format!("{first}{}{n:012x}", "0000000000040008000").into_bytes(),
        IdentityKind::Lvm32 => format!("{first}{n:031}").into_bytes(),
        IdentityKind::Wwn => format!(
            "{first}{n:0width$x}",
            width = canonical.len().saturating_sub(1)
        )
        .into_bytes(),
        IdentityKind::Mac => format!("02{n:010x}").into_bytes(),
        IdentityKind::Host => format!("host{n}").into_bytes(),
        IdentityKind::User => format!("user{n}").into_bytes(),
        IdentityKind::Name => format!("name{n}").into_bytes(),
        // Networks for benchmarks (RFC 2544) and for documentation (RFC 3849).
        IdentityKind::Ipv4 => {
            format!("198.{}.{}.{}", 18 + (n >> 16 & 1), n >> 8 & 255, n & 255).into_bytes()
        }
        IdentityKind::Ipv6 => {
            format!("2001:db8::{:x}:{:x}", n >> 16 & 0xffff, n & 0xffff).into_bytes()
        }
        IdentityKind::Serial => {
            // Leading letters say whose number it is: `vol` and `AWS` in Amazon's cloud, `WD` of a
            // maker.
            let digits = alphanumerics(canonical);
            let letters = digits
                .iter()
                .take_while(|b| b.is_ascii_alphabetic())
                .count();
            let kept = letters.min(4).min(digits.len() / 2);
            let width = digits.len() - kept;
            let prefix = digits.get(..kept).unwrap_or_default();
            [prefix, format!("{n:0width$}").as_bytes()].concat()
        }
    }
}

#[cfg(test)]
mod planted;
#[cfg(test)]
mod tests;
