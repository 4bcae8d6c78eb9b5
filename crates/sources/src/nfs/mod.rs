//! The NFS client: calls in all, from `/proc/net/rpc/nfs`; data, events and operations of each mount, from `/proc/self/mountstats`. Both are
//! counters of this kernel and ask no server, so that a dead one stalls nothing. The counts by operation in `/proc/net/rpc/nfs` are left
//! out: mountstats has them by name and by mount.

mod tables;

use crate::entities::Entities;
use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host};
use model::{Chart, ChartKind, NULL, Out, Page, Unavailable};
use tables::{CLIENT, EVENTS, MOUNTS, OPS};

static CHARTS: &[Chart] = &[
    Chart::new(
        "nfs-data",
        Page::Disks,
        ChartKind::Line,
        "NFS: data from and to servers",
        "Bytes that went over the network. Much less than what programs read says that the page cache serves them.",
        "nfs_mounts",
        &["server_read", "server_write"],
    ),
    Chart::new(
        "nfs-times",
        Page::Disks,
        ChartKind::Line,
        "NFS: mean time of an operation",
        "Time on the network and in the server, and before that in this host's queue. A queue that grows alone wants more slots or connections.",
        "nfs_ops",
        &["rtt", "queue"],
    )
    .by(&["mount"], 10),
    Chart::new(
        "nfs-trouble",
        Page::Disks,
        ChartKind::Line,
        "NFS: calls sent again",
        "Anything above zero: the server or the network was too slow to answer within the timeout, often for many seconds.",
        "nfs_client",
        &["retransmissions"],
    ),
];

/// The NFS client.
pub static SOURCE: Source = Source {
    name: "nfs",
    title: "NFS client",
    documented: "fs/nfs/super.c, nfs_show_stats; net/sunrpc/stats.c; mountstats(8)",
    reads: &["/proc/net/rpc/nfs", "/proc/self/mountstats"],
    needs: "",
    pace: Pace::AtLeast(1),
    tables: &[&CLIENT, &MOUNTS, &OPS, &EVENTS],
    charts: CHARTS,
    open: |host, _scope: &Scope| {
        let mut mountstats = host.open("/proc/self/mountstats")?;
        if !parse::lines(mountstats.read(host)?).filter_map(mount_line).any(|(_, _, kind)| is_nfs(kind)) {
            return Err(Unavailable::not_applicable("/proc/self/mountstats: no NFS file system is mounted"));
        }
        // Absent in containers whose network namespace has no client.
        let client = host.open("/proc/net/rpc/nfs").map_err(Unavailable::from);
        Ok(Box::new(Nfs {
            mountstats,
            client,
            said: false,
            mounts: Entities::default(),
            ops: Entities::default(),
            fields: Vec::new(),
        }))
    },
};

struct Nfs {
    mountstats: HeldFile,
    client: Result<HeldFile, Unavailable>,
    said: bool,
    /// Symbols of mount and device, by the line that begins the mount.
    mounts: Entities<(i64, i64)>,
    ops: Entities<i64>,
    /// Symbols of the events, in the order of the line.
    fields: Vec<i64>,
}

/// Device, mount point and type of a line "device D mounted on M with fstype T …".
fn mount_line(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let mut words = parse::words(line.strip_prefix(b"device ")?);
    let device = words.next()?;
    let mount = words.next().filter(|word| *word == b"mounted").and(words.next()).and(words.next())?;
    let kind = words.next().filter(|word| *word == b"with").and(words.next()).and(words.next())?;
    Some((device, mount, kind))
}

fn is_nfs(kind: &[u8]) -> bool {
    matches!(kind, b"nfs" | b"nfs4")
}

/// What the lines of one mount gave: mount, device, eight numbers of data, eight of transport.
type Mount = [i64; 18];

impl Reader for Nfs {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        match &mut self.client {
            Ok(client) => {
                for line in parse::lines(client.read(host)?) {
                    let mut words = parse::words(line);
                    if words.next() == Some(b"rpc") {
                        out.row(0, &[words.number(), words.number(), words.number()]);
                    }
                }
            }
            Err(why) if !self.said => {
                self.said = true;
                out.missing("nfs_client", why.clone());
            }
            Err(_) => {}
        }
        if self.fields.is_empty() {
            self.fields = EVENTS.values().map(|column| out.text(column.name)).collect();
        }
        self.mounts.start();
        self.ops.start();
        let mut mount: Option<Mount> = None;
        let mut in_ops = false;
        for line in parse::lines(self.mountstats.read(host)?) {
            if line.starts_with(b"device ") {
                finish(&mut mount, out);
                in_ops = false;
                if let Some((device, path, kind)) = mount_line(line)
                    && is_nfs(kind)
                {
                    let (path, device) = *self
                        .mounts
                        .find(line, || (out.text(&parse::unescape(path)), out.text(&parse::unescape(device))));
                    let mut cells = [NULL; 18];
                    [cells[0], cells[1]] = [path, device];
                    mount = Some(cells);
                }
                continue;
            }
            let Some(cells) = &mut mount else { continue };
            let mut words = parse::words(line);
            let Some(first) = words.next() else { continue };
            match first {
                b"bytes:" => parse::fill(&mut words, cells.get_mut(2..10).unwrap_or_default()),
                b"xprt:" => transport(&mut words, cells),
                b"events:" => {
                    for (&field, word) in self.fields.iter().zip(words) {
                        let value = parse::number(word);
                        if value != NULL && value != 0 {
                            out.row(3, &[cells[0], field, value]);
                        }
                    }
                }
                b"per-op" => in_ops = true,
                name if in_ops => {
                    let Some(name) = name.strip_suffix(b":") else { continue };
                    let mut row = [NULL; 11];
                    parse::fill(&mut words, row.get_mut(2..).unwrap_or_default());
                    if row[2] != NULL && row[2..].iter().any(|&value| value != 0 && value != NULL) {
                        row[0] = cells[0];
                        row[1] = *self.ops.find(name, || out.bytes(name));
                        out.row(2, &row);
                    }
                }
                _ => {}
            }
        }
        finish(&mut mount, out);
        Ok(())
    }
}

