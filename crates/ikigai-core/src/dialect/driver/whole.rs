//! An answer that comes in one piece, though a stream was asked for.
//!
//! Some servers do not stream at all, others not this model, and a failure is often plain JSON with status 200.

use super::{Progress, Reader};
use crate::Event;

impl Progress {
    /// Writes the events that would have brought this answer, or the failure that came in its place.
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
