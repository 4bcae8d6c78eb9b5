//! Language runtimes found running, by the names of their programs, and services that matter for performance. Processes of the same
//! kind are one fact; nothing here depends on a process id.

use super::{Facts, jvm};
use model::Unavailable;
use std::collections::{BTreeMap, BTreeSet};

/// Programs that interpret or compile other programs, and servers whose version matters. The name of the program begins with the
/// second word; what follows may only be a version: `python3.11`, `php-fpm8.2`.
const RUNTIMES: &[(&str, &str)] = &[
    ("python", "python"),
    ("python", "pypy"),
    ("node", "node"),
    ("deno", "deno"),
    ("bun", "bun"),
    ("ruby", "ruby"),
    ("php", "php-fpm"),
    ("php", "php"),
    ("perl", "perl"),
    ("dotnet", "dotnet"),
    ("erlang", "beam.smp"),
    ("r", "R"),
    ("julia", "julia"),
    ("lua", "luajit"),
    ("postgres", "postgres"),
    ("mysql", "mysqld"),
    ("mysql", "mariadbd"),
    ("redis", "redis-server"),
    ("redis", "valkey-server"),
    ("mongodb", "mongod"),
    ("nginx", "nginx"),
    ("haproxy", "haproxy"),
    ("envoy", "envoy"),
    ("apache", "apache2"),
    ("apache", "httpd"),
    ("memcached", "memcached"),
    ("clickhouse", "clickhouse-server"),
    ("containerd", "containerd"),
    ("docker", "dockerd"),
];

/// Services that move work, change settings, or cost time on every event.
const SERVICES: &[&str] = &[
    "irqbalance",
    "tuned",
    "numad",
    "ksmtuned",
    "thermald",
    "power-profiles-daemon",
    "auditd",
    "systemd-oomd",
    "earlyoom",
    "falco",
    "osqueryd",
    "auto-cpufreq",
    "uksmd",
    "haveged",
    "rngd",
    "preload",
    "gamemoded",
    "chronyd",
    "ntpd",
    "kubelet",
];

/// Longer than any command line that is looked at.
const LONGEST: usize = 1 << 20;

pub(super) fn find(facts: &mut Facts<'_, '_>) {
    let pids = match facts.host.list("/proc") {
        Ok(names) => names.into_iter().filter(|name| name.bytes().all(|b| b.is_ascii_digit())),
        Err(error) => return facts.missing("processes", error.into()),
    };
    let mut runtimes: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut services: BTreeSet<&str> = BTreeSet::new();
    let mut machines = jvm::Machines::default();
    let mut refused = 0;
    let mut cmdline = Vec::new();
    for pid in pids {
        let comm = facts.host.read_text(&format!("/proc/{pid}/comm")).unwrap_or_default();
        // The kernel cuts the name at 15 bytes.
        let is_service = |name: &&&str| comm == name.get(..15).unwrap_or(name);
        services.extend(SERVICES.iter().find(is_service).copied());
        let exe = match facts.host.link(&format!("/proc/{pid}/exe")) {
            Ok(path) => path.to_string_lossy().trim_end_matches(" (deleted)").to_owned(),
            Err(error) => {
                refused += usize::from(error.is_denied());
                continue;
            }
        };
        let program = exe.rsplit('/').next().unwrap_or(&exe);
        if let Some((name, version)) = runtime(program) {
            // python3.11 of …/versions/3.11.7/bin: the path says more.
            let of_path =
                version_in(&exe).filter(|path| version.as_ref().is_none_or(|name| path.starts_with(name.as_str())));
            let version = of_path.or(version).unwrap_or_default();
            runtimes.entry(name).or_default().insert(format!("{version} ({exe})").trim_start().to_owned());
            continue;
        }
        if facts.host.read_into(&format!("/proc/{pid}/cmdline"), &mut cmdline).is_ok() && cmdline.len() <= LONGEST {
            machines.meet(facts, &pid, &exe, &cmdline);
        }
    }
    for (name, found) in runtimes {
        facts.set(name, found.into_iter().collect::<Vec<_>>().join("; "));
    }
    for service in services {
        facts.set_in("service", service, "running");
    }
    machines.tell(facts);
    if refused > 0 {
        let processes = if refused == 1 { "one process".to_owned() } else { format!("{refused} processes") };
        let why = Unavailable::denied(format!("/proc/PID/exe: the kernel refused it for {processes}"));
        facts.missing("programs", why.remedy("CAP_SYS_PTRACE, which root has outside of containers"));
    }
}

/// The runtime that a program is, and the version in its name.
fn runtime(program: &str) -> Option<(&'static str, Option<String>)> {
    RUNTIMES.iter().find_map(|(name, start)| {
        let rest = program.strip_prefix(start)?;
        let is_version = rest.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'-');
        let version = rest.trim_matches(|c: char| !c.is_ascii_digit());
        is_version.then(|| (*name, (!version.is_empty()).then(|| version.to_owned())))
    })
}

/// The version in a path such as `/opt/nvm/versions/node/v18.2.0/bin/node`: the last part that is one.
fn version_in(path: &str) -> Option<String> {
    path.rsplit('/').skip(1).find_map(|part| {
        // pypy3.10-v7.3, node-v20.1.0-linux-x64, 15, v18.2.0.
        part.split(['-', '_', '@']).find_map(|word| {
            let word = word.strip_prefix('v').unwrap_or(word);
            let is_version = word.starts_with(|c: char| c.is_ascii_digit())
                && word.bytes().all(|b| b.is_ascii_digit() || b == b'.')
                && !matches!(word, "32" | "64" | "86");
            is_version.then(|| word.to_owned())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_versions() {
        assert_eq!(runtime("python3.11"), Some(("python", Some("3.11".into()))));
        assert_eq!(runtime("node"), Some(("node", None)));
        assert_eq!(runtime("php-fpm8.2"), Some(("php", Some("8.2".into()))));
        assert_eq!(runtime("nodemon"), None);
        assert_eq!(runtime("bundle"), None);
        assert_eq!(version_in("/opt/nvm/versions/node/v18.2.0/bin/node").as_deref(), Some("18.2.0"));
        assert_eq!(version_in("/usr/lib/postgresql/15/bin/postgres").as_deref(), Some("15"));
        assert_eq!(version_in("/opt/node-v20.1.0-linux-x64/bin/node").as_deref(), Some("20.1.0"));
        assert_eq!(version_in("/usr/bin/node"), None);
        assert_eq!(version_in("/usr/lib64/x"), None);
    }
}
