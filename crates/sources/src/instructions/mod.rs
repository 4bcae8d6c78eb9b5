//! Instructions: samples of busy threads with their registers, in bursts, and the code that they ran. What single instructions wait for, and how long
//! the rounds of loops take, is computed from them by whoever reads the recording. Cache lines that threads share are found while they run.

mod burst;
mod calls;
mod code;
mod sharing;
mod skid;

use crate::{Pace, Reader, Scope, Source};
use burst::{Asked, Bursts};
use host::Host;
use host::registers::COUNT;
use model::{Column, Compare, NULL, Out, Table, Unavailable, Unit};
use std::collections::HashMap;
use std::time::Duration;

/// A general register: by the number with which instructions encode it.
const fn register(name: &'static str, help: &'static str) -> Column {
    Column::gauge(name, Unit::None, help).compared(Compare::Never)
}

static SAMPLE: Table = Table::wide(
    "instruction_sample",
    "a sample of a busy thread with its registers, in bursts: by two timers, a thousand a second of CPU time, for some tenths of a second every ten",
    &[
        Column::number("pid", "process"),
        Column::number("tid", "thread"),
        Column::label("comm", "name of the process"),
        Column::label("thread", "name of the thread"),
        Column::gauge("at", Unit::Nanoseconds, "when, since the start of the recording"),
        Column::gauge("burst", Unit::None, "number of its burst"),
        Column::gauge("task_clock", Unit::Nanoseconds, "CPU time of the thread since the burst began"),
        Column::gauge("stack", Unit::None, "number of the stack that has this place alone"),
        Column::gauge("code", Unit::None, "number of its code, where the process made it (JIT); NULL for code of files"),
        Column::gauge(
            "address",
            Unit::None,
            "the instruction that was next: its address in the file, or in the process for code that it made",
        ),
        register("r0", "rax, x0; NULL for what the machine lacks, as for the others"),
        register("r1", "rcx, x1"),
        register("r2", "rdx, x2"),
        register("r3", "rbx, x3"),
        register("r4", "rsp, x4"),
        register("r5", "rbp, x5"),
        register("r6", "rsi, x6"),
        register("r7", "rdi, x7"),
        register("r8", "r8, x8"),
        register("r9", "r9, x9"),
        register("r10", "r10, x10"),
        register("r11", "r11, x11"),
        register("r12", "r12, x12"),
        register("r13", "r13, x13"),
        register("r14", "r14, x14"),
        register("r15", "r15, x15"),
        register("r16", "x16"),
        register("r17", "x17"),
        register("r18", "x18"),
        register("r19", "x19"),
        register("r20", "x20"),
        register("r21", "x21"),
        register("r22", "x22"),
        register("r23", "x23"),
        register("r24", "x24"),
        register("r25", "x25"),
        register("r26", "x26"),
        register("r27", "x27"),
        register("r28", "x28"),
        register("r29", "x29"),
        register("r30", "x30"),
        register("r31", "sp of aarch64"),
    ],
)
.of_events()
.scoped();

/// Columns of a sample before its registers.
const BEFORE: usize = 10;

static BURST: Table = Table::wide(
    "instruction_burst",
    "a burst of samples with registers",
    &[
        Column::number("number", "its number in this recording"),
        Column::gauge("at", Unit::Nanoseconds, "when it began, since the start of the recording"),
        Column::gauge("length", Unit::Nanoseconds, "how long it was"),
        Column::gauge("threads", Unit::None, "threads that were looked at"),
        Column::real(
            "frequency",
            Unit::None,
            "cycles a second of the CPU that took it, by a chain of additions; NULL where it could not be told",
        ),
    ],
)
.of_entries();

static CODE: Table = Table::wide(
    "code",
    "machine code of what was sampled with registers: the hottest functions, each content once",
    &[
        Column::number("number", "its number in this recording"),
        Column::fact("function", "the function; NULL where nobody tells"),
        Column::fact("module", "path of the file; NULL for code that a process made"),
        Column::fact("build_id", "the build id of the file"),
        Column::fact_number("pid", Unit::None, "the process that made it; NULL for code of files"),
        Column::fact_number("start", Unit::None, "address of the first byte: in the file, or in the process"),
        Column::fact_number("whole", Unit::None, "1 if the function begins there"),
        Column::fact("machine", "x86_64 or aarch64"),
        Column::fact("bytes", "the code, hexadecimal"),
    ],
)
.of_entries();

