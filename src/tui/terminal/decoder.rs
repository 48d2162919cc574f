//! Decodes terminal input into keys, mouse actions and pastes.
//!
//! ECMA-48 defines the form of sequences, and xterm's "ctlseqs" their meaning. The decoder accepts
//! any bytes, split anywhere, and buffers at most a few kilobytes.

use std::str;
use std::time::Duration;

use ratatui::layout::Position;

use crate::tui::key_press::KeyPress;
use crate::tui::msg::{MouseAction, Msg};

const ESC: u8 = 0x1b;
const INTERRUPT: u8 = 0x03;
const PASTE_ENDS: &[u8] = b"\x1b[201~";
const PASTE_BEGINS: &[u8] = b"\x1b[200~";

/// Longest sequence in bytes; a longer one is ignored.
const MAX_SEQUENCE: usize = 64;
/// Limit on a paste, in bytes. The rest of a longer paste is dropped, because no text field holds
/// as much.
const MAX_PASTE: usize = 4_096;
/// Time to wait for the rest of a sequence. After that, the buffered escape counts as the Escape
/// key.
const SEQUENCE_TIMEOUT: Duration = Duration::from_millis(25);
/// Time to wait for the rest of a paste whose last byte is its only Ctrl-C. After that, the end
/// marker of the paste counts as lost, and the Ctrl-C as a key.
const PASTE_TIMEOUT: Duration = Duration::from_millis(150);

#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    paste: Option<Paste>,
}

#[derive(Debug, Default)]
struct Paste {
    text: Vec<u8>,
    interrupts: usize,
    last: u8,
}

impl Decoder {
    /// `bytes` continue those of earlier calls.
    pub fn decode(&mut self, bytes: &[u8]) -> Vec<Msg> {
        self.buffer.extend_from_slice(bytes);
        let held = std::mem::take(&mut self.buffer);
        let mut rest = held.as_slice();
        let mut msgs = Vec::new();
        loop {
            let used = if let Some(paste) = &mut self.paste {
                let (used, ended) = paste.append_until_paste_end(rest);
                if ended && let Some(paste) = self.paste.take() {
                    msgs.push(Msg::Paste(
                        String::from_utf8_lossy(&paste.text).into_owned(),
                    ));
                }
                used
            } else if rest.starts_with(PASTE_BEGINS) {
                self.paste = Some(Paste::default());
                PASTE_BEGINS.len()
            } else {
                let Some((used, msg)) = parse_first_sequence(rest) else {
                    break;
                };
                msgs.extend(msg);
                used
            };
            if used == 0 {
                break;
            }
            rest = rest.get(used..).unwrap_or_default();
        }
        self.buffer = rest.to_vec();
        if self.buffer.len() > MAX_SEQUENCE {
            // Keeps the start of the sequence, so that its remaining bytes are not decoded as keys.
            self.buffer.truncate(2);
        }
        msgs
    }

    /// The time to wait for further input before [`Decoder::decode_buffered`]; `None` for a wait
    /// without limit.
    pub fn flush_timeout(&self) -> Option<Duration> {
        match &self.paste {
            Some(paste) => paste.ends_with_only_interrupt().then_some(PASTE_TIMEOUT),
            None => self.may_be_escape_key().then_some(SEQUENCE_TIMEOUT),
        }
    }

    /// Decodes the buffered bytes after [`Self::flush_timeout`] has passed without input.
    pub fn decode_buffered(&mut self) -> Vec<Msg> {
        if self
            .paste
            .as_ref()
            .is_some_and(Paste::ends_with_only_interrupt)
        {
            *self = Self::default();
            return vec![Msg::Key(KeyPress::from_control_letter('c'))];
        }
        if !self.may_be_escape_key() {
            return Vec::new();
        }
        let mut keys = vec![Msg::Key(KeyPress::from_name("esc"))];
        let rest = self.buffer.split_off(1);
        self.buffer.clear();
        keys.extend(self.decode(&rest));
        keys
    }

    fn may_be_escape_key(&self) -> bool {
        matches!(self.buffer.as_slice(), [ESC] | [ESC, b'O'])
    }
}

