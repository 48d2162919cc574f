//! For tests: replaces every sentence of a note by `x`, in one thread, while a function runs.

use std::cell::Cell;

/// The sentence of a muted note.
pub const SENTENCE: &str = "x";

thread_local! {
    static ON: Cell<bool> = const { Cell::new(false) };
}

/// Whether notes are muted in this thread.
pub fn is_on() -> bool {
    ON.get()
}

/// Calls a function with notes muted.
pub fn during<T>(act: impl FnOnce() -> T) -> T {
    struct MuteGuard;
    impl Drop for MuteGuard {
        fn drop(&mut self) {
            ON.set(false);
        }
    }
    ON.set(true);
    let _guard = MuteGuard;
    act()
}
