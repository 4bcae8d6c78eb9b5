//! What a metric's name says of it: its unit, and whether it counts up, by the conventions of Prometheus
//! (prometheus.io/docs/practices/naming) and OpenMetrics.

use model::{Kind, Page, Unit};

/// How values are stored: in this unit, multiplied by so much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    pub(crate) unit: Unit,
    pub(crate) factor: f64,
}

const PLAIN: Scale = Scale { unit: Unit::None, factor: 1.0 };

/// Whether a metric of that name counts up.
pub(crate) fn counts(name: &str) -> bool {
    ["_total", "_count", "_sum", "_bucket"].iter().any(|end| name.ends_with(end))
}

/// The unit that the last word of a name is.
pub(crate) fn of_name(name: &str) -> Scale {
    let stem = ["_total", "_sum"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    if name.ends_with("_count") || name.ends_with("_bucket") {
        return PLAIN;
    }
    let words = stem.rsplit(['_', ':', '.', '/']).next().unwrap_or(stem);
    of_word(words)
}

/// The unit of a word such as `seconds`, `bytes`, `kB`.
pub(crate) fn of_word(word: &str) -> Scale {
    let scale = |unit, factor| Scale { unit, factor };
    match word {
        "seconds" | "second" | "s" => scale(Unit::Seconds, 1.0),
        "milliseconds" | "ms" | "msec" => scale(Unit::Milliseconds, 1.0),
        "microseconds" | "us" | "usec" => scale(Unit::Microseconds, 1.0),
        "nanoseconds" | "ns" | "nsec" => scale(Unit::Nanoseconds, 1.0),
        "bytes" | "byte" | "By" => scale(Unit::Bytes, 1.0),
        "kilobytes" | "kibibytes" | "kB" | "KB" | "KiB" | "kbytes" => scale(Unit::Kibibytes, 1.0),
        "ratio" => scale(Unit::Ratio, 1.0),
        "percent" | "pct" | "%" => scale(Unit::Percent, 1.0),
        "celsius" => scale(Unit::MilliCelsius, 1000.0),
        "hertz" | "hz" => scale(Unit::Hertz, 1.0),
        "joules" => scale(Unit::Microjoules, 1e6),
        _ => PLAIN,
    }
}

/// Whether values are moments, which mean nothing when compared.
pub(crate) fn is_moment(name: &str) -> bool {
    name.contains("timestamp")
        || ["boot_time_seconds", "start_time_seconds", "node_time_seconds"].iter().any(|end| name.ends_with(end))
}

/// The page of the report that a metric belongs to, by words of its name.
pub(crate) fn page(name: &str) -> Page {
    let words: Vec<String> = name.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase).collect();
    let pages: [(Page, &[&str]); 8] = [
        (Page::Disks, &["disk", "filesystem", "fs", "block", "io", "iops", "tps", "dev", "blockio"]),
        (
            Page::Network,
            &["network", "net", "netstat", "tcp", "tcp6", "udp", "ip", "sock", "sockets", "icmp", "iface", "eth"],
        ),
        (Page::Memory, &["memory", "mem", "meminfo", "vmstat", "paging", "swap", "page", "heap", "hugepages", "numa"]),
        (Page::Interrupts, &["intr", "interrupts", "softirqs", "irq"]),
        (Page::Containers, &["container", "cgroup", "kube", "pod"]),
        (Page::Requests, &["http", "request", "requests", "grpc", "latency", "rpc"]),
        (Page::Jvm, &["jvm", "gc", "java"]),
        (Page::Cpu, &["cpu", "cpus", "cores", "ipc", "frequency"]),
    ];
    let is_of = |page: &&(Page, &[&str])| page.1.iter().any(|word| words.iter().any(|own| own == word));
    pages.iter().find(is_of).map_or(Page::Scheduler, |(page, _)| *page)
}

/// The kind that a type of Prometheus or OpenMetrics is; none where it says nothing.
pub(crate) fn kind_of_type(name: &str, word: &str) -> Option<Kind> {
    match word {
        "counter" => Some(Kind::Counter),
        // Of these only what they are made of is stored.
        "histogram" | "summary" => Some(if counts(name) { Kind::Counter } else { Kind::Gauge }),
        "gauge" | "gaugehistogram" | "stateset" | "info" => Some(Kind::Gauge),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_they_are() {
        assert!(counts("node_cpu_seconds_total") && counts("x_bucket") && !counts("node_load1"));
        assert_eq!(of_name("node_cpu_seconds_total").unit, Unit::Seconds);
        assert_eq!(of_name("http_request_duration_seconds_sum").unit, Unit::Seconds);
        assert_eq!(of_name("http_request_duration_seconds_count").unit, Unit::None);
        assert_eq!(of_name("node_hwmon_temp_celsius"), Scale { unit: Unit::MilliCelsius, factor: 1000.0 });
        assert_eq!(of_name("up"), PLAIN);
        assert!(is_moment("node_boot_time_seconds") && !is_moment("node_disk_io_time_seconds_total"));
        assert_eq!(page("node_disk_io_time_seconds_total"), Page::Disks);
        assert_eq!(page("node_cpu_seconds_total"), Page::Cpu);
        assert_eq!(page("up"), Page::Scheduler);
        assert_eq!(kind_of_type("a_count", "summary"), Some(Kind::Counter));
        assert_eq!(kind_of_type("a", "unknown"), None);
    }
}
