//! Masks identifiers in a capture: serials, world-wide names, UUIDs, host names, users, addresses.
//!
//! All questions and answers are searched for identities; each identity is then replaced everywhere
//! by one mask of the same kind and shape. The mapping is one-to-one, so related entries stay
//! related. Masks are numbered in sorted order, so the result is reproducible. Ambiguous words,
//! such as a serial `123456`, a user `max` or a host `data`, are replaced only where names are
//! expected.

mod identity_places;
mod identity_shapes;
mod masked_paths;
mod name_places;
mod text_parts;
mod tool_output;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use super::capture_format::Answers;
use super::{HostError, HostResult, Question, path_bytes, path_from_bytes};
pub use masked_paths::masked_path_candidates;

use IdentityKind::{Hex32, Host, Ipv4, Ipv6, Lvm32, Mac, Name, Serial, User, Wwn};
use ReplacementScope::{Anywhere, Names, Words, WordsOnly};
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum IdentityKind {
    /// 32 hexadecimal digits in any grouping: UUIDs, machine ids, long world-wide names.
    Hex32,
    /// LVM's UUIDs: 32 letters and digits.
    Lvm32,
    /// A world-wide name with fewer than 32 digits.
    Wwn,
    /// A serial number, or another name that a person chose.
    Serial,
    Host,
    /// The name of a person's account or home directory.
    User,
    /// A word that a person chose for a database, a role, a replication slot, or a mount source
    /// that is not a device.
    Name,
    Mac,
    Ipv4,
    Ipv6,
}

/// A part of a text that identifies a host or a person.
type Identity<'t> = (&'t [u8], IdentityKind);

