//! The kernel's run-time settings: every readable file under `/proc/sys` that is a setting and not a measurement.

mod fold;

use crate::{Pace, Reader, Scope, Source};
use fold::Folded;
use host::Host;
use model::{Column, Out, Table, Unavailable, matches};

/// One row per setting.
static SYSCTL: Table = Table::wide(
    "sysctl",
    "settings of the kernel, as sysctl(8) names them; interfaces and CPUs that agree are folded into one row named `*`",
    &[
        Column::label("name", "the setting; `net.ipv4.conf.*.x` holds for every interface that has no row of its own"),
        Column::fact("value", "its value; lines are separated by \"; \""),
    ],
)
.grouped(&[&["name"]]);

/// Settings.
pub static SOURCE: Source = Source {
    name: "sysctl",
    title: "Kernel settings (sysctl)",
    documented: "Documentation/admin-guide/sysctl/",
    // A fixture holds seven levels: the deepest are net/ipv4/conf/IF/X and kernel/sched_domain/cpuN/domainM/X.
    reads: &[
        "/proc/sys/*",
        "/proc/sys/*/*",
        "/proc/sys/*/*/*",
        "/proc/sys/*/*/*/*",
        "/proc/sys/*/*/*/*/*",
        "/sys/class/net/*/device",
    ],
    needs: "root for some of the settings",
    pace: Pace::Once,
    tables: &[&SYSCTL],
    charts: &[],
    open: |host, _scope: &Scope| {
        host.list("/proc/sys")?;
        Ok(Box::new(Sysctl))
    },
};

/// Files that are no settings: counts and states that change by themselves, identities, actions that run when written to (or
/// read), and keys. Names as sysctl(8) writes them, with `*` for any characters.
const LEFT_OUT: &[&str] = &[
    // Counts and states.
    "fs.aio-nr",
    "fs.dentry-state",
    "fs.file-nr",
    "fs.inode-nr",
    "fs.inode-state",
    "fs.quota.*",
    "fs.xfs.stats_clear",
    "kernel.hung_task_detect_count",
    "kernel.hung_task_warnings",
    "kernel.ns_last_pid",
    "kernel.pty.nr",
    "kernel.random.entropy_avail",
    "kernel.perf_event_max_sample_rate",
    "kernel.sched_domain.*.max_newidle_lb_cost",
    "kernel.sched_domain.*.newidle_*",
    "kernel.spl.kmem.*",
    "kernel.tainted",
    "net.netfilter.nf_conntrack_count",
    "net.*.nf_conntrack_count",
    "vm.drop_caches",
    // Identities.
    "kernel.domainname",
    "kernel.hostname",
    "kernel.random.boot_id",
    "kernel.random.uuid",
    "kernel.spl.hostid",
    // Reading it folds the counters of all CPUs.
    "vm.stat_refresh",
    // Keys.
    "net.core.netdev_rss_key",
    "net.ipv4.tcp_fastopen_key",
    "net.ipv6.conf.*.stable_secret",
    // The kernel's release, version, architecture and name are facts of their own.
    "kernel.osrelease",
    "kernel.ostype",
    "kernel.version",
    "kernel.arch",
];

/// Folders deeper than this are not looked into. The kernel's own tree has five levels.
const DEPTH: usize = 8;
/// More settings than this are not read; 192 CPUs with scheduling domains have some 10,000.
const MOST: usize = 20_000;
/// Of virtual interfaces (containers have one or more each) so many are read; `all`, `default`, `lo` and physical ones always are.
const VIRTUAL_INTERFACES: usize = 16;
/// Values are cut at this many bytes.
const LONGEST: usize = 2048;

struct Sysctl;

/// What one walk over the tree found.
#[derive(Default)]
struct Walk {
    settings: Vec<(String, String)>,
    denied: Vec<String>,
    failed: Vec<String>,
    skipped_interfaces: Vec<String>,
    over: bool,
}

