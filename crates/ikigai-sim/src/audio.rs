//! Sounds: a tone that contains its words, so that speech made here can be transcribed here.
//!
//! In samples, the words are in the lowest bits, where nobody hears them: they survive a change of the header, such as
//! the one that a client puts before Google's bare samples. In an MP3 file they are a comment.

/// Samples per second.
pub(crate) const RATE: u32 = 24_000;
/// Comes before the words in the lowest bits.
const MARK: &[u8; 8] = b"ikigai-1";
/// The shortest tone, in samples: a quarter of a second.
const SHORTEST: usize = RATE as usize / 4;
/// The period of the tone in samples, up and down: 400 Hz.
const PERIOD: usize = 60;
/// The longest words that are looked for, in bytes.
const MOST: usize = 1 << 16;
/// An empty frame of MPEG 1 Layer III, at 128 kbit/s and 44.1 kHz: its header and its length.
const FRAME: [u8; 4] = [0xFF, 0xFB, 0x90, 0x64];
const FRAME_LENGTH: usize = 417;

/// The words as bare samples of 16 bits, little-endian, one channel.
pub(crate) fn samples(words: &str) -> Vec<u8> {
    let length = u32::try_from(words.len()).unwrap_or_default();
    let hidden = [MARK, &length.to_be_bytes()[..], words.as_bytes()].concat();
    let bits = hidden.iter().flat_map(|byte| (0..8).rev().map(move |place| byte >> place & 1));
    let count = (hidden.len() * 8).max(SHORTEST);
    let tone = (0..count).map(|place| {
        // A triangle, so that there is nothing to round.
        let step = i16::try_from(place % PERIOD).unwrap_or_default();
        let half = (PERIOD / 2) as i16;
        (half / 2 - (step - half).abs()) * 500
    });
    let bits = bits.map(i16::from).chain(std::iter::repeat(0));
    tone.zip(bits).flat_map(|(sample, bit)| (sample & !1 | bit).to_le_bytes()).collect()
}

/// The words as a WAV file.
pub(crate) fn wav(words: &str) -> Vec<u8> {
    let samples = samples(words);
    let length = u32::try_from(samples.len()).unwrap_or_default();
    let mut file = b"RIFF".to_vec();
    file.extend((length + 36).to_le_bytes());
    file.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    file.extend(RATE.to_le_bytes());
    file.extend((RATE * 2).to_le_bytes());
    file.extend(b"\x02\0\x10\0data");
    file.extend(length.to_le_bytes());
    file.extend(samples);
    file
}

/// The words as an MP3 file: a comment, and silence.
pub(crate) fn mp3(words: &str) -> Vec<u8> {
    // UTF-8, no language, no title.
    let comment = [b"\x03eng\0", words.as_bytes()].concat();
    let tag = [b"COMM", &synchsafe(comment.len())[..], b"\0\0", &comment].concat();
    let mut file = [b"ID3\x04\0\0", &synchsafe(tag.len())[..], &tag].concat();
    for _ in 0..10 {
        file.extend(FRAME);
        file.resize(file.len() + FRAME_LENGTH - FRAME.len(), 0);
    }
    file
}

/// A length as ID3 writes it: seven bits per byte.
fn synchsafe(length: usize) -> [u8; 4] {
    [21, 14, 7, 0].map(|shift| u8::try_from(length >> shift & 0x7F).unwrap_or_default())
}

fn from_synchsafe(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |length, byte| length << 7 | usize::from(byte & 0x7F))
}

/// The words in a sound that was made here.
pub(crate) fn words(sound: &[u8]) -> Option<String> {
    if sound.starts_with(b"ID3") {
        return comment(sound);
    }
    let samples = data(sound).unwrap_or(sound);
    let mut bytes = samples.as_chunks::<16>().0.iter().map(|eight| {
        let bits = eight.as_chunks::<2>().0.iter();
        bits.fold(0_u8, |byte, [low, _]| byte << 1 | low & 1)
    });
    let mark: Vec<u8> = bytes.by_ref().take(MARK.len()).collect();
    let length: Vec<u8> = bytes.by_ref().take(4).collect();
    let length = usize::try_from(u32::from_be_bytes(*length.first_chunk()?)).ok()?;
    if mark != MARK || length > MOST {
        return None;
    }
    let words: Vec<u8> = bytes.take(length).collect();
    (words.len() == length).then(|| String::from_utf8(words).ok()).flatten()
}

/// The comment of an MP3 file, if it is its first tag.
fn comment(sound: &[u8]) -> Option<String> {
    let tag = sound.get(10..)?.strip_prefix(b"COMM")?;
    let length = from_synchsafe(tag.get(..4)?);
    let words = tag.get(6..)?.get(..length)?.strip_prefix(b"\x03eng\0")?;
    String::from_utf8(words.to_vec()).ok()
}

/// The samples of a WAV file.
fn data(sound: &[u8]) -> Option<&[u8]> {
    let mut rest = sound.strip_prefix(b"RIFF")?.get(4..)?.strip_prefix(b"WAVE")?;
    loop {
        let (name, length) = (rest.get(..4)?, rest.get(4..8)?.first_chunk()?);
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let content = rest.get(8..)?;
        if name == b"data" {
            return Some(content.get(..length).unwrap_or(content));
        }
        rest = content.get(length + length % 2..)?;
    }
}

/// The approximate length of a sound in seconds: by its samples, or at 128 kbit/s.
pub(crate) fn seconds(sound: &[u8]) -> f64 {
    match data(sound) {
        Some(samples) => samples.len() as f64 / f64::from(RATE * 2),
        None => sound.len() as f64 / 16_000.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_from_every_form() {
        let long = "word ".repeat(3000);
        for said in ["Good morning", "", "Åse så ”ikigai”", &long] {
            for sound in [samples(said), wav(said), mp3(said)] {
                assert_eq!(words(&sound).as_deref(), Some(said));
            }
        }
    }

    #[test]
    fn other_sounds_have_no_words() {
        let cut = wav("Good morning");
        let mut wrong = samples("x");
        wrong[0] ^= 1;
        for sound in
            [&b""[..], b"RIFF", b"RIFF\0\0\0\0WAVEdata\xff\xff\xff\xff", b"ID3", &[0; 4000], &cut[..200], &wrong]
        {
            assert_eq!(words(sound), None);
        }
    }
}
