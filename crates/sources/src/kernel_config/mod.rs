//! The options that the running kernel was built with, from `/proc/config.gz` or the file that distributions keep for each kernel.

use crate::{Pace, Reader, Scope, Source, parse};
use flate2::read::GzDecoder;
use host::{Host, ReadError};
use model::{Column, Out, Table, Unavailable};
use std::io::Read;

/// One row per option that is set; "n" is not set.
static KERNEL_CONFIG: Table = Table::wide(
    "kernel_config",
    "options that the running kernel was built with; those that are not set have no row",
    &[
        Column::label("option", "name of the option, with CONFIG_"),
        Column::fact("value", "y: built in; m: as a module; else a number or text"),
    ],
)
.grouped(&[&["option"]]);

/// Where distributions keep the configuration of the kernel `{release}`.
const PLACES: &[&str] = &[
    "/boot/config-{release}",
    "/usr/lib/modules/{release}/config",
    "/lib/modules/{release}/config",
    "/usr/lib/kernel/config-{release}",
    "/usr/lib/ostree-boot/config-{release}",
    "/usr/src/linux-headers-{release}/.config",
    "/lib/modules/{release}/build/.config",
];

/// Configurations have some 300 KiB; more than this is none.
const MOST: u64 = 8 << 20;

/// Kernel configuration.
pub static SOURCE: Source = Source {
    name: "kernel_config",
    title: "Kernel configuration",
    documented: "Documentation/kbuild/kconfig-language.rst; CONFIG_IKCONFIG_PROC in init/Kconfig",
    reads: &[
        "/proc/config.gz",
        "/proc/sys/kernel/osrelease",
        "/boot/config-*",
        "/usr/lib/modules/*/config",
        "/lib/modules/*/config",
        "/usr/lib/kernel/config-*",
        "/usr/lib/ostree-boot/config-*",
        "/usr/src/linux-headers-*/.config",
        "/lib/modules/*/build/.config",
    ],
    needs: "a kernel with CONFIG_IKCONFIG_PROC, or its configuration in /boot",
    pace: Pace::Once,
    tables: &[&KERNEL_CONFIG],
    charts: &[],
    open: |host, _scope: &Scope| {
        let (path, text) = find(host)?;
        Ok(Box::new(KernelConfig { found: Some((path, text)) }))
    },
};

struct KernelConfig {
    /// What was found when the source was opened; let go after the first read.
    found: Option<(String, Vec<u8>)>,
}

impl Reader for KernelConfig {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let (path, text) = match self.found.take() {
            Some(found) => found,
            None => find(host)?,
        };
        let mut options: Vec<(&[u8], &[u8])> = parse::lines(&text).filter_map(option).collect();
        options.sort_unstable();
        options.dedup_by_key(|(name, _)| *name);
        if options.is_empty() {
            return Err(Unavailable::failed(format!("{path}: no line of the form CONFIG_X=value")));
        }
        for (name, value) in options {
            let cells = [out.bytes(name), out.bytes(value)];
            out.row(0, &cells);
        }
        Ok(())
    }
}

/// Name and value of a line such as `CONFIG_HZ=250` or `CONFIG_LSM="yama,bpf"`.
fn option(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.trim_ascii();
    let (name, value) = line.split_at_checked(memchr::memchr(b'=', line)?)?;
    let value = value.strip_prefix(b"=")?;
    let value = value.strip_prefix(b"\"").and_then(|v| v.strip_suffix(b"\"")).unwrap_or(value);
    let is_name =
        name.len() > 7 && name.starts_with(b"CONFIG_") && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_');
    (is_name && value != b"n").then_some((name, value))
}

/// Whether the kernel was built with the option `name`; `None` where its configuration cannot be read.
#[cfg(feature = "bpf")]
pub(crate) fn has(host: &Host, name: &str) -> Option<bool> {
    let (_, text) = find(host).ok()?;
    Some(parse::lines(&text).filter_map(option).any(|(option, _)| option == name.as_bytes()))
}

