//! Requests that a server makes of this client, a limited number at a time.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{JsonRpcMessage, RequestId, ServerNotification};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::Notify;

/// How many of a server's requests may be waiting for their answer to be taken.
const MOST: usize = 64;

/// A transport that reads nothing more while too many of the server's requests are unanswered.
///
/// The SDK starts tasks for every request and every answer, so a server that asks forever without taking the answers
/// would fill the memory.
pub(super) struct AnswersFirst<T> {
    transport: T,
    owed: Arc<Owed>,
}

#[derive(Default)]
struct Owed {
    /// The server's requests, and how far each one is.
    requests: Mutex<HashMap<RequestId, Stage>>,
    fewer: Notify,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// It has no answer yet. If the server cancels it, it never gets one.
    Asked,
    /// Its answer is on the way.
    Answered,
}

impl<T> AnswersFirst<T> {
    pub(super) fn new(transport: T) -> Self {
        AnswersFirst { transport, owed: Arc::default() }
    }
}

impl Owed {
    fn requests(&self) -> MutexGuard<'_, HashMap<RequestId, Stage>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remove(&self, id: &RequestId) {
        self.requests().remove(id);
        self.fewer.notify_one();
    }

    /// Notes a message from the server. Returns whether it counts: an id that is still in use does not.
    fn takes(&self, message: &RxJsonRpcMessage<RoleClient>) -> bool {
        match message {
            JsonRpcMessage::Request(request) => {
                let mut requests = self.requests();
                let is_new = !requests.contains_key(&request.id);
                requests.entry(request.id.clone()).or_insert(Stage::Asked);
                is_new
            }
            JsonRpcMessage::Notification(notification) => {
                if let ServerNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                    && self.requests().get(id) == Some(&Stage::Asked)
                {
                    self.remove(id);
                }
                true
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => true,
        }
    }

    /// Notes an answer that is being sent, and returns what ends the request once it was sent or given up.
    fn answers(self: &Arc<Self>, message: &TxJsonRpcMessage<RoleClient>) -> Option<Sent> {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        }?;
        *self.requests().get_mut(&id)? = Stage::Answered;
        Some(Sent { owed: Arc::clone(self), id })
    }
}

/// Ends a request when dropped.
struct Sent {
    owed: Arc<Owed>,
    id: RequestId,
}

impl Drop for Sent {
    fn drop(&mut self) {
        self.owed.remove(&self.id);
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for AnswersFirst<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        let sent = self.owed.answers(&message);
        let sending = self.transport.send(message);
        async move {
            let _sent = sent;
            sending.await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            while self.owed.requests().len() >= MOST {
                self.owed.fewer.notified().await;
            }
            let message = self.transport.receive().await?;
            if self.owed.takes(&message) {
                return Some(message);
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.transport.close()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use futures_util::FutureExt as _;
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::*;

    /// Receives these messages, and sends nothing before it may.
    struct Fake {
        messages: VecDeque<Value>,
        may_send: Arc<Notify>,
    }

    impl Transport<RoleClient> for Fake {
        type Error = std::io::Error;

        fn send(
            &mut self,
            _: TxJsonRpcMessage<RoleClient>,
        ) -> impl Future<Output = Result<(), std::io::Error>> + Send + 'static {
            let may_send = Arc::clone(&self.may_send);
            async move {
                may_send.notified().await;
                Ok(())
            }
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
            Some(serde_json::from_value(self.messages.pop_front()?).unwrap())
        }

        async fn close(&mut self) -> Result<(), std::io::Error> {
            Ok(())
        }
    }

    fn ping(id: usize) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
    }

    fn transport(messages: impl IntoIterator<Item = Value>) -> (AnswersFirst<Fake>, Arc<Notify>) {
        let may_send = Arc::<Notify>::default();
        let fake = Fake { messages: messages.into_iter().collect(), may_send: Arc::clone(&may_send) };
        (AnswersFirst::new(fake), may_send)
    }

    /// Reads as many messages as there are to read now.
    fn read(transport: &mut AnswersFirst<Fake>) -> usize {
        std::iter::from_fn(|| transport.receive().now_or_never().flatten()).count()
    }

    fn answer(id: usize) -> TxJsonRpcMessage<RoleClient> {
        serde_json::from_value(json!({"jsonrpc": "2.0", "id": id, "result": {}})).unwrap()
    }

    #[test]
    fn nothing_more_is_read_before_answers_are_taken() {
        let (mut transport, may_send) = transport((0..100).map(ping));
        assert_eq!(read(&mut transport), MOST);
        let (one, other) = (transport.send(answer(0)), transport.send(answer(1)));
        let mut one = Box::pin(one);
        assert!(one.as_mut().now_or_never().is_none());
        assert_eq!(read(&mut transport), 0, "it is on the way");
        may_send.notify_one();
        assert!(one.now_or_never().unwrap().is_ok());
        assert_eq!(read(&mut transport), 1);
        drop(other);
        assert_eq!(read(&mut transport), 1, "it was given up");
    }

    #[test]
    fn an_id_in_use_is_passed_over_and_what_is_cancelled_is_no_longer_owed() {
        let cancel =
            |id: usize| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        let (mut transport, _may_send) =
            transport((0..1000).map(|_| ping(7)).chain((0..1000).flat_map(|id| [ping(id), cancel(id)])));
        assert_eq!(read(&mut transport), 1 + 2 * 1000 - 1);
        assert_eq!(transport.owed.requests().len(), 0);
        // An answer on the way is not cancelled any more.
        transport.transport.messages.extend((0..100).map(ping));
        assert_eq!(read(&mut transport), MOST);
        let _on_the_way = transport.send(answer(3));
        transport.transport.messages.push_front(cancel(3));
        assert_eq!(read(&mut transport), 0);
    }
}
