//! Heat and power: throttling of each CPU, temperatures of thermal zones and sensors, energy counters.

mod tables;

use crate::attributes::{Attributes, Online};
use crate::{Pace, Reader, Scope, Source};
use host::{Host, ReadError};
use model::{NULL, Out, Unavailable};

/// Heat and power.
pub static SOURCE: Source = Source {
    name: "thermal",
    title: "throttling, temperatures, energy",
    documented: "Documentation/ABI/testing/sysfs-class-thermal, Documentation/hwmon/sysfs-interface.rst, \
                 Documentation/power/powercap/powercap.rst; arch/x86 drivers/thermal/intel/therm_throt.c",
    reads: &[
        "/sys/devices/system/cpu/online",
        "/sys/devices/system/cpu/cpu*/thermal_throttle/*",
        "/sys/class/thermal/thermal_zone*/type",
        "/sys/class/thermal/thermal_zone*/temp",
        "/sys/class/hwmon/hwmon*/name",
        "/sys/class/hwmon/hwmon*/temp*_label",
        "/sys/class/hwmon/hwmon*/temp*_input",
        "/sys/class/powercap/*/name",
        "/sys/class/powercap/*/energy_uj",
        "/sys/class/powercap/*/max_energy_range_uj",
    ],
    needs: "root for energy counters",
    // Firmware and drives answer for some sensors, in up to milliseconds.
    pace: Pace::AtLeast(10),
    tables: &[&tables::THROTTLE, &tables::TEMPERATURE, &tables::ENERGY],
    charts: tables::CHARTS,
    open,
};

const CPUS: &str = "/sys/devices/system/cpu";
const ZONES: &str = "/sys/class/thermal";
const SENSORS: &str = "/sys/class/hwmon";
const POWERCAP: &str = "/sys/class/powercap";

fn open(host: &Host, _scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    let mut thermal = Thermal {
        online: Online::open(host, "/sys/devices/system/cpu/online")?,
        things: Vec::new(),
        at_least: 0,
        stale: true,
        told_refused: false,
        told_failed: false,
        buffer: Vec::new(),
    };
    thermal.find(host)?;
    if thermal.things.is_empty() {
        return Err(Unavailable::absent(format!(
            "no {CPUS}/cpu*/thermal_throttle, {ZONES}/thermal_zone*, {SENSORS}/hwmon*/temp*_input or {POWERCAP}/*/energy_uj: \
             hypervisors leave them to the host"
        ))
        .remedy("record on the host of this virtual machine, or load the drivers (coretemp, k10temp, intel_rapl_msr)"));
    }
    Ok(Box::new(thermal))
}

/// One row: a CPU, a sensor or an energy zone.
struct Thing {
    table: usize,
    /// Where it is, and its name; a CPU has its number instead.
    texts: Option<(String, String)>,
    row: [i64; 9],
    files: Attributes,
}

struct Thermal {
    online: Online,
    things: Vec<Thing>,
    at_least: u64,
    /// Something that was there could not be read: look for what is there now.
    stale: bool,
    /// Whether a refused, and a failed, read was told.
    told_refused: bool,
    told_failed: bool,
    buffer: Vec<u8>,
}

impl Thermal {
    fn find(&mut self, host: &Host) -> Result<(), ReadError> {
        let cpus = match self.online.changed(host)? {
            Some(cpus) => cpus,
            None if self.stale => crate::parse::list(&host.read("/sys/devices/system/cpu/online")?),
            None => return Ok(()),
        };
        self.stale = false;
        self.things.clear();
        for cpu in cpus {
            let files = Attributes::find(host, &format!("{CPUS}/cpu{cpu}/thermal_throttle"), &tables::THROTTLE_FILES);
            self.add(0, files, None, cpu);
        }
        for zone in named(host, ZONES, "thermal_zone") {
            let folder = format!("{ZONES}/{zone}");
            let name = host.read_text(&format!("{folder}/type")).unwrap_or_default();
            self.add(1, Attributes::find(host, &folder, &["temp"]), Some((zone, name)), NULL);
        }
        for device in named(host, SENSORS, "hwmon") {
            let folder = format!("{SENSORS}/{device}");
            let chip = host.read_text(&format!("{folder}/name")).unwrap_or_default();
            // Asking a drive for its temperature keeps it from spinning down (Documentation/hwmon/drivetemp.rst).
            if chip == "drivetemp" {
                continue;
            }
            for file in named(host, &folder, "temp") {
                let Some(sensor) = file.strip_suffix("_input") else { continue };
                let label = host.read_text(&format!("{folder}/{sensor}_label")).unwrap_or_else(|_| sensor.to_owned());
                let texts = (format!("{device}/{sensor}"), format!("{chip} {label}"));
                self.add(1, Attributes::find(host, &folder, &[&file]), Some(texts), NULL);
            }
        }
        for zone in host.list(POWERCAP).unwrap_or_default() {
            let folder = format!("{POWERCAP}/{zone}");
            let name = host.read_text(&format!("{folder}/name")).unwrap_or_default();
            self.add(2, Attributes::find(host, &folder, &tables::ENERGY_FILES), Some((zone, name)), NULL);
        }
        self.at_least = Attributes::hold(host, self.things.iter_mut().map(|thing| &mut thing.files));
        Ok(())
    }

