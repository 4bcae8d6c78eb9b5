//! Space and inodes of the file systems that are mounted, from `/proc/self/mountinfo` and `statvfs(3)`.
//!
//! Network and user-space file systems are named and not asked: when their server is dead, asking never returns, and no time-out can
//! interrupt it. The mounts are those of the mount namespace of this program.

use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host};
use model::{Chart, ChartKind, Column, Compare, Den, Derived, NULL, Out, Page, Polarity, Table, Unavailable, Unit};

static FILESYSTEMS: Table = Table::wide(
    "filesystems",
    "space and inodes of each file system that holds files; of several mounts of one file system the first",
    &[
        Column::label("mount", "where it is mounted"),
        Column::label("device", "device, or what the file system is called where it has none"),
        Column::label("type", "type of the file system"),
        Column::gauge("size", Unit::Bytes, "space in all").compared(Compare::Equality),
        Column::gauge("free", Unit::Bytes, "free space, what is reserved for root included").better(),
        Column::gauge("available", Unit::Bytes, "free space for users who are not root").better(),
        Column::gauge("inodes", Unit::None, "inodes in all; nothing where the file system makes them as needed").compared(Compare::Never),
        Column::gauge("inodes_free", Unit::None, "free inodes").better().compared(Compare::Never),
    ],
)
.derived(&[
    Derived {
        name: "used_share",
        unit: "ratio",
        help: "share of the space in use; above nine tenths many file systems search longer for free space, and copy-on-write ones stall",
        num: &[("size", 1.0), ("free", -1.0)],
        den: Den::Columns(&[("size", 1.0)]),
        polarity: Polarity::Worse,
        compare: Compare::Difference,
        floor: 0.02,
    },
    Derived {
        name: "inodes_share",
        unit: "ratio",
        help: "share of the inodes in use; at 1 no file can be made, whatever space is free",
        num: &[("inodes", 1.0), ("inodes_free", -1.0)],
        den: Den::Columns(&[("inodes", 1.0)]),
        polarity: Polarity::Worse,
        compare: Compare::Difference,
        floor: 0.02,
    },
])
.grouped(&[&["mount", "type"]]);

static CHARTS: &[Chart] = &[
    Chart::new(
        "filesystem-used",
        Page::Disks,
        ChartKind::Line,
        "Share of each file system's space in use",
        "A line that climbs shows what fills up while the workload runs. Above nine tenths, writes can become slower before they fail.",
        "filesystems",
        &["used_share"],
    )
    .by(&["mount"], 20)
    .up_to(1.0),
    Chart::new(
        "filesystem-available",
        Page::Disks,
        ChartKind::Line,
        "Space available on each file system",
        "How much the workload wrote and deleted, as the file system sees it; what is still in the page cache counts too.",
        "filesystems",
        &["available"],
    )
    .by(&["mount"], 20),
];

/// File systems.
pub static SOURCE: Source = Source {
    name: "filesystems",
    title: "space and inodes of file systems",
    documented: "proc_pid_mountinfo(5), statvfs(3)",
    reads: &["/proc/self/mountinfo", "/.statvfs"],
    needs: "",
    pace: Pace::AtLeast(10),
    tables: &[&FILESYSTEMS],
    charts: CHARTS,
    open: |host, _scope: &Scope| {
        Ok(Box::new(Filesystems {
            mountinfo: host.open("/proc/self/mountinfo")?,
            listed: Vec::new(),
            mounts: Vec::new(),
            said: Vec::new(),
        }))
    },
};

struct Filesystems {
    mountinfo: HeldFile,
    /// The list of mounts that `mounts` was made from.
    listed: Vec<u8>,
    mounts: Vec<Mount>,
    /// Mounts that were said to be left out or unreadable.
    said: Vec<String>,
}

/// A mount of a file system that is asked.
struct Mount {
    path: String,
    labels: [i64; 3],
}