impl Reader for Sysctl {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let mut walk = Walk::default();
        walk.folder(host, "/proc/sys", "", 0);
        let mut folded = Folded::default();
        for (name, value) in &walk.settings {
            folded.add(name, value);
        }
        for (name, value) in folded.finish() {
            let cells = [out.text(&name), out.text(&value)];
            out.row(0, &cells);
        }
        if !walk.denied.is_empty() {
            let why = Unavailable::denied(format!("{} settings: {}", walk.denied.len(), some_of(&walk.denied)));
            out.missing("denied settings", why.remedy("run as root"));
        }
        if !walk.failed.is_empty() {
            let why = format!("{} settings: {}", walk.failed.len(), some_of(&walk.failed));
            out.missing("unreadable settings", Unavailable::failed(why));
        }
        if !walk.skipped_interfaces.is_empty() {
            let why = format!(
                "settings of {} virtual interfaces beyond the first {VIRTUAL_INTERFACES}: {}",
                walk.skipped_interfaces.len(),
                some_of(&walk.skipped_interfaces)
            );
            out.missing("virtual interfaces", Unavailable::not_applicable(why));
        }
        if walk.over {
            let why = format!("/proc/sys: more than {MOST} settings; the rest were not read");
            out.missing("further settings", Unavailable::not_applicable(why));
        }
        if walk.settings.is_empty() {
            return Err(Unavailable::failed("/proc/sys: no setting could be read"));
        }
        Ok(())
    }
}

/// The first names of a list.
fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { shown + " …" } else { shown }
}

impl Walk {
    fn folder(&mut self, host: &Host, path: &str, prefix: &str, depth: usize) {
        let Ok(names) = host.list(path) else { return };
        let names = if is_interfaces(prefix) { self.interfaces(host, names) } else { names };
        for name in names {
            if self.settings.len() >= MOST {
                self.over = true;
                return;
            }
            let inner = format!("{path}/{name}");
            // A dot within a name is written as a slash, as sysctl(8) does: net.ipv4.conf.eth0/100.forwarding.
            let name = name.replace('.', "/");
            let setting = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
            let Ok(found) = host.path(&inner).symlink_metadata() else { continue };
            if found.is_dir() {
                if depth < DEPTH {
                    self.folder(host, &inner, &setting, depth + 1);
                }
            } else if !LEFT_OUT.iter().any(|pattern| matches(pattern, &setting)) && is_readable(&found) {
                self.file(host, &inner, setting);
            }
        }
    }

    fn file(&mut self, host: &Host, path: &str, setting: String) {
        match host.read_text(path) {
            Ok(text) => self.settings.push((setting, one_line(&text))),
            Err(error) if error.is_denied() => self.denied.push(setting),
            Err(error) if error.is_absent() => {}
            Err(_) => self.failed.push(setting),
        }
    }

    /// Those of the folders of interfaces that are read.
    fn interfaces(&mut self, host: &Host, names: Vec<String>) -> Vec<String> {
        let mut virtuals = 0;
        let (kept, skipped) = names.into_iter().partition(|name| {
            let always = matches!(name.as_str(), "all" | "default" | "lo")
                || host.path(&format!("/sys/class/net/{name}/device")).symlink_metadata().is_ok();
            virtuals += usize::from(!always);
            always || virtuals <= VIRTUAL_INTERFACES
        });
        for name in skipped {
            if !self.skipped_interfaces.contains(&name) {
                self.skipped_interfaces.push(name);
            }
        }
        kept
    }
}

/// Whether the folder has one folder for each network interface.
fn is_interfaces(prefix: &str) -> bool {
    matches!(prefix, "net.ipv4.conf" | "net.ipv4.neigh" | "net.ipv6.conf" | "net.ipv6.neigh" | "net.mpls.conf")
}

/// Whether anyone may read the file at all: settings that only act when written to are write-only, even for root.
fn is_readable(found: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    found.permissions().mode() & 0o444 != 0
}

