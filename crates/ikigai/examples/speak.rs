//! Turns text into speech, and the speech back into text.

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let speech = ikigai::model("openai:gpt-4o-mini-tts")?.speak("Good morning.").await?;
    println!("{}", speech.media_type);
    std::fs::write("morning.mp3", &speech.audio)?;
    let transcript = ikigai::model("openai:gpt-transcribe")?.transcribe((speech.audio, speech.media_type)).await?;
    println!("{}", transcript.text);
    Ok(())
}
