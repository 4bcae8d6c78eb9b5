//! Mounted file systems that hold data: device, type and options (proc_pid_mountinfo(5)).

use super::Facts;
use crate::mask;

/// File systems without a block device that hold data all the same.
const WITHOUT_DEVICE: &[&str] = &[
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "ceph",
    "9p",
    "virtiofs",
    "overlay",
    "zfs",
    "afs",
    "lustre",
    "glusterfs",
    "beegfs",
    "gpfs",
    "orangefs",
    "ocfs2",
    "gfs2",
    "vboxsf",
    "vmhgfs",
    "bcachefs",
    "ubifs",
    "aufs",
];

/// Mount points of containers and sandboxes: their names change with every start.
const PASSING: &[&str] = &[
    "/var/lib/docker/",
    "/var/lib/containers/",
    "/var/lib/containerd/",
    "/run/containerd/",
    "/var/lib/kubelet/",
    "/run/k3s/",
    "/run/user/",
    "/run/credentials/",
    "/run/docker/",
    "/snap/",
    "/var/lib/snapd/",
    "/var/lib/lxd/",
    "/proc/",
    "/sys/",
];

/// Options that name layers by identifiers of their own.
const LEFT_OUT: &[&str] = &["lowerdir", "upperdir", "workdir", "addr", "clientaddr", "mountaddr", "fd", "rootmode"];

/// One line of mountinfo.
struct Mount {
    device: String,
    point: String,
    kind: String,
    options: Vec<String>,
}

pub(super) fn find(facts: &mut Facts<'_, '_>) {
    let text = match facts.host.read_text("/proc/self/mountinfo") {
        Ok(text) => text,
        Err(error) => return facts.missing("mounts", error.into()),
    };
    let filesystems = facts.host.read_text("/proc/filesystems").unwrap_or_default();
    let has_device = |kind: &str| filesystems.lines().any(|line| line.trim() == kind);
    // A mount point that is mounted upon again shows its last file system.
    let mut mounts: Vec<Mount> = Vec::new();
    for mount in text.lines().filter_map(parse) {
        let is_passing = PASSING.iter().any(|place| mount.point.starts_with(place));
        let in_memory = mount.kind == "tmpfs" && matches!(mount.point.as_str(), "/tmp" | "/var/tmp" | "/dev/shm");
        let holds_data = in_memory
            || has_device(&mount.kind)
            || WITHOUT_DEVICE.contains(&mount.kind.as_str())
            || mount.kind.starts_with("fuse.");
        if holds_data && !is_passing {
            mounts.retain(|m| m.point != mount.point);
            mounts.push(mount);
        }
    }
    for mount in &mounts {
        let point = &mount.point;
        facts.set(&format!("{point}.type"), &mount.kind);
        let mut options = mount.options.join(",");
        let mut device = mount.device.clone();
        if !facts.scope.unmasked {
            (options, device) = (mask::text(&options), mask::text(&device));
        }
        facts.set(&format!("{point}.options"), options);
        facts.set(&format!("{point}.device"), device);
    }
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`.
fn parse(line: &str) -> Option<Mount> {
    let (head, tail) = line.split_once(" - ")?;
    let mut head = head.split(' ');
    let point = unescaped(head.nth(4)?);
    let own = head.next()?;
    let mut tail = tail.split(' ');
    let (kind, device, shared) = (tail.next()?, tail.next()?, tail.next().unwrap_or_default());
    let mut options: Vec<String> = own
        .split(',')
        .chain(shared.split(','))
        .filter(|option| !LEFT_OUT.contains(&option.split('=').next().unwrap_or_default()))
        .map(unescaped)
        .collect();
    options.sort();
    options.dedup();
    Some(Mount { device: unescaped(device), point, kind: kind.to_owned(), options })
}

/// Undoes the octal escapes of the kernel: `\040` is a space (fs/proc_namespace.c).
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let octal = tail.get(..3).filter(|digits| first == b'\\' && digits.iter().all(|d| (b'0'..=b'7').contains(d)));
        match octal {
            Some(digits) => {
                let value = digits.iter().fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0'));
                bytes.push((value & 0xff) as u8);
                rest = tail.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_line() {
        let line = r"36 35 8:1 / /data\040disk rw,noatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro,discard";
        let mount = parse(line).unwrap();
        assert_eq!(
            (mount.point.as_str(), mount.kind.as_str(), mount.device.as_str()),
            ("/data disk", "ext4", "/dev/sda1")
        );
        assert_eq!(mount.options, ["discard", "errors=remount-ro", "noatime", "rw"]);
        let overlay = parse("1 0 0:5 / / rw - overlay overlay rw,lowerdir=/a:/b,upperdir=/c,metacopy=on").unwrap();
        assert_eq!(overlay.options, ["metacopy=on", "rw"]);
        assert!(parse("36 35 8:1 / /x rw").is_none());
    }

    proptest! {
        #[test]
        fn nothing_panics(line in "[ 0-9a-z\\\\,=é-]{0,80}", any: String) {
            let _ = (parse(&line), parse(&any), unescaped(&line), unescaped(&any));
        }
    }
}
