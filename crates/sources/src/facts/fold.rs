//! Folds what each CPU, queue or interface says into one value, so that hosts with many of them stay readable.

use crate::parse;

/// A list of numbers as the kernel writes it: `0-3,8`. The numbers are sorted first.
pub(super) fn number_list(numbers: &[i64]) -> String {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for number in sorted {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let text = |(first, last): &(i64, i64)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

/// One value for all where they agree, else each value with the numbers that have it: `performance on 0-3; powersave on 4-7`. In the order
/// in which the values are first met.
pub(super) fn by_number(values: &[(i64, String)]) -> String {
    let mut groups: Vec<(&str, Vec<i64>)> = Vec::new();
    for (number, value) in values {
        match groups.iter_mut().find(|(v, _)| v == value) {
            Some((_, numbers)) => numbers.push(*number),
            None => groups.push((value, vec![*number])),
        }
    }
    match groups.as_slice() {
        [] => String::new(),
        [(value, _)] => (*value).to_owned(),
        several => {
            let text = |(value, numbers): &(&str, Vec<i64>)| format!("{value} on {}", number_list(numbers));
            several.iter().map(text).collect::<Vec<_>>().join("; ")
        }
    }
}

/// How many CPUs a list such as `0-3,8` names.
pub(super) fn count(list: &str) -> usize {
    parse::list(list.as_bytes()).len()
}

/// Parts of a name around its last number: `eth0-rx-12` is `eth0-rx-`, 12 and "".
pub(super) fn last_number(name: &str) -> Option<(&str, i64, &str)> {
    let end = name.rfind(|c: char| c.is_ascii_digit())? + 1;
    let head = name.get(..end)?;
    let start = head
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + head.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8));
    Some((name.get(..start)?, name.get(start..end)?.parse().ok()?, name.get(end..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_and_groups() {
        assert_eq!(number_list(&[3, 0, 1, 2, 8, 10, 11, 8]), "0-3,8,10-11");
        assert_eq!(number_list(&[]), "");
        let say = |v: &[(i64, &str)]| by_number(&v.iter().map(|(n, t)| (*n, (*t).to_owned())).collect::<Vec<_>>());
        assert_eq!(say(&[(0, "a"), (1, "a")]), "a");
        assert_eq!(say(&[(0, "a"), (1, "b"), (2, "a")]), "a on 0,2; b on 1");
        assert_eq!(count("0-3,8"), 5);
    }

    #[test]
    fn last_numbers() {
        assert_eq!(last_number("eth0-rx-12"), Some(("eth0-rx-", 12, "")));
        assert_eq!(last_number("virtio1-req.0"), Some(("virtio1-req.", 0, "")));
        assert_eq!(last_number("é7x"), Some(("é", 7, "x")));
        assert_eq!(last_number("timer"), None);
    }

    proptest! {
        #[test]
        fn nothing_panics(name: String, numbers: Vec<i32>) {
            let _ = last_number(&name);
            let numbers: Vec<i64> = numbers.into_iter().map(i64::from).collect();
            let _ = number_list(&numbers);
        }

        #[test]
        fn lists_are_read_back(numbers in prop::collection::btree_set(0i64..500, 0..60)) {
            let numbers: Vec<i64> = numbers.into_iter().collect();
            prop_assert_eq!(parse::list(number_list(&numbers).as_bytes()), numbers);
        }
    }
}
