//! Packet processing of each CPU, from `/proc/net/softnet_stat` of this network namespace (the counters themselves are of the whole host).

use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host};
use model::{Chart, ChartKind, Column, Compare, Fold, NULL, Out, Page, Table, Unavailable, Unit};

/// One row per online CPU. All counters are 32 bits wide in the kernel and start again at 0 after 4,294,967,295.
static SOFTNET: Table = Table::wide(
    "softnet",
    "packet processing of each CPU in softirqs",
    &[
        Column::number("cpu", "CPU number"),
        Column::counter("processed", Unit::None, "packets taken in from drivers, or from other CPUs by RPS"),
        Column::counter(
            "dropped",
            Unit::None,
            "packets dropped because the CPU's backlog (net.core.netdev_max_backlog) was full",
        )
        .worse()
        .floor(1.0),
        Column::counter(
            "time_squeeze",
            Unit::None,
            "times that processing stopped with packets left: net.core.netdev_budget or its time was used up",
        )
        .worse()
        .floor(1.0),
        Column::counter("received_rps", Unit::None, "wake-ups by other CPUs to take over packets (RPS)"),
        Column::counter("flow_limit", Unit::None, "packets dropped because one flow filled the backlog (flow limit)")
            .worse()
            .floor(1.0),
        Column::counter(
            "cpu_collision",
            Unit::None,
            "times that another CPU held the lock of the transmit queue; old kernels only",
        )
        .worse(),
        Column::gauge("backlog", Unit::None, "packets in the backlog at this moment")
            .worse()
            .folded(Fold::Sum)
            .compared(Compare::Never),
        Column::gauge("input_queue", Unit::None, "of these, not yet looked at").compared(Compare::Never),
        Column::gauge("process_queue", Unit::None, "of these, being processed").compared(Compare::Never),
    ],
)
.grouped(&[&[], &["cpu"]]);

static CHARTS: &[Chart] = &[
    Chart::new(
        "softnet-heat",
        Page::Network,
        ChartKind::Heat,
        "Packets processed by each CPU",
        "One row per CPU. A single dark row is one queue, or one interrupt affinity, that carries all traffic while the other CPUs look on.",
        "softnet",
        &["processed"],
    )
    .by(&["cpu"], 0),
    Chart::new(
        "softnet-trouble",
        Page::Network,
        ChartKind::Line,
        "Packet processing cut short or dropped",
        "Squeezes say that packets came faster than one pass could take; drops say that they were lost. Both want more queues or CPUs, or a larger budget.",
        "softnet",
        &["time_squeeze", "dropped", "flow_limit"],
    ),
];

/// Packet processing by CPU.
pub static SOURCE: Source = Source {
    name: "softnet",
    title: "packet processing of each CPU",
    documented: "net/core/net-procfs.c, softnet_seq_show",
    reads: &["/proc/net/softnet_stat", "/sys/devices/system/cpu/online"],
    needs: "",
    pace: Pace::Tick,
    tables: &[&SOFTNET],
    charts: CHARTS,
    open: |host, _scope: &Scope| {
        Ok(Box::new(Softnet { stat: host.open("/proc/net/softnet_stat")?, online: Vec::new(), buffer: Vec::new() }))
    },
};

struct Softnet {
    stat: HeldFile,
    /// CPUs online, read anew when the number of lines changes; only for kernels that do not name the CPU of a line.
    online: Vec<i64>,
    buffer: Vec<u8>,
}

/// The most columns that any kernel writes.
const COLUMNS: usize = 15;

impl Reader for Softnet {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let Softnet { stat, online, buffer } = self;
        let bytes = stat.read(host)?;
        let lines = memchr::memchr_iter(b'\n', bytes).count();
        let (mut found, mut bad) = (0, None);
        for (position, line) in parse::lines(bytes).enumerate() {
            let mut words = parse::words(line);
            let mut c = [NULL; COLUMNS];
            let mut columns = 0;
            for (cell, word) in c.iter_mut().zip(&mut words) {
                *cell = parse::hex(word);
                columns += 1;
            }
            // Nine columns at first; later kernels appended RPS (10), the flow limit (11), backlog and CPU (13), the two queues (15).
            let understood = columns >= 9 && c.iter().take(columns).all(|&v| v != NULL);
            if !understood {
                bad.get_or_insert(line);
                continue;
            }
            let cpu = if columns >= 13 {
                c[12]
            } else {
                // Offline CPUs have no line.
                if online.len() != lines {
                    let read = host.read_into("/sys/devices/system/cpu/online", buffer);
                    *online = read.map(|()| parse::list(buffer)).unwrap_or_default();
                }
                if online.len() == lines { online.get(position).copied().unwrap_or(NULL) } else { position as i64 }
            };
            // The ninth column was the count of collisions, later a constant 0. Kernels that write 13 columns no longer count them.
            let collisions = if columns >= 13 { NULL } else { c[8] };
            out.row(0, &[cpu, c[0], c[1], c[2], c[9], c[10], collisions, c[11], c[13], c[14]]);
            found += 1;
        }
        match bad {
            None if found > 0 => Ok(()),
            None => Err(Unavailable::failed("/proc/net/softnet_stat: it is empty")),
            Some(line) => Err(Unavailable::failed(format!(
                "/proc/net/softnet_stat: expected 9 to 15 hexadecimal numbers, found {:?}; {found} lines were read",
                String::from_utf8_lossy(line).chars().take(60).collect::<String>()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};

    #[test]
    fn a_real_host() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 2).unwrap();
        assert_eq!(played[0].rows("softnet").len(), 2);
        assert!(played[0].row("softnet", "1 ").ends_with(" 0 0 - 0 0 0"));
        assert_ne!(played[0].rows("softnet"), played[1].rows("softnet"));
    }

    #[test]
    fn columns_by_kernel_version() {
        let line = |n: usize| (1..=n).map(|i| format!("{i:08x}")).collect::<Vec<_>>().join(" ");
        let text = format!("{}\n{}\n", line(9), line(9));
        let (_dir, host) = host_of(&[("/proc/net/softnet_stat", &text), ("/sys/devices/system/cpu/online", "0,2\n")]);
        let played = play(&SOURCE, &host, 1).unwrap();
        assert_eq!(played[0].rows("softnet"), ["0 1 2 3 - - 9 - - -", "2 1 2 3 - - 9 - - -"]);
        for (n, row) in [
            (10, "0 1 2 3 10 - 9 - - -"),
            (11, "0 1 2 3 10 11 9 - - -"),
            (13, "13 1 2 3 10 11 - 12 - -"),
            (15, "13 1 2 3 10 11 - 12 14 15"),
        ] {
            let (_dir, host) = host_of(&[("/proc/net/softnet_stat", &(line(n) + "\n"))]);
            assert_eq!(play(&SOURCE, &host, 1).unwrap()[0].rows("softnet"), [row], "{n} columns");
        }
    }

    #[test]
    fn hostile_content_is_an_error_not_a_panic() {
        for content in [
            "",
            "\n",
            "1 2 3\n",
            "zz zz zz zz zz zz zz zz zz\n",
            "\0\u{ffff}",
            "fffffffffffffffffffff 1 1 1 1 1 1 1 1\n",
        ] {
            survives(&SOURCE, content);
            let (_dir, host) = host_of(&[("/proc/net/softnet_stat", content)]);
            assert!(play(&SOURCE, &host, 1).unwrap()[0].error.is_some(), "{content:?}");
        }
    }
}
