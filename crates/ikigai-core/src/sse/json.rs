//! JSON objects out of bytes that are no event stream: one document, several in a row, or an array of them.

/// Finds the top-level objects. What stands between them (brackets, commas, white space) is passed over.
#[derive(Debug, Default)]
pub(super) struct Objects {
    buffer: Vec<u8>,
    depth: u32,
    in_string: bool,
    escaped: bool,
}

impl Objects {
    /// Is an object begun and not ended?
    pub(super) fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// How much of the open object is held.
    pub(super) fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Takes one line and hands over each object that ends in it.
    pub(super) fn feed(&mut self, line: &[u8], mut sink: impl FnMut(&[u8])) {
        if self.is_open() {
            // The line end that was cut off; inside a string it is an error that the JSON parser will report.
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
