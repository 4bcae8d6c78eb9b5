//! The virtual tables: SQLite asks for rows, and gets them from decoded tables. Pushed down are the columns used, equality of the run
//! and of labels, and bounds of the time; SQLite checks each row again, so that what is pushed down only ever saves work.

use super::cache::{Key, Loaded, Shared};
use super::spec::{Role, Spec};
use crate::metric::{Metric, metric};
use crate::series::{Life, Reader, born, carried};
use model::{Divisor, NULL, Type};
use rusqlite::ffi;
use rusqlite::types::{Null, ValueRef};
use rusqlite::vtab::{
    Context, CreateVTab, Filters, IndexConstraintOp, IndexInfo, Module, VTab, VTabConfig, VTabConnection, VTabCursor,
    VTabKind,
};
use rusqlite::{Connection, Error, Result};
use std::borrow::Cow;
use std::ffi::{CStr, CString, c_int};
use std::ops::Range;
use std::sync::Arc;

/// The name under which the tables are made; users never see it.
const MODULE: &CStr = c"recorded";

/// Makes the virtual tables of `specs`.
pub(crate) fn create(db: &Connection, specs: Arc<Vec<Spec>>, shared: Arc<Shared>) -> Result<()> {
    const READ_ONLY: Module<Recorded> = Module::read_only_module();
    db.create_module(MODULE, &READ_ONLY, Some((Arc::clone(&specs), shared)))?;
    for (index, spec) in specs.iter().enumerate() {
        db.execute_batch(&format!("create virtual table {} using recorded({index})", super::spec::quoted(&spec.name)))?;
    }
    Ok(())
}

/// A virtual table.
#[repr(C)]
struct Recorded {
    base: ffi::sqlite3_vtab,
    specs: Arc<Vec<Spec>>,
    index: usize,
    shared: Arc<Shared>,
}

fn failed(why: impl Into<String>) -> Error {
    Error::ModuleError(why.into())
}

// SAFETY: `base` comes first, and the layout is C's.
unsafe impl<'vtab> VTab<'vtab> for Recorded {
    type Aux = (Arc<Vec<Spec>>, Arc<Shared>);
    type Cursor = Cursor;

    fn connect(
        db: &mut VTabConnection,
        aux: Option<&Self::Aux>,
        _module: &[u8],
        _database: &[u8],
        _table: &[u8],
        args: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, Self)> {
        let index = args.last().and_then(|a| std::str::from_utf8(a).ok()).and_then(|a| a.trim().parse::<usize>().ok());
        let (Some((specs, shared)), Some(index)) = (aux, index) else { return Err(failed("no such recorded table")) };
        let Some(spec) = specs.get(index) else { return Err(failed("no such recorded table")) };
        db.config(VTabConfig::Innocuous)?;
        let declaration = CString::new(spec.declaration()).map_err(|e| failed(e.to_string()))?;
        let base = ffi::sqlite3_vtab::default();
        Ok((Cow::Owned(declaration), Recorded { base, specs: Arc::clone(specs), index, shared: Arc::clone(shared) }))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        let Some(spec) = self.specs.get(self.index) else { return Ok(false) };
        // How much a constraint leaves: only the proportions matter to the planner.
        let mut rows = 1e6;
        let mut pushed = Vec::new();
        for (at, constraint) in info.constraints().enumerate().collect::<Vec<_>>().iter().map(|(at, c)| (*at, c)) {
            let Some(column) = usize::try_from(constraint.column()).ok().and_then(|c| spec.columns.get(c)) else {
                continue;
            };
            if !constraint.is_usable() {
                continue;
            }
            use IndexConstraintOp as Op;
            let op = match constraint.operator() {
                Op::SQLITE_INDEX_CONSTRAINT_EQ => '=',
                Op::SQLITE_INDEX_CONSTRAINT_GT => '>',
                Op::SQLITE_INDEX_CONSTRAINT_GE => ']',
                Op::SQLITE_INDEX_CONSTRAINT_LT => '<',
                Op::SQLITE_INDEX_CONSTRAINT_LE => '[',
                _ => continue,
            };
            let left = match (column.role, op) {
                (Role::T, '=') => 1e-3,
                (Role::T, _) => 0.3,
                (Role::Run, '=') => 0.5,
                (Role::Field | Role::Stored(_), '=') => 0.02,
                _ => continue,
            };
            // Another collation finds more than equal bytes.
            if column.role != Role::T && !info.collation(at)?.eq_ignore_ascii_case("binary") {
                continue;
            }
            rows *= left;
            pushed.push((at, constraint.column(), op));
        }
        let mut plan = format!("{:x}", info.col_used());
        for (argument, (at, column, op)) in pushed.iter().enumerate() {
            info.constraint_usage(*at).set_argv_index(argument as c_int + 1);
            plan.push_str(&format!(";{column}{op}"));
        }
        info.set_idx_str(&plan);
        info.set_estimated_cost(rows + 1.0);
        info.set_estimated_rows(rows as i64 + 1);
        Ok(true)
    }

