//! What the driver of a network interface says, through the SIOCETHTOOL ioctl (include/uapi/linux/ethtool.h, net/ethtool/ioctl.c):
//! its statistics, its name and version, ring sizes, channels, interrupt coalescing, offloads. Of the network namespace of this
//! program. A fixture keeps each answer as lines "name value" in `.ethtool/INTERFACE/`: `statistics` and the files of [`Setting`].

use crate::{Host, ReadError};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::net::{AddressFamily, SocketType, socket};
use std::io;

/// Length of the names that drivers give (ETH_GSTRING_LEN).
const NAME: usize = 32;
/// The kernel writes as many strings and numbers as the driver has by now, whatever it was asked for, so there must be room for a
/// driver that makes queues while we ask.
const SPARE: usize = 4096;
/// More statistics than any driver has; a greater number is taken for an error.
const MOST: usize = 1 << 18;

const GDRVINFO: u32 = 0x03;
const GCOALESCE: u32 = 0x0e;
const GRINGPARAM: u32 = 0x10;
const GSTRINGS: u32 = 0x1b;
const GSTATS: u32 = 0x1d;
const GSSET_INFO: u32 = 0x37;
const GFEATURES: u32 = 0x3a;
const GCHANNELS: u32 = 0x3c;
const SS_STATS: u32 = 1;
const SS_FEATURES: u32 = 4;

/// A group of settings of a network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// `driver`, `version`, `firmware`, `bus`; those that the driver tells.
    Driver,
    /// Descriptors of the rings, such as `rx` and `rx_max`; those that are not 0.
    Rings,
    /// Queues, such as `combined` and `combined_max`; those that are not 0.
    Channels,
    /// How interrupts are held back, such as `rx_usecs` and `adaptive_rx`.
    Coalescing,
    /// Offloads and other features by the kernel's names: "on" or "off", with "fixed" where it cannot be changed.
    Features,
}

impl Setting {
    fn file(self) -> &'static str {
        match self {
            Setting::Driver => "driver",
            Setting::Rings => "rings",
            Setting::Channels => "channels",
            Setting::Coalescing => "coalescing",
            Setting::Features => "features",
        }
    }
}

// The fields of the kernel's structures after `cmd`, in their order.
const RINGS: [&str; 8] = ["rx_max", "rx_mini_max", "rx_jumbo_max", "tx_max", "rx", "rx_mini", "rx_jumbo", "tx"];
const CHANNELS: [&str; 8] = ["rx_max", "tx_max", "other_max", "combined_max", "rx", "tx", "other", "combined"];
const COALESCING: [&str; 22] = [
    "rx_usecs",
    "rx_frames",
    "rx_usecs_irq",
    "rx_frames_irq",
    "tx_usecs",
    "tx_frames",
    "tx_usecs_irq",
    "tx_frames_irq",
    "statistics_usecs",
    "adaptive_rx",
    "adaptive_tx",
    "packet_rate_low",
    "rx_usecs_low",
    "rx_frames_low",
    "tx_usecs_low",
    "tx_frames_low",
    "packet_rate_high",
    "rx_usecs_high",
    "rx_frames_high",
    "tx_usecs_high",
    "tx_frames_high",
    "sample_interval",
];

impl Host {
    /// Settings of a network interface as (name, value).
    ///
    /// # Errors
    /// [`ReadError::is_absent`] where there is no such interface or its driver does not tell.
    pub fn ethtool(&self, interface: &str, what: Setting) -> Result<Vec<(String, String)>, ReadError> {
        if self.is_fixture() {
            let text = self.read_text(&format!("/.ethtool/{interface}/{}", what.file()))?;
            return Ok(text.lines().filter_map(split).map(|(n, v)| (n.to_owned(), v.to_owned())).collect());
        }
        let ask = || -> io::Result<Vec<(String, String)>> {
            let device = Device::open(interface)?;
            match what {
                Setting::Driver => device.driver(),
                Setting::Rings => device.numbers(GRINGPARAM, &RINGS, false),
                Setting::Channels => device.numbers(GCHANNELS, &CHANNELS, false),
                Setting::Coalescing => device.numbers(GCOALESCE, &COALESCING, true),
                Setting::Features => device.features(),
            }
        };
        ask().map_err(|e| ReadError::new(&format!("ethtool {interface} {}", what.file()), e))
    }

