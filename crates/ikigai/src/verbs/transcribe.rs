//! Speech to text.

use ikigai_core::wire::{TranscribeRequest, Transcribed};
use ikigai_core::{Loss, ModelName, Usage};

use super::media::Reading;
use crate::error::Error;
use crate::model::Model;

/// A transcript of speech.
///
/// There is no cost: some providers charge by the second and others by the audio token, and the catalogue has no prices
/// for either.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Transcript {
    /// The text; empty if nothing was said.
    pub text: String,
    /// The model.
    pub model: ModelName,
    /// The tokens used; `None` if the provider did not report them.
    pub usage: Option<Usage>,
    /// How long the audio is, if the provider reports it.
    pub seconds: Option<f64>,
    /// What the provider left out.
    pub warnings: Vec<Loss>,
}

impl Model {
    /// Transcribes speech. A request that may have been charged is not sent again.
    ///
    /// ```no_run
    /// use ikigai::TranscribeRequest;
    ///
    /// # async fn f(recording: Vec<u8>) -> Result<(), ikigai::Error> {
    /// let model = ikigai::model("openai:gpt-transcribe")?;
    /// println!("{}", model.transcribe((recording.clone(), "audio/wav")).await?.text);
    ///
    /// let request = TranscribeRequest::new(recording, "audio/mpeg").language("en").prompt("Ikigai, Okinawa");
    /// println!("{}", model.transcribe(request).await?.text);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Works with OpenAI, compatible providers and Google, whose models are instructed to write down every word.
    ///
    /// # Errors
    /// Returns an error if the provider does not offer transcription, if the audio is empty or its media type is not
    /// audio, or if there is no answer.
    pub async fn transcribe(&self, request: impl Into<TranscribeRequest>) -> Result<Transcript, Error> {
        let request = request.into();
        let upstream = self.upstream()?;
        let (dialect, limits) = (upstream.dialect(), self.client.limits());
        let Some(wire) = dialect.transcribe_request(&upstream.model().id, &request)? else {
            return Err(super::has_no(&upstream, "transcription"));
        };
        let read = |body: &[u8], _: &_| dialect.decode_transcript(body, &limits);
        let reading = Reading { output: "text", read, usage: |found: &Transcribed| found.usage.as_ref() };
        let (found, mut warnings) = self.carry(&upstream, wire, reading).await?;
        let Transcribed { text, seconds, usage, warnings: left_out, .. } = found;
        warnings.extend(left_out);
        Ok(Transcript { text, model: self.plan.name.clone(), usage, seconds, warnings })
    }
}
