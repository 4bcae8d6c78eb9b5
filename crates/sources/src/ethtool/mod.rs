//! Statistics of network drivers, as `ethtool -S` shows them: what happens inside the adapter, on each queue, and at the limits of a
//! cloud's network. Of the network namespace of this program.

mod fields;

use crate::{Pace, Reader, Scope, Source};
use fields::{LEVELS, STATISTICS, name_and_queue};
use host::{DriverStatistics, Host};
use model::{Chart, ChartKind, NULL, Out, Page, Unavailable};

static CHARTS: &[Chart] = &[
    Chart::new(
        "ethtool-allowances",
        Page::Network,
        ChartKind::Line,
        "Packets held back by the instance's network allowances",
        "Anything above zero: the cloud queued or dropped packets because this size of instance may not send or receive more. A larger instance, or fewer and larger packets, ends it.",
        "ethtool",
        &[
            "bw_in_allowance_exceeded",
            "bw_out_allowance_exceeded",
            "pps_allowance_exceeded",
            "conntrack_allowance_exceeded",
            "linklocal_allowance_exceeded",
        ],
    ),
    Chart::new(
        "ethtool-rx-queues",
        Page::Network,
        ChartKind::Line,
        "Packets received by each queue",
        "Lines far apart: one queue, and the CPU that serves it, carries most of the traffic. More queues, or another hash of the flows, spreads it.",
        "ethtool",
        &["queue_N_rx_cnt", "rx_queue_N_packets", "rxN_packets", "rx-N.packets"],
    )
    .by(&["interface", "queue"], 32),
];

/// Driver statistics.
pub static SOURCE: Source = Source {
    name: "ethtool",
    title: "statistics of network drivers",
    documented: "ethtool(8), -S; include/uapi/linux/ethtool.h; the driver's page under Documentation/networking/device_drivers",
    reads: &["/sys/class/net/*/device", "/.ethtool/*/statistics"],
    needs: "",
    pace: Pace::AtLeast(1),
    tables: &[&STATISTICS, &LEVELS],
    charts: CHARTS,
    open: |host, _scope: &Scope| {
        let mut all = Ethtool { interfaces: Vec::new(), reads: 0, next: 0 };
        all.look_for_interfaces(host);
        if all.interfaces.is_empty() {
            let names = host.glob("/sys/class/net/*/device");
            return Err(match names.is_empty() {
                true => Unavailable::not_applicable(
                    "/sys/class/net: no interface with a device; virtual ones have no driver statistics of their own",
                ),
                false => {
                    Unavailable::absent(format!("ethtool: no driver of {} interfaces keeps statistics", names.len()))
                }
            });
        }
        Ok(Box::new(all))
    },
};

/// New interfaces are looked for at every so many reads.
const LOOK_EVERY: u32 = 10;

/// Some drivers ask the adapter's firmware and take milliseconds. Then they are read more rarely, for at most this share of the time.
const ONE_IN: u64 = 1000;

struct Ethtool {
    interfaces: Vec<Interface>,
    reads: u32,
    /// Not read again before this time.
    next: u64,
}

struct Interface {
    name: String,
    statistics: DriverStatistics,
    /// What each statistic is, for the names of this generation.
    fields: Vec<Field>,
    generation: u64,
    /// The last read failed, and that was said.
    said: bool,
}

struct Field {
    /// Labels: interface, queue, field.
    labels: [i64; 3],
    level: bool,
    /// Shown at 0 too.
    known: bool,
}

impl Ethtool {
    fn look_for_interfaces(&mut self, host: &Host) {
        for path in host.glob("/sys/class/net/*/device") {
            let Some(name) = path.split('/').nth(4) else { continue };
            if self.interfaces.iter().all(|known| known.name != name)
                && let Ok(statistics) = host.driver_statistics(name)
            {
                let name = name.to_owned();
                self.interfaces.push(Interface { name, statistics, fields: Vec::new(), generation: 0, said: false });
            }
        }
    }
}

impl Reader for Ethtool {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let start = host.now();
        // No rows say that nothing was read at this time.
        if start < self.next {
            return Ok(());
        }
        self.reads = self.reads.wrapping_add(1);
        if self.reads.is_multiple_of(LOOK_EVERY) {
            self.look_for_interfaces(host);
        }
        let mut gone = Vec::new();
        for (index, interface) in self.interfaces.iter_mut().enumerate() {
            match interface.read(host, out) {
                Ok(()) => interface.said = false,
                Err(error) if error.is_absent() => gone.push(index),
                Err(error) => {
                    if !std::mem::replace(&mut interface.said, true) {
                        out.missing(&interface.name, error.into());
                    }
                }
            }
        }
        for index in gone.into_iter().rev() {
            self.interfaces.remove(index);
        }
        let end = host.now();
        self.next = end + end.saturating_sub(start).saturating_mul(ONE_IN);
        Ok(())
    }
}