    /// The statistics of the driver of a network interface, to be read again and again.
    ///
    /// # Errors
    /// [`ReadError::is_absent`] where there is no such interface or its driver keeps none.
    pub fn driver_statistics(&self, interface: &str) -> Result<DriverStatistics, ReadError> {
        let path = format!("ethtool {interface} statistics");
        let device = match self.is_fixture() {
            true => None,
            false => Some(Device::open(interface).map_err(|e| ReadError::new(&path, e))?),
        };
        let mut all = DriverStatistics {
            path,
            interface: interface.to_owned(),
            device,
            names: Vec::new(),
            values: Vec::new(),
            generation: 0,
        };
        all.read(self)?;
        Ok(all)
    }
}

/// Statistics of a driver: names that seldom change, and values.
#[derive(Debug)]
pub struct DriverStatistics {
    path: String,
    interface: String,
    /// None for a fixture.
    device: Option<Device>,
    names: Vec<String>,
    /// Of a live device the kernel's structure: two 32-bit numbers, then the values, then spare room. Of a fixture the same.
    values: Vec<u64>,
    generation: u64,
}

impl DriverStatistics {
    /// Another number each time that the names have changed, as they do when a driver gets more or fewer queues.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The names, as many as there are values.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The values of the last read.
    pub fn values(&self) -> &[u64] {
        self.values.get(1..=self.names.len()).unwrap_or_default()
    }

    /// Reads the values as they are now.
    pub fn read(&mut self, host: &Host) -> Result<&[u64], ReadError> {
        match &self.device {
            None => self.replay(host)?,
            Some(_) => self.ask().map_err(|e| ReadError::new(&self.path, e))?,
        }
        Ok(self.values())
    }

    fn replay(&mut self, host: &Host) -> Result<(), ReadError> {
        let text = host.read_text(&format!("/.ethtool/{}/statistics", self.interface))?;
        let (mut names, mut values) = (Vec::new(), vec![0]);
        for (name, value) in text.lines().filter_map(|line| line.rsplit_once(' ')) {
            let value = value.parse().map_err(|_| ReadError::not_understood(&self.path, "a number", value))?;
            names.push(name.to_owned());
            values.push(value);
        }
        if names != self.names {
            self.generation += 1;
        }
        (self.names, self.values) = (names, values);
        Ok(())
    }

    fn ask(&mut self) -> io::Result<()> {
        let Some(device) = &self.device else { return Ok(()) };
        let count = device.count(SS_STATS)?;
        if count != self.names.len() {
            self.names = device.strings(SS_STATS, count)?;
            self.values = vec![0; 1 + self.names.len() * 2 + SPARE];
            self.generation += 1;
        }
        if self.names.is_empty() {
            return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
        }
        put(&mut self.values, 0, GSTATS);
        put(&mut self.values, 1, count as u32);
        device.command(&mut self.values)
    }
}

/// A socket to ask through, and whom to ask.
#[derive(Debug)]
struct Device {
    socket: OwnedFd,
    name: [u8; libc::IFNAMSIZ],
}