    fn open(&'vtab mut self) -> Result<Cursor> {
        Ok(Cursor {
            base: ffi::sqlite3_vtab_cursor::default(),
            specs: Arc::clone(&self.specs),
            index: self.index,
            shared: Arc::clone(&self.shared),
            plan: Plan::default(),
            run: 0,
            scan: None,
            rowid: 0,
        })
    }
}

impl CreateVTab<'_> for Recorded {
    const KIND: VTabKind = VTabKind::Default;
}

/// What one scan is to give.
#[derive(Debug)]
struct Plan {
    used: u64,
    run: Option<String>,
    /// Bounds of the time of a row, both included.
    t: (i64, i64),
    labels: Vec<(Role, Key)>,
    /// Something is to compare with NULL, which no row does: the way up a stack ends so.
    nothing: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { used: u64::MAX, run: None, t: (i64::MIN, i64::MAX), labels: Vec::new(), nothing: false }
    }
}

impl Plan {
    fn uses(&self, column: usize) -> bool {
        // The last bit stands for all columns from the 64th on.
        self.used >> column.min(63) & 1 == 1
    }

    /// Takes a constraint in, as far as its value is of the type that the column has. SQLite compares what is of another type.
    fn constrain(&mut self, role: Role, op: &str, value: ValueRef<'_>) {
        match (role, value) {
            (_, ValueRef::Null) => self.nothing = true,
            (Role::T, ValueRef::Integer(v)) => self.bound(op, v, v),
            // A double may lie beyond all integers: the cast saturates.
            (Role::T, ValueRef::Real(v)) if !v.is_nan() => self.bound(op, v.floor() as i64, v.ceil() as i64),
            (Role::Run, ValueRef::Text(text)) => self.run = Some(String::from_utf8_lossy(text).into_owned()),
            (Role::Field | Role::Stored(_), ValueRef::Text(text)) => {
                self.labels.push((role, Key::Text(String::from_utf8_lossy(text).into_owned())));
            }
            (Role::Field | Role::Stored(_), ValueRef::Integer(v)) => self.labels.push((role, Key::Int(v))),
            _ => {}
        }
    }

    fn bound(&mut self, op: &str, low: i64, high: i64) {
        if matches!(op, "=" | ">" | "]") {
            self.t.0 = self.t.0.max(low);
        }
        if matches!(op, "=" | "<" | "[") {
            self.t.1 = self.t.1.min(high);
        }
    }
}

/// A scan over a virtual table.
#[repr(C)]
pub(crate) struct Cursor {
    base: ffi::sqlite3_vtab_cursor,
    specs: Arc<Vec<Spec>>,
    index: usize,
    shared: Arc<Shared>,
    plan: Plan,
    /// The run after the one being scanned.
    run: usize,
    scan: Option<Scan>,
    rowid: i64,
}

/// The values of one column for one item.
enum Cells {
    /// Not used by the statement, or not in this run's table.
    None,
    Label(Key),
    Ints(Vec<i64>),
    Texts(Vec<i64>),
    Reals(Vec<i64>),
    /// Already computed, in base units.
    Values(Vec<f64>),
    /// Of events: a stored column, by row.
    Events(usize, Type),
}

/// Where a scan is within one run.
struct Scan {
    run: usize,
    loaded: Arc<Loaded>,
    /// Ticks at which a row may be: those of the time bounds (rates: ends of intervals).
    ticks: Range<usize>,
    /// Of a wide table's rates: the metric of each column that the statement uses.
    metrics: Vec<Option<Metric>>,
    items: Vec<usize>,
    next_item: usize,
    /// Of the current item: positions of its rows, and its columns.
    stretches: Vec<Range<usize>>,
    stretch: usize,
    at: usize,
    /// The position of the first of its cells.
    base: usize,
    cells: Vec<Cells>,
}

