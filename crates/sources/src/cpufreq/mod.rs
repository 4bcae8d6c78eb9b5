//! Frequency of each CPU, its limits, and the time spent at each frequency, from `/sys/devices/system/cpu/cpufreq/`; where that is
//! not there, the measured frequency of `/proc/cpuinfo`.

use crate::attributes::{Attributes, Online};
use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host, ReadError};
use model::{Chart, ChartKind, Column, Compare, Fold, NULL, Out, Page, Table, Unavailable, Unit};

static FREQUENCY: Table = Table::wide(
    "cpufreq",
    "frequency of one CPU",
    &[
        Column::number("cpu", "CPU number"),
        Column::gauge(
            "frequency",
            Unit::Kilohertz,
            "frequency while it last ran something, as the driver or CPU tells",
        )
        .better()
        .compared(Compare::Difference)
        .folded(Fold::Mean)
        .floor(50e6),
    ],
);

const fn limit(name: &'static str, help: &'static str) -> Column {
    Column::gauge(name, Unit::Kilohertz, help).compared(Compare::Difference).folded(Fold::Mean).floor(50e6)
}

static POLICY: Table = Table::wide(
    "cpufreq_policy",
    "limits of a group of CPUs that share one frequency",
    &[
        Column::number("policy", "number of the policy: its first CPU"),
        limit("scaling_min_freq", "least frequency that may be chosen now"),
        limit("scaling_max_freq", "greatest frequency that may be chosen now; settings, firmware and heat lower it")
            .better(),
        limit("cpuinfo_min_freq", "least frequency of the CPU").compared(Compare::Never),
        limit("cpuinfo_max_freq", "greatest frequency of the CPU, turbo included").compared(Compare::Never),
        limit("bios_limit", "limit that the firmware sets now").better(),
        limit("base_frequency", "guaranteed frequency, without turbo").compared(Compare::Never),
    ],
);

static TIME: Table = Table::wide(
    "cpufreq_time",
    "time that a group of CPUs spent at one frequency, since the driver was loaded",
    &[
        Column::number("policy", "number of the policy: its first CPU"),
        Column::number("frequency", "frequency, kHz"),
        Column::counter("time", Unit::ClockTicks, "time at this frequency").floor(0.05),
    ],
)
.grouped(&[&["frequency"]]);

static CHARTS: &[Chart] = &[
    Chart::new(
        "cpufreq-mean",
        Page::Cpu,
        ChartKind::Line,
        "CPU frequency",
        "Mean over CPUs. A lower line under the same load means slower work: look at the governor, power limits and heat.",
        "cpufreq",
        &["frequency"],
    ),
    Chart::new(
        "cpufreq-heat",
        Page::Cpu,
        ChartKind::Heat,
        "Frequency of each CPU",
        "One row per CPU, darker is faster. Few fast rows are turbo; rows that stay light under load are held back.",
        "cpufreq",
        &["frequency"],
    )
    .by(&["cpu"], 0),
];

/// CPU frequency.
pub static SOURCE: Source = Source {
    name: "cpufreq",
    title: "CPU frequency and its limits",
    documented: "Documentation/admin-guide/pm/cpufreq.rst; Documentation/cpu-freq/cpufreq-stats.rst; arch/x86/kernel/cpu/proc.c",
    reads: &[
        "/sys/devices/system/cpu/online",
        "/sys/devices/system/cpu/cpufreq/policy*/affected_cpus",
        "/sys/devices/system/cpu/cpufreq/policy*/scaling_cur_freq",
        "/sys/devices/system/cpu/cpufreq/policy*/scaling_min_freq",
        "/sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq",
        "/sys/devices/system/cpu/cpufreq/policy*/cpuinfo_min_freq",
        "/sys/devices/system/cpu/cpufreq/policy*/cpuinfo_max_freq",
        "/sys/devices/system/cpu/cpufreq/policy*/bios_limit",
        "/sys/devices/system/cpu/cpufreq/policy*/base_frequency",
        "/sys/devices/system/cpu/cpufreq/policy*/stats/time_in_state",
        "/proc/cpuinfo",
    ],
    needs: "",
    // `/proc/cpuinfo` costs about 13 µs a CPU, scaling_cur_freq 2 µs and, with some drivers, an interrupt of that CPU.
    pace: Pace::AtLeast(2),
    tables: &[&FREQUENCY, &POLICY, &TIME],
    charts: CHARTS,
    open,
};

