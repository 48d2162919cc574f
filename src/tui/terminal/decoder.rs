//! What a terminal sends, as keys, the mouse and pastes: ECMA-48 for the form of sequences, xterm's
//! "ctlseqs" for their meaning. Any bytes are accepted, cut anywhere, and no more than a few
//! kilobytes of them are kept.

use std::str;
use std::time::Duration;

use ratatui::layout::Position;

use crate::tui::key::KeyPress;
use crate::tui::msg::{Msg, Pointed};

const ESC: u8 = 0x1b;
const INTERRUPT: u8 = 0x03;
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// The longest sequence, in bytes. A longer one means nothing here.
const LONGEST: usize = 64;
/// The most bytes of a paste that are kept: twice what a text field holds.
const PASTED: usize = 4_096;
/// How long the rest of a sequence may take to arrive; then Escape was pressed alone.
const SEQUENCE: Duration = Duration::from_millis(25);
/// How long the rest of a paste may take to arrive behind its only Ctrl-C; then the key was pressed
/// and the paste has no end.
const PASTE: Duration = Duration::from_millis(150);

/// Reads what arrives, piece by piece.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The beginning of something.
    held: Vec<u8>,
    paste: Option<Paste>,
}

/// A paste that has not ended.
#[derive(Debug, Default)]
struct Paste {
    text: Vec<u8>,
    interrupts: usize,
    last: u8,
}

/// What stands at the beginning of some bytes.
enum Sequence {
    Nothing,
    Event(Msg),
    PasteBegins,
}

impl Decoder {
    /// What these bytes and those before them are.
    pub fn decode(&mut self, bytes: &[u8]) -> Vec<Msg> {
        self.held.extend_from_slice(bytes);
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_slice();
        let mut msgs = Vec::new();
        loop {
            let used = if let Some(paste) = &mut self.paste {
                let (used, ended) = paste.take(rest);
                if ended && let Some(paste) = self.paste.take() {
                    msgs.push(Msg::Paste(
                        String::from_utf8_lossy(&paste.text).into_owned(),
                    ));
                }
                used
            } else {
                let Some((used, sequence)) = first(rest) else {
                    break;
                };
                match sequence {
                    Sequence::Nothing => {}
                    Sequence::Event(msg) => msgs.push(msg),
                    Sequence::PasteBegins => self.paste = Some(Paste::default()),
                }
                used
            };
            if used == 0 {
                break;
            }
            rest = rest.get(used..).unwrap_or_default();
        }
        self.held = rest.to_vec();
        if self.held.len() > LONGEST {
            // Its end is still looked for, so that what is left of it is no keys.
            self.held.truncate(2);
        }
        msgs
    }

    /// How long to wait for more before [`Decoder::quiet`]; `None` where only more decides.
    pub fn patience(&self) -> Option<Duration> {
        match &self.paste {
            Some(paste) => paste.may_be_interrupted().then_some(PASTE),
            None => self.is_escape().then_some(SEQUENCE),
        }
    }

    /// What was pressed, when nothing follows for a while.
    pub fn quiet(&mut self) -> Vec<Msg> {
        if self.paste.as_ref().is_some_and(Paste::may_be_interrupted) {
            *self = Self::default();
            return vec![Msg::Key(KeyPress::control('c'))];
        }
        if !self.is_escape() {
            return Vec::new();
        }
        let mut keys = vec![Msg::Key(KeyPress::named("esc"))];
        let rest = self.held.split_off(1);
        self.held.clear();
        keys.extend(self.decode(&rest));
        keys
    }

    /// Whether what is held may also be Escape and what was typed behind it.
    fn is_escape(&self) -> bool {
        matches!(self.held.as_slice(), [ESC] | [ESC, b'O'])
    }
}