// SAFETY: `base` comes first, and the layout is C's.
unsafe impl VTabCursor for Cursor {
    fn filter(&mut self, _index: c_int, plan: Option<&str>, args: &Filters<'_>) -> Result<()> {
        let mut parts = plan.unwrap_or_default().split(';');
        self.plan = Plan::default();
        if let Some(used) = parts.next().and_then(|p| u64::from_str_radix(p, 16).ok()) {
            self.plan.used = used;
        }
        let specs = Arc::clone(&self.specs);
        let Some(spec) = specs.get(self.index) else { return Err(failed("no such recorded table")) };
        for (value, part) in args.iter().zip(parts) {
            let (column, op) = part.split_at(part.len().saturating_sub(1));
            if let Some(column) = column.parse::<usize>().ok().and_then(|c| spec.columns.get(c)) {
                self.plan.constrain(column.role, op, value);
            }
        }
        self.run = if self.plan.nothing { self.shared.sources.len() } else { 0 };
        self.scan = None;
        self.rowid = 0;
        self.settle(spec)
    }

    fn next(&mut self) -> Result<()> {
        self.rowid += 1;
        if let Some(scan) = &mut self.scan {
            scan.at += 1;
        }
        let specs = Arc::clone(&self.specs);
        match specs.get(self.index) {
            Some(spec) => self.settle(spec),
            None => Ok(()),
        }
    }

    fn eof(&self) -> bool {
        self.scan.is_none()
    }

    fn column(&self, ctx: &mut Context, i: c_int) -> Result<()> {
        let (Some(scan), Some(spec)) = (&self.scan, self.specs.get(self.index)) else { return ctx.set_result(Null) };
        let Some(column) = usize::try_from(i).ok().and_then(|i| spec.columns.get(i)) else {
            return ctx.set_result(Null);
        };
        let frame = &scan.loaded.frame;
        let tick = |index: usize| frame.ticks.get(index).copied().unwrap_or(NULL);
        match column.role {
            Role::Run => ctx.set_result(self.shared.sources.get(scan.run).map(|s| s.name.as_str())),
            Role::T if frame.table.events => ctx.set_result(frame.tick.get(scan.at).map(|&t| tick(t as usize))),
            Role::T => ctx.set_result(tick(scan.at + usize::from(spec.rate))),
            Role::From if frame.table.events => ctx.set_result(frame.tick.get(scan.at).map(|&t| {
                let before = (t as usize).checked_sub(1).map(tick);
                let interval = self.shared.sources.get(scan.run).map_or(0, |s| s.interval);
                store::stretch_from(before, tick(t as usize), interval)
            })),
            Role::From => ctx.set_result(tick(scan.at)),
            Role::Seconds => ctx.set_result(tick(scan.at + 1).saturating_sub(tick(scan.at)) as f64 / 1e9),
            _ => {
                let at = scan.at - scan.base;
                let text = |cell: i64| frame.symbols.text(cell);
                let int = |cell: i64| (cell != NULL).then_some(cell);
                match scan.cells.get(i as usize) {
                    None | Some(Cells::None | Cells::Label(Key::Null)) => ctx.set_result(Null),
                    Some(Cells::Label(Key::Int(value))) => ctx.set_result(*value),
                    Some(Cells::Label(Key::Text(text))) => ctx.set_result(text.as_str()),
                    Some(Cells::Ints(cells)) => ctx.set_result(cells.get(at).copied().and_then(int)),
                    Some(Cells::Texts(cells)) => ctx.set_result(cells.get(at).copied().and_then(text)),
                    Some(Cells::Reals(cells)) => ctx.set_result(cells.get(at).copied().and_then(model::real_of)),
                    // SQLite takes NaN for NULL.
                    Some(Cells::Values(values)) => ctx.set_result(values.get(at).copied()),
                    Some(&Cells::Events(column, ty)) => {
                        let cell = frame.values.get(column).and_then(|c| c.get(scan.at)).copied();
                        match ty {
                            Type::Int => ctx.set_result(cell.and_then(int)),
                            Type::Real => ctx.set_result(cell.and_then(model::real_of)),
                            Type::Text => ctx.set_result(cell.and_then(text)),
                        }
                    }
                }
            }
        }
    }

    fn rowid(&self) -> Result<i64> {
        Ok(self.rowid)
    }
}

impl Cursor {
    /// Moves on until there is a row under the cursor, or none is left.
    fn settle(&mut self, spec: &Spec) -> Result<()> {
        loop {
            if let Some(scan) = &mut self.scan {
                if scan.settle(spec, &self.plan)? {
                    return Ok(());
                }
                self.scan = None;
            }
            let Some(source) = self.shared.sources.get(self.run) else { return Ok(()) };
            let run = self.run;
            self.run += 1;
            if self.plan.run.as_ref().is_some_and(|name| *name != source.name) || self.plan.t.0 > self.plan.t.1 {
                continue;
            }
            self.scan = Scan::open(run, spec, &self.plan, &self.shared)?;
        }
    }
}