impl Paste {
    /// Appends bytes to the paste, up to its end marker. Returns the number of bytes read, and
    /// whether the paste has ended.
    fn append_until_paste_end(&mut self, bytes: &[u8]) -> (usize, bool) {
        let end = bytes
            .windows(PASTE_ENDS.len())
            .position(|window| window == PASTE_ENDS);
        let length = end.unwrap_or_else(|| {
            // The end marker may be split between two reads.
            let begun = (1..PASTE_ENDS.len()).rev().find(|begun| {
                PASTE_ENDS
                    .get(..*begun)
                    .is_some_and(|begin| bytes.ends_with(begin))
            });
            bytes.len().saturating_sub(begun.unwrap_or(0))
        });
        let text = bytes.get(..length).unwrap_or_default();
        let room = MAX_PASTE.saturating_sub(self.text.len());
        self.text.extend(text.iter().take(room));
        self.interrupts = self.interrupts.saturating_add(
            text.iter()
                .map(|byte| usize::from(*byte == INTERRUPT))
                .sum(),
        );
        self.last = text.last().copied().unwrap_or(self.last);
        match end {
            Some(_) => (length + PASTE_ENDS.len(), true),
            None => (length, false),
        }
    }

    fn ends_with_only_interrupt(&self) -> bool {
        self.interrupts == 1 && self.last == INTERRUPT
    }
}

/// The length in bytes of the first sequence, and its meaning; `None` if more input is needed.
fn parse_first_sequence(bytes: &[u8]) -> Option<(usize, Option<Msg>)> {
    match bytes {
        [] | [ESC] | [ESC, b'O'] => None,
        [ESC, b'[', rest @ ..] => {
            let (length, sequence) = parse_control_sequence(rest)?;
            Some((length + 2, sequence))
        }
        [ESC, b'O', last, ..] if application_mode_key(*last).is_some() => {
            Some((3, application_mode_key(*last).map(key_event)))
        }
        // Terminals also send these bytes for Alt with Tab or Backspace, so they are ignored.
        [ESC, b'\t' | 0x7f, ..] => Some((2, None)),
        // No command uses Alt, so Escape and a character in one read count as two keys.
        [ESC, ..] => Some((1, Some(key_event("esc")))),
        [byte, ..] if byte.is_ascii() => Some((1, ascii_key(*byte))),
        _ => parse_character(bytes),
    }
}

fn parse_control_sequence(rest: &[u8]) -> Option<(usize, Option<Msg>)> {
    match rest {
        // Legacy mouse report (X10 encoding).
        [b'M', what, column, row, ..] => {
            let number = |byte: &u8| u32::from(byte.saturating_sub(32));
            return Some((4, mouse_event(number(what), number(column), number(row))));
        }
        [b'M', ..] | [b'['] => return None,
        // Function keys of the Linux console.
        [b'[', ..] => return Some((2, None)),
        _ => {}
    }
    let end = rest.iter().position(|byte| !(0x20..=0x3f).contains(byte))?;
    let (parameters, last) = (rest.get(..end)?, *rest.get(end)?);
    if !(0x40..=0x7e).contains(&last) {
        // A byte that cannot belong to the sequence, such as the next Escape, ends it early.
        return Some((end, (end == 0).then(|| key_event("esc"))));
    }
    Some((end + 1, interpret_control_sequence(parameters, last)))
}

fn interpret_control_sequence(parameters: &[u8], last: u8) -> Option<Msg> {
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
            (b'M', Some(what), Some(column), Some(row)) => mouse_event(what, column, row),
            _ => None,
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
        // Some terminals send this form for keys with modifiers, although walwise did not request
        // it.
        (b'~', Some(27)) => return modified_key(third, second),
        (b'u', _) => return modified_key(first, second),
        _ => return None,
    };
    (!has_modifier(second, 2)).then(|| key_event(key))
}

/// Whether `modifier` is set in the parameter, which is 1 plus the sum of 1 for Shift, 2 for Alt
/// and 4 for Control (xterm, "ctlseqs").
fn has_modifier(parameter: Option<u32>, modifier: u32) -> bool {
    parameter.unwrap_or(1).saturating_sub(1) & modifier != 0
}

fn modified_key(code: Option<u32>, modifiers: Option<u32>) -> Option<Msg> {
    let c = code.and_then(char::from_u32)?;
    if has_modifier(modifiers, 2) {
        return None;
    }
    match u8::try_from(c) {
        _ if has_modifier(modifiers, 4) && c.is_ascii_alphabetic() => {
            Some(Msg::Key(KeyPress::from_control_letter(c)))
        }
        Ok(byte) if byte.is_ascii() => ascii_key(byte),
        _ => char_event(c),
    }
}

fn ascii_key(byte: u8) -> Option<Msg> {
    match byte {
        b'\r' => Some(key_event("enter")),
        b'\t' => Some(key_event("tab")),
        0x7f => Some(key_event("backspace")),
        ESC => Some(key_event("esc")),
        0x01..=0x1a => {
            let letter = char::from(byte.saturating_add(b'a').saturating_sub(1));
            Some(Msg::Key(KeyPress::from_control_letter(letter)))
        }
        _ => char_event(char::from(byte)),
    }
}

