//! What the sources that count by eBPF share: columns of a latency histogram, the table of what was counted and lost, and the reading
//! of records that programs lay out.

#[cfg(feature = "bpf")]
use host::bpf::{Map, Programs};
use model::{Column, Compare, Fold, NULL, Out, Table, Unavailable, Unit};

/// Buckets of a latency histogram: bucket i holds what took from 2^i to 2^(i+1) ns, the first also 0, the last all that is longer.
pub const BUCKETS: usize = 32;

/// The names of the buckets.
pub const NAMES: [&str; BUCKETS] = [
    "b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9", "b10", "b11", "b12", "b13", "b14", "b15", "b16", "b17",
    "b18", "b19", "b20", "b21", "b22", "b23", "b24", "b25", "b26", "b27", "b28", "b29", "b30", "b31",
];

/// The columns of a latency histogram. They are compared together, as a distribution, never one by one.
const fn buckets() -> [Column; BUCKETS] {
    const HELP: &str = "number that took 2^n to 2^(n+1) ns, n being the number in the name; the last is open";
    let mut all = [Column::counter("", Unit::None, HELP); BUCKETS];
    let mut at = 0;
    while at < BUCKETS {
        all[at] = Column::counter(NAMES[at], Unit::None, HELP).histogram((2_u64 << at) as f64, Unit::Nanoseconds);
        at += 1;
    }
    all
}

/// The columns of a table with a latency histogram: `before`, b0 to b31, `after`.
///
/// # Panics
/// Where `N` is not their number. Tables are constants: the build says so.
pub const fn with_histogram<const N: usize>(before: &[Column], after: &[Column]) -> [Column; N] {
    join(&[before, &buckets(), after])
}

/// Columns that are declared in parts, as one list.
///
/// # Panics
/// Where `N` is not their number. Tables are constants: the build says so.
pub const fn join<const N: usize>(parts: &[&[Column]]) -> [Column; N] {
    let mut all = [Column::gauge("", Unit::None, ""); N];
    let (mut part, mut place) = (0, 0);
    while part < parts.len() {
        let mut at = 0;
        while at < parts[part].len() {
            all[place] = parts[part][at];
            (place, at) = (place + 1, at + 1);
        }
        part += 1;
    }
    assert!(place == N, "the number of columns");
    all
}

/// The gauge of the longest event since the read before.
pub const fn longest(help: &'static str) -> Column {
    Column::gauge("longest", Unit::Nanoseconds, help).worse().folded(Fold::Max).floor(1e-3)
}

/// The table `name` of what the programs of a source counted and lost.
pub const fn collector(name: &'static str) -> Table {
    const COLUMNS: &[Column] = &[
        Column::label("collector", "which of the source's collectors"),
        Column::counter("events", Unit::None, "events seen, each counted once").compared(Compare::Never),
        Column::counter("lost", Unit::None, "events lost because buffers were full; missing in the tables")
            .compared(Compare::Never),
        Column::gauge(
            "sampled_1_in",
            Unit::None,
            "stacks: one in so many events has one. Counts: the inverse of the share of time that was counted (duty cycle), 1 if exact. Empty if neither applies",
        )
        .compared(Compare::Never),
        Column::counter(
            "cost_ns",
            Unit::Nanoseconds,
            "time spent in the programs, where the kernel measures it (sysctl kernel.bpf_stats_enabled)",
        )
        .compared(Compare::Never),
    ];
    Table::wide(name, "what an eBPF collector counted, lost and left out", COLUMNS).grouped(&[])
}

/// Reads the fields of a record one after the other, as a program lays them out; zero beyond its end.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The fields of `record`.
    pub fn of(record: &'a [u8]) -> Self {
        Fields { rest: record }
    }

    /// An unsigned 32-bit number.
    pub fn u32(&mut self) -> u32 {
        let Some((bytes, rest)) = self.rest.split_first_chunk::<4>() else { return 0 };
        self.rest = rest;
        u32::from_ne_bytes(*bytes)
    }

    /// An unsigned 64-bit number.
    pub fn u64(&mut self) -> u64 {
        let Some((bytes, rest)) = self.rest.split_first_chunk::<8>() else { return 0 };
        self.rest = rest;
        u64::from_ne_bytes(*bytes)
    }

    /// The next `N` unsigned 64-bit numbers.
    pub fn numbers<const N: usize>(&mut self) -> [u64; N] {
        std::array::from_fn(|_| self.u64())
    }

    /// The name of a task, `TASK_COMM_LEN` bytes.
    pub fn name(&mut self) -> [u8; 16] {
        let Some((bytes, rest)) = self.rest.split_first_chunk::<16>() else { return [0; 16] };
        self.rest = rest;
        *bytes
    }

    /// The next `length` bytes; none where there are fewer.
    pub fn bytes(&mut self, length: usize) -> &'a [u8] {
        let Some((bytes, rest)) = self.rest.split_at_checked(length) else { return &[] };
        self.rest = rest;
        bytes
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

