//! Interrupts of each line on each CPU, from `/proc/interrupts`: devices, and what the CPUs send each other (IPIs).

use crate::entities::Entities;
use crate::{Pace, Reader, Scope, Source, parse};
use host::{HeldFile, Host};
use model::{Chart, ChartKind, Column, NULL, Out, Page, Table, Unavailable, Unit};

/// Lines are compared by what they are for: the kernel deals out their numbers anew at each boot.
static INTERRUPTS: Table = Table::wide(
    "interrupts",
    "interrupts of one line that one CPU handled, since boot; pairs that never counted are left out",
    &[
        Column::label("irq", "number of the line, or the kernel's name of one of its own (LOC, RES, CAL, TLB, NMI …)"),
        Column::label("device", "the handlers of the line, or the kernel's description of one of its own"),
        Column::label("chip", "interrupt controller, hardware line and trigger; nothing for the kernel's own"),
        Column::number("cpu", "CPU number; nothing for ERR and MIS, which are counted for the whole system"),
        Column::counter("count", Unit::None, "interrupts handled"),
    ],
)
.grouped(&[&["device"]]);

static CHARTS: &[Chart] = &[
    Chart::new(
        "interrupts-lines",
        Page::Interrupts,
        ChartKind::Line,
        "Interrupts by line",
        "The busiest lines. Timer interrupts (LOC) follow the number of busy CPUs; a device line that grows means more, or less well batched, I/O.",
        "interrupts",
        &["count"],
    )
    .by(&["irq", "device"], 12),
    Chart::new(
        "interrupts-heat",
        Page::Interrupts,
        ChartKind::Heat,
        "Interrupts by CPU",
        "One row per CPU, darker is more. A single dark row means that one CPU serves a device for all the others.",
        "interrupts",
        &["count"],
    )
    .by(&["cpu"], 0),
    Chart::new(
        "interrupts-ipi",
        Page::Interrupts,
        ChartKind::Line,
        "Interrupts between CPUs",
        "CPUs interrupt each other to wake threads (RES), to run functions (CAL) and to drop stale memory mappings (TLB). TLB and CAL that grow with \
         the number of threads point to frequent munmap, mprotect or memory migration.",
        "interrupts",
        &["count"],
    )
    .by(&["irq", "device"], 0)
    .only("irq", &["RES", "CAL", "TLB", "IWI", "IPI0", "IPI1", "IPI2", "IPI3", "IPI4", "IPI5", "IPI6", "IPI7"]),
];

/// Interrupts.
pub static SOURCE: Source = Source {
    name: "interrupts",
    title: "interrupts by line and CPU",
    documented: "proc_interrupts(5); kernel/irq/proc.c show_interrupts; arch/x86/kernel/irq.c arch_show_interrupts",
    reads: &["/proc/interrupts"],
    needs: "",
    pace: Pace::Tick,
    tables: &[&INTERRUPTS],
    charts: CHARTS,
    open: |host, _scope: &Scope| {
        let file = host.open("/proc/interrupts")?;
        Ok(Box::new(Interrupts { file, cpus: Vec::new(), counts: Vec::new(), lines: Entities::default() }))
    },
};

struct Interrupts {
    file: HeldFile,
    /// CPU of each column.
    cpus: Vec<i64>,
    /// Column and count of what the present line counted.
    counts: Vec<(usize, i64)>,
    lines: Entities<Line>,
}

/// What follows the counts of a line, and the cells of its texts.
#[derive(Default)]
struct Line {
    tail: Vec<u8>,
    irq: i64,
    device: i64,
    chip: i64,
}

