//! How sure ratios of counts are of things that happen independently of each other, such as samples in a function.

use crate::stats::special::normal_quantile;

/// The factor by which a product or a quotient of counts may be off either way, with 95 % confidence; `None` where one of them is 0, or there are none.
///
/// The logarithm of a count of n has a variance of 1/n (delta method), and those of independent counts add up: the limits of Wald of a ratio of rates
/// (Rothman and Greenland, "Modern Epidemiology", 2nd edition, 1998, chapter 14: SD of the logarithm √(1/a + 1/b)). Counts need not be whole numbers.
pub fn factor(counts: &[f64]) -> Option<f64> {
    let is_counted = counts.iter().all(|count| *count > 0.0 && count.is_finite());
    let variance: f64 = counts.iter().map(|count| 1.0 / count).sum();
    let factor = (normal_quantile(0.975) * variance.sqrt()).exp();
    (is_counted && !counts.is_empty() && factor.is_finite()).then_some(factor)
}

/// A sum of things that stand for different amounts each, such as samples by periods that vary.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// What they stand for together.
    pub sum: f64,
    /// How many there are.
    pub number: f64,
    squares: f64,
}

impl Sum {
    /// Adds so many that stand for `sum` together, in equal parts.
    pub fn add(&mut self, sum: f64, number: f64) {
        if number > 0.0 {
            self.sum += sum;
            self.number += number;
            self.squares += sum * sum / number;
        }
    }

    /// Adds those of another.
    pub fn append(&mut self, other: &Sum) {
        self.sum += other.sum;
        self.number += other.number;
        self.squares += other.squares;
    }

    /// How many would be as sure if all stood for equally much (Kish, "Survey Sampling", 1965: (Σx)² ÷ Σx²); 0 where there are none.
    pub fn effective(&self) -> f64 {
        if self.squares > 0.0 { self.sum * self.sum / self.squares } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rng::Rng;
    use proptest::prelude::*;

    /// How many of independent things happen whose mean number is `mean` (Knuth, "Seminumerical Algorithms", 3.4.1).
    fn drawn(rng: &mut Rng, mean: f64) -> f64 {
        let (mut left, mut number) = (mean, -1.0);
        while left > 0.0 {
            left += rng.uniform().max(1e-300).ln();
            number += 1.0;
        }
        number
    }

    #[test]
    fn by_hand() {
        // 1.96 · √(1/603 + 1/536) = 0.1163.
        assert!((factor(&[603.0, 536.0]).unwrap() - 1.1234).abs() < 1e-4);
        assert_eq!((factor(&[]), factor(&[0.0, 5.0]), factor(&[f64::NAN]), factor(&[1e-9])), (None, None, None, None));
        let mut sum = Sum::default();
        assert_eq!(sum.effective(), 0.0);
        sum.add(5.0, 0.0);
        sum.add(20.0, 2.0);
        sum.add(10.0, 1.0);
        assert!((sum.effective() - 3.0).abs() < 1e-12 && sum.sum == 30.0);
        // One that stands for nearly nothing makes nothing surer.
        sum.add(0.001, 1.0);
        assert!((sum.effective() - 3.0).abs() < 0.001 && sum.number == 4.0);
    }

    /// The interval holds the true ratio as often as it says, or more often where counts are small.
    #[test]
    fn the_interval_holds_the_truth() {
        let mut rng = Rng::new(7);
        for means in [[5.0, 8.0], [20.0, 40.0], [300.0, 500.0]] {
            let truth: f64 = means[0] / means[1];
            let (mut held, mut all) = (0, 0);
            while all < 2000 {
                let counts = means.map(|mean| drawn(&mut rng, mean));
                let Some(factor) = factor(&counts) else { continue };
                let off = (counts[0] / counts[1] / truth).ln().abs();
                (held, all) = (held + usize::from(off <= factor.ln()), all + 1);
            }
            assert!((1880..=1990).contains(&held), "{means:?}: {held} of 2000");
        }
    }

    proptest! {
        #[test]
        fn samples_that_stand_for_as_much_count_each(each in 1.0..1e9f64, number in 1usize..50) {
            let mut sum = Sum::default();
            (0..number).for_each(|_| sum.add(each, 1.0));
            prop_assert!((sum.effective() - number as f64).abs() < 1e-6 * number as f64);
        }

        #[test]
        fn no_more_than_there_are(all in prop::collection::vec((0.0..1e12f64, 1.0..100.0f64), 1..40)) {
            let mut sum = Sum::default();
            all.iter().for_each(|&(x, number)| sum.add(x, number));
            prop_assert!(sum.effective() <= sum.number * (1.0 + 1e-9));
        }
    }
}