static SKID: Table = Table::wide(
    "skid",
    "where samples land on this machine, by a loop of which one load waits",
    &[
        Column::gauge("samples", Unit::None, "samples in the loop").compared(Compare::Never),
        Column::gauge("on_load", Unit::None, "of those, on the load").compared(Compare::Never),
        Column::gauge("after_load", Unit::None, "of those, on the instruction after it").compared(Compare::Never),
        Column::gauge(
            "skid",
            Unit::None,
            "how many instructions after the one that waits samples land; NULL: not told",
        )
        .compared(Compare::Never),
    ],
)
.of_events();

static COLLECTOR: Table = Table::wide(
    "instructions_collector",
    "what the bursts took, lost and cost",
    &[
        Column::label("collector", "its name"),
        Column::counter("events", Unit::None, "samples with registers"),
        Column::counter("lost", Unit::None, "samples that found no room").worse(),
        Column::counter("cost_ns", Unit::Nanoseconds, "CPU time of the thread that takes them").worse(),
    ],
)
.grouped(&[]);

// Tables of the source.
const SAMPLES: usize = 0;
const BURSTS: usize = 1;
const CODES: usize = 2;
const SKIDS: usize = 3;
const COLLECTORS: usize = 4;
const CALLS: usize = 11;
const SHARING: sharing::At = sharing::At { line: 5, field: 6, access: 7, look: 8, machine: 9, watch: 10 };

/// Instructions of busy threads.
pub static SOURCE: Source = Source {
    name: "instructions",
    title: "instructions: samples with registers, and machine code",
    documented: "perf_event_open(2), arch/*/include/uapi/asm/perf_regs.h",
    reads: &[],
    needs: "root, or CAP_PERFMON and CAP_SYS_PTRACE, for processes of other users",
    pace: Pace::Tick,
    tables: &[
        &SAMPLE,
        &BURST,
        &CODE,
        &SKID,
        &COLLECTOR,
        &access::tables::LINE,
        &sharing::FIELD,
        &access::tables::ACCESS,
        &sharing::LOOK,
        &sharing::MACHINE,
        &sharing::WATCH,
        &calls::TABLE,
    ],
    charts: &[],
    open: |host, scope: &Scope| {
        if host.is_fixture() {
            return Err(Unavailable::not_applicable("a recorded host runs nothing that has instructions"));
        }
        if scope.bursts == 0 {
            return Err(Unavailable::not_applicable("no bursts were asked for").remedy("--instructions"));
        }
        if scope.hertz == 0 {
            let why = "which threads are busy is known by samples, and none were asked for";
            return Err(Unavailable::not_applicable(why).remedy("--stacks"));
        }
        // Where not even this thread may be sampled, none is.
        host::registers::OfThread::open(0, [1_000_000; 2], 0)?;
        scope.stacks.watch_busy();
        let asked = Asked { sharing: scope.sharing, calls: scope.count_calls };
        let every = Duration::from_secs(scope.bursts.into());
        let bursts = Bursts::start(scope.stacks.clone(), scope.thinning.clone(), every, asked);
        Ok(Box::new(Instructions {
            bursts,
            stacks: scope.stacks.clone(),
            start: scope.start.clone(),
            in_files: HashMap::new(),
            last: false,
            told: false,
            fields: 0,
            machine: None,
        }))
    },
};

/// Places in files whose samples are counted, for which code is read at the end.
const MOST_PLACES: usize = 1 << 17;

struct Instructions {
    bursts: Bursts,
    stacks: crate::stacks::Stacks,
    start: crate::Start,
    /// Samples by file and address in it.
    in_files: HashMap<(u32, u64), u64>,
    /// The next read is the last.
    last: bool,
    /// What failed was said.
    told: bool,
    /// Fields of shared lines that were written.
    fields: i64,
    /// What accesses cost here, until it is written.
    machine: Option<sharing::Machine>,
}

fn or_null<T: Into<i64>>(number: Option<T>) -> i64 {
    number.map_or(NULL, Into::into)
}