/// A value on one line: tabs become spaces, lines are separated by "; ".
fn one_line(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !value.is_empty() {
            value.push_str("; ");
        }
        value.extend(line.chars().map(|c| if c == '\t' { ' ' } else { c }));
        if value.len() > LONGEST {
            let mut end = LONGEST;
            while !value.is_char_boundary(end) {
                end -= 1;
            }
            value.truncate(end);
            value.push('…');
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};

    #[test]
    fn settings_in_order_without_what_is_none() {
        let (_dir, host) = host_of(&[
            ("/proc/sys/vm/swappiness", "60\n"),
            ("/proc/sys/vm/stat_refresh", ""),
            ("/proc/sys/vm/overcommit_memory", "0\n"),
            ("/proc/sys/fs/file-nr", "1 2 3\n"),
            ("/proc/sys/kernel/random/uuid", "x\n"),
            ("/proc/sys/kernel/printk", "4\t4\t1\t7\n"),
            ("/proc/sys/dev/cdrom/info", "\nCD-ROM information\n\ndrive name:\tsr0\n"),
            ("/proc/sys/net/ipv4/tcp_fastopen_key", "secret"),
            ("/proc/sys/net/ipv6/conf/eth0/stable_secret", "secret"),
        ]);
        let played = play(&SOURCE, &host, 1).unwrap();
        assert_eq!(
            played[0].rows("sysctl"),
            [
                "dev.cdrom.info \"CD-ROM information; drive name: sr0\"",
                "kernel.printk \"4 4 1 7\"",
                "vm.overcommit_memory 0",
                "vm.swappiness 60",
            ]
        );
    }

    #[test]
    fn names_with_dots_and_many_interfaces() {
        let mut files: Vec<(String, &str)> =
            (0..40).map(|i| (format!("/proc/sys/net/ipv4/conf/veth{i}/rp_filter"), "2\n")).collect();
        files.push(("/proc/sys/net/ipv4/conf/eth0.100/rp_filter".into(), "1\n"));
        files.push(("/sys/class/net/eth0.100/device/vendor".into(), ""));
        files.push(("/proc/sys/net/ipv4/conf/all/rp_filter".into(), "0\n"));
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let (_dir, host) = host_of(&files);
        let played = play(&SOURCE, &host, 1).unwrap();
        assert_eq!(
            played[0].rows("sysctl"),
            ["net.ipv4.conf.*.rp_filter 2", "net.ipv4.conf.all.rp_filter 0", "net.ipv4.conf.eth0/100.rp_filter 1"]
        );
        assert_eq!(played[0].coverage.len(), 1);
        assert!(played[0].coverage[0].why.contains("24 virtual interfaces"), "{:?}", played[0].coverage);
    }

    #[test]
    fn write_only_settings_are_left_out() {
        use std::os::unix::fs::PermissionsExt;
        let (dir, host) = host_of(&[("/proc/sys/vm/compact_memory", "1"), ("/proc/sys/vm/swappiness", "1")]);
        let path = dir.path().join("proc/sys/vm/compact_memory");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o200)).unwrap();
        assert_eq!(play(&SOURCE, &host, 1).unwrap()[0].rows("sysctl"), ["vm.swappiness 1"]);
    }

    #[test]
    fn this_host() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 2).unwrap();
        let rows = played[0].rows("sysctl");
        assert_eq!(played[0].row("sysctl", "vm.swappiness "), "vm.swappiness 60");
        assert!(rows.len() > 300, "{}", rows.len());
        assert!(rows.is_sorted());
        assert_eq!(rows, played[1].rows("sysctl"), "a setting that changes by itself");
        assert!(!rows.iter().any(|row| row.contains("secret") || row.contains("fastopen_key")));
    }

    #[test]
    fn hostile_content() {
        for content in ["", "\0", "\u{ffff}\n\n\t", &"x".repeat(10_000)] {
            survives(&SOURCE, content);
        }
        assert_eq!(one_line(&"é".repeat(3000)).chars().last(), Some('…'));
        assert!(play(&SOURCE, &host_of(&[("/proc/x", "")]).1, 1).is_err());
    }
}
