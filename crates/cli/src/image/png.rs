//! Pictures that a browser has taken: cut where the page says that its first screen ends. PNG as <https://www.w3.org/TR/png-3/> has it, of the kinds
//! that browsers write: 8 bits, colours with or without alpha, not interlaced.

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::io::{Read, Write};

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The colour of the line at which the picture ends: that of `.picture-end` in `ui/src/style/picture.css`.
const END: [u8; 3] = [0xfe, 0x02, 0xfc];

/// By how much a browser that fits colours to a screen may miss it.
const NEAR: u8 = 8;

/// Rows above the line that may be mixed with its colour, and are left out with it.
const MIXED: usize = 2;

/// The most pixels that are unpacked.
const MOST: usize = 64 << 20;

/// A picture, cut.
#[derive(Debug)]
pub(super) struct Cut {
    pub(super) bytes: Vec<u8>,
    /// Pixels.
    pub(super) width: usize,
    /// Pixels.
    pub(super) height: usize,
}

/// Why a picture is none of the page.
#[derive(Debug, PartialEq)]
pub(super) enum Flaw {
    /// It cannot be read.
    Damaged(&'static str),
    /// The page was not drawn to its end when it was taken, or is longer than the window.
    Unfinished,
    /// There is nothing on it.
    Blank,
}

/// Cuts the picture above the line at which the first screen ends.
pub(super) fn cut(png: &[u8]) -> Result<Cut, Flaw> {
    let (header, packed) = chunks(png)?;
    let Some((&[w0, w1, w2, w3, h0, h1, h2, h3, depth, colours, 0, 0, interlaced], [])) = header.split_first_chunk()
    else {
        return Err(Flaw::Damaged("its header is not that of a PNG"));
    };
    let channels = match colours {
        2 => 3,
        6 => 4,
        _ => return Err(Flaw::Damaged("it has neither RGB nor RGBA colours")),
    };
    if depth != 8 || interlaced != 0 {
        return Err(Flaw::Damaged("it is interlaced, or has not 8 bits a colour"));
    }
    let (width, height) =
        (u32::from_be_bytes([w0, w1, w2, w3]) as usize, u32::from_be_bytes([h0, h1, h2, h3]) as usize);
    if width == 0 || height == 0 || width.checked_mul(height).is_none_or(|pixels| pixels > MOST) {
        return Err(Flaw::Damaged("it has no sensible size"));
    }
    let row = 1 + width * channels;
    let mut rows = Vec::new();
    // What is cut off at the end of the file is found by the rows that are missing.
    let _ = ZlibDecoder::new(&packed[..]).take((row * height) as u64).read_to_end(&mut rows);
    let end = end(&rows, row, channels)?;
    let Some(end) = end else {
        return Err(if rows.len() < row * height { Flaw::Damaged("it is cut short") } else { Flaw::Unfinished });
    };
    let kept = end.saturating_sub(MIXED);
    if kept == 0 {
        return Err(Flaw::Blank);
    }
    let mut header = header.clone();
    header[4..8].copy_from_slice(&(kept as u32).to_be_bytes());
    // Rows are filtered by those above them only, so those that are left need nothing but to be packed again.
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(8));
    // Writing to memory does not fail.
    let packed = encoder.write_all(rows.get(..kept * row).unwrap_or_default()).and_then(|()| encoder.finish());
    let packed = packed.map_err(|_| Flaw::Damaged("it cannot be packed"))?;
    let mut bytes = SIGNATURE.to_vec();
    for (name, data) in [(b"IHDR", &header[..]), (b"IDAT", &packed), (b"IEND", &[])] {
        chunk(&mut bytes, name, data);
    }
    Ok(Cut { bytes, width, height: kept })
}

/// The header and the packed rows.
fn chunks(png: &[u8]) -> Result<(Vec<u8>, Vec<u8>), Flaw> {
    let mut rest = png.strip_prefix(SIGNATURE).ok_or(Flaw::Damaged("it is no PNG"))?;
    let (mut header, mut packed) = (Vec::new(), Vec::new());
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*length) as usize;
        let Some((name, after)) = after.split_first_chunk::<4>() else { break };
        let Some((data, after)) = after.split_at_checked(length) else { return Err(Flaw::Damaged("it is cut short")) };
        match name {
            b"IHDR" => header = data.to_vec(),
            b"IDAT" => packed.extend_from_slice(data),
            _ => {}
        }
        // Four bytes are the checksum of the chunk; that of the rows tells too.
        rest = after.get(4..).unwrap_or_default();
    }
    Ok((header, packed))
}

fn chunk(out: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    out.extend_from_slice(&(data.len() as u32).to_be_bytes());
    let mut sum = flate2::Crc::new();
    sum.update(name);
    sum.update(data);
    out.extend_from_slice(name);
    out.extend_from_slice(data);
    out.extend_from_slice(&sum.sum().to_be_bytes());
}

/// The first row of the line, if there is one; an error where all rows above it are of one colour.
fn end(rows: &[u8], row: usize, channels: usize) -> Result<Option<usize>, Flaw> {
    let mut above = vec![0; row - 1];
    let mut plain = true;
    let mut ground: Option<Vec<u8>> = None;
    for (at, filtered) in rows.chunks_exact(row).enumerate() {
        let Some((&filter, filtered)) = filtered.split_first() else { break };
        let line = unfilter(filter, filtered, &above, channels)?;
        let is_end = |pixel: &[u8]| pixel.iter().zip(END).all(|(&is, wanted)| is.abs_diff(wanted) <= NEAR);
        if line.chunks_exact(channels).all(is_end) {
            return if plain { Err(Flaw::Blank) } else { Ok(Some(at)) };
        }
        let ground = ground.get_or_insert_with(|| line.get(..channels).unwrap_or_default().to_vec());
        plain &= line.chunks_exact(channels).all(|pixel| pixel == ground);
        above = line;
    }
    if plain && !rows.is_empty() { Err(Flaw::Blank) } else { Ok(None) }
}

