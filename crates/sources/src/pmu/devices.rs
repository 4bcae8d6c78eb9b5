//! The PMUs of sysfs (Documentation/ABI/testing/sysfs-bus-event_source-devices-format, -events): their numbers, the fields of their events, the
//! names that they have for some, and their CPUs.

use counters::{Encoding, HARDWARE};
use host::Host;
use host::counting::Event;

/// Where they are.
pub const DEVICES: &str = "/sys/bus/event_source/devices";

/// A PMU.
#[derive(Clone, Debug, Default)]
pub struct Device {
    /// Its name: `cpu`, `armv8_pmuv3_0`, `uncore_imc_0`.
    pub name: String,
    /// Its number for perf_event_open(2).
    pub kind: u32,
    /// The CPUs that it counts on, or that are asked for what a package counted; none where it does not say.
    pub cpus: Vec<u32>,
    /// Whether it is one of CPUs.
    pub is_core: bool,
    fields: Vec<(String, Field)>,
}

/// A field of an event: its bits, in the order in which the value fills them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    /// Which of `config`, `config1`, `config2`.
    word: usize,
    /// First and last bit of each stretch.
    bits: Vec<(u32, u32)>,
}

impl Device {
    /// Reads a PMU; `None` for one that has no number.
    pub fn read(host: &Host, name: &str) -> Option<Device> {
        let folder = format!("{DEVICES}/{name}");
        let kind = host.read_number(&format!("{folder}/type")).ok().and_then(|n| u32::try_from(n).ok())?;
        let list = |file: &str| host.read(&format!("{folder}/{file}")).ok();
        // `cpus` is for PMUs of CPUs, `cpumask` for those of a package (one CPU of each) and for some others.
        let (own, mask) = (list("cpus"), list("cpumask"));
        let is_core = name == "cpu" || own.is_some();
        let cpus = crate::parse::list(own.or(mask).as_deref().unwrap_or_default());
        let cpus = cpus.into_iter().filter_map(|cpu| u32::try_from(cpu).ok()).collect();
        let names = host.list(&format!("{folder}/format")).unwrap_or_default();
        let field = |name: String| {
            let text = host.read_text(&format!("{folder}/format/{name}")).ok()?;
            Some((name, Field::parse(&text)?))
        };
        Some(Device {
            name: name.to_owned(),
            kind,
            cpus,
            is_core,
            fields: names.into_iter().filter_map(field).collect(),
        })
    }

    /// Encodes an event.
    ///
    /// # Errors
    /// Why this PMU has no such event, in words.
    pub fn encode(&self, host: &Host, encoding: &Encoding, is_only: bool) -> Result<Event, String> {
        match encoding {
            Encoding::Terms(terms) => self.event(terms),
            Encoding::Alias(name) => {
                let text = self.alias(host, name).ok_or_else(|| format!("{} has no event {name}", self.name))?;
                self.event(&terms_of(&text)?)
            }
            Encoding::Hardware(name) => {
                let number = HARDWARE.iter().position(|known| known == name).ok_or("the kernel has no such event")?;
                // Where there are several PMUs of CPUs, the upper half says whose event it is.
                let whose = if is_only { 0 } else { u64::from(self.kind) << 32 };
                Ok(Event { kind: 0, config: number as u64 | whose, ..Event::default() })
            }
        }
    }

    fn event(&self, terms: &[(String, u64)]) -> Result<Event, String> {
        let mut words = [0_u64; 3];
        for (name, value) in terms {
            match name.as_str() {
                "config" => words[0] |= value,
                "config1" => words[1] |= value,
                "config2" => words[2] |= value,
                _ => {
                    let field = self.fields.iter().find(|(field, _)| field == name);
                    let (_, field) = field.ok_or_else(|| format!("events of {} have no field {name}", self.name))?;
                    let bits = field.place(*value).ok_or_else(|| format!("{name}={value:#x} does not fit"))?;
                    if let Some(word) = words.get_mut(field.word) {
                        *word |= bits;
                    }
                }
            }
        }
        let [config, config1, config2] = words;
        Ok(Event { kind: self.kind, config, config1, config2, kernel_only: false })
    }

    /// What the PMU has under a name of its own.
    pub fn alias(&self, host: &Host, name: &str) -> Option<String> {
        host.read_text(&format!("{DEVICES}/{}/events/{name}", self.name)).ok()
    }

    /// The names that it has for events.
    pub fn aliases(&self, host: &Host) -> Vec<String> {
        let names = host.list(&format!("{DEVICES}/{}/events", self.name)).unwrap_or_default();
        names.into_iter().filter(|name| !name.contains('.')).collect()
    }