/// The file that has the configuration, and its text.
fn find(host: &Host) -> Result<(String, Vec<u8>), Unavailable> {
    let path = "/proc/config.gz";
    let unread = match host.read(path) {
        Ok(packed) => return Ok((path.into(), unpack(path, &packed)?)),
        Err(error) => error,
    };
    let release = host.read_text("/proc/sys/kernel/osrelease")?;
    let mut refused = (!unread.is_absent()).then_some(unread);
    for place in PLACES {
        let path = place.replace("{release}", &release);
        match host.read(&path) {
            Ok(text) => return Ok((path, text)),
            Err(error) if error.is_absent() => {}
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.map_or_else(
        || {
            Unavailable::absent(format!("no /proc/config.gz and no /boot/config-{release}"))
                .remedy("load the module configs, or install the package that holds /boot/config for this kernel")
        },
        Unavailable::from,
    ))
}

fn unpack(path: &str, packed: &[u8]) -> Result<Vec<u8>, Unavailable> {
    let mut text = Vec::new();
    let unpacked = GzDecoder::new(packed).take(MOST).read_to_end(&mut text);
    match unpacked {
        Ok(_) => Ok(text),
        Err(error) => Err(ReadError::new(path, error).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};
    use flate2::{Compression, write::GzEncoder};
    use proptest::prelude::*;
    use std::io::Write;

    #[test]
    fn set_options_in_order() {
        let config = "# CONFIG_A is not set\nCONFIG_HZ=250\nCONFIG_B=n\nCONFIG_LSM=\"yama,bpf\"\nCONFIG_AIO=y\n\nX=1\nCONFIG_=\n";
        let (_dir, host) = host_of(&[("/proc/sys/kernel/osrelease", "6.1.0-9\n"), ("/boot/config-6.1.0-9", config)]);
        let played = play(&SOURCE, &host, 2).unwrap();
        let expected = ["CONFIG_AIO y", "CONFIG_HZ 250", "CONFIG_LSM yama,bpf"];
        assert_eq!(played[0].rows("kernel_config"), expected);
        assert_eq!(played[1].rows("kernel_config"), expected);
    }

    #[test]
    fn packed_by_the_kernel() {
        let (dir, host) = host_of(&[("/proc/x", "")]);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(b"CONFIG_HZ_1000=y\nCONFIG_HZ=1000\n").unwrap();
        let mut packed = gzip.finish().unwrap();
        std::fs::write(dir.path().join("proc/config.gz"), &packed).unwrap();
        assert_eq!(play(&SOURCE, &host, 1).unwrap()[0].rows("kernel_config"), ["CONFIG_HZ 1000", "CONFIG_HZ_1000 y"]);
        packed.truncate(packed.len() - 10);
        std::fs::write(dir.path().join("proc/config.gz"), &packed).unwrap();
        let error = play(&SOURCE, &host, 1).err().unwrap();
        assert!(error.why.contains("/proc/config.gz"), "{error}");
    }

    #[test]
    fn this_kernel() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 1).unwrap();
        assert_eq!(played[0].row("kernel_config", "CONFIG_HZ "), "CONFIG_HZ 250");
        assert!(played[0].rows("kernel_config").len() > 500);
    }

    #[test]
    fn what_is_missing_is_said() {
        let (_dir, host) = host_of(&[("/proc/sys/kernel/osrelease", "6.1.0-9\n")]);
        let error = play(&SOURCE, &host, 1).err().unwrap();
        assert_eq!(error.status, model::Status::Absent);
        assert!(error.why.contains("/boot/config-6.1.0-9"), "{error}");
        for content in ["", "=", "CONFIG_", "CONFIG_X", "\u{1f}\u{8b}", "CONFIG_\0=\"\n"] {
            survives(&SOURCE, content);
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(line: Vec<u8>) {
            let _ = option(&line);
            let _ = unpack("/proc/config.gz", &line);
        }
    }
}
