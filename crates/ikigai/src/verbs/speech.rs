//! Text to speech.

use std::fmt;

use bytes::Bytes;
use ikigai_core::catalog::Cost;
use ikigai_core::wire::{SpeechRequest, Spoken};
use ikigai_core::{Loss, ModelName, Usage};

use super::media::Reading;
use crate::error::Error;
use crate::model::Model;
use crate::upstream::Head;

/// Speech made from a text.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Speech {
    /// The audio, as a file.
    pub audio: Bytes,
    /// Its media type, such as `audio/mpeg`.
    pub media_type: String,
    /// The model.
    pub model: ModelName,
    /// The tokens used; `None` if the provider did not report them. OpenAI does not.
    pub usage: Option<Usage>,
    /// The cost; `None` if the tokens or the model's prices are unknown.
    pub cost: Option<Cost>,
    /// What could not be carried to the provider, and what it left out.
    pub warnings: Vec<Loss>,
}

impl fmt::Debug for Speech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Speech")
            .field("audio", &format_args!("{} bytes", self.audio.len()))
            .field("media_type", &self.media_type)
            .field("model", &self.model)
            .field("usage", &self.usage)
            .field("cost", &self.cost)
            .field("warnings", &self.warnings)
            .finish()
    }
}

impl Model {
    /// Reads a text aloud. A request that may have been charged is not sent again.
    ///
    /// ```no_run
    /// use ikigai::SpeechRequest;
    ///
    /// # async fn f() -> Result<(), Box<dyn std::error::Error>> {
    /// let speech = ikigai::model("openai:gpt-4o-mini-tts")?.speak("Good morning").await?;
    /// std::fs::write("morning.mp3", &speech.audio)?;
    ///
    /// let request = SpeechRequest::new("Good night").voice("Kore").instructions("Whisper");
    /// let speech = ikigai::model("google:gemini-2.5-flash-preview-tts")?.speak(request).await?;
    /// assert_eq!(speech.media_type, "audio/wav");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Works with OpenAI, compatible providers and Google, whose raw samples get a WAV header. Settings that the
    /// provider does not support are listed in [`Speech::warnings`], and are errors with [`strict`](Model::strict).
    ///
    /// # Errors
    /// Returns an error if the provider does not offer speech or the format, or if there is no answer.
    pub async fn speak(&self, request: impl Into<SpeechRequest>) -> Result<Speech, Error> {
        let request = request.into();
        let upstream = self.upstream()?;
        let (dialect, limits) = (upstream.dialect(), self.client.limits());
        let Some(wire) = dialect.speech_request(&upstream.model().id, &request)? else {
            return Err(super::has_no(&upstream, "speech"));
        };
        let read =
            |body: &[u8], head: &Head| dialect.decode_speech(body, head.media_type.as_deref(), &request, &limits);
        let reading = Reading { output: "speech", read, usage: Spoken::usage };
        let (spoken, mut warnings) = self.carry(&upstream, wire, reading).await?;
        let cost = upstream.facts().and_then(|facts| spoken.cost(facts));
        let usage = spoken.usage().cloned();
        warnings.extend(spoken.warnings);
        let (audio, media_type) = (spoken.audio.into(), spoken.media_type);
        Ok(Speech { audio, media_type, model: self.plan.name.clone(), usage, cost, warnings })
    }
}