/// A row as it is drawn, from its filter and the row above it.
fn unfilter(filter: u8, filtered: &[u8], above: &[u8], channels: usize) -> Result<Vec<u8>, Flaw> {
    let mut line: Vec<u8> = Vec::with_capacity(filtered.len());
    for (i, &byte) in filtered.iter().enumerate() {
        let before = |of: &[u8]| i.checked_sub(channels).and_then(|i| of.get(i)).copied().unwrap_or(0);
        let left = before(&line);
        let up = above.get(i).copied().unwrap_or(0);
        let guess = match filter {
            0 => 0,
            1 => left,
            2 => up,
            3 => u16::midpoint(left.into(), up.into()) as u8,
            4 => nearest(left, up, before(above)),
            _ => return Err(Flaw::Damaged("a row has an unknown filter")),
        };
        line.push(byte.wrapping_add(guess));
    }
    Ok(line)
}

/// The neighbour that is nearest to left + up − corner (the filter "Paeth").
fn nearest(left: u8, up: u8, corner: u8) -> u8 {
    let guess = i16::from(left) + i16::from(up) - i16::from(corner);
    let far = |from: u8| (guess - i16::from(from)).abs();
    if far(left) <= far(up) && far(left) <= far(corner) {
        left
    } else if far(up) <= far(corner) {
        up
    } else {
        corner
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A picture of 4 pixels in width: `rows` of a colour each, the first pixel of each black where `marked`.
    pub(in crate::image) fn picture(rows: &[[u8; 3]], marked: bool, filter: u8) -> Vec<u8> {
        let mut above = vec![0; 12];
        let mut raw = Vec::new();
        for colour in rows {
            let mut line: Vec<u8> = colour.repeat(4);
            if marked && colour != &END {
                line[..3].fill(0);
            }
            raw.push(filter);
            for i in 0..line.len() {
                let before = |of: &[u8]| if i < 3 { 0 } else { of[i - 3] };
                let guess = match filter {
                    1 => before(&line),
                    2 => above[i],
                    3 => ((u16::from(before(&line)) + u16::from(above[i])) / 2) as u8,
                    4 => nearest(before(&line), above[i], before(&above)),
                    _ => 0,
                };
                raw.push(line[i].wrapping_sub(guess));
            }
            above = line;
        }
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&raw).unwrap();
        let mut bytes = SIGNATURE.to_vec();
        let mut header = [0, 0, 0, 4, 0, 0, 0, 0, 8, 2, 0, 0, 0];
        header[4..8].copy_from_slice(&(rows.len() as u32).to_be_bytes());
        chunk(&mut bytes, b"IHDR", &header);
        chunk(&mut bytes, b"IDAT", &encoder.finish().unwrap());
        chunk(&mut bytes, b"IEND", &[]);
        bytes
    }

    /// A page that is drawn to its end.
    pub(in crate::image) fn whole() -> Vec<u8> {
        picture(&[[255; 3], [255; 3], [9, 9, 200], [255; 3], [255; 3], END, END, [255; 3]], true, 4)
    }

    #[test]
    fn it_is_cut_above_the_line() {
        for filter in 0..5 {
            let png = picture(&[[255; 3], [9, 9, 200], [250; 3], [255; 3], END, END, [255; 3]], true, filter);
            let made = cut(&png).unwrap();
            assert_eq!((made.width, made.height), (4, 2), "filter {filter}");
            let (header, packed) = chunks(&made.bytes).unwrap();
            assert_eq!(header[..8], [0, 0, 0, 4, 0, 0, 0, 2]);
            let mut rows = Vec::new();
            ZlibDecoder::new(&packed[..]).read_to_end(&mut rows).unwrap();
            assert_eq!(rows.len(), 2 * 13);
            let first = unfilter(rows[0], &rows[1..13], &[0; 12], 3).unwrap();
            assert_eq!(unfilter(rows[13], &rows[14..], &first, 3).unwrap()[3..6], [9, 9, 200]);
        }
    }

    #[test]
    fn what_is_no_picture_of_the_page_is_told() {
        let flaw = |png: &[u8]| cut(png).unwrap_err();
        assert_eq!(flaw(&picture(&[[255; 3]; 5], false, 2)), Flaw::Blank);
        assert_eq!(flaw(&picture(&[[255; 3], [255; 3], [255; 3], END], false, 2)), Flaw::Blank);
        assert_eq!(flaw(&picture(&[END, END], false, 0)), Flaw::Blank);
        assert_eq!(flaw(&picture(&[[255; 3], [9; 3], [255; 3]], false, 2)), Flaw::Unfinished);
        assert_eq!(flaw(b""), Flaw::Damaged("it is no PNG"));
        assert_eq!(flaw(SIGNATURE), Flaw::Damaged("its header is not that of a PNG"));
        let png = whole();
        for length in 0..png.len() {
            // Each part of a file is refused, or is enough to find the line; none is a panic.
            if let Ok(made) = cut(&png[..length]) {
                assert!(made.height <= 5);
            }
        }
        for at in 0..png.len() {
            let mut other = png.clone();
            other[at] ^= 0xff;
            let _ = cut(&other);
        }
    }
}