/// The part of `ticks` that lies in a stretch of life, as positions of rows: ticks, or intervals by their first tick.
fn positions(life: &Range<usize>, ticks: &Range<usize>, rate: bool) -> Range<usize> {
    if rate {
        // The interval from `i` to `i + 1` is a row where both are in the life, and `i + 1` is in the time bounds.
        let start = life.start.max(ticks.start.saturating_sub(1));
        start..life.end.min(ticks.end).saturating_sub(1).max(start)
    } else {
        let start = life.start.max(ticks.start);
        start..life.end.min(ticks.end).max(start)
    }
}

/// What two lists of ascending ranges have in common.
fn common(a: &[Range<usize>], b: &[Range<usize>]) -> Vec<Range<usize>> {
    let both = |x: &Range<usize>| {
        b.iter().map(|y| x.start.max(y.start)..x.end.min(y.end)).filter(|r| r.start < r.end).collect::<Vec<_>>()
    };
    a.iter().flat_map(both).collect()
}

impl Scan {
    fn open(run: usize, spec: &Spec, plan: &Plan, shared: &Shared) -> Result<Option<Self>> {
        let declared = {
            let Some(source) = shared.sources.get(run) else { return Ok(None) };
            match source.recording().table(spec.table) {
                Some(table) => table,
                None => return Ok(None),
            }
        };
        let stored = declared.stored();
        let mut wanted: Vec<&'static str> = Vec::new();
        let mut metrics: Vec<Option<Metric>> = Vec::with_capacity(spec.columns.len());
        for (i, column) in spec.columns.iter().enumerate() {
            let metric = match column.role {
                _ if !plan.uses(i) => None,
                Role::Metric(name) => metric(declared, name),
                Role::Stored(name) => {
                    wanted.extend(stored.iter().filter(|c| c.name == name && !c.is_label()).map(|c| c.name));
                    None
                }
                _ => None,
            };
            wanted.extend(metric.iter().flat_map(Metric::columns));
            metrics.push(metric);
        }
        // The rates of a long table are computed from its values, and which there are is asked of the same frame.
        if spec.rate && declared.is_long() {
            wanted = vec!["value"];
        }
        // Whether an entity is seen for the first time is known only with all that went before.
        let from = if spec.rate && declared.from_zero { i64::MIN } else { plan.t.0 };
        let loaded = shared.load(run, spec.table, wanted, from..plan.t.1).map_err(|e| failed(e.to_string()))?;
        let Some(loaded) = loaded else { return Ok(None) };
        let ticks = &loaded.frame.ticks;
        let ticks = ticks.partition_point(|&t| t < plan.t.0)..ticks.partition_point(|&t| t <= plan.t.1);
        let mut labels: Vec<(usize, &Key)> = Vec::new();
        for (role, key) in &plan.labels {
            let name = match role {
                Role::Stored(name) => name,
                _ => "field",
            };
            let Some(label) = stored.iter().take(declared.label_width()).position(|c| c.name == name) else { continue };
            // A number compared with a text, or the other way: SQLite converts, so let it.
            let text = stored.get(label).is_some_and(|c| c.ty == Type::Text);
            if text != matches!(key, Key::Text(_)) {
                continue;
            }
            labels.push((label, key));
        }
        let items = loaded.with_labels(spec.rate, &labels);
        let (stretches, cells) = (Vec::new(), Vec::new());
        Ok(Some(Scan {
            run,
            loaded,
            ticks,
            metrics,
            items,
            next_item: 0,
            stretches,
            stretch: 0,
            at: 0,
            base: 0,
            cells,
        }))
    }

    /// Moves to the next position that is a row; says whether there is one.
    fn settle(&mut self, spec: &Spec, plan: &Plan) -> Result<bool> {
        loop {
            while let Some(stretch) = self.stretches.get(self.stretch) {
                if self.at < stretch.start {
                    self.at = stretch.start;
                }
                if self.at < stretch.end {
                    return Ok(true);
                }
                self.stretch += 1;
            }
            let Some(&item) = self.items.get(self.next_item) else { return Ok(false) };
            self.next_item += 1;
            self.load(item, spec, plan)?;
        }
    }

