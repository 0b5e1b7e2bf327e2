//! An answer that arrives in one piece although a stream was requested.
//!
//! Some servers do not stream at all, others not for this model, and a failure is often plain JSON with status 200.

use super::{Progress, Reader};
use crate::Event;

impl Progress {
    /// Writes the events that would have carried this answer, or the failure received in its place.
    pub(super) fn whole(&mut self, reader: &mut Reader, data: &str, out: &mut Vec<Event>) {
        match self.dialect.decode_response(data.as_bytes(), &mut self.ids, &self.limits) {
            Ok(response) => {
                let before = out.len();
                out.extend(crate::events(&response));
                self.look_over(reader, before, out);
            }
            Err(error) => self.fail(reader, error, out),
        }
    }
}