/// Puts the row of a mount whose lines have all been read.
fn finish(mount: &mut Option<Mount>, out: &mut Out<'_>) {
    if let Some(cells) = mount.take() {
        out.row(1, &cells);
    }
}

/// Adds a line "xprt: tcp …"; a mount with several connections (nconnect) has several.
fn transport(words: &mut parse::Words<'_>, cells: &mut Mount) {
    // tcp, rdma: source port, binds, connects, connect time, idle time, then as udp after its binds: sends, receives, bad xids, slots used,
    // backlog, most slots, sending, pending (net/sunrpc/xprtsock.c, xs_tcp_print_stats, xs_udp_print_stats).
    let mut n = [NULL; 13];
    let connects = match words.next() {
        Some(b"udp") => {
            words.next();
            words.next();
            NULL
        }
        Some(b"local") => {
            words.nth(3);
            NULL
        }
        Some(b"tcp" | b"rdma") => {
            words.nth(1);
            let connects = words.number();
            words.nth(1);
            connects
        }
        _ => return,
    };
    parse::fill(words, &mut n);
    // n: sends, receives, bad xids, slots used, backlog, most slots, sending, pending.
    let values = [connects, n[0], n[1], n[2], n[3], n[4], n[6], n[7]];
    for (cell, value) in cells.iter_mut().skip(10).zip(values) {
        if value != NULL {
            *cell = if *cell == NULL { value } else { cell.saturating_add(value) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};
    use proptest::prelude::*;

    #[test]
    fn two_mounts() {
        let played = play(&SOURCE, &fixture("samples-network"), 1).unwrap();
        assert!(played[0].error.is_none());
        assert_eq!(played[0].rows("nfs_client"), ["8123 2 8124"]);
        assert_eq!(
            played[0].rows("nfs_mounts"),
            [
                "/data nas:/export/data 1048576 2097152 0 0 524288 2097152 128 512 2 8000 7998 1 15400 12 700 9000",
                "\"/my files\" nas:/home 10 20 0 0 10 20 1 1 - 100 100 0 120 0 - -"
            ]
        );
        assert_eq!(played[0].row("nfs_ops", "/data READ "), "/data READ 900 902 0 129600 530000 40 1800 1900 0");
        assert_eq!(
            played[0].row("nfs_ops", "\"/my files\" GETATTR "),
            "\"/my files\" GETATTR 99 99 0 9900 11088 1 60 65 -"
        );
        assert!(played[0].rows("nfs_ops").iter().all(|row| !row.contains("NULL")), "never made");
        assert_eq!(played[0].row("nfs_events", "/data vfs_open "), "/data vfs_open 41");
        assert_eq!(played[0].row("nfs_events", "/data delay "), "/data delay 3");
    }

    #[test]
    fn nothing_mounted_and_hostile() {
        let none = "device proc mounted on /proc with fstype proc\n";
        let (_dir, host) = host_of(&[("/proc/self/mountstats", none)]);
        assert_eq!(play(&SOURCE, &host, 1).err().unwrap().status, model::Status::NotApplicable);
        let (_dir, host) = host_of(&[(
            "/proc/self/mountstats",
            "device a mounted on /m with fstype nfs statvers=1.1\n\tevents:\n\txprt:\n\txprt: tcp\n\tbytes: x\n\tper-op\n\tREAD\n\t:\n",
        )]);
        let played = play(&SOURCE, &host, 1).unwrap();
        assert_eq!(played[0].rows("nfs_mounts"), ["/m a".to_owned() + &" -".repeat(16)]);
        assert_eq!(played[0].coverage.len(), 1, "the file of the client is not there");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn nothing_panics(rest in "[a-z: 0-9\n\t]{0,120}") {
            survives(&SOURCE, &format!("device a mounted on /m with fstype nfs4\nper-op\n{rest}"));
            survives(&SOURCE, &rest);
        }
    }
}
