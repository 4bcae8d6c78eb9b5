//! Whether two ways to sort hosts agree: Cohen's κ (the names of the classes are the same) and the adjusted Rand index (they are not).

/// Cohen's κ ("A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20, 1960): 1 is full agreement, 0 what
/// chance would give. 1 where all hosts are of one and the same class in both; NaN for none.
pub fn kappa(a: &[usize], b: &[usize]) -> f64 {
    let n = a.len().min(b.len());
    let t = Table::new(a.iter().copied().zip(b.iter().copied()));
    let same: f64 = t.cells.iter().filter(|c| c.0.0 == c.0.1).map(|c| c.1).sum::<f64>() / n as f64;
    let of = |side: &[(usize, f64)], class: usize| side.iter().find(|s| s.0 == class).map_or(0.0, |s| s.1);
    let chance: f64 = t.rows.iter().map(|&(class, k)| k * of(&t.columns, class)).sum::<f64>() / (n as f64 * n as f64);
    if chance >= 1.0 { same } else { (same - chance) / (1.0 - chance) }
}

/// The adjusted Rand index (Hubert and Arabie, "Comparing partitions", Journal of Classification 2, 1985): 1 where both sort alike, 0 what
/// chance would give. Hosts that either lacks are left out. 1 where neither sorts at all.
pub fn adjusted_rand(a: &[Option<usize>], b: &[Option<usize>]) -> f64 {
    let both: Vec<(usize, usize)> = a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
    let n = both.len() as f64;
    let t = Table::new(both.into_iter());
    let pairs = |k: f64| k * (k - 1.0) / 2.0;
    let together: f64 = t.cells.iter().map(|c| pairs(c.1)).sum();
    let (rows, columns): (f64, f64) =
        (t.rows.iter().map(|r| pairs(r.1)).sum(), t.columns.iter().map(|c| pairs(c.1)).sum());
    let expected = if n > 1.0 { rows * columns / pairs(n) } else { 0.0 };
    let most = 0.5 * (rows + columns);
    if most - expected <= 0.0 { 1.0 } else { (together - expected) / (most - expected) }
}

/// How many hosts are of which two classes.
struct Table {
    cells: Vec<((usize, usize), f64)>,
    rows: Vec<(usize, f64)>,
    columns: Vec<(usize, f64)>,
}

impl Table {
    fn new(pairs: impl Iterator<Item = (usize, usize)>) -> Table {
        let mut pairs: Vec<(usize, usize)> = pairs.collect();
        pairs.sort_unstable();
        let cells = pairs.chunk_by(|a, b| a == b).map(|g| (g[0], g.len() as f64)).collect();
        let rows = pairs.chunk_by(|a, b| a.0 == b.0).map(|g| (g[0].0, g.len() as f64)).collect();
        let mut second: Vec<usize> = pairs.iter().map(|p| p.1).collect();
        second.sort_unstable();
        let columns = second.chunk_by(|a, b| a == b).map(|g| (g[0], g.len() as f64)).collect();
        Table { cells, rows, columns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!(kappa(&[0, 0, 1, 1], &[0, 0, 1, 1]), 1.0);
        assert_eq!(kappa(&[0, 0, 1, 1], &[0, 1, 0, 1]), 0.0);
        assert_eq!(kappa(&[0, 0], &[0, 0]), 1.0);
        assert!(kappa(&[], &[]).is_nan());
        let some = |x: &[usize]| x.iter().copied().map(Some).collect::<Vec<_>>();
        assert_eq!(adjusted_rand(&some(&[0, 0, 1, 1]), &some(&[5, 5, 2, 2])), 1.0);
        assert_eq!(adjusted_rand(&[], &[]), 1.0);
        assert!(adjusted_rand(&some(&[0, 0, 1, 1]), &some(&[0, 1, 0, 1])) < 0.0);
        assert_eq!(adjusted_rand(&[Some(1), None, Some(2)], &[Some(3), Some(3), Some(4)]), 1.0);
    }
}
