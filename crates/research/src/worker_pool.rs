//! A worker pool: a fixed number of workers and a bounded queue.
//!
//! A caller waits for results until its deadline or its cancellation. The worker stops where the task next checks its
//! [`StopSignal`], and takes no other task before: there are never more running tasks than workers. Time in the queue counts
//! against the deadline; a task that is cancelled or late before its turn is not started, and frees its place.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tamis_codebase::StopSignal;

use crate::{RoleError, RoleErrorKind};

/// A queued task. `run` always passes on a result, and does not start a task that is cancelled or late.
struct Work {
    stop: StopSignal,
    run: Box<dyn FnOnce() + Send>,
}

/// The pool. After it is dropped, workers finish what was submitted and end.
pub struct WorkerPool {
    shared: Arc<Shared>,
    workers: usize,
    most_waiting: usize,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Work>,
    closed: bool,
}

impl Queue {
    /// Removes tasks that are cancelled or late.
    fn take_over(&mut self) -> Vec<Work> {
        let (over, waiting) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition::<VecDeque<_>, _>(|work| work.stop.is_due());
        self.waiting = waiting;
        Vec::from(over)
    }
}

/// The queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("all {workers} workers are busy and {waiting} tasks are waiting")]
pub struct QueueFull {
    pub workers: usize,
    pub waiting: usize,
}

/// How often a waiting caller checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

impl WorkerPool {
    /// A pool of `workers`, with at most `most_waiting` tasks in the queue.
    pub fn new(workers: usize, most_waiting: usize) -> WorkerPool {
        let shared = Arc::new(Shared::default());
        let workers = workers.max(1);
        for number in 0..workers {
            let shared = Arc::clone(&shared);
            let named = std::thread::Builder::new().name(format!("research-{number}"));
            // The other workers do the work; without any, tasks end at their deadline.
            if let Err(error) = named.spawn(move || shared.work()) {
                tracing::warn!("cannot start a worker: {error}");
            }
        }
        WorkerPool { shared, workers, most_waiting }
    }

    /// Submits a task, which must check its stop regularly. However it ends, `done` is called with its result.
    pub fn submit<T: 'static>(
        &self,
        stop: StopSignal,
        task: impl FnOnce(&StopSignal) -> Result<T, RoleError> + Send + 'static,
        done: impl FnOnce(Result<T, RoleError>) + Send + 'static,
    ) -> Result<(), QueueFull> {
        let seen = stop.clone();
        let run = Box::new(move || {
            done(match seen.check() {
                Err(stopped) => Err(stopped.into()),
                Ok(()) => catch_unwind(AssertUnwindSafe(|| task(&seen)))
                    .unwrap_or_else(|_| Err(RoleError::new(RoleErrorKind::Internal, "the task panicked"))),
            });
        });
        let mut queue = self.shared.queue.lock();
        let over = if queue.waiting.len() >= self.most_waiting { queue.take_over() } else { Vec::new() };
        let waiting = queue.waiting.len();
        let is_full = waiting >= self.most_waiting;
        if !is_full {
            queue.waiting.push_back(Work { stop, run });
        }
        drop(queue);
        for work in over {
            (work.run)();
        }
        if is_full {
            return Err(QueueFull { workers: self.workers, waiting });
        }
        self.shared.changed.notify_one();
        Ok(())
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        self.shared.queue.lock().closed = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn work(&self) {
        loop {
            let mut queue = self.queue.lock();
            let work = loop {
                if let Some(work) = queue.waiting.pop_front() {
                    break work;
                }
                if queue.closed {
                    return;
                }
                self.changed.wait(&mut queue);
            };
            drop(queue);
            (work.run)();
        }
    }
}

