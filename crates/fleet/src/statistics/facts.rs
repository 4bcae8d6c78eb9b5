//! Which facts of hosts (model of CPU, zone, kernel, a setting) divide them as the bands do. Facts were there before; what is measured may be a
//! result.

use super::agree::adjusted_rand;
use super::separate::LEVEL;
use query::stats::fdr::benjamini_hochberg;
use query::stats::rng::Rng;
use query::stats::special::{chi_square_upper, fisher_exact};

/// Permutations at most, and after how many that say as much it is enough.
const DRAWS: (usize, usize) = (19_999, 20);

/// Hosts that share a value on average, at least: names, addresses and serials do not.
const SHARED: usize = 2;

/// One fact of all hosts; `None`: not known of this host, which is then left out. That something could not be read is a fact by itself.
#[derive(Clone, Copy, Debug)]
pub struct Fact<'a> {
    /// Only for those who read.
    pub name: &'a str,
    /// One place a host.
    pub values: &'a [Option<&'a str>],
}

/// How one fact differs between the band and the other hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Its place in what was asked.
    pub fact: usize,
    /// How many values it has.
    pub values: usize,
    /// The value that tells most.
    pub value: String,
    /// Hosts of the band with that value, of how many.
    pub one: (usize, usize),
    /// The other hosts with that value, of how many.
    pub rest: (usize, usize),
    /// p-value of "it has nothing to do with the bands": Fisher's exact test for two values, else mutual information.
    pub p: f64,
    /// The share of false ones among all facts listed at this p-value.
    pub q: f64,
}

/// What facts say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Those that differ, the surest first.
    pub listed: Vec<Difference>,
    /// All that were asked, in that order.
    pub asked: Vec<Difference>,
    /// Those that are nearly unique, and were left out.
    pub unique: Vec<usize>,
    /// Those that have one value on all hosts.
    pub same: Vec<usize>,
}

/// Asks all facts.
pub fn facts(facts: &[Fact], sides: &[Option<bool>], seed: u64) -> Facts {
    counted(&super::parallel(facts, |fact| Table::new(fact, sides).rows), seed)
}

/// The same of facts that were counted elsewhere: of each its values in order, with how many hosts of the band have it, and how many others; none
/// that nobody has.
pub fn counted(facts: &[Vec<(&str, [u64; 2])>], seed: u64) -> Facts {
    enum Is {
        Asked(Difference),
        Unique,
        Same,
    }
    let tables: Vec<(usize, Table)> = facts.iter().map(|rows| Table { rows: rows.clone() }).enumerate().collect();
    let all = super::parallel(&tables, |(i, table)| {
        let i = *i;
        match table.rows.len() {
            0 | 1 => Is::Same,
            n if n > 3 && table.hosts() < SHARED * n => Is::Unique,
            _ => Is::Asked(table.difference(i, &mut Rng::new(seed))),
        }
    });
    let mut found = Facts::default();
    for (i, is) in all.into_iter().enumerate() {
        match is {
            Is::Asked(d) => found.asked.push(d),
            Is::Unique => found.unique.push(i),
            Is::Same => found.same.push(i),
        }
    }
    let q = benjamini_hochberg(&found.asked.iter().map(|d| d.p).collect::<Vec<_>>());
    found.asked.iter_mut().zip(q).for_each(|(d, q)| d.q = q);
    found.listed = found.asked.iter().filter(|d| d.q <= LEVEL).cloned().collect();
    found.listed.sort_by(|a, b| a.p.total_cmp(&b.p).then(a.fact.cmp(&b.fact)));
    found
}

