//! An editable line of text.

use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::text::{fit, fit_end};

/// The text before and behind the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    before: String,
    behind: String,
}

/// A change that is no character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// One character to the left.
    Left,
    /// One character to the right.
    Right,
    /// To the beginning.
    Home,
    /// To the end.
    End,
    /// Takes away the character before the cursor.
    Backspace,
    /// Takes away the character at the cursor.
    Delete,
    /// Takes away everything.
    Clear,
}

impl Field {
    /// This text, with the cursor at its end.
    pub fn new(text: String) -> Self {
        Self { before: text, behind: String::new() }
    }

    /// The whole text.
    pub fn text(&self) -> String {
        format!("{}{}", self.before, self.behind)
    }

    /// Types a character.
    pub fn insert(&mut self, c: char) {
        self.before.push(c);
    }

    /// Changes it.
    pub fn edit(&mut self, edit: Edit) {
        match edit {
            Edit::Left => {
                if let Some(c) = self.before.pop() {
                    self.behind.insert(0, c);
                }
            }
            Edit::Right => {
                let first = self.take_first();
                self.before.extend(first);
            }
            Edit::Home => self.behind = std::mem::take(&mut self.before) + &self.behind,
            Edit::End => self.before.push_str(&std::mem::take(&mut self.behind)),
            Edit::Backspace => {
                self.before.pop();
            }
            Edit::Delete => {
                self.take_first();
            }
            Edit::Clear => *self = Self::default(),
        }
    }

    fn take_first(&mut self) -> Option<char> {
        let first = self.behind.chars().next();
        self.behind.drain(..first.map_or(0, char::len_utf8));
        first
    }

    /// The text in so many columns, with the cursor in sight: a cell in reverse.
    pub fn line(&self, room: usize) -> Line<'static> {
        let mut behind = self.behind.chars();
        let cursor = behind.next().unwrap_or(' ').to_string();
        let left = room.saturating_sub(cursor.width());
        let before = fit_end(&self.before, left);
        let behind = fit(behind.as_str(), left.saturating_sub(before.width()));
        Line::from(vec![Span::raw(before), Span::styled(cursor, Modifier::REVERSED), Span::raw(behind)])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same with a plain list and a position.
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
                        field.insert(c);
                        naive.0.insert(naive.1, c);
                        naive.1 += 1;
                    }
                    Err(edit) => {
                        field.edit(edit);
                        naive.edit(edit);
                    }
                }
                prop_assert_eq!(field.text(), naive.0.iter().collect::<String>());
                prop_assert_eq!(field.before.chars().count(), naive.1);
                prop_assert!(field.line(room).width() <= room.max(2));
            }
        }
    }
}