impl Reader for Filesystems {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let Filesystems { mountinfo, listed, mounts, said } = self;
        let now = mountinfo.read(host)?;
        if now != listed.as_slice() {
            listed.clear();
            listed.extend_from_slice(now);
            choose(listed, mounts, said, out);
        }
        if mounts.is_empty() && said.is_empty() {
            return Err(Unavailable::not_applicable(
                "/proc/self/mountinfo: no file system that holds files is mounted",
            ));
        }
        for mount in mounts {
            match host.space(&mount.path) {
                Ok(space) => {
                    let bytes = |blocks: u64| i64::try_from(blocks.saturating_mul(space.block)).unwrap_or(i64::MAX);
                    let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
                    // btrfs and others have no fixed number of inodes and say 0.
                    let (inodes, inodes_free) = match space.files {
                        0 => (NULL, NULL),
                        n => (count(n), count(space.files_free)),
                    };
                    let [path, device, kind] = mount.labels;
                    out.row(
                        0,
                        &[
                            path,
                            device,
                            kind,
                            bytes(space.blocks),
                            bytes(space.free),
                            bytes(space.available),
                            inodes,
                            inodes_free,
                        ],
                    );
                }
                Err(error) => say(said, out, &mount.path, error.into()),
            }
        }
        Ok(())
    }
}

/// Says why a mount is not there, once.
fn say(said: &mut Vec<String>, out: &mut Out<'_>, path: &str, why: Unavailable) {
    if !said.iter().any(|p| p == path) {
        out.missing(path, why);
        said.push(path.to_owned());
    }
}

/// What is done with a mount.
#[derive(Debug, PartialEq)]
enum Choice {
    /// Its space is read.
    Ask,
    /// It holds files, and asking may never return.
    Unsafe,
    /// It holds no files of anyone's, or is an image that is always full.
    Ignore,
}

fn choice(kind: &str, device: &str, path: &str, options: &str) -> Choice {
    const NETWORK: [&str; 21] = [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "ceph",
        "9p",
        "afs",
        "lustre",
        "gpfs",
        "beegfs",
        "glusterfs",
        "coda",
        "orangefs",
        "pvfs2",
        "ncpfs",
        "virtiofs",
        "vboxsf",
        "prl_fs",
        "wekafs",
        "fuseblk",
    ];
    const IMAGES: [&str; 5] = ["squashfs", "iso9660", "erofs", "cramfs", "udf"];
    let under = |folder: &str| path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    if NETWORK.contains(&kind)
        || kind.strip_prefix("fuse.").is_some_and(|program| program != "lxcfs" && !program.ends_with("portal"))
    {
        Choice::Unsafe
    } else if IMAGES.contains(&kind) || under("/proc") || under("/sys") {
        Choice::Ignore
    } else {
        match kind {
            "tmpfs" if options.split(',').any(|option| option == "ro") => Choice::Ignore,
            // Other overlays are the roots of containers and share the space of the file system below.
            "overlay" if path != "/" => Choice::Ignore,
            "tmpfs" | "overlay" | "zfs" | "btrfs" | "bcachefs" | "ubifs" | "jffs2" | "yaffs2" => Choice::Ask,
            _ if device.starts_with("/dev/") => Choice::Ask,
            _ => Choice::Ignore,
        }
    }
}