/// Waits for the next of the results that tasks send, at most until the deadline or the cancellation.
pub(crate) fn next_result<T>(results: &Receiver<T>, stop: &StopSignal) -> Result<T, RoleError> {
    loop {
        let patience = stop.remaining().map_or(POLL_INTERVAL, |left| left.min(POLL_INTERVAL));
        match results.recv_timeout(patience) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(RoleError::new(RoleErrorKind::Internal, "the worker is gone"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(stopped) = stop.check() {
            // A result may have arrived just now.
            return results.try_recv().map_err(|_| stopped.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{Sender, channel};
    use std::time::Instant;

    use super::*;

    /// A submitted task.
    struct Submitted<T>(Receiver<Result<T, RoleError>>, StopSignal);

    impl<T> Submitted<T> {
        fn wait(self) -> Result<T, RoleError> {
            next_result(&self.0, &self.1).and_then(|result| result)
        }
    }

    fn submit<T: Send + 'static>(
        pool: &WorkerPool,
        stop: StopSignal,
        task: impl FnOnce(&StopSignal) -> Result<T, RoleError> + Send + 'static,
    ) -> Result<Submitted<T>, QueueFull> {
        let (send, results) = channel();
        // The test may have stopped waiting.
        pool.submit(stop.clone(), task, move |result| drop(send.send(result)))?;
        Ok(Submitted(results, stop))
    }

    fn never_begun(pool: &WorkerPool, stop: StopSignal) -> Submitted<()> {
        submit(pool, stop, |_| panic!("begun")).unwrap()
    }

    /// A pool of one worker, which is busy until something is sent.
    fn busy_pool() -> (WorkerPool, Submitted<bool>, Sender<()>) {
        let pool = WorkerPool::new(1, 1);
        let (begun, has_begun) = channel();
        let (release, released) = channel::<()>();
        let task = move |_: &StopSignal| {
            begun.send(()).unwrap();
            Ok(released.recv().is_ok())
        };
        let first = submit(&pool, StopSignal::never(), task).unwrap();
        has_begun.recv().unwrap();
        (pool, first, release)
    }

    #[test]
    fn no_more_tasks_run_than_there_are_workers() {
        let pool = WorkerPool::new(3, 100);
        let (at_work, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let submitted: Vec<_> = (0..40)
            .map(|number| {
                let (at_work, most) = (Arc::clone(&at_work), Arc::clone(&most));
                let task = move |_: &StopSignal| {
                    let now = at_work.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    std::thread::yield_now();
                    at_work.fetch_sub(1, Ordering::SeqCst);
                    Ok(number)
                };
                submit(&pool, StopSignal::never(), task).unwrap()
            })
            .collect();
        let results: Vec<i32> = submitted.into_iter().map(|task| task.wait().unwrap()).collect();
        assert_eq!(results, (0..40).collect::<Vec<_>>());
        assert!(most.load(Ordering::SeqCst) <= 3);
    }

    #[test]
    fn a_full_queue_rejects_at_once() {
        let (pool, first, release) = busy_pool();
        let second = submit(&pool, StopSignal::never(), |_| Ok(true)).unwrap();
        let third = submit(&pool, StopSignal::never(), |_| Ok(true)).err();
        assert_eq!(third, Some(QueueFull { workers: 1, waiting: 1 }));
        release.send(()).unwrap();
        assert_eq!((first.wait(), second.wait()), (Ok(true), Ok(true)));
    }

    #[test]
    fn cancelled_and_late_tasks_free_their_place_in_the_queue() {
        let (pool, first, release) = busy_pool();
        let stop = StopSignal::never();
        let cancelled = never_begun(&pool, stop.clone());
        stop.cancel();
        let late = never_begun(&pool, StopSignal::never().by(Instant::now()));
        let next = submit(&pool, StopSignal::never(), |_| Ok(true)).unwrap();
        assert_eq!(cancelled.wait().unwrap_err().kind, RoleErrorKind::Canceled);
        assert_eq!(late.wait().unwrap_err().kind, RoleErrorKind::Timeout);
        release.send(()).unwrap();
        assert_eq!((first.wait(), next.wait()), (Ok(true), Ok(true)));
    }

    #[test]
    fn a_deadline_ends_the_wait_and_the_task() {
        let pool = WorkerPool::new(1, 4);
        let (ended, has_ended) = channel();
        let stop = StopSignal::never().by(Instant::now() + Duration::from_millis(5));
        let slow = submit(&pool, stop, move |stop| {
            while !stop.is_due() {
                std::thread::yield_now();
            }
            ended.send(()).unwrap();
            Ok(())
        });
        // Either the waiting ends first or the task's own answer comes just then.
        let outcome = slow.unwrap().wait();
        assert!(outcome.as_ref().is_ok() || outcome.unwrap_err().kind == RoleErrorKind::Timeout);
        // It has ended, or on a busy machine was never begun and is dropped; it does not go on.
        let _ = has_ended.recv();
        let late = never_begun(&pool, StopSignal::never().by(Instant::now()));
        assert_eq!(late.wait().unwrap_err().kind, RoleErrorKind::Timeout);
    }

    #[test]
    fn a_cancellation_stops_the_work() {
        let pool = WorkerPool::new(1, 4);
        let (ended, has_ended) = channel();
        let task = submit(&pool, StopSignal::never(), move |stop| {
            stop.cancel();
            ended.send(stop.check()).unwrap();
            Err::<(), RoleError>(RoleError::from(stop.check().unwrap_err()))
        });
        assert_eq!(task.unwrap().wait().unwrap_err().kind, RoleErrorKind::Canceled);
        assert!(has_ended.recv().unwrap().is_err());
    }

    #[test]
    fn a_panic_ends_its_task_alone() {
        let pool = WorkerPool::new(1, 4);
        let task =
            submit(&pool, StopSignal::never(), |_| -> Result<(), RoleError> { panic!("as it should") });
        assert_eq!(task.unwrap().wait().unwrap_err().kind, RoleErrorKind::Internal);
        assert_eq!(submit(&pool, StopSignal::never(), |_| Ok(1)).unwrap().wait(), Ok(1));
    }
}
