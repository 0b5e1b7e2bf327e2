//! Replaying: requests are answered from recordings, byte for byte.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use crate::deliver::{Answer, Payload};
use crate::exchange::{self, Asked, Canonical, Exchange, Pieces, difference};
use crate::service::Call;

/// Recorded exchanges that requests are answered from.
///
/// ```no_run
/// # async fn f() -> Result<(), Box<dyn std::error::Error>> {
/// let mut config = ikigai_sim::Config::default();
/// config.source = ikigai_sim::Source::Replay(ikigai_sim::Recordings::read("tests/recordings")?);
/// let sim = ikigai_sim::Sim::with(config).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Recordings {
    folder: String,
    all: Arc<[Recorded]>,
}

#[derive(Debug)]
struct Recorded {
    file: String,
    request: Canonical,
    /// Without ids and dates.
    loose: Canonical,
    answer: Answer,
}

/// The reason why recordings cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {reason}")]
pub struct RecordingsError {
    /// The file or the folder.
    pub file: String,
    /// What is wrong, and where.
    pub reason: String,
}

impl Recordings {
    /// Reads all recordings in a folder, as `ikigai sim --record` writes them. Other files are ignored.
    ///
    /// # Errors
    /// Returns an error if the folder is unreadable or empty, or a recording is broken; it names the file and place.
    pub fn read(folder: impl AsRef<Path>) -> Result<Self, RecordingsError> {
        let folder = folder.as_ref();
        let wrong = |file: &Path, reason: String| RecordingsError { file: file.display().to_string(), reason };
        let files = exchange::files(folder).map_err(|error| wrong(folder, error.to_string()))?;
        let mut all = Vec::new();
        for (_, file) in &files {
            let recorded = exchange::read(file).and_then(|exchange| recorded(file, exchange));
            all.push(recorded.map_err(|reason| wrong(file, reason))?);
        }
        if all.is_empty() {
            return Err(wrong(folder, "there are no recordings in this folder".to_owned()));
        }
        Ok(Recordings { folder: folder.display().to_string(), all: all.into() })
    }

    /// The recorded answer to a request, or a message about its absence. A request that was recorded several times gets
    /// the answers in that order, and then the last one again.
    pub(crate) fn answer(&self, call: &Call, used: &mut HashSet<usize>) -> Result<Answer, String> {
        let (asked, _) = Asked::of(call.method.as_str(), &call.target(), &call.headers, &call.body);
        let request = Canonical::of(&asked);
        let loose = request.without_ids();
        let numbers = |fits: &dyn Fn(&Recorded) -> bool| -> Vec<usize> {
            self.all.iter().enumerate().filter(|(_, recorded)| fits(recorded)).map(|(number, _)| number).collect()
        };
        let mut fitting = numbers(&|recorded| recorded.request == request);
        if fitting.is_empty() {
            fitting = numbers(&|recorded| recorded.loose == loose);
        }
        let next = fitting.iter().find(|number| !used.contains(number)).or(fitting.last());
        match next.and_then(|number| Some((number, self.all.get(*number)?))) {
            Some((number, recorded)) => {
                used.insert(*number);
                Ok(recorded.answer.clone())
            }
            None => Err(self.miss(&loose)),
        }
    }

    fn miss(&self, asked: &Canonical) -> String {
        let compared = self.all.iter().map(|recorded| (difference(&recorded.loose, asked), recorded));
        let nearest = compared.min_by_key(|((weight, _), _)| *weight);
        let nearest = nearest
            .map_or(String::new(), |((_, told), recorded)| format!("; the nearest is {}, where {told}", recorded.file));
        format!("no recording in {} matches {} {}{nearest}", self.folder, asked.method, asked.path)
    }
}

fn recorded(file: &Path, exchange: Exchange) -> Result<Recorded, String> {
    let request = Canonical::of(&exchange.request);
    let bytes = |piece: &exchange::Piece| piece.bytes().map_err(|error| error.to_string());
    let body = match &exchange.response.body {
        Pieces::Whole(piece) => Payload::Whole(bytes(piece)?),
        Pieces::Chunks(pieces) => {
            let frames: Vec<Bytes> = pieces.iter().map(bytes).collect::<Result<_, _>>()?;
            Payload::Frames { frames, error: Vec::new() }
        }
    };
    let mut headers = exchange.response.headers;
    let content_type = headers.remove("content-type").unwrap_or_default().into();
    let answer =
        Answer { status: exchange.response.status, headers: headers.into_iter().collect(), content_type, body };
    let file = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Recorded { file, loose: request.without_ids(), request, answer })
}