impl Instructions {
    fn since_start(&self, time: u64) -> i64 {
        time.saturating_sub(self.start.get()) as i64
    }

    fn code(rows: Vec<code::Row>, out: &mut Out<'_>) {
        for row in rows {
            let mut text = |text: Option<&str>| text.map_or(NULL, |text| out.text(text));
            let cells = [
                row.number,
                text(row.function.as_deref()),
                text(row.module.as_deref()),
                text(row.build_id.as_deref()),
                or_null(row.pid),
                row.start as i64,
                i64::from(row.whole),
                text(Some(std::env::consts::ARCH)),
                text(Some(&code::hexadecimal(&row.bytes))),
            ];
            out.row(CODES, &cells);
        }
    }
}

impl Reader for Instructions {
    fn read(&mut self, _host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        let kept = if self.last { self.bursts.stop() } else { None };
        let taken = self.bursts.take();
        if let Some(why) = taken.failed.filter(|_| !std::mem::replace(&mut self.told, true)) {
            out.missing("instruction_sample", why);
        }
        for row in taken.rows {
            let (comm, thread) = (out.text(&row.thread.comm), out.text(&row.thread.thread));
            let mut cells = [NULL; BEFORE + host::registers::REGISTERS];
            let before = [
                row.thread.pid.into(),
                row.thread.tid.into(),
                comm,
                thread,
                self.since_start(row.sample.time),
                row.burst,
                row.sample.task_clock as i64,
                row.stack,
                row.code,
                row.address as i64,
            ];
            let registers = row.sample.registers.iter().take(COUNT).map(|&value| value as i64);
            cells.iter_mut().zip(before.into_iter().chain(registers)).for_each(|(cell, value)| *cell = value);
            out.row(SAMPLES, &cells);
        }
        for burst in taken.bursts {
            let frequency = if burst.frequency.is_nan() { NULL } else { burst.frequency.to_bits() as i64 };
            let at = self.since_start(burst.at);
            out.row(BURSTS, &[burst.number, at, burst.length as i64, burst.threads, frequency]);
        }
        if let Some(skid) = taken.skid {
            let [samples, on, after] = [skid.samples, skid.on, skid.after].map(|n| n as i64);
            out.row(SKIDS, &[samples, on, after, or_null(skid.told())]);
        }
        self.machine = taken.machine.or(self.machine);
        for shared in taken.shared {
            let at = self.since_start(shared.at);
            sharing::write(SHARING, at, &shared.looked, &shared.budget, self.machine.take(), &mut self.fields, out);
        }
        for look in taken.calls {
            look.write(CALLS, self.since_start(look.at), out);
        }
        for (place, count) in taken.in_files {
            if self.in_files.len() < MOST_PLACES || self.in_files.contains_key(&place) {
                *self.in_files.entry(place).or_default() += count;
            }
        }
        Self::code(taken.code, out);
        let name = out.text("bursts");
        let [samples, lost, cost] = [taken.samples, taken.lost, taken.cost].map(|n| n as i64);
        out.row(COLLECTORS, &[name, samples, lost, cost]);
        if let Some(mut kept) = kept {
            kept.files(&self.stacks, &self.in_files);
            Self::code(kept.new_rows(), out);
            if kept.refused > 0 {
                let why = format!("{} functions found no room in the megabyte that is kept of code", kept.refused);
                out.missing("code", Unavailable::failed(why));
            }
        }
        Ok(())
    }

    fn ends(&mut self) {
        self.last = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_the_last_columns() {
        assert_eq!(SAMPLE.columns.len(), BEFORE + host::registers::REGISTERS);
        for (number, column) in SAMPLE.columns.iter().skip(BEFORE).enumerate() {
            assert_eq!(column.name, format!("r{number}"));
        }
    }

    #[test]
    fn nothing_is_taken_where_nothing_was_asked_for() {
        let none = Scope::default();
        assert!((SOURCE.open)(&Host::live(), &none).is_err_and(|why| why.to_string().contains("bursts")));
        let without_samples = Scope { bursts: 10, ..Scope::default() };
        assert!((SOURCE.open)(&Host::live(), &without_samples).is_err_and(|why| why.to_string().contains("samples")));
    }
}
