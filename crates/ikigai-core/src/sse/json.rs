//! Finds JSON objects in bytes that are not an event stream: one document, several in a row, or an array of them.

/// Finds the top-level objects. Anything between them (brackets, commas, white space) is skipped.
#[derive(Debug, Default)]
pub(super) struct Objects {
    buffer: Vec<u8>,
    depth: u32,
    in_string: bool,
    escaped: bool,
}

impl Objects {
    /// Returns whether an object has begun but not ended.
    pub(super) fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// Returns how much of the open object is held.
    pub(super) fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Reads one line and passes on each object that ends in it.
    pub(super) fn feed(&mut self, line: &[u8], mut sink: impl FnMut(&[u8])) {
        if self.is_open() {
            // The line end that was removed; inside a string it is an error that the JSON parser will report.
            self.buffer.push(b'\n');
        }
        for &byte in line {
            if self.depth == 0 && byte != b'{' {
                continue;
            }
            self.buffer.push(byte);
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' => self.depth += 1,
                b'}' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        sink(&self.buffer);
                        self.buffer.clear();
                    }
                }
                _ => {}
            }
        }
    }
}
