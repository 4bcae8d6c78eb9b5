//! Limits of the recorder's own process, which the command that it starts inherits (proc_pid_limits(5)).

use super::Facts;

pub(super) fn find(facts: &mut Facts<'_, '_>) {
    match facts.host.read_text("/proc/self/limits") {
        Ok(text) => {
            for (name, value) in text.lines().skip(1).filter_map(limit) {
                facts.set(&name, value);
            }
        }
        Err(error) => facts.missing("limits", error.into()),
    }
    let status = facts.host.read_text("/proc/self/status").unwrap_or_default();
    for (name, field) in [("cpus_allowed", "Cpus_allowed_list:"), ("memory_nodes_allowed", "Mems_allowed_list:")] {
        if let Some(value) = status.lines().find_map(|line| line.strip_prefix(field)) {
            facts.set(name, value);
        }
    }
}

/// `Max open files            1024                 524288               files`: name, and soft and hard limit. The columns have
/// fixed widths of 25, 20 and 20 characters, with a space between them (fs/proc/base.c).
fn limit(line: &str) -> Option<(String, String)> {
    let name = line.get(..25)?.trim().strip_prefix("Max ")?.replace(' ', "_");
    let mut words = line.get(25..)?.split_ascii_whitespace();
    let (soft, hard) = (words.next()?, words.next()?);
    let unit = words
        .next()
        .filter(|unit| matches!(*unit, "bytes" | "seconds" | "us"))
        .map_or(String::new(), |u| format!(" {u}"));
    let say = |value: &str| if value == "unlimited" { value.to_owned() } else { format!("{value}{unit}") };
    Some((name, if soft == hard { say(soft) } else { format!("{}, up to {}", say(soft), say(hard)) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines() {
        let say = |line| limit(line).map(|(name, value)| format!("{name} = {value}"));
        assert_eq!(
            say("Max open files            1024                 524288               files     ").as_deref(),
            Some("open_files = 1024, up to 524288")
        );
        assert_eq!(
            say("Max stack size            8388608              8388608              bytes     ").as_deref(),
            Some("stack_size = 8388608 bytes")
        );
        assert_eq!(
            say("Max nice priority         0                    0                    ").as_deref(),
            Some("nice_priority = 0")
        );
        assert_eq!(limit("Max"), None);
    }

    proptest! {
        #[test]
        fn nothing_panics(line: String) {
            let _ = limit(&line);
        }
    }
}