fn application_mode_key(last: u8) -> Option<&'static str> {
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

/// The result is the length in bytes and the key; `None` if bytes of the character are missing.
fn parse_character(bytes: &[u8]) -> Option<(usize, Option<Msg>)> {
    let bytes = bytes.get(..4).unwrap_or(bytes);
    let valid = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() == 0 => {
            return error.error_len().map(|length| (length, None));
        }
        Err(error) => str::from_utf8(bytes.get(..error.valid_up_to())?).ok()?,
    };
    let c = valid.chars().next()?;
    Some((c.len_utf8(), char_event(c)))
}

fn key_event(key: &str) -> Msg {
    Msg::Key(KeyPress::from_name(key))
}

fn char_event(c: char) -> Option<Msg> {
    KeyPress::from_char(c).map(Msg::Key)
}

/// `column` and `row` count from 1. Movements and releases are ignored.
fn mouse_event(what: u32, column: u32, row: u32) -> Option<Msg> {
    const MODIFIERS: u32 = 4 | 8 | 16;
    let pointed = match what & !MODIFIERS {
        0 => MouseAction::Click,
        64 => MouseAction::WheelUp,
        65 => MouseAction::WheelDown,
        _ => return None,
    };
    let cell = |number: u32| u16::try_from(number.saturating_sub(1)).unwrap_or(u16::MAX);
    Some(Msg::Mouse(pointed, Position::new(cell(column), cell(row))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message_names(msgs: &[Msg]) -> String {
        let word = |msg: &Msg| match msg {
            Msg::Key(key) => key.to_string(),
            Msg::Paste(text) => format!("<{text}>"),
            Msg::Mouse(what, cell) => format!("{what:?}@{},{}", cell.x, cell.y),
            other => panic!("{other:?}"),
        };
        msgs.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    fn decode_all(bytes: &[u8]) -> String {
        let mut decoder = Decoder::default();
        let mut msgs = decoder.decode(bytes);
        msgs.extend(decoder.decode_buffered());
        message_names(&msgs)
    }

    #[test]
    fn decodes_keys_mouse_events_and_pastes() {
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
            // Escape and a key in one read, and combinations with Alt.
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
            assert_eq!(decode_all(bytes.as_bytes()), expected, "{bytes:?}");
        }
        assert_eq!(
            decode_all(b"a\xff\xfeb\xe3\x83"),
            "a b",
            "what is no UTF-8 is no key"
        );
    }

    #[test]
    fn single_interrupt_ends_unterminated_paste() {
        assert_eq!(decode_all(b"\x1b[200~text"), "");
        assert_eq!(decode_all(b"\x1b[200~text\x03"), "ctrl-c");
        assert_eq!(decode_all(b"\x1b[200~\x03\x03\x03"), "", "its own are text");
        assert_eq!(decode_all(b"\x1b[200~\x03text"), "");
    }

    #[test]
    fn buffered_input_is_bounded() {
        let mut decoder = Decoder::default();
        for begin in ["\x1b[", "\x1b[200~"] {
            assert_eq!(message_names(&decoder.decode(begin.as_bytes())), "");
            for _ in 0..1_000 {
                assert_eq!(message_names(&decoder.decode(&[b'1'; 4_096])), "");
                assert!(
                    decoder.buffer.len() <= MAX_SEQUENCE,
                    "{}",
                    decoder.buffer.len()
                );
            }
            assert!(
                decoder
                    .paste
                    .as_ref()
                    .is_none_or(|paste| paste.text.len() <= MAX_PASTE)
            );
            if begin == "\x1b[" {
                assert_eq!(message_names(&decoder.decode(b"~j")), "j");
            }
        }
        assert_eq!(
            message_names(&decoder.decode(b"\x1b[201~j")),
            format!("<{}> j", "1".repeat(MAX_PASTE))
        );
    }

    fn input_chunk() -> impl Strategy<Value = Vec<u8>> {
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
        fn decoding_is_independent_of_chunk_boundaries(pieces in prop::collection::vec(input_chunk(), 0..20), size in 1_usize..9) {
            let bytes = pieces.concat();
            let mut decoder = Decoder::default();
            let cut: Vec<Msg> = bytes.chunks(size).flat_map(|chunk| decoder.decode(chunk)).collect();
            prop_assert_eq!(message_names(&cut), message_names(&Decoder::default().decode(&bytes)));
        }
    }
}
