//! Which of two causes that claim the same time gets it first: a graph without circles, from what each says it `yields` to.

use super::{Cause, Faulty};
use std::collections::{HashMap, HashSet};

/// To which causes each gives way, directly or through others.
#[derive(Debug, Default)]
pub(crate) struct Order<'c>(HashMap<&'c str, HashSet<&'c str>>);

impl<'c> Order<'c> {
    /// The order of these causes.
    ///
    /// # Errors
    /// For a cause that yields to one that is not there, and for a circle; with its file.
    pub(crate) fn of(causes: &'c [Cause]) -> Result<Self, Faulty> {
        let mut direct: HashMap<&str, Vec<&str>> = causes.iter().map(|cause| (cause.id.as_str(), Vec::new())).collect();
        for cause in causes {
            let edges = cause.yields.iter().map(|to| (cause.id.as_str(), to.as_str()));
            for (from, to) in edges.chain(cause.before.iter().map(|from| (from.as_str(), cause.id.as_str()))) {
                if let Some(unknown) = [from, to].into_iter().find(|id| !direct.contains_key(id)) {
                    return Err(faulty(cause, format!("there is no cause {unknown} to yield to, or to come before")));
                }
                direct.entry(from).or_default().push(to);
            }
        }
        let mut all = HashMap::new();
        for cause in causes {
            let mut before: HashSet<&str> = HashSet::new();
            let mut open: Vec<&str> = vec![&cause.id];
            while let Some(next) = open.pop() {
                open.extend(direct.get(next).into_iter().flatten().filter(|to| before.insert(*to)));
            }
            if before.contains(cause.id.as_str()) {
                return Err(faulty(cause, format!("{} and causes that it yields to give way to each other", cause.id)));
            }
            all.insert(cause.id.as_str(), before);
        }
        Ok(Order(all))
    }

    /// Whether `cause` gives way to `other`.
    pub(crate) fn yields(&self, cause: &str, other: &str) -> bool {
        self.0.get(cause).is_some_and(|before| before.contains(other))
    }
}

fn faulty(cause: &Cause, why: String) -> Faulty {
    let file =
        cause.file.as_ref().map_or_else(|| format!("causes/{}.sql", cause.id), |file| file.display().to_string());
    Faulty { file, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(id: &str, yields: &[&str]) -> Cause {
        Cause { id: id.into(), yields: yields.iter().map(|y| (*y).into()).collect(), ..Cause::default() }
    }

    #[test]
    fn who_yields_to_one_that_yields_yields_too() {
        let causes = [cause("a", &["b"]), cause("b", &["c"]), cause("c", &[])];
        let order = Order::of(&causes).unwrap();
        let other = [Cause { before: vec!["b".into()], ..cause("a", &[]) }, cause("b", &[])];
        assert!(Order::of(&other).unwrap().yields("b", "a"));
        assert!(order.yields("a", "c") && order.yields("a", "b") && !order.yields("c", "a") && !order.yields("b", "a"));
    }

    #[test]
    fn circles_and_unknown_causes_are_named() {
        let why = |causes: &[Cause]| Order::of(causes).unwrap_err().to_string();
        let circle = why(&[cause("a", &["b"]), cause("b", &["c"]), cause("c", &["a"])]);
        assert!(circle.contains("give way to each other") && circle.contains("causes/a.sql"), "{circle}");
        assert!(why(&[cause("a", &["a"])]).contains("give way"));
        assert!(why(&[cause("a", &["x"])]).contains("no cause x"));
    }
}
