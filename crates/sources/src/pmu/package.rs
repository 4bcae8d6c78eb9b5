//! PMUs outside of the CPUs whose events the kernel gives a unit: memory controllers (MiB), energy (Joules).

use super::counted::Scaled;
use super::devices::{DEVICES, Device};
use host::Host;
use host::counting::{Counting, Refused, Whom};
use model::{NULL, Out};

/// Descriptors that are held for it at most.
const MOST: usize = 512;

/// What a count is in base units.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Means {
    Bytes(f64),
    Microjoules(f64),
}

/// One event of one PMU, through one CPU.
#[derive(Debug)]
struct One {
    pmu: String,
    event: String,
    cpu: u32,
    means: Means,
    scaled: Scaled,
    labels: Option<(i64, i64)>,
}

/// All that are open.
#[derive(Debug, Default)]
pub struct Package {
    all: Vec<One>,
    /// Why some could not be opened, if so.
    pub refused: Option<Refused>,
}

impl Package {
    /// Opens the events of `devices` that have a unit.
    pub fn open(host: &Host, devices: &[Device]) -> Package {
        let mut package = Package::default();
        for device in devices.iter().filter(|device| !device.is_core) {
            for event in device.aliases(host) {
                let Some(means) = means(host, &device.name, &event) else { continue };
                let Ok(encoded) = device.of_alias(host, &event) else { continue };
                for &cpu in &device.cpus {
                    if package.all.len() >= MOST {
                        return package;
                    }
                    match Counting::open(host, &[encoded], Whom::Cpu(cpu)) {
                        Ok(counting) => package.all.push(One {
                            pmu: device.name.clone(),
                            event: event.clone(),
                            cpu,
                            means,
                            scaled: Scaled::new(counting, 1),
                            labels: None,
                        }),
                        Err(refused) => package.refused = Some(refused),
                    }
                }
            }
        }
        package
    }

    /// Puts a row for each into table `table`.
    pub fn read(&mut self, host: &Host, table: usize, out: &mut Out<'_>) {
        for one in &mut self.all {
            let (pmu, event) = *one.labels.get_or_insert_with(|| (out.text(&one.pmu), out.text(&one.event)));
            let total = one.scaled.read(host).and_then(|sums| sums.first().copied());
            let count = total.and(one.scaled.raw().first().copied()).map_or(NULL, |count| count as i64);
            let in_units = |factor: f64| total.map_or(NULL, |total| (total * factor).round() as i64);
            let (bytes, energy) = match one.means {
                Means::Bytes(factor) => (in_units(factor), NULL),
                Means::Microjoules(factor) => (NULL, in_units(factor)),
            };
            out.row(table, &[pmu, i64::from(one.cpu), event, count, bytes, energy]);
        }
    }
}

/// What a count of an event is, by the files `.scale` and `.unit` beside it.
fn means(host: &Host, device: &str, event: &str) -> Option<Means> {
    let file = |end: &str| host.read_text(&format!("{DEVICES}/{device}/events/{event}.{end}")).ok();
    let scale: f64 = file("scale")?.parse().ok().filter(|scale: &f64| scale.is_finite() && *scale > 0.0)?;
    match file("unit")?.as_str() {
        "MiB" => Some(Means::Bytes(scale * f64::from(1 << 20))),
        "Joules" => Some(Means::Microjoules(scale * 1e6)),
        _ => None,
    }
}
