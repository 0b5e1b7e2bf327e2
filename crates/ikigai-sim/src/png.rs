//! Pictures: small, valid, and always the same for the same words.

use crate::generate::fingerprint;

/// The longest side of a picture in pixels, however large the requested one is.
const LONGEST: u32 = 64;
/// The largest stored block in bytes; stored blocks are deflate's way not to compress.
const BLOCK: usize = 65_535;

/// Draws a picture with the requested proportions: stripes in two colours that depend on what it shows.
pub(crate) fn draw(of: &[u8], (width, height): (u32, u32)) -> Vec<u8> {
    let (width, height) = scaled(width.max(1), height.max(1));
    let [red, green, blue, other_red, other_green, other_blue, stripe, _] = fingerprint(of).to_le_bytes();
    let stripe = u32::from(stripe % 7) + 2;
    let mut rows = Vec::new();
    for row in 0..height {
        // Each row begins with its filter type: none.
        rows.push(0);
        for column in 0..width {
            let is_other = (row + column) / stripe % 2 == 1;
            rows.extend(if is_other { [other_red, other_green, other_blue] } else { [red, green, blue] });
        }
    }
    let mut head = Vec::from(width.to_be_bytes());
    head.extend(height.to_be_bytes());
    // 8 bits for each of red, green and blue.
    head.extend([8, 2, 0, 0, 0]);
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, content) in [(b"IHDR", head), (b"IDAT", zlib(&rows)), (b"IEND", Vec::new())] {
        chunk(&mut png, *name, &content);
    }
    png
}

/// Scales a picture down so that the longest side fits.
fn scaled(width: u32, height: u32) -> (u32, u32) {
    let longest = width.max(height).max(LONGEST);
    let side = |side: u32| u64::from(side) * u64::from(LONGEST) / u64::from(longest);
    let side = |pixels: u32| u32::try_from(side(pixels)).unwrap_or(LONGEST).max(1);
    (side(width), side(height))
}

fn chunk(png: &mut Vec<u8>, name: [u8; 4], content: &[u8]) {
    png.extend(u32::try_from(content.len()).unwrap_or_default().to_be_bytes());
    let checked = [&name, content].concat();
    png.extend_from_slice(&checked);
    png.extend(crc(&checked).to_be_bytes());
}

/// Bytes in zlib's format, not compressed.
fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut packed = vec![0x78, 0x01];
    let mut blocks = bytes.chunks(BLOCK).peekable();
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        packed.push(u8::from(blocks.peek().is_none()));
        packed.extend(length.to_le_bytes());
        packed.extend((!length).to_le_bytes());
        packed.extend_from_slice(block);
    }
    packed.extend(adler(bytes).to_be_bytes());
    packed
}

/// Adler-32, zlib's checksum.
fn adler(bytes: &[u8]) -> u32 {
    let (mut low, mut high) = (1_u32, 0_u32);
    for byte in bytes {
        low = (low + u32::from(*byte)) % 65_521;
        high = (high + low) % 65_521;
    }
    high << 16 | low
}

/// CRC-32, the checksum of PNG's chunks.
fn crc(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 };
        }
    }
    !sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_are_those_of_the_standards() {
        assert_eq!((crc(b"123456789"), adler(b"Wikipedia")), (0xCBF4_3926, 0x11E6_0398));
    }

    #[test]
    fn a_picture_is_small_and_keeps_its_proportions() {
        for (asked, size) in [
            ((1024, 1024), (64, 64)),
            ((1536, 1024), (64, 42)),
            ((9, 16), (9, 16)),
            ((u32::MAX, 1), (64, 1)),
            ((0, 0), (1, 1)),
        ] {
            let png = draw(b"a fox", asked);
            assert!(png.len() < 13_000, "{}", png.len());
            assert_eq!(&png[..16], b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
            assert_eq!((&png[16..20], &png[20..24]), (&u32::to_be_bytes(size.0)[..], &u32::to_be_bytes(size.1)[..]));
        }
        assert_eq!(draw(b"a fox", (8, 8)), draw(b"a fox", (8, 8)));
        assert_ne!(draw(b"a fox", (8, 8)), draw(b"a dog", (8, 8)));
    }
}