const LIMITS: [&str; 6] =
    ["scaling_min_freq", "scaling_max_freq", "cpuinfo_min_freq", "cpuinfo_max_freq", "bios_limit", "base_frequency"];
/// Limits change seldom: they are read at every so manieth read.
const LIMITS_EVERY: u32 = 5;

fn open(host: &Host, _scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    let mut all = Policies {
        online: Online::open(host, "/sys/devices/system/cpu/online")?,
        policies: Vec::new(),
        at_least: 0,
        reads: 0,
        buffer: Vec::new(),
    };
    all.find(host)?;
    if !all.policies.is_empty() {
        return Ok(Box::new(all));
    }
    let mut file = host.open("/proc/cpuinfo")?;
    let text = file.read(host)?;
    // Without the counters APERF and MPERF the file gives the nominal frequency, which is no measurement.
    let measured = parse::lines(text)
        .find(|line| line.starts_with(b"flags"))
        .is_some_and(|flags| parse::words(flags).any(|word| word == b"aperfmperf"));
    if measured {
        return Ok(Box::new(Cpuinfo { file, told: false }));
    }
    Err(Unavailable::absent(
        "/sys/devices/system/cpu/cpufreq: no policies, and the CPU shows no APERF and MPERF counters (flag aperfmperf of /proc/cpuinfo): \
         its frequency cannot be measured",
    )
    .remedy("record on the host of this virtual machine, or load a cpufreq driver"))
}

struct Policy {
    number: i64,
    cpus: Vec<i64>,
    current: Attributes,
    limits: Attributes,
    /// The row of limits, as last read.
    row: [i64; 7],
    times: Option<HeldFile>,
}

struct Policies {
    online: Online,
    policies: Vec<Policy>,
    at_least: u64,
    reads: u32,
    buffer: Vec<u8>,
}

impl Policies {
    /// Looks for the policies, if other CPUs are online than before.
    fn find(&mut self, host: &Host) -> Result<(), ReadError> {
        const FOLDER: &str = "/sys/devices/system/cpu/cpufreq";
        if self.online.changed(host)?.is_none() {
            return Ok(());
        }
        self.policies.clear();
        self.reads = 0;
        for entry in host.list(FOLDER).unwrap_or_default() {
            let Some(number) = entry.strip_prefix("policy").and_then(|n| n.parse().ok()) else { continue };
            let folder = format!("{FOLDER}/{entry}");
            let current = Attributes::find(host, &folder, &["scaling_cur_freq"]);
            if current.len() == 0 {
                continue;
            }
            let cpus = host.read(&format!("{folder}/affected_cpus")).unwrap_or_default();
            let cpus = parse::words(cpus.trim_ascii()).map(parse::number).filter(|&cpu| cpu != NULL).collect();
            let limits = Attributes::find(host, &folder, &LIMITS);
            let times = host.open(&format!("{folder}/stats/time_in_state")).ok();
            self.policies.push(Policy { number, cpus, current, limits, row: [NULL; 7], times });
        }
        self.policies.sort_by_key(|policy| policy.number);
        // Limits are read at few of the reads.
        self.at_least = Attributes::hold(host, self.policies.iter_mut().map(|policy| &mut policy.current));
        Ok(())
    }
}