    fn add(&mut self, table: usize, files: Attributes, texts: Option<(String, String)>, cpu: i64) {
        if files.len() > 0 {
            let mut row = [NULL; 9];
            row[0] = cpu;
            self.things.push(Thing { table, texts, row, files });
        }
    }
}

/// The entries of `folder` that begin with `start`.
fn named(host: &Host, folder: &str, start: &str) -> Vec<String> {
    let mut names = host.list(folder).unwrap_or_default();
    names.retain(|name| name.starts_with(start));
    names
}

impl Reader for Thermal {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        self.find(host)?;
        let (mut refused, mut failed) = (None, None);
        for thing in &mut self.things {
            let labels = match &thing.texts {
                None => 1,
                Some((place, name)) => {
                    if thing.row[0] == NULL {
                        thing.row[0] = out.text(place);
                        thing.row[1] = out.text(name);
                    }
                    2
                }
            };
            let width = [9, 3, 4][thing.table];
            let Some(cells) = thing.row.get_mut(labels..width) else { continue };
            match thing.files.read(host, &mut self.buffer, cells) {
                Some(error) if error.is_denied() => refused = refused.or(Some(error)),
                Some(error) if error.is_absent() => self.stale = true,
                // A sensor that is asleep gives an error; the others are read all the same.
                Some(error) => failed = failed.or(Some(error)),
                None => {}
            }
            if cells.first() != Some(&NULL)
                && let Some(row) = thing.row.get(..width)
            {
                out.row(thing.table, row);
            }
        }
        for (item, error, told) in
            [("energy", refused, &mut self.told_refused), ("temperature", failed, &mut self.told_failed)]
        {
            if let Some(error) = error
                && !std::mem::replace(told, true)
            {
                out.missing(item, error.into());
            }
        }
        Ok(())
    }
    fn at_least(&self) -> u64 {
        self.at_least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};
    use model::Status;

    #[test]
    fn a_metal_host() {
        let played = play(&SOURCE, &fixture("samples-metal"), 2).unwrap();
        assert!(played[0].error.is_none());
        assert_eq!(
            played[0].rows("thermal_throttle"),
            ["0 17 903 120 44 2100 310 - -", "1 17 903 120 44 2100 310 - -"]
        );
        assert_eq!(played[1].row("thermal_throttle", "0 "), "0 19 1003 120 44 2100 310 - -");
        assert_eq!(
            played[0].rows("temperature"),
            [
                "thermal_zone0 x86_pkg_temp 71000",
                "hwmon1/temp1 \"coretemp Package id 0\" 72000",
                "hwmon1/temp2 \"coretemp temp2\" 68000"
            ]
        );
        assert_eq!(
            played[0].rows("energy"),
            ["intel-rapl:0 package-0 262143000000 262143328850", "intel-rapl:0:0 core 5500 262143328850"]
        );
        assert_eq!(played[1].row("energy", "intel-rapl:0 "), "intel-rapl:0 package-0 1200000 262143328850");
    }

    #[test]
    fn a_virtual_machine_has_none() {
        let why = play(&SOURCE, &fixture("vm-2cpu"), 1).err().unwrap();
        assert_eq!(why.status, Status::Absent);
        assert!(why.remedy.is_some());
    }

    #[test]
    fn a_sensor_that_goes_is_gone() {
        let (dir, host) = host_of(&[
            ("/sys/devices/system/cpu/online", "0\n"),
            ("/sys/class/thermal/thermal_zone0/temp", "1000\n"),
            ("/sys/class/thermal/thermal_zone1/temp", "2000\n"),
        ]);
        let mut reader = (SOURCE.open)(&host, &Scope::default()).unwrap();
        std::fs::remove_dir_all(dir.path().join("sys/class/thermal/thermal_zone0")).unwrap();
        let (mut symbols, mut coverage, mut facts) = Default::default();
        let mut rows = vec![model::Rows::default(); 3];
        let mut out = Out::new("thermal", SOURCE.tables, &mut rows, &mut symbols, &mut coverage, &mut facts);
        reader.read(&host, &mut out).unwrap();
        reader.read(&host, &mut out).unwrap();
        assert_eq!(rows[1].len(), 2);
    }

    #[test]
    fn hostile_content() {
        for content in ["", "x", "-99999999999999999999", "0-3"] {
            survives(&SOURCE, content);
        }
    }
}
