//! Requests that a server has not answered yet.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::many::InTurn;
use crate::message::IdKey;

/// What happens to the response.
pub(crate) enum ResponseUse {
    /// It is passed on as it is.
    Forward,
    /// `recover_text` is added to it.
    ToolList,
    /// Its large texts are pruned.
    ToolResult(ToolCall),
    /// The gateway sent this request itself. Receives the whole response, or why none came.
    Own(oneshot::Sender<Result<String, String>>),
    /// Several servers got the request, and this many have not answered: only the last response is passed on.
    LastOf(Arc<AtomicUsize>),
    /// If it is an error, another server gets the request.
    InTurn(InTurn),
}

/// A call whose result may be pruned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolCall {
    pub(crate) tool: String,
    /// JSON.
    pub(crate) arguments: String,
}

/// A request without a response.
pub(crate) struct InFlightRequest {
    /// JSON, as the request has it.
    pub(crate) id: String,
    pub(crate) response: ResponseUse,
}

#[derive(Default)]
pub(crate) struct InFlight(Mutex<HashMap<IdKey, InFlightRequest>>);

impl InFlight {
    pub(crate) fn insert(&self, id: &str, response: ResponseUse) {
        let mut requests = self.0.lock();
        let key = IdKey::of(id);
        // It cannot be known which of two requests with the same id is answered.
        let response = if requests.contains_key(&key) { ResponseUse::Forward } else { response };
        requests.insert(key, InFlightRequest { id: id.to_owned(), response });
    }

    pub(crate) fn remove(&self, id: &str) -> Option<InFlightRequest> {
        self.0.lock().remove(&IdKey::of(id))
    }

    pub(crate) fn contains(&self, id: &str) -> bool {
        self.0.lock().contains_key(&IdKey::of(id))
    }

    pub(crate) fn take_all(&self) -> Vec<InFlightRequest> {
        self.0.lock().drain().map(|(_, request)| request).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }
}
