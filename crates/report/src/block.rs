//! The binary block of a page: time axes and series at several resolutions. See docs/report-bundle.md, "Block of a page".

use crate::Error;
use crate::bundle::{BlockIndex, Coding as Stored, LevelIndex, SeriesIndex, TimeIndex};
use query::series::{Grid, Series};
use std::collections::HashMap;

/// Points of the coarse level.
const COARSE: usize = 400;

/// Points of the finest level of a line; longer series are drawn from means, least and greatest values of buckets.
const FINE: usize = 4000;

/// Columns of the finest level of a heat map.
const HEAT: usize = 3600;

/// How the values of a series are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Coding {
    /// Exact to about four digits.
    Float,
    /// 255 steps up to this value: enough for a colour.
    Byte(f64),
}

/// A block that is being filled.
#[derive(Debug, Default)]
pub(crate) struct Block {
    data: Vec<u8>,
    index: BlockIndex,
    by_time: HashMap<(Vec<u64>, Vec<u64>), usize>,
}

impl Block {
    /// Adds a series; returns its index.
    pub(crate) fn add(&mut self, grid: &Grid, series: &Series, coding: Coding) -> usize {
        let most = if coding == Coding::Float { FINE } else { HEAT };
        let mut sizes = vec![most];
        if grid.len() > COARSE * 2 {
            sizes.insert(0, COARSE);
        }
        let mut levels = Vec::with_capacity(sizes.len());
        for size in sizes {
            let buckets = grid.buckets(size);
            let points = series.resample(&buckets);
            let exact = buckets.ranges.len() >= grid.len();
            let width = |range: &std::ops::Range<usize>| {
                Some(grid.to.get(range.end.checked_sub(1)?)? - grid.from.get(range.start)?).filter(|w| *w > 0.0)
            };
            // A level stands for a moment: it has no width.
            let widths: Vec<f64> = buckets.ranges.iter().filter_map(width).collect();
            let time = self.time(&buckets.time, if widths.len() == buckets.time.len() { &widths } else { &[] });
            let offset = self.values(&points.mean, coding);
            let (stored, scale) = match coding {
                Coding::Float => (Stored::F32, None),
                Coding::Byte(scale) => (Stored::U8, Some(scale)),
            };
            let (min, max) = if coding == Coding::Float && !exact {
                (Some(self.values(&points.min, coding)), Some(self.values(&points.max, coding)))
            } else {
                (None, None)
            };
            levels.push(LevelIndex { time, n: buckets.time.len(), offset, coding: stored, scale, min, max });
        }
        self.index.series.push(SeriesIndex { levels });
        self.index.series.len() - 1
    }

    fn align(&mut self) -> usize {
        self.data.resize(self.data.len().next_multiple_of(8), 0);
        self.data.len()
    }

    /// The index of a time axis; equal axes are stored once.
    fn time(&mut self, times: &[f64], widths: &[f64]) -> usize {
        let bits = |values: &[f64]| values.iter().map(|t| t.to_bits()).collect::<Vec<u64>>();
        let key = (bits(times), bits(widths));
        if let Some(&index) = self.by_time.get(&key) {
            return index;
        }
        let offset = self.doubles(times);
        let widths = (!widths.is_empty()).then(|| self.doubles(widths));
        self.index.times.push(TimeIndex { n: times.len(), offset, widths });
        self.by_time.insert(key, self.index.times.len() - 1);
        self.index.times.len() - 1
    }

    fn doubles(&mut self, values: &[f64]) -> usize {
        let offset = self.align();
        self.data.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        offset
    }

    fn values(&mut self, values: &[f64], coding: Coding) -> usize {
        let offset = self.align();
        match coding {
            Coding::Float => {
                let rounded: Vec<[u8; 4]> = values.iter().map(|&v| round(v).to_le_bytes()).collect();
                for plane in 0..4 {
                    self.data.extend(rounded.iter().filter_map(|bytes| bytes.get(plane)));
                }
            }
            Coding::Byte(scale) => self.data.extend(
                values
                    .iter()
                    .map(|&v| if v.is_nan() { 255 } else { (v / scale * 254.0).round().clamp(0.0, 254.0) as u8 }),
            ),
        }
        offset
    }

    /// The bytes.
    pub(crate) fn finish(self) -> Result<Vec<u8>, Error> {
        let index = serde_json::to_vec(&self.index)?;
        let mut bytes = Vec::with_capacity(self.data.len() + index.len() + 16);
        bytes.extend(b"TWB1");
        bytes.extend((index.len() as u32).to_le_bytes());
        bytes.extend(&index);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.extend(self.data);
        Ok(bytes)
    }
}

/// A value rounded to 14 bits of mantissa, so that bytes repeat and compress; no chart shows more.
pub(crate) fn round(value: f64) -> f32 {
    let narrow = value as f32;
    if !narrow.is_finite() {
        return f32::NAN;
    }
    const DROPPED: u32 = 9;
    let bits = narrow.to_bits();
    let rounded = f32::from_bits(bits.saturating_add(1 << (DROPPED - 1)) & !((1 << DROPPED) - 1));
    if rounded.is_finite() { rounded } else { narrow }
}

#[cfg(test)]
mod tests {
    use super::round;

    #[test]
    fn rounding_keeps_four_digits() {
        for value in [0.0, 1.0, -1.0, 123.456, 1e-9, 9.9e12, f64::from(f32::MAX)] {
            let kept = f64::from(round(value));
            assert!((kept - value).abs() <= value.abs() * 1e-4, "{value} became {kept}");
        }
        assert!(round(f64::NAN).is_nan() && round(f64::INFINITY).is_nan());
        assert_eq!(round(1000.0), 1000.0);
    }
}