    /// Makes `item` the current one.
    fn load(&mut self, item: usize, spec: &Spec, plan: &Plan) -> Result<()> {
        let loaded = Arc::clone(&self.loaded);
        let frame = &loaded.frame;
        let table = frame.table;
        (self.stretch, self.at) = (0, 0);
        self.stretches.clear();
        let entity = loaded.entity(spec.rate, item);
        let lives = loaded.lives(entity);
        let of_field = if spec.rate && table.is_long() { loaded.rates().1.get(item) } else { None };
        if table.events {
            let rows = frame.entities.get(entity).map_or(0..0, |e| e.rows.clone());
            let at = frame.tick.get(rows.clone()).unwrap_or_default();
            let first = at.partition_point(|&t| (t as usize) < self.ticks.start);
            let last = at.partition_point(|&t| (t as usize) < self.ticks.end);
            self.stretches.push(rows.start + first..rows.start + last.max(first));
        } else {
            let of = |entity: usize| -> Vec<Range<usize>> {
                let lives = loaded.lives(entity);
                let born = born(frame, &lives).filter(|_| spec.rate);
                let life = |(i, (life, _)): (usize, &Life)| match born.filter(|_| i == 0) {
                    Some(before) => before..life.end,
                    None => life.clone(),
                };
                lives.iter().enumerate().map(|l| positions(&life(l), &self.ticks, spec.rate)).collect()
            };
            self.stretches = of(entity);
            if let Some(item) = of_field {
                for &other in item.subject.iter().filter(|&&e| e != entity) {
                    self.stretches = common(&self.stretches, &of(other));
                }
            }
        }
        self.cells.clear();
        // One that was there for a moment takes no cells for all of the recording.
        let there = || self.stretches.iter().filter(|s| !s.is_empty());
        let (Some(first), Some(end)) = (there().map(|s| s.start).min(), there().map(|s| s.end).max()) else {
            return Ok(());
        };
        self.base = if table.events { 0 } else { first };
        let ticks = first..end + usize::from(spec.rate);
        let stored = table.stored();
        let labels = table.label_width();
        for (i, column) in spec.columns.iter().enumerate() {
            let cells = match column.role {
                _ if !plan.uses(i) => Cells::None,
                Role::Stored(name) => match stored.iter().position(|c| c.name == name) {
                    Some(label) if label < labels => Cells::Label(loaded.label(spec.rate, item, label)),
                    Some(at) if table.events => Cells::Events(at - labels, stored.get(at).map_or(Type::Int, |c| c.ty)),
                    Some(at) => {
                        self.carried(at - labels, stored.get(at).map_or(Type::Int, |c| c.ty), &lives, ticks.clone())
                    }
                    None => Cells::None,
                },
                Role::Metric(_) => match self.metrics.get(i).and_then(Option::as_ref) {
                    Some(metric) => self.values(metric, &vec![entity; metric.terms().count()], ticks.clone())?,
                    None => Cells::None,
                },
                Role::Field => Cells::Label(loaded.label(spec.rate, item, labels.saturating_sub(1))),
                Role::FieldValue => match of_field.and_then(|i| Some((loaded.rates().0.get(i.metric)?, i))) {
                    Some((metric, item)) => self.values(metric, &item.subject, ticks.clone())?,
                    None => Cells::None,
                },
                Role::Run | Role::From | Role::T | Role::Seconds => Cells::None,
            };
            self.cells.push(cells);
        }
        Ok(())
    }

    fn carried(&self, column: usize, ty: Type, lives: &[Life], ticks: Range<usize>) -> Cells {
        let frame = &self.loaded.frame;
        let mut cells = Vec::new();
        let column = frame.values.get(column).map_or(&[][..], Vec::as_slice);
        carried(frame, column, lives, ticks, &mut cells);
        match ty {
            Type::Int => Cells::Ints(cells),
            Type::Real => Cells::Reals(cells),
            Type::Text => Cells::Texts(cells),
        }
    }

    /// A metric in each interval between two of `ticks`, as [`crate::series`] computes it.
    fn values(&self, metric: &Metric, subject: &[usize], ticks: Range<usize>) -> Result<Cells> {
        let loaded = &self.loaded;
        let mut reader = Reader::new(&loaded.frame, metric, false).map_err(|e| failed(e.to_string()))?;
        reader.read(subject, ticks.clone(), &|entity| loaded.lives(entity));
        let times = loaded.frame.ticks.get(ticks).unwrap_or_default();
        let length = |i: usize| match (times.get(i), times.get(i + 1)) {
            (Some(from), Some(to)) => (to - from) as f64 / 1e9,
            _ => f64::NAN,
        };
        let value = |(i, (num, den)): (usize, (&f64, &f64))| match metric.den {
            Divisor::Seconds => num / length(i),
            Divisor::One => *num,
            Divisor::Columns(_) if *den == 0.0 => f64::NAN,
            Divisor::Columns(_) => num / den,
        };
        Ok(Cells::Values(reader.num.iter().zip(&reader.den).enumerate().map(value).collect()))
    }
}
