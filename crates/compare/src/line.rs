//! A quantity that only grows, as a function of time: straight between the points at which it was read.

/// Points in time and what was reached by then.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Seconds, ascending.
    time: Vec<f64>,
    reached: Vec<f64>,
}

impl Line {
    /// The next point.
    pub fn push(&mut self, time: f64, reached: f64) {
        self.time.push(time);
        self.reached.push(reached);
    }

    /// What was reached by `t`; beyond its ends the first and the last point hold.
    fn at(&self, t: f64) -> f64 {
        let next = self.time.partition_point(|&x| x < t);
        let point = |i: usize| Some((*self.time.get(i)?, *self.reached.get(i)?));
        match (next.checked_sub(1).and_then(point), point(next)) {
            (Some((t0, d0)), Some((t1, d1))) if t1 > t0 => d0 + (d1 - d0) * (t - t0) / (t1 - t0),
            (Some((_, d)), _) | (None, Some((_, d))) => d,
            (None, None) => 0.0,
        }
    }

    /// How much came between two times.
    pub fn between(&self, from: f64, to: f64) -> f64 {
        (self.at(to) - self.at(from)).max(0.0)
    }

    /// The points.
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> + Clone + '_ {
        self.time.iter().copied().zip(self.reached.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::Line;

    #[test]
    fn it_is_straight_between_points() {
        let mut line = Line::default();
        [(1.0, 0.0), (2.0, 10.0), (4.0, 14.0)].into_iter().for_each(|(t, d)| line.push(t, d));
        assert_eq!((line.between(0.0, 10.0), line.between(1.5, 3.0), line.between(5.0, 6.0)), (14.0, 7.0, 0.0));
    }
}
