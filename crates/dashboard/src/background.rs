//! Values that take too long for a request: each is computed on a thread of its own, and requests get the last one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use parking_lot::Mutex;
use tamis_logs::event::Millis;

/// Computing takes at most one part in this many of the time.
const SHARE: u32 = 20;

/// Keys whose values are kept: readers in other time zones have days of their own.
const MOST_KEYS: usize = 8;

/// The last values that were computed, by key.
pub(crate) struct Background<K, V>(Arc<Mutex<State<K, V>>>);

struct State<K, V> {
    /// The oldest first.
    last: Vec<Computed<K, V>>,
    is_computing: bool,
}

struct Computed<K, V> {
    key: K,
    value: V,
    at: Millis,
    done: Instant,
    took: Duration,
}

/// The last value with its time, and whether a newer one is being computed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LastValue<V> {
    pub(crate) value: Option<(Millis, V)>,
    pub(crate) is_computing: bool,
}

impl<K, V> Default for Background<K, V> {
    fn default() -> Background<K, V> {
        Background(Arc::new(Mutex::new(State { last: Vec::new(), is_computing: false })))
    }
}

impl<K: PartialEq + Send + 'static, V: Clone + Send + 'static> Background<K, V> {
    /// The last value for this key. If it is missing or older than `age`, a new one is begun, unless one is under way.
    pub(crate) fn get(
        &self,
        key: K,
        age: Duration,
        compute: impl FnOnce() -> V + Send + 'static,
    ) -> LastValue<V> {
        let mut state = self.0.lock();
        let known = state.last.iter().find(|last| last.key == key);
        let is_fresh = known.is_some_and(|last| last.done.elapsed() < age.max(last.took * SHARE));
        let value = known.map(|last| (last.at, last.value.clone()));
        if is_fresh || state.is_computing {
            return LastValue { value, is_computing: state.is_computing };
        }
        state.is_computing = true;
        drop(state);
        let running = Running(Arc::clone(&self.0));
        let thread = std::thread::Builder::new().name("figures".into()).spawn(move || {
            let begun = Instant::now();
            let value = compute();
            let at = Timestamp::now().as_millisecond();
            let computed = Computed { key, value, at, done: Instant::now(), took: begun.elapsed() };
            let mut state = running.0.lock();
            state.last.retain(|last| last.key != computed.key);
            state.last.push(computed);
            let surplus = state.last.len().saturating_sub(MOST_KEYS);
            state.last.drain(..surplus);
        });
        let is_computing =
            thread.inspect_err(|error| tracing::warn!(%error, "cannot start a thread")).is_ok();
        LastValue { value, is_computing }
    }
}

/// Ends the computation, also when it panics.
struct Running<K, V>(Arc<Mutex<State<K, V>>>);

impl<K, V> Drop for Running<K, V> {
    fn drop(&mut self) {
        self.0.lock().is_computing = false;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn wait<V: Clone + Send + 'static>(background: &Background<u8, V>) {
        while background.0.lock().is_computing {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_request_gets_the_last_value_and_never_waits() {
        let background = Background::default();
        let (release, held) = mpsc::channel::<()>();
        let slow = background.get(1, HOUR, move || held.recv().map_or(0, |()| 7));
        assert_eq!(slow, LastValue { value: None, is_computing: true });
        assert_eq!(background.get(1, HOUR, || 8), LastValue { value: None, is_computing: true });
        release.send(()).expect("it waits");
        wait(&background);
        let known = background.get(1, HOUR, || 9);
        assert_eq!((known.value.map(|(_, value)| value), known.is_computing), (Some(7), false));
        // Another key has no value yet, and a panic ends the computation.
        assert_eq!(background.get(2, HOUR, || panic!("in a test")).value, None);
        wait(&background);
        assert_eq!(background.get(2, HOUR, || 10).value, None);
        wait(&background);
        for (key, value) in [(2, 10), (1, 7)] {
            assert_eq!(background.get(key, HOUR, || 11).value.map(|(_, value)| value), Some(value));
        }
    }
}