impl Reader for Interrupts {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let mut lines = parse::lines(self.file.read(host)?);
        self.cpus.clear();
        let head = parse::words(lines.next().unwrap_or_default());
        self.cpus.extend(head.filter_map(|word| word.strip_prefix(b"CPU")).map(parse::number).filter(|&n| n != NULL));
        if self.cpus.is_empty() {
            return Err(Unavailable::failed("/proc/interrupts: the first line names no CPU"));
        }
        self.lines.start();
        for text in lines {
            let Some(colon) = memchr::memchr(b':', text) else { continue };
            let irq = text.get(..colon).unwrap_or_default().trim_ascii();
            let mut rest = text.get(colon + 1..).unwrap_or_default();
            self.counts.clear();
            let mut columns = 0;
            while columns < self.cpus.len()
                && let Some((count, after)) = next_count(rest)
            {
                rest = after;
                if count != 0 {
                    self.counts.push((columns, count));
                }
                columns += 1;
            }
            if self.counts.is_empty() {
                continue;
            }
            let line = self.lines.find(irq, || Line { irq: out.bytes(irq), device: NULL, ..Line::default() });
            line.name(irq, rest.trim_ascii(), out);
            let whole_system = columns < self.cpus.len() || matches!(irq, b"ERR" | b"MIS" | b"Err");
            for &(column, count) in &self.counts {
                let cpu = if whole_system { None } else { self.cpus.get(column).copied() };
                out.row(0, &[line.irq, line.device, line.chip, cpu.unwrap_or(NULL), count]);
            }
        }
        Ok(())
    }
}

impl Line {
    /// Finds the cells of the texts, unless they are those of the last read.
    fn name(&mut self, irq: &[u8], tail: &[u8], out: &mut Out<'_>) {
        if self.device != NULL && self.tail == tail {
            return;
        }
        self.tail = tail.to_vec();
        let (chip, device) = if parse::number(irq) == NULL { (Vec::new(), tail) } else { split(tail) };
        self.device = out.bytes(if device.is_empty() { irq } else { device });
        self.chip = if chip.is_empty() { NULL } else { out.bytes(&chip) };
    }
}

/// The next count of a line and what follows it; `None` where no number comes next.
fn next_count(text: &[u8]) -> Option<(i64, &[u8])> {
    // The kernel pads each count to a space and ten characters, and on a large machine nearly all are 0.
    if let Some((b"          0", after)) = text.split_first_chunk::<11>()
        && matches!(after.first(), None | Some(b' '))
    {
        return Some((0, after));
    }
    let start = text.iter().position(|&b| b != b' ')?;
    let text = text.get(start..)?;
    let end = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    let (digits, after) = text.split_at_checked(end)?;
    let count = parse::number(digits);
    (count != NULL && matches!(after.first(), None | Some(b' '))).then_some((count, after))
}

/// Splits what follows the counts of a device's line into the controller (chip, hardware line, trigger) and the handlers:
/// "IO-APIC   2-edge      timer", "GICv3  27 Level     arch_timer", and of old kernels "PCI-MSI-edge      eth0".
fn split(tail: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut words = parse::words(tail);
    let mut chip = words.next().unwrap_or_default().to_vec();
    let mut ahead = words.clone();
    while let Some(word) = ahead.next().filter(|word| is_hardware_line(word) || matches!(*word, b"Level" | b"Edge")) {
        chip.push(b' ');
        chip.extend_from_slice(word);
        words = ahead.clone();
    }
    (chip, words.rest())
}

