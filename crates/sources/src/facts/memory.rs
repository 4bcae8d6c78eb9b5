//! Memory: how much, huge pages, swap, merging, reclaim.

use super::{Facts, chosen, size};
use crate::parse;
use model::NULL;

const MM: &str = "/sys/kernel/mm";

pub(super) fn find(facts: &mut Facts<'_, '_>) {
    match facts.host.read_text("/proc/meminfo") {
        Ok(text) => {
            if let Some(total) = kibibytes(&text, "MemTotal:") {
                facts.set("total", rounded(total));
            }
        }
        Err(error) => facts.missing("total", error.into()),
    }
    huge_pages(facts);
    swap(facts);
    for name in ["enabled", "compressor", "zpool", "max_pool_percent", "shrinker_enabled"] {
        facts.optional(&format!("zswap.{name}"), &format!("/sys/module/zswap/parameters/{name}"));
    }
    // The other files there are counts.
    for name in ["run", "pages_to_scan", "sleep_millisecs", "merge_across_nodes", "use_zero_pages", "smart_scan"] {
        facts.optional(&format!("ksm.{name}"), &format!("{MM}/ksm/{name}"));
    }
    facts.chosen("ksm.advisor_mode", &format!("{MM}/ksm/advisor_mode"));
    facts.optional("lru_gen.enabled", &format!("{MM}/lru_gen/enabled"));
    facts.optional("lru_gen.min_ttl_ms", &format!("{MM}/lru_gen/min_ttl_ms"));
    facts.optional("numa_demotion", &format!("{MM}/numa/demotion_enabled"));
}

/// The number of a line such as `MemTotal:  16303428 kB`, also with `Node 0` before it.
pub(super) fn kibibytes(text: &str, field: &str) -> Option<i64> {
    let mut words = text.lines().find_map(|line| Some(line.split_once(field)?.1))?.split_ascii_whitespace();
    words.next()?.parse().ok()
}

/// A size in KiB with one decimal of a GiB: what the kernel keeps for itself differs a little from boot to boot.
pub(super) fn rounded(kibibytes: i64) -> String {
    format!("{:.1} GiB", kibibytes as f64 / f64::from(1 << 20))
}

/// Transparent huge pages (Documentation/admin-guide/mm/transhuge.rst) and reserved ones (hugetlbpage.rst).
fn huge_pages(facts: &mut Facts<'_, '_>) {
    let folder = format!("{MM}/transparent_hugepage");
    match facts.host.read_text(&format!("{folder}/enabled")) {
        Ok(text) => facts.set("thp.enabled", chosen(&text)),
        Err(error) => facts.missing("thp.enabled", error.into()),
    }
    for name in ["defrag", "shmem_enabled", "use_zero_page", "shrink_underused"] {
        facts.chosen(&format!("thp.{name}"), &format!("{folder}/{name}"));
    }
    // The other files there are counts.
    for name in [
        "defrag",
        "pages_to_scan",
        "scan_sleep_millisecs",
        "alloc_sleep_millisecs",
        "max_ptes_none",
        "max_ptes_swap",
        "max_ptes_shared",
    ] {
        facts.optional(&format!("khugepaged.{name}"), &format!("{folder}/khugepaged/{name}"));
    }
    for path in facts.host.glob(&format!("{folder}/hugepages-*")) {
        let Some(page) = page_size(&path) else { continue };
        facts.chosen(&format!("thp.{page}.enabled"), &format!("{path}/enabled"));
        facts.chosen(&format!("thp.{page}.shmem_enabled"), &format!("{path}/shmem_enabled"));
    }
    for path in facts.host.glob(&format!("{MM}/hugepages/hugepages-*")) {
        let Some(page) = page_size(&path) else { continue };
        facts.optional(&format!("hugepages.{page}.reserved"), &format!("{path}/nr_hugepages"));
        facts.optional(&format!("hugepages.{page}.overcommit"), &format!("{path}/nr_overcommit_hugepages"));
    }
}

/// The size in the last part of a path such as `…/hugepages-2048kB`, short: `2M`.
fn page_size(path: &str) -> Option<String> {
    let kib = path.rsplit_once("hugepages-")?.1.strip_suffix("kB")?.parse().ok()?;
    Some(size(i64::checked_mul(kib, 1024)?).replace(" KiB", "K").replace(" MiB", "M").replace(" GiB", "G"))
}

/// Swap areas (proc_swaps(5)) and compressed memory devices.
fn swap(facts: &mut Facts<'_, '_>) {
    if let Some(text) = facts.text("swap", "/proc/swaps") {
        let mut none = true;
        for line in text.lines().skip(1) {
            let mut words = parse::words(line.as_bytes());
            let (Some(file), Some(kind)) = (words.next(), words.next()) else { continue };
            let (kib, _used, priority) = (words.number(), words.number(), words.number());
            if kib == NULL {
                continue;
            }
            none = false;
            let (file, kind) = (String::from_utf8_lossy(file), String::from_utf8_lossy(kind));
            // A negative priority was given by the kernel, in the order of swapon.
            let priority = if priority == NULL { String::new() } else { format!(", priority {priority}") };
            facts.set(&format!("swap.{file}"), format!("{kind}, {}{priority}", size(kib.saturating_mul(1024))));
        }
        facts.set("swap.areas", if none { "none" } else { "" });
    }
    for path in facts.host.glob("/sys/block/zram*") {
        let Some(name) = path.rsplit('/').next() else { continue };
        if let Ok(bytes) = facts.host.read_number(&format!("{path}/disksize"))
            && bytes > 0
        {
            facts.set(&format!("{name}.size"), size(bytes));
            facts.chosen(&format!("{name}.algorithm"), &format!("{path}/comp_algorithm"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(kibibytes("MemFree: 1 kB\nMemTotal:       24684092 kB\n", "MemTotal:"), Some(24_684_092));
        assert_eq!(kibibytes("Node 0 MemTotal:       24684092 kB\n", "MemTotal:"), Some(24_684_092));
        assert_eq!(rounded(24_684_092), "23.5 GiB");
        assert_eq!(page_size("/x/hugepages-2048kB").as_deref(), Some("2M"));
        assert_eq!(page_size("/x/hugepages-1048576kB").as_deref(), Some("1G"));
        assert_eq!(page_size("/x/hugepages-9223372036854775807kB"), None);
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1536), "1.5 KiB");
    }
}