/// Chooses from the lines of mountinfo: "36 35 98:0 /root /mount options optional… - type device superoptions".
fn choose(mountinfo: &[u8], mounts: &mut Vec<Mount>, said: &mut Vec<String>, out: &mut Out<'_>) {
    let mut chosen = Vec::new();
    for line in parse::lines(mountinfo) {
        let mut words = parse::words(line).skip(2);
        let (Some(number), Some(_root), Some(path), Some(options)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            continue;
        };
        let mut words = words.skip_while(|word| *word != b"-").skip(1);
        let (Some(kind), Some(device)) = (words.next(), words.next()) else { continue };
        let (path, device) = (parse::unescape(path), parse::unescape(device));
        let (kind, options) = (String::from_utf8_lossy(kind), String::from_utf8_lossy(options));
        match choice(&kind, &device, &path, &options) {
            Choice::Ignore => {}
            Choice::Unsafe => say(
                said,
                out,
                &path,
                Unavailable::not_applicable(format!(
                    "{path} is of type {kind}: asking a network or user-space file system for its space can hang for ever"
                )),
            ),
            Choice::Ask => {
                // What is mounted later at the same place hides what was there.
                chosen.retain(|(_, mount): &(&[u8], Mount)| mount.path != path);
                // The same file system may be mounted once more, such as by a bind mount.
                if chosen.iter().all(|(known, _)| *known != number) {
                    let labels = [out.text(&path), out.text(&device), out.text(&kind)];
                    chosen.push((number, Mount { path, labels }));
                }
            }
        }
    }
    *mounts = chosen.into_iter().map(|(_, mount)| mount).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};

    #[test]
    fn a_real_host_in_two_frames() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 2).unwrap();
        assert!(played[0].error.is_none());
        let row = played[0].row("filesystems", "/ /dev/vda ext4 ");
        assert_ne!(row, played[1].row("filesystems", "/ /dev/vda ext4 "));
        played[0].row("filesystems", "/dev/shm tmpfs tmpfs ");
        assert_eq!(played[0].rows("filesystems").len(), 2, "once each, and nothing virtual");
    }

    #[test]
    fn network_file_systems_are_named_and_not_asked() {
        let (_dir, host) = host_of(&[
            (
                "/proc/self/mountinfo",
                "1 0 8:1 / / rw - btrfs /dev/sda1 rw\n2 1 8:1 /sub /bind rw - btrfs /dev/sda1 rw\n\
                 3 1 0:40 / /my\\040files rw shared:1 master:2 - nfs4 server:/export rw\n4 1 0:5 / /proc rw - proc proc rw\n\
                 5 1 7:1 / /snap ro - squashfs /dev/loop1 ro\n6 1 8:2 / /data rw - xfs /dev/sda2 rw\nshort\n",
            ),
            ("/.statvfs", "4096 100 50 40 0 0"),
        ]);
        let played = play(&SOURCE, &host, 2).unwrap();
        assert_eq!(played[0].rows("filesystems"), ["/ /dev/sda1 btrfs 409600 204800 163840 - -"]);
        let missing: Vec<_> = played[0].coverage.iter().map(|c| (c.item.as_str(), c.status)).collect();
        assert_eq!(missing, [("/my files", model::Status::NotApplicable), ("/data", model::Status::Absent)]);
        assert!(played[1].coverage.is_empty(), "said once");
    }

    #[test]
    fn choices() {
        for (kind, device, path, options, wanted) in [
            ("ext4", "/dev/vda", "/", "rw", Choice::Ask),
            ("zfs", "tank/home", "/home", "rw", Choice::Ask),
            ("overlay", "overlay", "/", "rw", Choice::Ask),
            ("overlay", "overlay", "/var/lib/docker/overlay2/x/merged", "rw", Choice::Ignore),
            ("tmpfs", "tmpfs", "/dev/shm", "rw,nosuid", Choice::Ask),
            ("tmpfs", "tmpfs", "/sys/fs/cgroup", "rw", Choice::Ignore),
            ("tmpfs", "none", "/masked", "ro", Choice::Ignore),
            ("fuse.sshfs", "me@there:", "/mnt", "rw", Choice::Unsafe),
            ("fuse.lxcfs", "lxcfs", "/var/lib/lxcfs", "rw", Choice::Ignore),
            ("cgroup2", "cgroup2", "/x", "rw", Choice::Ignore),
            ("autofs", "systemd-1", "/y", "rw", Choice::Ignore),
        ] {
            assert_eq!(choice(kind, device, path, options), wanted, "{kind} at {path}");
        }
    }

    #[test]
    fn hostile_content_is_no_panic() {
        for content in
            ["", "\n", "1 2 3 4 5 6 -", "1 2 3 4 / 6 - ext4 /dev/a", "a b c d \\0 f - tmpfs \\999", "\0\u{ffff}"]
        {
            survives(&SOURCE, content);
        }
    }
}
