//! Records every field that a piece of work leaves in spans and events.

use std::fmt::Debug;
use std::future::Future;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

type Fields = Arc<Mutex<Vec<(String, String)>>>;

struct Recorder(Fields);

struct Visitor<'a>(&'a Fields);

impl Visit for Visitor<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.lock().unwrap().push((field.name().to_owned(), value.to_owned()));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.lock().unwrap().push((field.name().to_owned(), format!("{value:?}")));
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("ikigai")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Visitor(&self.0));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Visitor(&self.0));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Visitor(&self.0));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Returns the fields that a piece of work leaves, in order.
pub(crate) async fn fields_of(work: impl Future<Output = ()>) -> Vec<(String, String)> {
    let fields = Fields::default();
    let guard = tracing::subscriber::set_default(Recorder(Arc::clone(&fields)));
    work.await;
    drop(guard);
    let fields = fields.lock().unwrap();
    fields.clone()
}
