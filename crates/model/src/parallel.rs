//! Runs one function over many items, on all processors.
//!
//! Results keep the order of the items, so no output depends on the number of processors. A short
//! list is processed in the calling thread.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Builder, ScopedJoinHandle};

/// Minimum number of items per thread: starting a thread takes as long as reading some dozens of
/// files.
const MIN_ITEMS_PER_THREAD: usize = 64;

/// Average number of chunks per thread. There are several, so that one slow chunk does not leave
/// the other threads idle.
const CHUNKS_PER_THREAD: usize = 8;

/// Locks a mutex, also after a panic of another thread that held it.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn map_chunks<'t, T: Sync, R: Send>(
    things: &'t [T],
    work: impl Fn(&'t [T]) -> R + Sync,
) -> Vec<R> {
    let worth = things.len() / MIN_ITEMS_PER_THREAD;
    // Processors are not counted for a short list, because counting them reads a dozen cgroup
    // files.
    let threads = if worth > 1 {
        worth.min(processor_count())
    } else {
        1
    };
    if threads == 1 {
        return vec![work(things)];
    }
    let pieces: Vec<&[T]> = things
        .chunks(things.len().div_ceil(threads * CHUNKS_PER_THREAD))
        .collect();
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            match pieces.get(at) {
                Some(piece) => done.push((at, work(piece))),
                None => return done,
            }
        }
    };
    let mut done = thread::scope(|scope| {
        // Threads that cannot be started are left out; the started ones take over their chunks.
        let others: Vec<_> = (1..threads)
            .filter_map(|_| Builder::new().spawn_scoped(scope, take).ok())
            .collect();
        let mut done = take();
        for other in others {
            done.extend(other.join().unwrap_or_else(|cause| resume_unwind(cause)));
        }
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Runs two functions concurrently and returns both results. `there` runs in another thread, or
/// after `here` if no thread can be started.
pub fn join_in_threads<A, B: Send>(
    here: impl FnOnce() -> A,
    there: impl Fn() -> B + Sync,
) -> (A, B) {
    thread::scope(|scope| {
        let other = Builder::new().spawn_scoped(scope, &there);
        let here = here();
        let there = match other {
            Ok(other) => other.join().unwrap_or_else(|cause| resume_unwind(cause)),
            Err(_) => there(),
        };
        (here, there)
    })
}

/// Like [`join_in_threads`], but the thread of `there` yields first. Suits a `here` that starts a
/// program: the program then runs as early as possible, even if all processors are busy.
pub fn join_with_yielding_thread<A, B: Send>(
    here: impl FnOnce() -> A,
    there: impl Fn() -> B + Sync,
) -> (A, B) {
    join_in_threads(here, || {
        thread::yield_now();
        there()
    })
}

/// Runs `work` in a background thread, and does nothing if no thread can be started. Callers that
/// need the result must be able to compute it themselves.
pub(crate) fn spawn_detached(work: impl FnOnce() + Send + 'static) {
    let _ = Builder::new().spawn(work);
}

/// Runs `work` on each item in a separate thread, for work that mostly waits for a program or a
/// device. If no thread can be started, the calling thread does the work. If `work` panics, the
/// result is an `Err` with the panic payload.
pub fn map_with_thread_per_item<T: Sync, R: Send>(
    things: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<thread::Result<R>> {
    let work = &work;
    thread::scope(|scope| {
        let start = |thing| {
            (
                thing,
                Builder::new().spawn_scoped(scope, move || work(thing)).ok(),
            )
        };
        let started: Vec<_> = things.iter().map(start).collect();
        let end = |(thing, thread): (_, Option<ScopedJoinHandle<'_, R>>)| match thread {
            Some(thread) => thread.join(),
            None => catch_unwind(AssertUnwindSafe(|| work(thing))),
        };
        started.into_iter().map(end).collect()
    })
}

fn processor_count() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

pub fn map_items<T: Sync, R: Send>(things: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let pieces = map_chunks(things, |piece| piece.iter().map(&work).collect::<Vec<R>>());
    pieces.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn map_chunks_covers_all_items_in_order() {
        for count in [
            0,
            1,
            2 * MIN_ITEMS_PER_THREAD - 1,
            2 * MIN_ITEMS_PER_THREAD,
            1000,
            1001,
        ] {
            let things: Vec<usize> = (0..count).collect();
            assert_eq!(map_chunks(&things, <[usize]>::to_vec).concat(), things);
            assert_eq!(map_items(&things, |thing| *thing), things);
        }
    }

    #[test]
    fn join_runs_both_and_propagates_panics() {
        assert_eq!(join_in_threads(|| 1, || 2), (1, 2));
        let failed = |here: bool| {
            std::panic::catch_unwind(|| join_in_threads(|| assert!(!here), || assert!(here)))
        };
        assert!(failed(true).is_err() && failed(false).is_err());
    }

    #[test]
    fn panic_affects_only_result_of_its_item() {
        let results = map_with_thread_per_item(&[1, 2, 3], |thing| {
            assert!(*thing != 2, "the second fails");
            thing * 10
        });
        let results: Vec<Option<i32>> = results.into_iter().map(Result::ok).collect();
        assert_eq!(results, [Some(10), None, Some(30)]);
    }

    #[test]
    fn map_chunks_propagates_panics() {
        let things: Vec<usize> = (0..1000).collect();
        let failed = std::panic::catch_unwind(|| {
            map_chunks(&things, |piece| assert!(!piece.contains(&999)))
        });
        assert!(failed.is_err());
    }
}
