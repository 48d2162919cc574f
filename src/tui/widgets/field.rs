//! An editable line of text.

use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::text::{fit_end, truncate};
use crate::text::is_display_unsafe;

/// A text of at most [`Field::MOST`] characters with a cursor. It never contains characters that
/// affect how a terminal shows others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    text: String,
    /// Byte offset of the cursor.
    cursor: usize,
}

/// An editing command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    Left,
    Right,
    Home,
    End,
    /// Deletes the character before the cursor.
    Backspace,
    /// Deletes the character at the cursor.
    Delete,
    Clear,
}

impl Field {
    /// The character limit: more than a path or value needs, and few enough to search a list at
    /// every key.
    pub const MAX_CHARS: usize = 500;

    /// This text, truncated to the limit, with the cursor at its end.
    pub fn new(text: &str) -> Self {
        let mut field = Self::default();
        field.push(text);
        field
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Inserts text; false if it was truncated. Control and invisible characters are dropped,
    /// because pasted text is untrusted.
    pub fn push(&mut self, text: &str) -> bool {
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

    pub fn edit(&mut self, edit: Edit) {
        let (before, behind) = self.split_at_cursor();
        let left = before.chars().next_back().map_or(0, char::len_utf8);
        let right = behind.chars().next().map_or(0, char::len_utf8);
        match edit {
            Edit::Left => self.cursor = self.cursor.saturating_sub(left),
            Edit::Right => self.cursor = self.cursor.saturating_add(right),
            Edit::Home => self.cursor = 0,
            Edit::End => self.cursor = self.text.len(),
            Edit::Backspace => {
                self.cursor = self.cursor.saturating_sub(left);
                self.remove(left);
            }
            Edit::Delete => self.remove(right),
            Edit::Clear => *self = Self::default(),
        }
    }

    /// Deletes so many bytes after the cursor.
    fn remove(&mut self, bytes: usize) {
        self.text
            .drain(self.cursor..self.cursor.saturating_add(bytes));
    }

    /// The text before and after the cursor.
    fn split_at_cursor(&self) -> (&str, &str) {
        self.text
            .split_at_checked(self.cursor)
            .unwrap_or((&self.text, ""))
    }

    /// The text in so many columns, scrolled to the cursor, which is a reversed cell.
    pub fn line(&self, room: usize) -> Line<'static> {
        let (before, behind) = self.split_at_cursor();
        let mut behind = behind.chars();
        let cursor = behind.next().unwrap_or(' ').to_string();
        let left = room.saturating_sub(cursor.width());
        let before = fit_end(before, left);
        let behind = truncate(behind.as_str(), left.saturating_sub(before.width()));
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

    /// The same with a plain list and an index.
    #[derive(Default)]
    struct Naive(Vec<char>, usize);

    impl Naive {
        fn edit(&mut self, edit: Edit) {
            match edit {
                Edit::Left => self.1 = self.1.saturating_sub(1),
                Edit::Right => self.1 = (self.1 + 1).min(self.0.len()),
                Edit::Home => self.1 = 0,
                Edit::End => self.1 = self.0.len(),
                Edit::Backspace if self.1 > 0 => {
                    self.1 -= 1;
                    self.0.remove(self.1);
                }
                Edit::Delete if self.1 < self.0.len() => {
                    self.0.remove(self.1);
                }
                Edit::Backspace | Edit::Delete => {}
                Edit::Clear => *self = Self::default(),
            }
        }
    }

    fn step() -> impl Strategy<Value = Result<char, Edit>> {
        use Edit::{Backspace, Clear, Delete, End, Home, Left, Right};
        prop_oneof![
            4 => prop::sample::select(vec!['a', '/', '.', 'ä', 'デ']).prop_map(Ok),
            3 => prop::sample::select(vec![Left, Right, Home, End, Backspace, Delete]).prop_map(Err),
            1 => Just(Err(Clear)),
        ]
    }

    proptest! {
        #[test]
        fn editing_is_what_it_is_on_a_plain_list(steps in prop::collection::vec(step(), 0..60), room in 0_usize..30) {
            let (mut field, mut naive) = (Field::default(), Naive::default());
            for step in steps {
                match step {
                    Ok(c) => {
                        prop_assert!(field.push(c.encode_utf8(&mut [0; 4])));
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
                prop_assert!(field.line(room).width() <= room.max(2));
            }
        }
    }

    #[test]
    fn a_field_holds_so_many_characters_whatever_is_pasted() {
        let most = "デ".repeat(Field::MAX_CHARS);
        let mut field = Field::default();
        assert!(field.push(&most));
        assert!(!field.push("x"));
        assert_eq!(field.text(), most);
        field.edit(Edit::Home);
        assert!(!field.push("x"), "in front, too");
        field.edit(Edit::Delete);
        assert!(field.push("x"));
        assert!(field.text().starts_with("xデ"));
        assert_eq!(field.text().chars().count(), Field::MAX_CHARS);
        // Dropped characters do not count towards the limit.
        let hostile = "\u{1b}\u{9b}\u{202e}\u{7}\r\n".repeat(1_000);
        let mut field = Field::default();
        assert!(field.push(&format!("{hostile}a{hostile} b")));
        assert_eq!(field.text(), "a b");
    }
}