impl Paste {
    /// Takes what belongs to it; returns how many bytes that are, and whether it has ended.
    fn take(&mut self, bytes: &[u8]) -> (usize, bool) {
        let end = bytes
            .windows(PASTE_ENDS.len())
            .position(|window| window == PASTE_ENDS);
        let length = end.unwrap_or_else(|| {
            // Its end may have begun to arrive.
            let begun = (1..PASTE_ENDS.len()).rev().find(|begun| {
                PASTE_ENDS
                    .get(..*begun)
                    .is_some_and(|begin| bytes.ends_with(begin))
            });
            bytes.len().saturating_sub(begun.unwrap_or(0))
        });
        let text = bytes.get(..length).unwrap_or_default();
        let room = PASTED.saturating_sub(self.text.len());
        self.text.extend(text.iter().take(room));
        self.interrupts = self.interrupts.saturating_add(
            text.iter()
                .map(|byte| usize::from(*byte == INTERRUPT))
                .sum(),
        );
        self.last = text.last().copied().unwrap_or(self.last);
        match end {
            Some(_) => (length.saturating_add(PASTE_ENDS.len()), true),
            None => (length, false),
        }
    }

    /// Whether a single Ctrl-C is the last thing that arrived.
    fn may_be_interrupted(&self) -> bool {
        self.interrupts == 1 && self.last == INTERRUPT
    }
}

/// The first of what is in these bytes, and how many it takes; `None` where more must arrive to
/// tell.
fn first(bytes: &[u8]) -> Option<(usize, Sequence)> {
    match bytes {
        [] | [ESC] | [ESC, b'O'] => None,
        [ESC, b'[', rest @ ..] => {
            let (length, sequence) = control(rest)?;
            Some((length.saturating_add(2), sequence))
        }
        [ESC, b'O', last, ..] if application(*last).is_some() => {
            Some((3, application(*last).map_or(Sequence::Nothing, named)))
        }
        // Alt with these is pressed for other things.
        [ESC, b'\t' | 0x7f, ..] => Some((2, Sequence::Nothing)),
        // Escape and a key that arrive together are two keys, since no command uses Alt.
        [ESC, ..] => Some((1, named("esc"))),
        [byte, ..] if byte.is_ascii() => Some((1, ascii(*byte))),
        _ => character(bytes),
    }
}

fn control(rest: &[u8]) -> Option<(usize, Sequence)> {
    match rest {
        // The mouse, as terminals report it that know no other form.
        [b'M', what, column, row, ..] => {
            let number = |byte: &u8| u32::from(byte.saturating_sub(32));
            return Some((4, mouse(number(what), number(column), number(row))));
        }
        [b'M', ..] | [b'['] => return None,
        // Function keys of the Linux console.
        [b'[', ..] => return Some((2, Sequence::Nothing)),
        _ => {}
    }
    let end = rest.iter().position(|byte| !(0x20..=0x3f).contains(byte))?;
    let (parameters, last) = (rest.get(..end)?, *rest.get(end)?);
    if !(0x40..=0x7e).contains(&last) {
        // It was cut short by something else.
        return Some((
            end,
            if end == 0 {
                named("esc")
            } else {
                Sequence::Nothing
            },
        ));
    }
    Some((end.saturating_add(1), meaning(parameters, last)))
}

/// The meaning of a control sequence by its parameters and its last byte.
fn meaning(parameters: &[u8], last: u8) -> Sequence {
    let parameters = str::from_utf8(parameters).unwrap_or_default();
    let (private, parameters) = parameters
        .strip_prefix('<')
        .map_or((false, parameters), |rest| (true, rest));
    let mut numbers = parameters
        .split(';')
        .map(|number| number.split(':').next()?.parse::<u32>().ok());
    let [first, second, third] = [(); 3].map(|()| numbers.next().flatten());
    if private {
        return match (last, first, second, third) {
            (b'M', Some(what), Some(column), Some(row)) => mouse(what, column, row),
            _ => Sequence::Nothing,
        };
    }
    let key = match (last, first) {
        (b'A', _) => "up",
        (b'B', _) => "down",
        (b'C', _) => "right",
        (b'D', _) => "left",
        (b'H', _) | (b'~', Some(1 | 7)) => "home",
        (b'F', _) | (b'~', Some(4 | 8)) => "end",
        (b'Z', _) => "backtab",
        (b'~', Some(3)) => "delete",
        (b'~', Some(5)) => "pgup",
        (b'~', Some(6)) => "pgdn",
        (b'~', Some(200)) => return Sequence::PasteBegins,
        // Keys with modifiers, as some terminals send them unasked.
        (b'~', Some(27)) => return modified(third, second),
        (b'u', _) => return modified(first, second),
        _ => return Sequence::Nothing,
    };
    if has_modifier(second, 2) {
        Sequence::Nothing
    } else {
        named(key)
    }
}

