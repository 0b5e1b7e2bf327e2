//! Forms with files in them: `multipart/form-data`.

use memchr::memmem;

use crate::wire::WireRequest;

/// The prefix of every boundary; sixteen hexadecimal digits follow.
const BEGINNING: &str = "ikigai-boundary-";
const DIGITS: usize = 16;

/// A form: text fields and files, in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Form<'a> {
    parts: Vec<(String, &'a [u8])>,
}

impl<'a> Form<'a> {
    /// Adds a text field.
    pub(super) fn text(&mut self, name: &str, text: &'a str) {
        self.parts.push((format!("form-data; name=\"{}\"", escaped(name)), text.as_bytes()));
    }

    /// Adds a file. The media type must have been checked, because it goes into a header.
    pub(super) fn file(&mut self, name: &str, file_name: &str, media_type: &str, bytes: &'a [u8]) {
        let (name, file_name) = (escaped(name), escaped(file_name));
        let head = format!("form-data; name=\"{name}\"; filename=\"{file_name}\"\r\ncontent-type: {media_type}");
        self.parts.push((head, bytes));
    }

    /// Returns the request that sends the form.
    pub(super) fn post(&self, path: &str) -> WireRequest {
        let boundary = self.boundary();
        let around = boundary.len() + "\r\n--\r\ncontent-disposition: \r\n\r\n".len();
        let length: usize = self.parts.iter().map(|(head, content)| head.len() + content.len() + around).sum();
        let mut body = Vec::with_capacity(length + around);
        for (head, content) in &self.parts {
            body.extend_from_slice(format!("--{boundary}\r\ncontent-disposition: {head}\r\n\r\n").as_bytes());
            body.extend_from_slice(content);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        let media_type = format!("multipart/form-data; boundary={boundary}");
        let headers = vec![("content-type".to_owned(), media_type)];
        WireRequest { path: path.to_owned(), headers, body, ..WireRequest::default() }
    }

    /// Returns a boundary that does not occur in the form: the first number that does not follow [`BEGINNING`] anywhere
    /// in its contents. Each content is searched only once.
    fn boundary(&self) -> String {
        let mut taken: Vec<u64> = Vec::new();
        for (head, content) in &self.parts {
            for text in [head.as_bytes(), content] {
                for start in memmem::find_iter(text, BEGINNING) {
                    let digits = text.get(start + BEGINNING.len()..).and_then(|rest| rest.get(..DIGITS));
                    let digits = digits.and_then(|digits| str::from_utf8(digits).ok());
                    taken.extend(digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()));
                }
            }
        }
        taken.sort_unstable();
        taken.dedup();
        let places = taken.iter().zip(0_u64..);
        let free = places.take_while(|(number, place)| *number == place).count();
        format!("{BEGINNING}{free:016x}")
    }
}

/// Escapes a name in quotation marks as browsers do, so that nothing in it ends the name.
fn escaped(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_form_is_written_byte_for_byte() {
        let mut form = Form::default();
        form.text("model", "m");
        form.file("file", "a\"b\r\nc.wav", "audio/wav", b"\x00\xff\r\n");
        let sent = form.post("/audio/transcriptions");
        let expected = b"--ikigai-boundary-0000000000000000\r\n\
            content-disposition: form-data; name=\"model\"\r\n\r\n\
            m\r\n\
            --ikigai-boundary-0000000000000000\r\n\
            content-disposition: form-data; name=\"file\"; filename=\"a%22b%0D%0Ac.wav\"\r\n\
            content-type: audio/wav\r\n\r\n\
            \x00\xff\r\n\r\n\
            --ikigai-boundary-0000000000000000--\r\n";
        assert_eq!(sent.body.escape_ascii().to_string(), expected.escape_ascii().to_string());
        let media_type = "multipart/form-data; boundary=ikigai-boundary-0000000000000000".to_owned();
        assert_eq!(
            (sent.path.as_str(), sent.headers),
            ("/audio/transcriptions", vec![("content-type".to_owned(), media_type)])
        );
    }

    #[test]
    fn the_boundary_occurs_in_no_content() {
        let boundary = |contents: &[&str]| {
            let mut form = Form::default();
            contents.iter().for_each(|content| form.text("x", content));
            form.boundary()
        };
        let number = |number: u64| format!("ikigai-boundary-{number:016x}");
        assert_eq!(boundary(&["ikigai-boundary-", "ikigai-boundary-0"]), number(0));
        assert_eq!(boundary(&[&number(0), &format!("{}{}", number(1), number(3))]), number(2));
        assert_eq!(boundary(&[&number(1).to_uppercase(), &number(0), &number(0)]), number(1));
        let many: String = (0..10_000).map(number).collect();
        assert_eq!(boundary(&[&many]), number(10_000));
    }
}