/// The kind of an identity, and a normal form that is equal for all spellings of the identity.
type NormalIdentity = (IdentityKind, Vec<u8>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct IdentityMatch {
    range: Range<usize>,
    identity: NormalIdentity,
}

impl IdentityMatch {
    fn new(text: &[u8], range: Range<usize>, kind: IdentityKind) -> Self {
        let written = text.get(range.clone()).unwrap_or_default();
        let canonical = match kind {
            Hex32 | Wwn | Mac => alphanumerics_without_escapes(written).to_ascii_lowercase(),
            Lvm32 => alphanumerics_without_escapes(written),
            Serial => spaces_as_underscores(written),
            Host => written
                .split(|b| *b == b'.')
                .next()
                .unwrap_or_default()
                .to_ascii_lowercase(),
            User | Name | Ipv4 | Ipv6 => written.to_ascii_lowercase(),
        };
        Self {
            range,
            identity: (kind, canonical),
        }
    }
}

fn alphanumerics_without_escapes(text: &[u8]) -> Vec<u8> {
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

/// Replaces blanks by underscores, as udev does in serials.
fn spaces_as_underscores(text: &[u8]) -> Vec<u8> {
    text.iter()
        .map(|b| if *b == b' ' { b'_' } else { *b })
        .collect()
}

/// A text, with the parts that its place shows to identify a host or person.
#[derive(Default)]
struct MaskableText<'t> {
    text: &'t [u8],
    identities: Vec<Identity<'t>>,
    /// Words in labels that look like serials, and are masked as such.
    labels: Vec<&'t [u8]>,
    names: Vec<&'t [u8]>,
    sources: Vec<&'t [u8]>,
    /// Whether the text is a question's path. Such a path may end with a file name that walwise
    /// appended, as in `/home/PG_VERSION`, and that name is not a user.
    is_question_path: bool,
}

impl<'t> MaskableText<'t> {
    fn from_path(path: &'t [u8]) -> Self {
        Self {
            identities: Vec::from_iter(identity_places::identity_in_path(path)),
            labels: name_places::label_serials(path),
            is_question_path: true,
            ..Self::from_error_detail(path)
        }
    }

    fn from_answer(question: &Question, answer: &'t [u8]) -> Self {
        // The position of an identity does not depend on the user who read the answer.
        let question = question.strip_as_user();
        Self {
            text: answer,
            identities: identity_places::identities_in_answer(question, answer),
            labels: name_places::label_serials_in_answer(question, answer),
            names: name_places::names_in_answer(question, answer),
            sources: name_places::free_text_mount_sources(question, answer),
            is_question_path: false,
        }
    }

    fn from_error_detail(detail: &'t [u8]) -> Self {
        Self {
            text: detail,
            names: Vec::from_iter(name_places::names_in_path(detail)),
            ..Self::default()
        }
    }

    fn range_of(&self, part: &[u8]) -> Range<usize> {
        text_parts::range_in(self.text, part)
    }

    /// The part at a position, of parts that are sorted and do not overlap.
    fn part_at(&self, parts: &[&'t [u8]], at: usize) -> Option<&'t [u8]> {
        let next = parts.partition_point(|part| self.range_of(part).end <= at);
        let part = parts.get(next)?;
        self.range_of(part).contains(&at).then_some(*part)
    }

    /// Finds the identities, sorted and without overlaps. If two overlap, the one found by its
    /// shape is kept, not the one found by its position.
    fn find_identities(&self) -> Vec<IdentityMatch> {
        let mut spans = identity_shapes::find_identities_by_shape(self.text);
        spans.retain(|span| {
            !(self.is_question_path && span.identity.0 == User && span.range.end == self.text.len())
        });
        for (part, kind) in self.identities.iter().filter(|(part, _)| !part.is_empty()) {
            let range = self.range_of(part);
            let overlaps =
                |span: &IdentityMatch| span.range.start < range.end && range.start < span.range.end;
            if !spans.iter().any(overlaps) {
                spans.push(IdentityMatch::new(self.text, range, *kind));
            }
        }
        spans.sort_by_key(|span| span.range.start);
        spans
    }
}

pub fn mask_answers(answers: &Answers) -> Answers {
    let masks = IdentityMasker::from_answers(answers);
    let mask_answer = |(question, answer): (&Question, &HostResult)| {
        let masked = match answer {
            Ok(bytes) => Ok(masks.mask_text(&MaskableText::from_answer(question, bytes))),
            Err(miss) => {
                let detail = MaskableText::from_error_detail(miss.detail.as_bytes());
                let detail = masks.mask_text(&detail);
                Err(HostError::new(miss.kind, String::from_utf8_lossy(&detail)))
            }
        };
        (masks.mask_question(question), masked)
    };
    answers.iter().map(mask_answer).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReplacementScope {
    /// Every occurrence of the spelling is replaced, even inside a longer word.
    Anywhere,
    /// Whole words are replaced. In places where people choose names, occurrences inside a word are
    /// replaced too.
    Words,
    WordsOnly,
    /// Whole words are replaced, and only in places where people choose names.
    Names,
}

struct IdentitySpelling {
    written: Vec<u8>,
    identity: NormalIdentity,
    scope: ReplacementScope,
}

struct IdentityMasker {
    masks: BTreeMap<NormalIdentity, Vec<u8>>,
    /// Spellings grouped by their first bytes. The longest spelling of a group comes first.
    tokens: HashMap<[u8; TOKEN_KEY], Vec<IdentitySpelling>>,
}

/// Number of bytes by which spellings are looked up. A shorter spelling is replaced only where it
/// was found.
const TOKEN_KEY: usize = 3;

#[derive(Default)]
struct IdentityCollector {
    identities: BTreeSet<NormalIdentity>,
    spellings: BTreeSet<(Vec<u8>, NormalIdentity)>,
}

impl IdentityCollector {
    fn collect_identities(&mut self, places: &MaskableText<'_>) {
        let text = places.text;
        let labels = places
            .labels
            .iter()
            .map(|label| IdentityMatch::new(text, places.range_of(label), Serial));
        for IdentityMatch { range, identity } in places.find_identities().into_iter().chain(labels)
        {
            let mut forms = alternative_spellings(&identity);
            forms.push(spaces_as_underscores(text.get(range).unwrap_or_default()));
            self.spellings
                .extend(forms.into_iter().map(|form| (form, identity.clone())));
            self.identities.insert(identity);
        }
        for source in &places.sources {
            let words = mount_source_words(source);
            self.identities
                .extend(words.map(|word| (Name, word.to_ascii_lowercase())));
        }
    }
}

impl IdentityMasker {
    fn from_answers(answers: &Answers) -> Self {
        let mut seen = IdentityCollector::default();
        let mut vocabulary = identity_places::unmasked_common_words();
        for (question, answer) in answers {
            if let Some(path) = question.path() {
                let path = path_bytes(path);
                seen.collect_identities(&MaskableText::from_path(path));
                identity_places::add_kernel_path_words(&mut vocabulary, path);
            }
            if let Question::Run(_, arguments) = question.strip_as_user() {
                for argument in arguments {
                    seen.collect_identities(&MaskableText::from_path(argument.as_bytes()));
                }
            }
            if let Ok(bytes) = answer {
                seen.collect_identities(&MaskableText::from_answer(question, bytes));
            }
        }
        let mut tokens: HashMap<[u8; TOKEN_KEY], Vec<IdentitySpelling>> = HashMap::new();
        for (written, identity) in seen.spellings {
            if let Some(scope) = replacement_scope(identity.0, &written, &vocabulary)
                && let Some(key) = spelling_group_key(&written)
            {
                tokens.entry(key).or_default().push(IdentitySpelling {
                    written,
                    identity,
                    scope,
                });
            }
        }
        for list in tokens.values_mut() {
            list.sort_by_key(|token| std::cmp::Reverse(token.written.len()));
        }
        Self {
            masks: assign_masks(&seen.identities),
            tokens,
        }
    }

    fn mask_question(&self, question: &Question) -> Question {
        let mut question = question.clone();
        let mask_path = |path: &[u8]| self.mask_text(&MaskableText::from_path(path));
        if let Some(path) = question.path_mut() {
            *path = path_from_bytes(mask_path(path_bytes(path)));
        }
        if let Question::Run(_, arguments) = question.strip_as_user_mut() {
            for argument in arguments {
                *argument = String::from_utf8_lossy(&mask_path(argument.as_bytes())).into_owned();
            }
        }
        question
    }

    fn mask_text(&self, places: &MaskableText<'_>) -> Vec<u8> {
        let text = places.text;
        let mut out = Vec::with_capacity(text.len());
        let mut at = 0;
        for IdentityMatch { range, identity } in places.find_identities() {
            self.mask_spellings_and_source_words(places, at..range.start, &mut out);
            at = range.end;
            let written = text.get(range).unwrap_or_default();
            out.extend(self.format_mask_like_original(&identity, written));
        }
        self.mask_spellings_and_source_words(places, at..text.len(), &mut out);
        out
    }

    fn mask_spellings_and_source_words(
        &self,
        places: &MaskableText<'_>,
        range: Range<usize>,
        out: &mut Vec<u8>,
    ) {
        let text = places.text;
        let mut at = range.start;
        while at < range.end {
            let in_source = places.part_at(&places.sources, at);
            let in_names = in_source.or(places.part_at(&places.names, at)).is_some();
            let source_word = || {
                let begins = !identity_shapes::follows_alphanumeric(text, at);
                let source = places.range_of(in_source.filter(|_| begins)?);
                let word = mount_source_words(text.get(at..source.end)?).next()?;
                let place = places.range_of(word);
                (place.start == at && place.end <= range.end)
                    .then(|| ((Name, word.to_ascii_lowercase()), word.len()))
            };
            let found = self
                .longest_spelling_at(text, at..range.end, in_names)
                .map(|token| (token.identity.clone(), token.written.len()))
                .or_else(source_word);
            if let Some((identity, length)) = found {
                let written = text.get(at..at + length).unwrap_or_default();
                out.extend(self.format_mask_like_original(&identity, written));
                at += length;
            } else {
                out.extend(text.get(at));
                at += 1;
            }
        }
    }

    fn longest_spelling_at(
        &self,
        text: &[u8],
        range: Range<usize>,
        in_names: bool,
    ) -> Option<&IdentitySpelling> {
        let list = self
            .tokens
            .get(&spelling_group_key(text.get(range.clone())?)?)?;
        let free_before = !identity_shapes::follows_alphanumeric(text, range.start)
            || follows_escape(text, range.start);
        let written = |token: &IdentitySpelling| {
            let end = range.start + token.written.len();
            let here = text.get(range.start..end).filter(|_| end <= range.end);
            here.map(spaces_as_underscores)
        };
        let fits = |token: &&IdentitySpelling| {
            let end = range.start + token.written.len();
            let free = free_before && !text.get(end).is_some_and(u8::is_ascii_alphanumeric);
            written(token).is_some_and(|here| here.eq_ignore_ascii_case(&token.written))
                && match token.scope {
                    Anywhere => true,
                    Words => free || in_names,
                    WordsOnly => free,
                    Names => free && in_names,
                }
        };
        let exact = |token: &&IdentitySpelling| written(token).as_ref() == Some(&token.written);
        let found = list.iter().find(fits)?;
        // If several spellings differ only in case, the one with exactly this case is used.
        let alike = list
            .iter()
            .filter(|token| token.written.len() == found.written.len());
        Some(alike.filter(fits).find(exact).unwrap_or(found))
    }

    fn format_mask_like_original(&self, identity: &NormalIdentity, written: &[u8]) -> Vec<u8> {
        let Some(mask) = self.masks.get(identity) else {
            return written.to_vec();
        };
        let has = |test: fn(&u8) -> bool| written.iter().any(test);
        match identity.0 {
            Host if written.contains(&b'.') => [mask, &b".example"[..]].concat(),
            Host | User | Name if !has(u8::is_ascii_lowercase) => mask.to_ascii_uppercase(),
            Host | User | Name | Ipv4 | Ipv6 => mask.clone(),
            Hex32 | Wwn | Mac if has(u8::is_ascii_uppercase) => {
                fill_digits(&mask.to_ascii_uppercase(), written)
            }
            Hex32 | Wwn | Mac | Lvm32 | Serial => fill_digits(mask, written),
        }
    }
}

/// Replaces the letters and digits of a spelling by those of its mask. Other characters stay.
fn fill_digits(mask: &[u8], written: &[u8]) -> Vec<u8> {
    let mut digits = mask.iter().copied();
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

/// Lists further spellings of a name. Device-mapper doubles a dash. systemd unit names escape a
/// dash (systemd.unit(5)), and a display-safe answer escapes the backslash again. An Ethernet
/// address may have other separators, or none.
fn alternative_spellings((kind, canonical): &NormalIdentity) -> Vec<Vec<u8>> {
    let with = |dash: &[u8]| {
        canonical
            .split(|b| *b == b'-')
            .collect::<Vec<_>>()
            .join(dash)
    };
    match kind {
        Host | User => {
            vec![
                canonical.clone(),
                with(b"--"),
                with(b"\\x2d"),
                with(b"\\\\x2d"),
            ]
        }
        Mac => [&b":"[..], b"-", b"_", b""]
            .map(|separator| canonical.chunks(2).collect::<Vec<_>>().join(separator))
            .to_vec(),
        Serial | Name | Hex32 | Lvm32 | Wwn | Ipv4 | Ipv6 => Vec::new(),
    }
}

fn spelling_group_key(text: &[u8]) -> Option<[u8; TOKEN_KEY]> {
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

/// Splits the source of a mount into words, without escapes and without words that describe the
/// purpose of the mount.
fn mount_source_words(source: &[u8]) -> impl Iterator<Item = &[u8]> {
    name_places::words_and_escapes(source)
        .filter(|word| !word.starts_with(b"\\") && !name_places::is_unmasked_source_word(word))
}

/// Whether the text before `at` ends with an escape: `\040` in a mount table, `\x20` elsewhere.
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

/// Places in which a spelling of an identity is replaced. `None` if it is replaced only where it
/// was found.
fn replacement_scope(
    kind: IdentityKind,
    written: &[u8],
    vocabulary: &BTreeSet<Vec<u8>>,
) -> Option<ReplacementScope> {
    let has = |test: fn(&u8) -> bool| written.iter().any(test);
    let mixed = has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit);
    match kind {
        // A long identity may also occur inside a longer word, where its shape is not recognised.
        Hex32 | Wwn if alphanumerics_without_escapes(written).len() >= 16 => Some(Anywhere),
        Mac => Some(Words),
        Ipv4 | Ipv6 => Some(WordsOnly),
        Serial | Host | User if vocabulary.contains(&written.to_ascii_lowercase()) => None,
        Serial if mixed && written.len() >= 16 => Some(Anywhere),
        Serial if mixed && written.len() >= 8 => Some(Words),
        Serial if mixed && written.len() >= 6 => Some(WordsOnly),
        Serial if written.len() >= 6 => Some(Names),
        Host if has(u8::is_ascii_alphabetic) && written.len() >= 3 => Some(WordsOnly),
        User if written.len() >= 3 => Some(Names),
        Serial | Host | User | Name | Hex32 | Wwn | Lvm32 => None,
    }
}

/// No mask equals an identity in the capture.
fn assign_masks(identities: &BTreeSet<NormalIdentity>) -> BTreeMap<NormalIdentity, Vec<u8>> {
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
            let mask = numbered_mask(*kind, canonical, *counter);
            if !taken.contains(mask.as_slice()) {
                break mask;
            }
        };
        masks.insert((*kind, canonical.clone()), mask);
    }
    masks
}

fn numbered_mask(kind: IdentityKind, canonical: &[u8], n: u64) -> Vec<u8> {
    let first = char::from(canonical.first().copied().unwrap_or(b'0'));
    let mask = match kind {
        // The mask has the form of a UUID of version 4.
        Hex32 => format!("{first}{}{n:012x}", "0000000000040008000"),
        Lvm32 => format!("{first}{n:031}"),
        Wwn => format!(
            "{first}{n:0width$x}",
            width = canonical.len().saturating_sub(1)
        ),
        Mac => format!("02{n:010x}"),
        Host => format!("host{n}"),
        User => format!("user{n}"),
        Name => format!("name{n}"),
        // Masks come from the networks for benchmarks (RFC 2544) and for documentation (RFC 3849).
        Ipv4 => {
            format!("198.{}.{}.{}", 18 + (n >> 16 & 1), n >> 8 & 255, n & 255)
        }
        Ipv6 => {
            format!("2001:db8::{:x}:{:x}", n >> 16 & 0xffff, n & 0xffff)
        }
        Serial => {
            // Leading letters identify the vendor and stay: `vol` and `AWS` for Amazon's cloud,
            // `WD` for Western Digital.
            let digits = alphanumerics_without_escapes(canonical);
            let letters = digits
                .iter()
                .take_while(|b| b.is_ascii_alphabetic())
                .count();
            let kept = letters.min(4).min(digits.len() / 2);
            let width = digits.len() - kept;
            let prefix = String::from_utf8_lossy(digits.get(..kept).unwrap_or_default());
            format!("{prefix}{n:0width$}")
        }
    };
    mask.into_bytes()
}

#[cfg(test)]
mod planted_identities;
#[cfg(test)]
mod tests;