/// Whether a modifier is among those of a parameter: 2 is Alt, 4 is Control.
fn has_modifier(parameter: Option<u32>, modifier: u32) -> bool {
    parameter.unwrap_or(1).saturating_sub(1) & modifier != 0
}

/// A key by the number of its character.
fn modified(code: Option<u32>, modifiers: Option<u32>) -> Sequence {
    let Some(c) = code.and_then(char::from_u32) else {
        return Sequence::Nothing;
    };
    if has_modifier(modifiers, 2) {
        return Sequence::Nothing;
    }
    match u8::try_from(c) {
        _ if has_modifier(modifiers, 4) && c.is_ascii_alphabetic() => {
            Sequence::Event(Msg::Key(KeyPress::control(c)))
        }
        Ok(byte) if byte.is_ascii() => ascii(byte),
        _ => typed(c),
    }
}

/// The key of an ASCII byte.
fn ascii(byte: u8) -> Sequence {
    match byte {
        b'\r' => named("enter"),
        b'\t' => named("tab"),
        0x7f => named("backspace"),
        ESC => named("esc"),
        0x01..=0x1a => {
            let letter = char::from(byte.saturating_add(b'a').saturating_sub(1));
            Sequence::Event(Msg::Key(KeyPress::control(letter)))
        }
        _ => typed(char::from(byte)),
    }
}

/// A key in the application mode of the keypad, by what follows `ESC O`.
fn application(last: u8) -> Option<&'static str> {
    Some(match last {
        b'A' => "up",
        b'B' => "down",
        b'C' => "right",
        b'D' => "left",
        b'H' => "home",
        b'F' => "end",
        b'M' => "enter",
        _ => return None,
    })
}

/// A character that is not ASCII.
fn character(bytes: &[u8]) -> Option<(usize, Sequence)> {
    let bytes = bytes.get(..4).unwrap_or(bytes);
    let valid = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() == 0 => {
            return error.error_len().map(|length| (length, Sequence::Nothing));
        }
        Err(error) => str::from_utf8(bytes.get(..error.valid_up_to())?).ok()?,
    };
    let c = valid.chars().next()?;
    Some((c.len_utf8(), typed(c)))
}

fn named(key: &str) -> Sequence {
    Sequence::Event(Msg::Key(KeyPress::named(key)))
}

fn typed(c: char) -> Sequence {
    KeyPress::character(c).map_or(Sequence::Nothing, |key| Sequence::Event(Msg::Key(key)))
}