    /// Encodes one of its own names.
    ///
    /// # Errors
    /// Why not.
    pub fn of_alias(&self, host: &Host, name: &str) -> Result<Event, String> {
        self.encode(host, &Encoding::Alias(name.to_owned()), true)
    }

    /// Whether an Arm CPU says itself that it lacks a common event: the kernel lists those that the registers PMCEID0 and PMCEID1 name. Others open,
    /// and never count. Up to 0x37: later ones are not known to all kernels.
    pub fn lacks(&self, host: &Host, event: &Event) -> bool {
        let is_common = self.name.starts_with("arm") && event.kind == self.kind && event.config <= 0x37;
        is_common
            && !self
                .aliases(host)
                .iter()
                .any(|name| self.of_alias(host, name).is_ok_and(|own| own.config == event.config))
    }
}

impl Field {
    /// Reads `config:0-7,32-35` or `config1:3`.
    fn parse(text: &str) -> Option<Field> {
        let (word, ranges) = text.trim().split_once(':')?;
        let word = match word {
            "config" => 0,
            "config1" => 1,
            "config2" => 2,
            _ => return None,
        };
        let range = |text: &str| {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (first <= last && last < 64).then_some((first, last))
        };
        let bits = ranges.split(',').map(range).collect::<Option<Vec<_>>>()?;
        Some(Field { word, bits })
    }

    /// The bits of a value; `None` where it has more than the field.
    fn place(&self, mut value: u64) -> Option<u64> {
        let mut placed = 0;
        for &(first, last) in &self.bits {
            let width = last - first + 1;
            let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
            placed |= (value & mask) << first;
            value = if width >= 64 { 0 } else { value >> width };
        }
        (value == 0).then_some(placed)
    }
}

/// Reads `event=0x3c,umask=0x1,edge`.
fn terms_of(text: &str) -> Result<Vec<(String, u64)>, String> {
    let term = |term: &str| match term.split_once('=') {
        // What the user is to choose.
        Some((name, "?")) => Err(format!("{name} must be chosen")),
        Some((name, value)) => Ok((name.trim().to_owned(), counters::number(value.trim())?)),
        None => Ok((term.trim().to_owned(), 1)),
    };
    text.split(',').filter(|part| !part.trim().is_empty()).map(term).collect()
}

/// The PMUs of this machine.
pub fn devices(host: &Host) -> Vec<Device> {
    let names = host.list(DEVICES).unwrap_or_default();
    names.iter().filter_map(|name| Device::read(host, name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::host_of;

    fn field(text: &str) -> Field {
        Field::parse(text).unwrap()
    }

    #[test]
    fn fields_lie_where_sysfs_says() {
        assert_eq!(field("config:0-7").place(0xc0), Some(0xc0));
        // AMD's event select is split: bits 8 to 11 of the number lie at 32.
        assert_eq!(field("config:0-7,32-35").place(0x1a0), Some(0x1_0000_00a0));
        assert_eq!(field("config:0-7,32-35").place(0x28f), Some(0x2_0000_008f));
        assert_eq!(field("config:0-7,32-35").place(0x1000), None, "more bits than the field has");
        assert_eq!(field("config:23").place(1), Some(1 << 23));
        assert_eq!(field("config:23").place(2), None);
        assert_eq!(field("config1:0-63").place(u64::MAX), Some(u64::MAX));
        assert_eq!(field("config:24-31").place(6), Some(6 << 24));
        for bad in ["", "config", "config:", "config:7-0", "config:0-64", "config3:1", "config:a-b"] {
            assert_eq!(Field::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn terms_are_read() {
        assert_eq!(
            terms_of("event=0x3c,umask=1,edge").unwrap(),
            [("event".into(), 0x3c), ("umask".into(), 1), ("edge".into(), 1)]
        );
        assert!(terms_of("event=0x3c,ldlat=?").unwrap_err().contains("ldlat must be chosen"));
        assert!(terms_of("event=x").is_err());
    }

    #[test]
    fn generic_events_name_their_pmu_where_there_are_several() {
        let (_dir, host) = host_of(&[
            ("/sys/bus/event_source/devices/cpu_atom/type", "10\n"),
            ("/sys/bus/event_source/devices/cpu_atom/cpus", "16-23\n"),
        ]);
        let device = Device::read(&host, "cpu_atom").unwrap();
        assert_eq!((device.is_core, device.cpus.len()), (true, 8));
        let encoding = Encoding::Hardware("instructions".into());
        assert_eq!(device.encode(&host, &encoding, false).unwrap().config, 10 << 32 | 1);
        assert_eq!(device.encode(&host, &encoding, true).unwrap().config, 1);
    }
}