/// How well the values of a fact divide the hosts as the bands do: the adjusted Rand index, each value counting for the band that most of its
/// hosts are in. 0 for one that is nearly unique, or has but one value. From 0.8 on the bands **are** the values of the fact.
pub fn divides(fact: &Fact, bands: &[Option<usize>]) -> f64 {
    let mut both: Vec<(&str, usize)> =
        fact.values.iter().zip(bands).filter_map(|(v, b)| Some(((*v)?, (*b)?))).collect();
    both.sort_unstable();
    let groups: Vec<&[(&str, usize)]> = both.chunk_by(|a, b| a.0 == b.0).collect();
    if groups.len() < 2 || both.len() < 3 * groups.len() {
        return 0.0;
    }
    let most = |g: &[(&str, usize)]| {
        g.chunk_by(|a, b| a.1 == b.1).max_by_key(|c| (c.len(), usize::MAX - c[0].1)).map(|c| c[0].1)
    };
    let by_fact: Vec<Option<usize>> = groups.iter().flat_map(|g| std::iter::repeat_n(most(g), g.len())).collect();
    let by_band: Vec<Option<usize>> = both.iter().map(|b| Some(b.1)).collect();
    // Where every value stands for the same band, nothing is divided.
    if by_fact.windows(2).all(|w| w[0] == w[1]) { 0.0 } else { adjusted_rand(&by_fact, &by_band) }
}

/// Counts of hosts by value: in the band, and among the others.
struct Table<'a> {
    rows: Vec<(&'a str, [u64; 2])>,
}