/// What the mouse did, at a place counted from 1; movements and releases have no effect.
fn mouse(what: u32, column: u32, row: u32) -> Sequence {
    const MODIFIERS: u32 = 4 | 8 | 16;
    let pointed = match what & !MODIFIERS {
        0 => Pointed::Click,
        64 => Pointed::WheelUp,
        65 => Pointed::WheelDown,
        _ => return Sequence::Nothing,
    };
    let cell = |number: u32| u16::try_from(number.saturating_sub(1)).unwrap_or(u16::MAX);
    Sequence::Event(Msg::Mouse(pointed, Position::new(cell(column), cell(row))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(msgs: &[Msg]) -> String {
        let word = |msg: &Msg| match msg {
            Msg::Key(key) => key.to_string(),
            Msg::Paste(text) => format!("<{text}>"),
            Msg::Mouse(what, cell) => format!("{what:?}@{},{}", cell.x, cell.y),
            other => panic!("{other:?}"),
        };
        msgs.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    /// What these bytes are when nothing follows them.
    fn decoded(bytes: &[u8]) -> String {
        let mut decoder = Decoder::default();
        let mut msgs = decoder.decode(bytes);
        msgs.extend(decoder.quiet());
        names(&msgs)
    }

    #[test]
    fn bytes_are_keys_the_mouse_and_pastes() {
        for (bytes, expected) in [
            ("G äデ", "G space ä デ"),
            (
                "\x03\x1a\r\n\t\x7f\x15\0",
                "ctrl-c ctrl-z enter ctrl-j tab backspace ctrl-u",
            ),
            ("\x1b", "esc"),
            ("\x1b\x1b", "esc esc"),
            (
                "\x1b[A\x1b[B\x1b[C\x1b[D\x1bOA\x1bOH",
                "up down right left up home",
            ),
            (
                "\x1b[H\x1b[F\x1b[1~\x1b[8~\x1b[3~\x1b[5~\x1b[6~\x1b[Z",
                "home end home end delete pgup pgdn backtab",
            ),
            ("\x1b[1;5D\x1b[1;2A", "left up"),
            // Escape and a key in one piece, and what Alt is pressed for.
            (
                "\x1bx\x1b\x03\x1b\r\x1b]",
                "esc x esc ctrl-c esc enter esc ]",
            ),
            ("\x1b[1;3D\x1b\x7f\x1b\t", ""),
            ("\x1bOx\x1bO", "esc O x esc O"),
            (
                "\x1b[99;5u\x1b[27;5;99~\x1b[97u\x1b[13u",
                "ctrl-c ctrl-c a enter",
            ),
            (
                "\x1b[<0;3;4M\x1b[<0;3;4m\x1b[<64;1;1M\x1b[<65;1;1M\x1b[<35;4;4M",
                "Click@2,3 WheelUp@0,0 WheelDown@0,0",
            ),
            (
                "\x1b[<4;300;70000M\x1b[<0;0;0M",
                "Click@299,65535 Click@0,0",
            ),
            ("\x1b[M !!j", "Click@0,0 j"),
            ("\x1b[[Aj\x1b[I\x1b[?1;2c\x1b[999;999;999~", "j"),
            ("\x1b[12\x03j", "ctrl-c j"),
            ("\x1b[200~q\x03\n\x1b[Ay\x1b[201~q", "<q\x03\n\x1b[Ay> q"),
            ("\x1b[200~\x1b[200~\x1b[201~", "<\x1b[200~>"),
            ("\u{9b}5n", "5 n"),
        ] {
            assert_eq!(decoded(bytes.as_bytes()), expected, "{bytes:?}");
        }
        assert_eq!(
            decoded(b"a\xff\xfeb\xe3\x83"),
            "a b",
            "what is no UTF-8 is no key"
        );
    }

    #[test]
    fn a_paste_that_never_ends_is_left_by_a_single_interrupt() {
        assert_eq!(decoded(b"\x1b[200~text"), "");
        assert_eq!(decoded(b"\x1b[200~text\x03"), "ctrl-c");
        assert_eq!(decoded(b"\x1b[200~\x03\x03\x03"), "", "its own are text");
        assert_eq!(decoded(b"\x1b[200~\x03text"), "");
    }

    #[test]
    fn nothing_that_arrives_is_kept_without_bound() {
        let mut decoder = Decoder::default();
        for begin in ["\x1b[", "\x1b[200~"] {
            assert_eq!(names(&decoder.decode(begin.as_bytes())), "");
            for _ in 0..1_000 {
                assert_eq!(names(&decoder.decode(&[b'1'; 4_096])), "");
                assert!(decoder.held.len() <= LONGEST, "{}", decoder.held.len());
            }
            assert!(
                decoder
                    .paste
                    .as_ref()
                    .is_none_or(|paste| paste.text.len() <= PASTED)
            );
            if begin == "\x1b[" {
                assert_eq!(names(&decoder.decode(b"~j")), "j");
            }
        }
        assert_eq!(
            names(&decoder.decode(b"\x1b[201~j")),
            format!("<{}> j", "1".repeat(PASTED))
        );
    }

    fn piece() -> impl Strategy<Value = Vec<u8>> {
        let known = vec![
            "\x1b",
            "[",
            "O",
            "M",
            "<",
            "0;3;4M",
            "200~",
            "201~",
            "\x1b[200~",
            "\x1b[201~",
            "\x03",
            "ä",
            "デ",
            "~",
            "u",
            "9",
            ";",
            "\x1b[A",
        ];
        prop_oneof![
            4 => prop::sample::select(known).prop_map(|text| text.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 1..4),
        ]
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_the_bytes_are_cut(pieces in prop::collection::vec(piece(), 0..20), size in 1_usize..9) {
            let bytes = pieces.concat();
            let mut decoder = Decoder::default();
            let cut: Vec<Msg> = bytes.chunks(size).flat_map(|chunk| decoder.decode(chunk)).collect();
            prop_assert_eq!(names(&cut), names(&Decoder::default().decode(&bytes)));
        }
    }
}
