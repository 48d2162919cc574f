//! Bounded queue of terminal input, which delivers Ctrl-C before all other events.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::key_press::KeyPress;
use super::msg::Msg;

/// Limit on waiting events. No user types so far ahead, but a longer unbracketed paste is cut.
/// Processing this many key presses takes some seconds.
const MAX_BACKLOG: usize = 16_384;

/// Shared by the reading and the drawing thread.
#[derive(Clone, Debug, Default)]
pub struct InputQueue(Arc<Mutex<Backlog>>);

#[derive(Debug, Default)]
struct Backlog {
    msgs: VecDeque<Msg>,
    is_interrupted: bool,
}

impl Backlog {
    fn is_empty(&self) -> bool {
        self.msgs.is_empty() && !self.is_interrupted
    }
}

impl InputQueue {
    fn lock_backlog(&self) -> MutexGuard<'_, Backlog> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds events; returns true if the consumer must be woken. Ctrl-C discards all waiting events,
    /// and later ones until the consumer takes the Ctrl-C.
    pub fn push(&self, msgs: Vec<Msg>) -> bool {
        let mut backlog = self.lock_backlog();
        let was_empty = backlog.is_empty();
        if msgs.iter().any(Msg::is_interrupt) {
            backlog.msgs.clear();
            backlog.is_interrupted = true;
        }
        if !backlog.is_interrupted {
            let room = MAX_BACKLOG.saturating_sub(backlog.msgs.len());
            backlog.msgs.extend(msgs.into_iter().take(room));
        }
        was_empty && !backlog.is_empty()
    }

    /// Takes the next event, Ctrl-C first. If `joins` is set, consecutive typed characters are
    /// returned as one text.
    pub fn pop_interrupt_first(&self, joins: bool) -> Option<Msg> {
        let mut backlog = self.lock_backlog();
        if std::mem::take(&mut backlog.is_interrupted) {
            return Some(Msg::Key(KeyPress::from_control_letter('c')));
        }
        let mut text = String::new();
        while joins && let Some(c) = backlog.msgs.front().and_then(Msg::typed_char) {
            text.push(c);
            backlog.msgs.pop_front();
        }
        if text.is_empty() {
            backlog.msgs.pop_front()
        } else {
            Some(Msg::Text(text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_messages(names: &str) -> Vec<Msg> {
        names
            .split(' ')
            .map(|name| Msg::Key(KeyPress::from_name(name)))
            .collect()
    }

    #[test]
    fn interrupt_discards_queued_input() {
        let queue = InputQueue::default();
        assert!(queue.push(key_messages("p y")));
        assert!(
            !queue.push(key_messages("q ctrl-c y")),
            "it is awake already"
        );
        assert!(!queue.push(key_messages("p")));
        assert!(
            queue
                .pop_interrupt_first(true)
                .is_some_and(|msg| msg.is_interrupt())
        );
        assert!(queue.pop_interrupt_first(true).is_none());
        assert!(queue.push(key_messages("j")));
    }

    #[test]
    fn queue_is_bounded_but_still_accepts_interrupt() {
        let queue = InputQueue::default();
        for _ in 0..100 {
            queue.push(key_messages(&["j"; 1_000].join(" ")));
        }
        assert_eq!(queue.lock_backlog().msgs.len(), MAX_BACKLOG);
        queue.push(key_messages("ctrl-c"));
        assert!(
            queue
                .pop_interrupt_first(false)
                .is_some_and(|msg| msg.is_interrupt())
        );
    }

    #[test]
    fn typed_characters_are_joined_only_for_text_fields() {
        let queue = InputQueue::default();
        queue.push(key_messages("a space ä backspace b"));
        let names = |joins| {
            format!(
                "{:?}",
                std::iter::from_fn(|| queue.pop_interrupt_first(joins)).collect::<Vec<_>>()
            )
        };
        assert_eq!(
            names(true),
            r#"[Text("a ä"), Key(KeyPress("backspace")), Text("b")]"#
        );
        queue.push(key_messages("a b"));
        assert_eq!(names(false), r#"[Key(KeyPress("a")), Key(KeyPress("b"))]"#);
    }
}