/// Whether a word is a hardware line: a number, with or without a trigger: "27", "2-edge", "9-fasteoi".
fn is_hardware_line(word: &[u8]) -> bool {
    let digits = word.iter().take_while(|b| b.is_ascii_digit()).count();
    digits > 0 && (digits == word.len() || word.get(digits) == Some(&b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of, play, survives};
    use proptest::prelude::*;

    #[test]
    fn a_host_of_two_cpus() {
        let played = play(&SOURCE, &fixture("vm-2cpu"), 2).unwrap();
        let first = &played[0];
        assert!(first.error.is_none());
        let request = first.row("interrupts", "36 ");
        assert!(request.starts_with("36 virtio1-req.0 \"PCI-MSIX-0000:00:02.0 1-edge\" 1 "), "{request}");
        assert!(first.row("interrupts", "RES ").starts_with("RES \"Rescheduling interrupts\" - 0 "));
        // The line has a handler and never counted.
        assert!(!first.rows("interrupts").iter().any(|r| r.contains("virtio0-config") || r.starts_with("NMI")));
        let timer = |frame: usize| -> i64 {
            let row = played[frame].row("interrupts", "LOC ");
            row.rsplit(' ').next().unwrap().parse().unwrap()
        };
        assert!(timer(1) > timer(0));
    }

    #[test]
    fn formats_of_other_machines() {
        let text = "           CPU0       CPU4       \n\
             \x20 2:        100        200     GICv3  27 Level     arch_timer\n\
             \x20 9:          0          7     GICv3  39 Level     arm-pmu, second one\n\
             \x2057:          1          0   PCI-MSI-edge      eth0-TxRx-0\n\
             \x2058:          3          0   IO-APIC    9-fasteoi   acpi\n\
             \x2059:          3          0   dummy\n\
             IPI0:       4294967295          6       Rescheduling interrupts\n\
             ERR:          5\nErr:          0\n";
        let (_dir, host) = host_of(&[("/proc/interrupts", text)]);
        assert_eq!(
            play(&SOURCE, &host, 1).unwrap()[0].rows("interrupts"),
            [
                "2 arch_timer \"GICv3 27 Level\" 0 100",
                "2 arch_timer \"GICv3 27 Level\" 4 200",
                "9 \"arm-pmu, second one\" \"GICv3 39 Level\" 4 7",
                "57 eth0-TxRx-0 PCI-MSI-edge 0 1",
                "58 acpi \"IO-APIC 9-fasteoi\" 0 3",
                "59 59 dummy 0 3",
                "IPI0 \"Rescheduling interrupts\" - 0 4294967295",
                "IPI0 \"Rescheduling interrupts\" - 4 6",
                "ERR ERR - - 5",
            ]
        );
    }

    #[test]
    fn a_handler_that_changes_is_seen() {
        let of = |handler: &str| format!("   CPU0\n 5:          1   IO-APIC   5-edge      {handler}\n");
        let (dir, host) = host_of(&[("/proc/interrupts", &of("a"))]);
        std::fs::create_dir_all(dir.path().join("frame-1/proc")).unwrap();
        std::fs::write(dir.path().join("frame-1/proc/interrupts"), of("b")).unwrap();
        let played = play(&SOURCE, &host, 2).unwrap();
        assert_eq!(played[1].rows("interrupts"), ["5 b \"IO-APIC 5-edge\" 0 1"]);
    }

    #[test]
    fn hostile_content() {
        for content in [
            "",
            "CPU",
            "x\n",
            "CPU0\n1",
            "CPU0\n1:",
            "CPU0 CPU1\n:\n::::\n1: 2 3 4 5 6\n",
            "CPU0\nA: 99999999999999999999 b",
        ] {
            survives(&SOURCE, content);
        }
        let (_dir, host) = host_of(&[("/proc/interrupts", "no head\n 1: 2\n")]);
        assert!(play(&SOURCE, &host, 1).unwrap()[0].error.is_some());
    }

    proptest! {
        #[test]
        fn lines_are_read_as_they_were_written(counts in proptest::collection::vec(0u32.., 1..20)) {
            let head: String = (0..counts.len()).map(|n| format!("CPU{n}       ")).collect();
            let cells: String = counts.iter().map(|n| format!(" {n:>10}")).collect();
            let (_dir, host) = host_of(&[("/proc/interrupts", &format!("{head}\n RES:{cells}   text\n"))]);
            let wanted: Vec<String> = (0..).zip(&counts).filter(|(_, n)| **n > 0).map(|(cpu, n)| format!("RES text - {cpu} {n}")).collect();
            let played = play(&SOURCE, &host, 1).unwrap();
            prop_assert_eq!(played[0].rows("interrupts"), wanted);
        }

        #[test]
        fn no_text_panics(bytes: Vec<u8>) {
            let _ = (next_count(&bytes), split(&bytes));
        }
    }
}