impl Interface {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), host::ReadError> {
        self.statistics.read(host)?;
        if self.generation != self.statistics.generation() {
            self.generation = self.statistics.generation();
            let interface = out.text(&self.name);
            self.fields = self
                .statistics
                .names()
                .iter()
                .map(|raw| {
                    let (name, queue) = name_and_queue(raw);
                    let level = LEVELS.column(&name).is_some();
                    Field {
                        labels: [interface, queue.unwrap_or(NULL), out.text(&name)],
                        level,
                        known: queue.is_none() && (level || STATISTICS.column(&name).is_some()),
                    }
                })
                .collect();
        }
        for (field, &value) in self.fields.iter().zip(self.statistics.values()) {
            if value == 0 && !field.known {
                continue;
            }
            let [interface, queue, name] = field.labels;
            let value = i64::try_from(value).unwrap_or(i64::MAX);
            out.row(usize::from(field.level), &[interface, queue, name, value]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};

    #[test]
    fn virtio_in_two_frames() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 2).unwrap();
        assert_eq!(played[0].row("ethtool", "eth0 - rx_drops "), "eth0 - rx_drops 0");
        assert_eq!(played[0].rows("ethtool").iter().filter(|r| r.contains(" 0 rxN_")).count(), 1, "zeros are left out");
        assert_ne!(played[0].row("ethtool", "eth0 0 txN_kicks "), played[1].row("ethtool", "eth0 0 txN_kicks "));
    }

    #[test]
    fn ena_allowances_and_queues() {
        let played = play(&SOURCE, &fixture("samples-network"), 2).unwrap();
        let rows = |frame: usize, start: &str| played[frame].row("ethtool", start).to_owned();
        assert_eq!(rows(0, "eth0 - bw_out_allowance"), "eth0 - bw_out_allowance_exceeded 0");
        assert_eq!(rows(1, "eth0 - bw_out_allowance"), "eth0 - bw_out_allowance_exceeded 1290");
        assert_eq!(rows(1, "eth0 3 queue_N_rx_cnt"), "eth0 3 queue_N_rx_cnt 3301");
        assert_eq!(played[1].rows("ethtool_levels"), ["eth0 - conntrack_allowance_available 136812"]);
    }

    #[test]
    fn names_that_change_and_interfaces_that_go() {
        let device = ("/sys/class/net/eth0/device/vendor", "");
        let (dir, host) = host_of(&[device, ("/.ethtool/eth0/statistics", "a 1\nrx0_packets 2\n")]);
        let mut reader = (SOURCE.open)(&host, &Scope::default()).unwrap();
        let read = |reader: &mut Box<dyn Reader>| {
            let mut rows = vec![model::Rows::default(); 2];
            let (mut symbols, mut coverage, mut facts) = (Default::default(), Vec::new(), Vec::new());
            let mut out = Out::new("ethtool", SOURCE.tables, &mut rows, &mut symbols, &mut coverage, &mut facts);
            reader.read(&host, &mut out).unwrap();
            (rows[0].len(), coverage.len())
        };
        assert_eq!(read(&mut reader), (2, 0));
        let file = dir.path().join(".ethtool/eth0/statistics");
        std::fs::write(&file, "a 1\nrx0_packets 2\nrx1_packets 3\n").unwrap();
        assert_eq!(read(&mut reader), (3, 0));
        std::fs::write(&file, "a x\n").unwrap();
        assert_eq!(read(&mut reader), (0, 1));
        assert_eq!(read(&mut reader), (0, 0), "said once");
        std::fs::remove_file(&file).unwrap();
        assert_eq!(read(&mut reader), (0, 0));
    }

    #[test]
    fn nothing_to_read_and_hostile() {
        let (_dir, host) = host_of(&[("/sys/class/net/lo/mtu", "65536")]);
        assert_eq!(play(&SOURCE, &host, 1).err().unwrap().status, model::Status::NotApplicable);
        let (_dir, host) = host_of(&[("/sys/class/net/eth0/device/vendor", "")]);
        assert_eq!(play(&SOURCE, &host, 1).err().unwrap().status, model::Status::Absent);
        for content in ["", "\n", "a", "a b", " 1", "a 99999999999999999999999", "\0\u{ffff} 1"] {
            survives(&SOURCE, content);
        }
    }
}