impl<'a> Table<'a> {
    fn new(fact: &Fact<'a>, sides: &[Option<bool>]) -> Table<'a> {
        let mut both: Vec<(&str, bool)> =
            fact.values.iter().zip(sides).filter_map(|(v, s)| Some(((*v)?, (*s)?))).collect();
        both.sort_unstable();
        let count = |g: &[(&'a str, bool)]| {
            let one = g.iter().filter(|x| x.1).count() as u64;
            (g[0].0, [one, g.len() as u64 - one])
        };
        Table { rows: both.chunk_by(|a, b| a.0 == b.0).map(count).collect() }
    }

    fn sums(&self) -> [u64; 2] {
        self.rows.iter().fold([0, 0], |s, r| [s[0] + r.1[0], s[1] + r.1[1]])
    }

    fn hosts(&self) -> usize {
        self.sums().iter().sum::<u64>() as usize
    }

    fn difference(&self, fact: usize, rng: &mut Rng) -> Difference {
        let [one, rest] = self.sums();
        let exact = |r: &(&str, [u64; 2])| fisher_exact(r.1[0], one - r.1[0], r.1[1], rest - r.1[1]);
        let by_value: Vec<f64> = self.rows.iter().map(exact).collect();
        // Of values that tell as much, but for rounding, the one that more of the band have.
        let least = by_value.iter().copied().fold(f64::INFINITY, f64::min);
        let tells = |i: &usize| by_value[*i] <= least * (1.0 + 1e-9);
        let best = (0..self.rows.len())
            .filter(tells)
            .max_by(|&a, &b| self.rows[a].1[0].cmp(&self.rows[b].1[0]).then(b.cmp(&a)))
            .unwrap_or(0);
        let p = if self.rows.len() == 2 { by_value[0] } else { self.mutual(by_value[best], rng) };
        let (value, [a, b]) = self.rows[best];
        let (one, rest) = (one as usize, rest as usize);
        Difference {
            fact,
            values: self.rows.len(),
            value: value.to_string(),
            one: (a as usize, one),
            rest: (b as usize, rest),
            p,
            q: f64::NAN,
        }
    }

    /// p-value of the mutual information of values and sides: by its χ² distribution where at least five hosts are expected everywhere, else by
    /// drawing sides at random; where that never says as much, the least of Fisher's tests value by value, times their number.
    fn mutual(&self, least: f64, rng: &mut Rng) -> f64 {
        let [one, rest] = self.sums();
        let all = (one + rest) as f64;
        let expected = |r: &(&str, [u64; 2]), side: u64| (r.1[0] + r.1[1]) as f64 * side as f64 / all;
        let information = |counts: &mut dyn Iterator<Item = (u64, f64)>| -> f64 {
            counts.filter(|c| c.0 > 0).map(|(n, e)| 2.0 * n as f64 * (n as f64 / e).ln()).sum()
        };
        let g = |first: &[u64]| {
            let each = |(r, &a): (&(&str, [u64; 2]), &u64)| {
                let size = r.1[0] + r.1[1];
                [(a, expected(r, one)), (size - a, expected(r, rest))]
            };
            information(&mut self.rows.iter().zip(first).flat_map(each))
        };
        let seen: Vec<u64> = self.rows.iter().map(|r| r.1[0]).collect();
        let seen = g(&seen);
        if one.min(rest) == 0 {
            return 1.0;
        }
        if self.rows.iter().all(|r| expected(r, one).min(expected(r, rest)) >= 5.0) {
            return chi_square_upper(seen, (self.rows.len() - 1) as f64);
        }
        // The value of each host; the first `one` that are drawn are the band.
        let mut deck: Vec<usize> = Vec::new();
        for (v, r) in self.rows.iter().enumerate() {
            deck.resize(deck.len() + (r.1[0] + r.1[1]) as usize, v);
        }
        let (mut as_much, mut drawn) = (0, 0);
        let small = one.min(rest) as usize;
        while drawn < DRAWS.0 && as_much < DRAWS.1 {
            let mut counts = vec![0u64; self.rows.len()];
            for i in 0..small {
                let j = i + rng.below(deck.len() - i);
                deck.swap(i, j);
                counts[deck[i]] += 1;
            }
            if one > rest {
                counts.iter_mut().zip(&self.rows).for_each(|(c, r)| *c = r.1[0] + r.1[1] - *c);
            }
            drawn += 1;
            as_much += usize::from(g(&counts) >= seen - 1e-9);
        }
        let p = (as_much + 1) as f64 / (drawn + 1) as f64;
        if as_much == 0 { p.min(least * self.rows.len() as f64) } else { p.min(1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(one: usize, all: usize) -> Vec<Option<bool>> {
        (0..all).map(|i| Some(i < one)).collect()
    }

    #[test]
    fn a_fact_that_divides_is_the_first_line() {
        let values = |f: &dyn Fn(usize) -> String| (0..64).map(f).collect::<Vec<String>>();
        let model = values(&|i| if i < 8 { "a".into() } else { "b".into() });
        let zone = values(&|i| format!("z{}", i * 7 % 3));
        let name = values(&|i| format!("host-{i}"));
        let same = values(&|_| "x".into());
        let kernel = values(&|i| if i < 8 { format!("6.{}", i % 2) } else { format!("5.{}", i % 3) });
        let all: Vec<Vec<Option<&str>>> = [&zone, &model, &name, &same, &kernel]
            .iter()
            .map(|v| v.iter().map(|s| Some(s.as_str())).collect())
            .collect();
        let asked: Vec<Fact> = all.iter().map(|values| Fact { name: "", values }).collect();
        let found = facts(&asked, &sides(8, 64), 1);
        assert_eq!((&found.unique[..], &found.same[..]), (&[2][..], &[3][..]));
        assert_eq!(found.listed.iter().map(|d| d.fact).collect::<Vec<_>>(), [1, 4], "{found:?}");
        let d = &found.listed[0];
        assert_eq!((d.value.as_str(), d.one, d.rest), ("a", (8, 8), (0, 56)));
        let bands: Vec<Option<usize>> = (0..64).map(|i| Some(usize::from(i >= 8))).collect();
        let divide: Vec<f64> = asked.iter().map(|f| divides(f, &bands)).collect();
        assert_eq!(divide, [0.0, 1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn nothing_known_is_nothing_said() {
        let none = [None; 9];
        let found = facts(&[Fact { name: "", values: &none }, Fact { name: "", values: &[] }], &sides(3, 9), 1);
        assert_eq!(found.same, [0, 1]);
        assert!(facts(&[], &[], 1).listed.is_empty());
        let three: Vec<Option<&str>> = ["a", "b", "c", "a", "b", "c", "a", "b", "c"].map(Some).to_vec();
        for s in [sides(0, 9), sides(9, 9), sides(3, 9)] {
            assert!(facts(&[Fact { name: "", values: &three }], &s, 1).listed.is_empty());
        }
    }
}
