//! Speech as text.

use ikigai_core::wire::{TranscribeRequest, Transcribed};
use ikigai_core::{Loss, ModelName, Usage};

use super::media::Reading;
use crate::error::Error;
use crate::model::Model;

/// What was said, written down.
///
/// There is no cost: some providers charge for seconds and others for tokens of sound, and the catalogue has prices of
/// neither.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Transcript {
    /// The words; empty if none were heard.
    pub text: String,
    /// The model.
    pub model: ModelName,
    /// The tokens it took; `None` if the provider did not report them.
    pub usage: Option<Usage>,
    /// How long the sound is, where the provider reports that.
    pub seconds: Option<f64>,
    /// What the provider left out.
    pub warnings: Vec<Loss>,
}

impl Model {
    /// Writes down what is said in a sound. It is paid for, so a request that may have been done is not sent again.
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
    /// OpenAI and those who copy its API, and Google, whose models are told to write down every word.
    ///
    /// # Errors
    /// When the provider cannot listen, when the sound is empty or of no media type for sounds, or when there is no answer.
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
