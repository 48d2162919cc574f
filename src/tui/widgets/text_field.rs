use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::text::{truncate_start, truncate_to_width};
use crate::text::is_display_unsafe;

/// An editable line of at most [`Self::MAX_CHARS`] characters. The text never contains control
/// characters or invisible characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextField {
    text: String,
    /// Byte index of the cursor in the text.
    cursor: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextEdit {
    Left,
    Right,
    Home,
    End,
    Backspace,
    Delete,
    Clear,
}

impl TextField {
    /// More than a path or a value needs, and few enough to filter a list after every key press.
    pub const MAX_CHARS: usize = 500;

    /// The cursor is at the end; text beyond the limit is cut.
    pub fn new(text: &str) -> Self {
        let mut field = Self::default();
        field.insert_text(text);
        field
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the text contains every word of the field, in any order and case.
    pub fn matches(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let mut words = self.text.split_whitespace();
        words.all(|word| text.contains(&word.to_lowercase()))
    }

    /// False if some text was cut. Control and invisible characters are dropped, because pasted
    /// text is untrusted.
    pub fn insert_text(&mut self, text: &str) -> bool {
        let mut room = Self::MAX_CHARS.saturating_sub(self.text.chars().count());
        let (_, behind) = self.split_at_cursor();
        let behind = behind.to_owned();
        self.text.truncate(self.cursor);
        let mut fits = true;
        for c in text.chars().filter(|c| !is_display_unsafe(*c)) {
            if room == 0 {
                fits = false;
                break;
            }
            self.text.push(c);
            room = room.saturating_sub(1);
        }
        self.cursor = self.text.len();
        self.text.push_str(&behind);
        fits
    }

    pub fn edit(&mut self, edit: TextEdit) {
        let (before, behind) = self.split_at_cursor();
        let left = before.chars().next_back().map_or(0, char::len_utf8);
        let right = behind.chars().next().map_or(0, char::len_utf8);
        match edit {
            TextEdit::Left => self.cursor = self.cursor.saturating_sub(left),
            TextEdit::Right => self.cursor += right,
            TextEdit::Home => self.cursor = 0,
            TextEdit::End => self.cursor = self.text.len(),
            TextEdit::Backspace => {
                self.cursor = self.cursor.saturating_sub(left);
                self.remove_after_cursor(left);
            }
            TextEdit::Delete => self.remove_after_cursor(right),
            TextEdit::Clear => *self = Self::default(),
        }
    }

    fn remove_after_cursor(&mut self, bytes: usize) {
        self.text.drain(self.cursor..self.cursor + bytes);
    }

    fn split_at_cursor(&self) -> (&str, &str) {
        self.text
            .split_at_checked(self.cursor)
            .unwrap_or((&self.text, ""))
    }

    pub fn render_line(&self, room: usize) -> Line<'static> {
        let (before, behind) = self.split_at_cursor();
        let mut behind = behind.chars();
        let cursor = behind.next().unwrap_or(' ').to_string();
        let left = room.saturating_sub(cursor.width());
        let before = truncate_start(before, left);
        let behind = truncate_to_width(behind.as_str(), left.saturating_sub(before.width()));
        Line::from(vec![
            Span::raw(before),
            Span::styled(cursor, Modifier::REVERSED),
            Span::raw(behind),
        ])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Default)]
    struct NaiveTextField(Vec<char>, usize);

    impl NaiveTextField {
        fn edit(&mut self, edit: TextEdit) {
            match edit {
                TextEdit::Left => self.1 = self.1.saturating_sub(1),
                TextEdit::Right => self.1 = (self.1 + 1).min(self.0.len()),
                TextEdit::Home => self.1 = 0,
                TextEdit::End => self.1 = self.0.len(),
                TextEdit::Backspace if self.1 > 0 => {
                    self.1 -= 1;
                    self.0.remove(self.1);
                }
                TextEdit::Delete if self.1 < self.0.len() => {
                    self.0.remove(self.1);
                }
                TextEdit::Backspace | TextEdit::Delete => {}
                TextEdit::Clear => *self = Self::default(),
            }
        }
    }

    fn any_edit_step() -> impl Strategy<Value = Result<char, TextEdit>> {
        use TextEdit::{Backspace, Clear, Delete, End, Home, Left, Right};
        prop_oneof![
            4 => prop::sample::select(vec!['a', '/', '.', 'ä', 'デ']).prop_map(Ok),
            3 => prop::sample::select(vec![Left, Right, Home, End, Backspace, Delete]).prop_map(Err),
            1 => Just(Err(Clear)),
        ]
    }

    proptest! {
        #[test]
        fn editing_matches_naive_text_field(steps in prop::collection::vec(any_edit_step(), 0..60), room in 0_usize..30) {
            let (mut field, mut naive) = (TextField::default(), NaiveTextField::default());
            for step in steps {
                match step {
                    Ok(c) => {
                        prop_assert!(field.insert_text(c.encode_utf8(&mut [0; 4])));
                        naive.0.insert(naive.1, c);
                        naive.1 += 1;
                    }
                    Err(edit) => {
                        field.edit(edit);
                        naive.edit(edit);
                    }
                }
                prop_assert_eq!(field.text(), naive.0.iter().collect::<String>());
                prop_assert_eq!(field.split_at_cursor().0.chars().count(), naive.1);
                prop_assert!(field.render_line(room).width() <= room.max(2));
            }
        }
    }

    #[test]
    fn text_field_limits_length_and_drops_control_characters() {
        let most = "デ".repeat(TextField::MAX_CHARS);
        let mut field = TextField::default();
        assert!(field.insert_text(&most));
        assert!(!field.insert_text("x"));
        assert_eq!(field.text(), most);
        field.edit(TextEdit::Home);
        assert!(!field.insert_text("x"), "in front, too");
        field.edit(TextEdit::Delete);
        assert!(field.insert_text("x"));
        assert!(field.text().starts_with("xデ"));
        assert_eq!(field.text().chars().count(), TextField::MAX_CHARS);
        // Dropped characters do not count towards the limit.
        let hostile = "\u{1b}\u{9b}\u{202e}\u{7}\r\n".repeat(1_000);
        let mut field = TextField::default();
        assert!(field.insert_text(&format!("{hostile}a{hostile} b")));
        assert_eq!(field.text(), "a b");
    }
}
