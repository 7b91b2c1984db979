//! Running the same work on several threads.

/// The number of cores.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}

/// Runs `work` on each of `threads` threads, this one included, and returns their results in no particular order. A panic is
/// passed on.
pub fn on_threads<T: Send>(threads: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(&work)).collect();
        let mut all = vec![work()];
        for other in others {
            all.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn each_thread_returns_its_result() {
        let next = AtomicUsize::new(0);
        let take = || {
            let mut taken = Vec::new();
            loop {
                match next.fetch_add(1, Ordering::Relaxed) {
                    number @ ..100 => taken.push(number),
                    _ => return taken,
                }
            }
        };
        let lists = on_threads(3, take);
        assert_eq!(lists.len(), 3);
        let mut all: Vec<usize> = lists.concat();
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
        assert_eq!(on_threads(0, || 1), [1]);
    }

    #[test]
    #[should_panic(expected = "as it should")]
    fn a_panic_is_passed_on() {
        let first = AtomicUsize::new(0);
        on_threads(2, || assert!(first.fetch_add(1, Ordering::Relaxed) == 0, "as it should"));
    }
}
