//! Words of the page that follow from declarations: headings from the names of columns and tables, and clauses of helps that stand alone.

/// How parts of names are written in headings. Parts that only say "number of" are left out.
const SPELLED: [(&str, &str); 21] = [
    ("anon", "anonymous"),
    ("comm", "process"),
    ("cpu", "CPU"),
    ("cpuidle", "CPU idle states"),
    ("hugepages", "huge pages"),
    ("io", "I/O"),
    ("ip", "IP"),
    ("ipi", "IPI"),
    ("irq", "IRQ"),
    ("jvm", "JVM"),
    ("ksm", "KSM"),
    ("nr", ""),
    ("numa", "NUMA"),
    ("op", "operation"),
    ("pid", "PID"),
    ("resv", "reserved"),
    ("rps", "RPS"),
    ("shmem", "shared memory"),
    ("softirqs", "soft interrupts"),
    ("swpin", "swap-in"),
    ("thp", "transparent huge pages"),
];

/// Beginnings by which a help points at the column before it: out of its place it is read without them.
const POINTING: [&str; 5] = ["of these,", "of those,", "of them,", "of these", "of this"];

/// The name of a column or table as a heading: `nr_free_pages` is "free pages".
pub(crate) fn spelled(name: &str) -> String {
    let part = |part| SPELLED.iter().find(|(short, _)| *short == part).map_or(part, |(_, long)| *long);
    let words: Vec<&str> = name.split('_').map(part).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { name.to_owned() } else { words.join(" ") }
}

/// What a column is called in a heading.
pub(crate) fn titled(column: &model::Column) -> String {
    if column.title.is_empty() { spelled(column.name) } else { column.title.to_owned() }
}

/// A help without what only makes sense after the help before it: "of these, those that failed" is "those that failed".
pub(crate) fn alone(help: &str) -> &str {
    POINTING.iter().find_map(|pointing| help.strip_prefix(pointing)).map_or(help, str::trim_start)
}

/// What a help begins with, up to its first aside.
pub(crate) fn first(help: &str) -> &str {
    let help = alone(help);
    let aside = help.find([';', ',', ':']).into_iter().chain(help.find(" (")).min();
    help.get(..aside.unwrap_or(help.len())).unwrap_or(help).trim()
}

/// A sentence or title with a capital at its start, unless it starts with a name (`read(2)`, `num_objs`).
pub(crate) fn capital(text: &str) -> String {
    let word = text.split([' ', ',']).next().unwrap_or("");
    let is_name = word.is_empty() || !word.chars().all(|c| c.is_lowercase() || c == '-');
    let mut chars = text.chars();
    match chars.next().filter(|_| !is_name) {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled() {
        assert_eq!(spelled("cgroup_cpu"), "cgroup CPU");
        assert_eq!(spelled("nr_hugepages"), "huge pages");
        assert_eq!(spelled("resv_hugepages"), "reserved huge pages");
        assert_eq!(spelled("comm"), "process");
        assert_eq!(spelled("utilisation"), "utilisation");
        assert_eq!(spelled("nr"), "nr", "something is left");
        assert_eq!(spelled("cpuset"), "cpuset", "whole parts only");
    }

    #[test]
    fn titles_begin_with_a_capital() {
        assert_eq!(capital("waits of 2 µs to 4 µs"), "Waits of 2 µs to 4 µs");
        assert_eq!(capital("num_objs × objsize"), "num_objs × objsize");
        assert_eq!(capital("read(2) and its like"), "read(2) and its like");
        assert_eq!(capital("CPU time"), "CPU time");
        assert_eq!(capital(""), "");
    }

    #[test]
    fn helps_stand_alone() {
        assert_eq!(alone("of these, calls that failed; EAGAIN counts too"), "calls that failed; EAGAIN counts too");
        assert_eq!(first("of these, calls that failed; EAGAIN counts too"), "calls that failed");
        assert_eq!(first("bytes that read(2) and its like gave, from files"), "bytes that read(2) and its like gave");
        assert_eq!(first("compressed packets received (PPP, SLIP)"), "compressed packets received");
        assert_eq!(first("context switches"), "context switches");
        assert_eq!(first(""), "");
    }
}