impl Device {
    fn open(interface: &str) -> io::Result<Self> {
        let mut name = [0; libc::IFNAMSIZ];
        let bytes = interface.as_bytes();
        // The name must end with a zero byte.
        if bytes.is_empty() || bytes.len() >= name.len() {
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        name.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        Ok(Device { socket: socket(AddressFamily::INET, SocketType::DGRAM, None)?, name })
    }

    /// Runs the command whose structure is in `buffer`; the answer replaces it. The buffer must have room for all that the kernel writes.
    fn command(&self, buffer: &mut [u64]) -> io::Result<()> {
        /// `struct ifreq` with the member of its union that SIOCETHTOOL takes, padded to the size of the union.
        #[repr(C)]
        struct Request {
            name: [u8; libc::IFNAMSIZ],
            data: *mut u64,
            rest: [u64; 2],
        }
        let mut request = Request { name: self.name, data: buffer.as_mut_ptr(), rest: [0; 2] };
        #[cfg(not(target_os = "linux"))]
        return Err(io::Error::from(io::ErrorKind::Unsupported));
        // SAFETY: the kernel reads and writes `request`, which has the layout of struct ifreq, and the structure at `data`, which lives in
        // `buffer` for the whole call; callers give room for the longest answer, and spare room where its length can change.
        #[cfg(target_os = "linux")]
        {
            let done = unsafe { libc::ioctl(self.socket.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request) };
            if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
        }
    }

    /// Number of strings in a set.
    fn count(&self, set: u32) -> io::Result<usize> {
        let mut info = [0u64; 4];
        put(&mut info, 0, GSSET_INFO);
        put(&mut info, 2, 1 << set);
        self.command(&mut info)?;
        // The kernel clears the bit of a set that the driver does not have.
        if get(&info, 2) == 0 {
            return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
        }
        let count = get(&info, 4) as usize;
        if count > MOST {
            return Err(io::Error::other(format!("the driver says that it has {count} statistics")));
        }
        Ok(count)
    }

    fn strings(&self, set: u32, count: usize) -> io::Result<Vec<String>> {
        let mut buffer = vec![0u64; 2 + (count * 2 + SPARE) * NAME / 8];
        put(&mut buffer, 0, GSTRINGS);
        put(&mut buffer, 1, set);
        put(&mut buffer, 2, count as u32);
        self.command(&mut buffer)?;
        let bytes = bytes(&buffer);
        let names = bytes.get(12..).unwrap_or_default().chunks_exact(NAME).take(count);
        Ok(names.map(text).collect())
    }

    fn driver(&self) -> io::Result<Vec<(String, String)>> {
        // cmd, five texts of 32 bytes, 12 bytes reserved, five numbers.
        let mut buffer = [0u64; 32];
        put(&mut buffer, 0, GDRVINFO);
        self.command(&mut buffer)?;
        let bytes = bytes(&buffer);
        let texts = bytes.get(4..).unwrap_or_default().chunks_exact(32).map(text);
        let named = ["driver", "version", "firmware", "bus"].into_iter().zip(texts);
        Ok(named.filter(|(_, v)| !v.is_empty() && v != "N/A").map(|(n, v)| (n.to_owned(), v)).collect())
    }

    fn numbers(&self, command: u32, names: &[&str], zero: bool) -> io::Result<Vec<(String, String)>> {
        let mut buffer = [0u64; 32];
        put(&mut buffer, 0, command);
        self.command(&mut buffer)?;
        let values = names.iter().enumerate().map(|(i, name)| (*name, get(&buffer, i + 1)));
        Ok(values.filter(|(_, v)| zero || *v != 0).map(|(n, v)| (n.to_owned(), v.to_string())).collect())
    }

    fn features(&self) -> io::Result<Vec<(String, String)>> {
        let count = self.count(SS_FEATURES)?;
        let names = self.strings(SS_FEATURES, count)?;
        let blocks = count.div_ceil(32);
        // cmd, size, then blocks of (available, requested, active, never changed). The kernel writes no more than `size` blocks.
        let mut buffer = vec![0u64; 1 + blocks * 2 + 8];
        put(&mut buffer, 0, GFEATURES);
        put(&mut buffer, 1, blocks as u32);
        self.command(&mut buffer)?;
        let mut all: Vec<(String, String)> = names
            .into_iter()
            .enumerate()
            // The kernel leaves names empty for bits that mean nothing.
            .filter(|(_, name)| !name.is_empty())
            .map(|(i, name)| {
                let word = |field: usize| get(&buffer, 2 + (i / 32) * 4 + field) >> (i % 32) & 1 == 1;
                let (available, active, never) = (word(0), word(2), word(3));
                let state = if active { "on" } else { "off" };
                (name, if available && !never { state.to_owned() } else { format!("{state} fixed") })
            })
            .collect();
        all.sort();
        Ok(all)
    }
}

/// Sets the `at`th 32-bit number of a structure.
fn put(buffer: &mut [u64], at: usize, value: u32) {
    if let Some(word) = buffer.get_mut(at / 2) {
        let mut bytes = word.to_ne_bytes();
        for (to, from) in bytes.iter_mut().skip(at % 2 * 4).zip(value.to_ne_bytes()) {
            *to = from;
        }
        *word = u64::from_ne_bytes(bytes);
    }
}

/// The `at`th 32-bit number of a structure.
fn get(buffer: &[u64], at: usize) -> u32 {
    let bytes = buffer.get(at / 2).copied().unwrap_or(0).to_ne_bytes();
    let mut number = [0; 4];
    number.iter_mut().zip(bytes.iter().skip(at % 2 * 4)).for_each(|(to, from)| *to = *from);
    u32::from_ne_bytes(number)
}

fn bytes(buffer: &[u64]) -> Vec<u8> {
    buffer.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// The text before the first zero byte.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).trim().to_owned()
}

fn split(line: &str) -> Option<(&str, &str)> {
    line.trim().split_once(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixtures_answer_from_files() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(".ethtool/eth0");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("statistics"), "rx queue 3\nwhat\ntx 18446744073709551615\n").unwrap();
        std::fs::write(folder.join("features"), "rx-gro on\ntx-lockless off fixed\n").unwrap();
        let host = Host::fixture(dir.path());
        let mut all = host.driver_statistics("eth0").unwrap();
        assert_eq!(all.names(), ["rx queue", "tx"]);
        assert_eq!(all.read(&host).unwrap(), [3, u64::MAX]);
        assert_eq!(all.generation(), 1);
        std::fs::write(folder.join("statistics"), "tx 4\n").unwrap();
        assert_eq!(all.read(&host).unwrap(), [4]);
        assert_eq!(all.generation(), 2);
        std::fs::write(folder.join("statistics"), "tx four\n").unwrap();
        assert!(all.read(&host).is_err());
        let features = host.ethtool("eth0", Setting::Features).unwrap();
        assert_eq!(features[1], ("tx-lockless".to_owned(), "off fixed".to_owned()));
        assert!(host.ethtool("eth0", Setting::Rings).unwrap_err().is_absent());
    }

    #[test]
    fn a_live_loopback_has_a_driver_and_no_statistics() {
        let host = Host::live();
        assert!(host.driver_statistics("lo").unwrap_err().is_absent());
        assert!(host.driver_statistics("").unwrap_err().is_absent());
        assert!(host.driver_statistics("a-name-that-is-far-too-long").unwrap_err().is_absent());
        assert!(host.driver_statistics("none0").unwrap_err().is_absent());
        let features = host.ethtool("lo", Setting::Features).unwrap();
        let of = |name: &str| features.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
        assert_eq!(of("loopback"), Some("on fixed"));
    }

    #[test]
    fn numbers_in_structures() {
        let mut buffer = [0u64; 2];
        for at in 0..4 {
            put(&mut buffer, at, at as u32 + 7);
        }
        put(&mut buffer, 9, 1);
        assert_eq!([0, 1, 2, 3, 9].map(|at| get(&buffer, at)), [7, 8, 9, 10, 0]);
        assert_eq!(text(b"name\0rest"), "name");
    }
}
