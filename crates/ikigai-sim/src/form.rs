//! Forms with files, as clients send them: `multipart/form-data`.

use memchr::memmem;

/// More parts than any endpoint takes.
const MOST: usize = 100;

/// One part of a form.
#[derive(Debug, PartialEq)]
pub(crate) struct Field<'a> {
    /// Its name, without the brackets that some clients add to the names of lists.
    pub(crate) name: String,
    /// The name of the file, if it is a file.
    pub(crate) file_name: Option<String>,
    pub(crate) media_type: Option<String>,
    pub(crate) content: &'a [u8],
}

/// Reads the parts of a form, or returns what is wrong with it.
pub(crate) fn read<'a>(content_type: Option<&str>, body: &'a [u8]) -> Result<Vec<Field<'a>>, &'static str> {
    let parameters = parameters(content_type.unwrap_or_default()).ok_or("expected multipart/form-data")?;
    let delimiter = format!("--{}", named(parameters).ok_or("the boundary is missing")?);
    let mut rest = body.strip_prefix(delimiter.as_bytes()).ok_or("the form does not begin with its boundary")?;
    let inner = format!("\r\n{delimiter}");
    let finder = memmem::Finder::new(&inner);
    let mut fields = Vec::new();
    while let Some(part) = rest.strip_prefix(b"\r\n") {
        if fields.len() == MOST {
            return Err("there are too many parts");
        }
        let end = finder.find(part).ok_or("a part has no end")?;
        let (part, behind) = part.split_at(end);
        fields.push(field(part)?);
        rest = behind.get(inner.len()..).unwrap_or_default();
    }
    if rest.starts_with(b"--") { Ok(fields) } else { Err("the form has no end") }
}

/// The boundary of a form, from the header with its type.
pub(crate) fn boundary(content_type: &str) -> Option<String> {
    named(parameters(content_type)?)
}

fn named(parameters: &str) -> Option<String> {
    parameter(parameters, "boundary").filter(|boundary| !boundary.is_empty())
}

fn parameters(content_type: &str) -> Option<&str> {
    let (kind, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
    kind.trim().eq_ignore_ascii_case("multipart/form-data").then_some(parameters)
}

fn field(part: &[u8]) -> Result<Field<'_>, &'static str> {
    let end = memmem::find(part, b"\r\n\r\n").ok_or("a part has no head")?;
    let (head, content) = (part.get(..end).unwrap_or_default(), part.get(end + 4..).unwrap_or_default());
    let head = str::from_utf8(head).map_err(|_| "the head of a part is not text")?;
    let header = |name: &str| {
        let mut lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    };
    let disposition = header("content-disposition").unwrap_or_default();
    let name = parameter(disposition, "name").ok_or("a part has no name")?;
    Ok(Field {
        name: name.strip_suffix("[]").unwrap_or(&name).to_owned(),
        file_name: parameter(disposition, "filename"),
        media_type: header("content-type").map(str::to_owned),
        content,
    })
}

/// A parameter of a header, with or without quotation marks.
fn parameter(header: &str, name: &str) -> Option<String> {
    header.split(';').filter_map(|pair| pair.split_once('=')).find(|(key, _)| key.trim() == name).map(|(_, value)| {
        let value = value.trim();
        value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value).to_owned()
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    const KIND: Option<&str> = Some("multipart/form-data; boundary=\"b-1\"");

    #[test]
    fn parts_are_read_with_their_bytes() {
        let body = b"--b-1\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n--b-1\r\ncontent-disposition: \
            form-data; name=\"image[]\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n\x00\r\n--b-\xff\r\n--b-1--\r\n";
        let file_name = Some("a.png".to_owned());
        let media_type = Some("image/png".to_owned());
        let expected = [
            Field { name: "model".to_owned(), file_name: None, media_type: None, content: b"m" },
            Field { name: "image".to_owned(), file_name, media_type, content: b"\x00\r\n--b-\xff" },
        ];
        assert_eq!(read(KIND, body).unwrap(), expected);
        assert_eq!(read(KIND, b"--b-1--"), Ok(Vec::new()));
    }

    #[test]
    fn what_is_not_a_form_is_told() {
        for (kind, body, told) in [
            (None, &b""[..], "expected multipart/form-data"),
            (Some("application/json"), b"{}", "expected multipart/form-data"),
            (Some("multipart/form-data; x=1"), b"", "the boundary is missing"),
            (KIND, b"", "the form does not begin with its boundary"),
            (KIND, b"--b-1\r\n", "a part has no end"),
            (KIND, b"--b-1\r\nx\r\n--b-1--", "a part has no head"),
            (KIND, b"--b-1\r\nx: y\r\n\r\n\r\n--b-1--", "a part has no name"),
            (KIND, b"--b-1\r\n\xff\r\n\r\n\r\n--b-1--", "the head of a part is not text"),
            (KIND, b"--b-1\r\ncontent-disposition: form-data; name=a\r\n\r\nx\r\n--b-1", "the form has no end"),
        ] {
            assert_eq!(read(kind, body), Err(told));
        }
        let many = "--b-1\r\ncontent-disposition: form-data; name=a\r\n\r\nx\r\n".repeat(101) + "--b-1--";
        assert_eq!(read(KIND, many.as_bytes()), Err("there are too many parts"));
    }

    proptest::proptest! {
        #[test]
        fn any_form_is_survived(pieces in proptest::collection::vec(
            proptest::sample::select(vec!["--b-1", "\r\n", "--", "content-disposition: form-data; name=", "\"", ";", ":", "x", "é"]),
            0..20,
        )) {
            let _ = read(KIND, pieces.concat().as_bytes());
        }

        #[test]
        fn any_sound_is_survived(sound: Vec<u8>, head in proptest::sample::select(vec!["", "RIFF....WAVE", "ID3.......COMM"])) {
            let sound = [head.as_bytes(), &sound].concat();
            let _ = (crate::audio::words(&sound), crate::audio::seconds(&sound));
        }
    }
}