impl Reader for Policies {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        self.find(host)?;
        let limits_too = self.reads.is_multiple_of(LIMITS_EVERY);
        self.reads = self.reads.wrapping_add(1);
        let mut failed = None;
        for policy in &mut self.policies {
            let mut frequency = [NULL];
            let error = policy.current.read(host, &mut self.buffer, &mut frequency);
            failed = failed.or(error);
            for &cpu in &policy.cpus {
                out.row(0, &[cpu, frequency[0]]);
            }
            if limits_too {
                // Drivers refuse single limits; what they give is kept.
                policy.limits.read(host, &mut self.buffer, &mut policy.row[1..]);
                policy.row[0] = policy.number;
            }
            out.row(1, &policy.row);
            if let Some(times) = &mut policy.times {
                for line in parse::lines(times.read(host)?) {
                    let mut words = parse::words(line);
                    let (frequency, time) = (words.number(), words.number());
                    if frequency != NULL && time != NULL {
                        out.row(2, &[policy.number, frequency, time]);
                    }
                }
            }
        }
        failed.map_or(Ok(()), |error| Err(error.into()))
    }

    fn at_least(&self) -> u64 {
        self.at_least
    }
}

/// The fallback: "cpu MHz" of `/proc/cpuinfo`.
struct Cpuinfo {
    file: HeldFile,
    told: bool,
}

impl Reader for Cpuinfo {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        if !self.told {
            self.told = true;
            out.missing(
                "cpufreq_policy",
                Unavailable::absent(
                    "/sys/devices/system/cpu/cpufreq: no policies; frequencies are those of /proc/cpuinfo",
                ),
            );
        }
        let mut cpu = NULL;
        for line in parse::lines(self.file.read(host)?) {
            let Some(colon) = memchr::memchr(b':', line) else { continue };
            let value = line.get(colon + 1..).unwrap_or_default().trim_ascii();
            match line.get(..colon).unwrap_or_default().trim_ascii() {
                b"processor" => cpu = parse::number(value),
                b"cpu MHz" if cpu != NULL => out.row(0, &[cpu, parse::fixed(value, 3)]),
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};
    use model::Status;

    #[test]
    fn policies() {
        let played = play(&SOURCE, &fixture("samples-metal"), 2).unwrap();
        assert!(played[0].error.is_none());
        assert_eq!(played[0].rows("cpufreq"), ["0 3401230", "1 3401230"]);
        assert_eq!(played[1].rows("cpufreq"), ["0 2100000", "1 2100000"]);
        for frame in &played {
            assert_eq!(frame.rows("cpufreq_policy"), ["0 800000 3500000 800000 3500000 - 2100000"]);
        }
        assert_eq!(played[0].rows("cpufreq_time"), ["0 3500000 120034", "0 2100000 90210", "0 800000 5501"]);
    }

    #[test]
    fn measured_by_the_cpu_or_not_at_all() {
        let cpuinfo = |flags: &str| {
            format!(
                "processor\t: 0\nflags\t\t: fpu {flags}\ncpu MHz\t\t: 2596.096\n\nprocessor\t: 5\ncpu MHz\t\t: 800.5\n"
            )
        };
        let host =
            |flags: &str| host_of(&[("/sys/devices/system/cpu/online", "0,5\n"), ("/proc/cpuinfo", &cpuinfo(flags))]);
        let (_dir, measured) = host("aperfmperf pni");
        let played = play(&SOURCE, &measured, 2).unwrap();
        assert_eq!(played[0].rows("cpufreq"), ["0 2596096", "5 800500"]);
        assert_eq!((played[0].coverage.len(), played[1].coverage.len()), (1, 0));
        let (_dir, nominal) = host("pni");
        let why = play(&SOURCE, &nominal, 1).err().unwrap();
        assert_eq!(why.status, Status::Absent);
        assert!(why.why.contains("aperfmperf"), "{why}");
    }

    #[test]
    fn hostile_content() {
        for content in ["", "1", "1 2 3\n4", "processor: 1\ncpu MHz: x\nflags: aperfmperf", "<unknown>\n"] {
            survives(&SOURCE, content);
        }
    }
}
