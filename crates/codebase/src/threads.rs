//! Running work on several threads.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of cores.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}

/// Runs `work` on each of `threads` threads, this one included, and returns their results in no particular order. A panic is
/// passed on.
pub(crate) fn on_threads<T: Send>(threads: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(&work)).collect();
        let mut all = vec![work()];
        for other in others {
            all.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    })
}

/// Runs `work` on up to `threads` threads, and returns their results in no particular order. Each gets an iterator over the
/// items, with their numbers, that no thread has taken yet. There are as many threads as the caller allows, which rayon's one
/// pool cannot guarantee; rayon was not faster either.
pub fn in_parallel<'a, T: Sync, R: Send>(
    items: &'a [T],
    threads: usize,
    work: impl Fn(&mut dyn Iterator<Item = (usize, &'a T)>) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let number = next.fetch_add(1, Ordering::Relaxed);
        Some((number, items.get(number)?))
    };
    on_threads(threads.min(items.len()), || work(&mut std::iter::from_fn(take)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_taken_once_and_each_thread_returns_its_result() {
        let items: Vec<usize> = (0..100).collect();
        let lists = in_parallel(&items, 3, |items| items.collect::<Vec<_>>());
        assert_eq!(lists.len(), 3);
        let mut all = lists.concat();
        all.sort_unstable();
        assert_eq!(all, items.iter().enumerate().collect::<Vec<_>>());
        assert_eq!(in_parallel(&items[..1], 3, |items| items.count()), [1]);
        assert_eq!(on_threads(0, || 1), [1]);
    }

    #[test]
    #[should_panic(expected = "as it should")]
    fn a_panic_is_passed_on() {
        let first = AtomicUsize::new(0);
        on_threads(2, || assert!(first.fetch_add(1, Ordering::Relaxed) == 0, "as it should"));
    }
}
