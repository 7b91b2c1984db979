//! A work queue for several threads, whose jobs add more jobs.

use parking_lot::{Condvar, Mutex};

pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    waiting: Vec<T>,
    /// Waiting or running: as long as there is one, more may be added.
    unfinished: usize,
    stopped: bool,
    sleeping: usize,
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Queue<T> {
        let state = State { waiting: Vec::new(), unfinished: 0, stopped: false, sleeping: 0 };
        Queue { state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(crate) fn push(&self, job: T) {
        let mut state = self.state.lock();
        state.waiting.push(job);
        state.unfinished += 1;
        if state.sleeping > 0 {
            self.changed.notify_one();
        }
    }

    /// Runs jobs, the latest first, until all are done or one of them stops the queue: by returning `false`, or by a panic,
    /// which must not leave the other threads waiting.
    pub(crate) fn work(&self, mut job: impl FnMut(T) -> bool) {
        struct Finishing<'a, T> {
            queue: &'a Queue<T>,
            stop: bool,
        }
        impl<T> Drop for Finishing<'_, T> {
            fn drop(&mut self) {
                let mut state = self.queue.state.lock();
                state.unfinished -= 1;
                state.stopped |= self.stop;
                if state.unfinished == 0 || state.stopped {
                    self.queue.changed.notify_all();
                }
            }
        }
        while let Some(next) = self.take() {
            let mut finishing = Finishing { queue: self, stop: true };
            finishing.stop = !job(next);
        }
    }

    fn take(&self) -> Option<T> {
        let mut state = self.state.lock();
        loop {
            if state.stopped {
                return None;
            }
            if let Some(job) = state.waiting.pop() {
                return Some(job);
            }
            if state.unfinished == 0 {
                return None;
            }
            state.sleeping += 1;
            self.changed.wait(&mut state);
            state.sleeping -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::AssertUnwindSafe;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_job_is_done_once_and_a_stop_or_a_panic_ends_all() {
        let run = |stop_at: usize, panics: bool| {
            let (queue, done) = (Queue::new(), AtomicUsize::new(0));
            queue.push(8u32);
            let work = || {
                queue.work(|job| {
                    for _ in 0..2 {
                        if job > 0 {
                            queue.push(job - 1);
                        }
                    }
                    let stop = done.fetch_add(1, Ordering::SeqCst) == stop_at;
                    assert!(!(stop && panics), "as requested");
                    !stop
                });
            };
            let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| {
                std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
            }));
            (outcome.is_ok(), done.into_inner())
        };
        assert_eq!(run(usize::MAX, false), (true, 511));
        let (ended, done) = run(5, false);
        assert!(ended && done < 511);
        assert!(!run(5, true).0);
    }
}