/// A number of the kernel as a cell. Its counters of time and events stay far below the limit.
pub fn whole(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The name of a task without what follows its end.
pub fn trimmed(name: &[u8; 16]) -> &[u8] {
    name.split(|&b| b == 0).next().unwrap_or_default()
}

/// The name of a process; of a kernel thread what stands before the slash, as what follows is the CPU or the work that it does.
pub fn process_name(name: &[u8; 16], is_kernel_thread: bool) -> &[u8] {
    let all = trimmed(name);
    match all.iter().position(|&b| b == b'/') {
        Some(at) if is_kernel_thread => all.get(..at).unwrap_or(all),
        _ => all,
    }
}

#[cfg(feature = "bpf")]
/// What programs count of themselves, as bpf/counts.h keeps it: an array of 64-bit numbers for each CPU.
pub struct Counts {
    map: Map,
}

#[cfg(feature = "bpf")]
impl Counts {
    /// Those of `programs`.
    ///
    /// # Errors
    /// Where they count nothing.
    pub fn of(programs: &Programs) -> Result<Self, Unavailable> {
        Ok(Counts { map: programs.map("counts")? })
    }

    /// The sum of counter `at` over all CPUs.
    ///
    /// # Errors
    /// Where the kernel refuses what it allowed before.
    pub fn sum(&self, at: u32) -> Result<u64, Unavailable> {
        Ok(self.each(at)?.into_iter().fold(0, u64::wrapping_add))
    }

    /// Counter `at` of each CPU.
    ///
    /// # Errors
    /// Where the kernel refuses what it allowed before.
    pub fn each(&self, at: u32) -> Result<Vec<u64>, Unavailable> {
        let each = self.map.get_per_cpu(&at.to_ne_bytes())?;
        Ok(each.iter().map(|bytes| Fields::of(bytes).u64()).collect())
    }
}

/// Says what was lost: once, and again when it is ten times as much.
#[derive(Debug, Default)]
pub struct Losses {
    said: u64,
}

impl Losses {
    /// `lost` so far of what `item` names; `why` says what that means and what helps.
    pub fn say(&mut self, out: &mut Out<'_>, item: &str, lost: u64, why: &str) {
        if lost > self.said.saturating_mul(10) {
            self.said = lost;
            out.missing(item, Unavailable::failed(format!("{lost} or more are missing: {why}")));
        }
    }
}

/// The row of a collector.
pub fn collector_row(
    out: &mut Out<'_>,
    table: usize,
    name: &str,
    events: u64,
    lost: u64,
    one_in: Option<u64>,
    cost: Option<u64>,
) {
    let name = out.text(name);
    out.row(table, &[name, whole(events), whole(lost), one_in.map_or(NULL, whole), cost.map_or(NULL, whole)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_end_with_zeros() {
        let mut fields = Fields::of(&[1, 0, 0, 0, 7]);
        assert_eq!((fields.u32(), fields.u64(), fields.name()), (1u32.to_le(), 0, [0; 16]));
        assert_eq!((fields.bytes(2), fields.bytes(1), fields.is_empty()), (&[][..], &[7][..], true));
    }

    #[test]
    fn names_end_at_the_first_zero() {
        assert_eq!(trimmed(b"cat\0at\0\0\0\0\0\0\0\0\0\0"), b"cat");
        assert_eq!(trimmed(b"0123456789abcdef"), b"0123456789abcdef");
    }

    #[test]
    fn histograms_lie_between_the_other_columns() {
        const ALL: [Column; 34] = with_histogram(&[Column::counter("a", Unit::None, "")], &[longest("")]);
        assert_eq!([ALL[0].name, ALL[1].name, ALL[32].name, ALL[33].name], ["a", "b0", "b31", "longest"]);
    }
}

/// Help for tests on the machine they run on.
#[cfg(all(test, feature = "bpf"))]
pub mod testing {
    use crate::{Reader, Scope, Source};
    use host::Host;
    use model::{Coverage, NULL, Out, Rows, Symbols, Type, Unavailable};
    use std::collections::HashMap;
    use std::process::{Child, Command, Stdio};

    /// What the child of a test finds in its environment.
    const CHILD: &str = "TWINSCOPE_TEST_CHILD";

    /// Starts this test program again to run the test `path` alone, under the name `comm`: the test that calls this, which finds by
    /// [`is_child`] that it is to do the child's work.
    pub fn child(path: &str, comm: &str) -> Child {
        let program = std::env::current_exe().unwrap();
        let mut command = Command::new(program);
        command.args([path, "--exact", "--test-threads=1"]).env(CHILD, comm);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Says in a child that its work is done, and waits until it was seen: stacks can be followed only while the process is there.
    pub fn done() {
        // SAFETY: one byte to a pipe, and one from another.
        unsafe {
            let mut byte = 0u8;
            libc::write(2, (&raw const byte).cast(), 1);
            libc::read(0, (&raw mut byte).cast(), 1);
        }
    }

    /// Reads until `run` says that its work is done, and once more after its end.
    pub fn follow(live: &mut Live, mut run: Child) {
        let mut said = run.stderr.take().unwrap();
        let waiting = std::thread::spawn(move || std::io::Read::read(&mut said, &mut [0]).map(|_| said));
        while !waiting.is_finished() {
            std::thread::sleep(std::time::Duration::from_millis(20));
            live.read();
        }
        live.read();
        drop(run.stdin.take());
        let ended = run.wait().unwrap();
        live.read();
        assert!(ended.success(), "{ended}");
    }

    /// Whether this process was started by [`child`] for `comm`; its process has that name from here on.
    pub fn is_child(comm: &str) -> bool {
        let asked = std::env::var(CHILD).is_ok_and(|asked| asked == comm);
        if asked {
            // The process is called as its first thread; tests run in another.
            std::fs::write("/proc/self/comm", comm).unwrap();
        }
        asked
    }

    /// A source that is read on this machine.
    pub struct Live {
        source: &'static Source,
        host: Host,
        reader: Box<dyn Reader>,
        symbols: Symbols,
        /// What could not be had.
        pub coverage: Vec<Coverage>,
        /// Rows of the last read, table by table, as text.
        last: Vec<Vec<Vec<String>>>,
        /// The greatest value of each counter of each entity, and the sum of what events say.
        reached: HashMap<(usize, Vec<String>), Vec<i64>>,
    }

    impl Live {
        /// Opens `source` for everything on this machine, to count exactly; says so where that cannot be.
        pub fn open(source: &'static Source) -> Option<Self> {
            Self::open_for(source, &Scope { exact: true, ..Scope::default() })
        }

        /// Opens `source` for `scope`.
        pub fn open_for(source: &'static Source, scope: &Scope) -> Option<Self> {
            Self::with(source, (source.open)(&Host::live(), scope))
        }

        /// A source that was opened in its own way.
        pub fn with(source: &'static Source, opened: Result<Box<dyn Reader>, Unavailable>) -> Option<Self> {
            match opened {
                Ok(reader) => Some(Live {
                    source,
                    host: Host::live(),
                    reader,
                    symbols: Symbols::default(),
                    coverage: Vec::new(),
                    last: Vec::new(),
                    reached: HashMap::new(),
                }),
                Err(why) => {
                    eprintln!("SKIPPED: {}: {why}", source.name);
                    None
                }
            }
        }

        /// Reads once.
        pub fn read(&mut self) {
            let tables = self.source.tables;
            let (mut rows, mut facts) = (vec![Rows::default(); tables.len()], Vec::new());
            let mut out =
                Out::new(self.source.name, tables, &mut rows, &mut self.symbols, &mut self.coverage, &mut facts);
            self.reader.read(&self.host, &mut out).unwrap();
            self.last.clear();
            for (number, (table, rows)) in tables.iter().zip(&rows).enumerate() {
                let columns = table.stored();
                let mut texts = Vec::new();
                for row in rows.iter() {
                    let text: Vec<String> = row
                        .iter()
                        .zip(&columns)
                        .map(|(&cell, column)| match column.ty {
                            _ if cell == NULL => "-".to_owned(),
                            Type::Text => self.symbols.text(cell).unwrap_or("?").to_owned(),
                            _ => cell.to_string(),
                        })
                        .collect();
                    let labels = if table.events { columns.len() } else { table.label_width() };
                    let key = (number, text[..labels].to_vec());
                    let reached = self.reached.entry(key).or_insert_with(|| vec![0; row.len()]);
                    for ((reached, &cell), column) in reached.iter_mut().zip(row).zip(&columns) {
                        let cell = cell.max(0);
                        assert!(
                            table.events || !column.is_cumulative() || cell >= *reached,
                            "{text:?} {} fell from {reached} to {cell}",
                            column.name
                        );
                        *reached = if table.events { *reached + cell } else { cell.max(*reached) };
                    }
                    texts.push(text);
                }
                self.last.push(texts);
            }
        }

        /// The rows of the last read.
        pub fn rows(&self, table: &str) -> &[Vec<String>] {
            let at = self.source.tables.iter().position(|t| t.name == table).unwrap();
            self.last.get(at).map_or(&[], Vec::as_slice)
        }

        /// The sum of what `column` reached in all rows of all reads with these labels for which `also` holds.
        pub fn reached(
            &self,
            table: &str,
            column: &str,
            with: &[(&str, &str)],
            also: impl Fn(&dyn Fn(&str) -> String) -> bool,
        ) -> i64 {
            let (at, table) = self.source.tables.iter().enumerate().find(|(_, t)| t.name == table).unwrap();
            let columns = table.stored();
            let place = |name: &str| columns.iter().position(|c| c.name == name).unwrap();
            let matching = self.reached.iter().filter(|((number, labels), _)| {
                *number == at
                    && with.iter().all(|(name, value)| labels[place(name)] == *value)
                    && also(&|name| labels[place(name)].clone())
            });
            matching.map(|(_, values)| values[place(column)]).sum()
        }
    }
}
