//! Sources read live, with nothing kept: what `twinscope top` shows.

use crate::options::{Usage, Whose};
use crate::run::HERTZ;
use host::Host;
use model::{Coverage, Out, Rows, Symbols, Table, Unavailable};
use sources::scope::Target;
use sources::{Reader, Scope, Source, Start};

/// Opened sources, and the strings that their rows refer to.
pub struct Live {
    host: Host,
    start: u64,
    target: String,
    sources: Vec<(&'static Source, Box<dyn Reader>)>,
    symbols: Symbols,
    missing: Vec<(&'static str, Unavailable)>,
    /// Outlives the sources: fields are dropped in their order.
    _holding: std::io::Result<host::holder::Holding>,
}

/// What one read of a table gave.
#[derive(Debug)]
pub struct Read {
    /// The table.
    pub table: &'static Table,
    /// When, nanoseconds since the start.
    pub t: i64,
    /// Its rows.
    pub rows: Rows,
}

impl Live {
    /// Opens the sources called `names`, in the order in which sources are read. What cannot be opened is in [`Live::missing`]. To be called before any
    /// thread is started.
    ///
    /// # Errors
    /// [`Usage`] where there is no such process or control group.
    pub fn open(names: &[&str], whose: &Whose) -> Result<Self, Usage> {
        let _holding = host::holder::start();
        let host = Host::live();
        let target = whose.target(&host, Target::Everything)?;
        let start = host.now();
        let scope = Scope {
            target,
            start: Start::at(start),
            hertz: HERTZ,
            names_meanwhile: true,
            own: sources::scope::own(),
            ..Scope::default()
        };
        let (mut opened, mut missing) = (Vec::new(), Vec::new());
        for source in sources::ALL.iter().filter(|s| names.contains(&s.name)) {
            match (source.open)(&host, &scope) {
                Ok(reader) => opened.push((*source, reader)),
                Err(why) => missing.push((source.name, why)),
            }
        }
        let target = scope.target.to_string();
        Ok(Live { host, start, target, sources: opened, symbols: Symbols::default(), missing, _holding })
    }

    /// Which threads are traced, in words.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// What could not be opened or read, and why.
    pub fn missing(&self) -> &[(&'static str, Unavailable)] {
        &self.missing
    }

    /// Nanoseconds since the start.
    pub fn now(&self) -> i64 {
        self.host.now().saturating_sub(self.start) as i64
    }

    /// The strings that rows refer to.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// Reads the sources for which `wanted` says so.
    pub fn read(&mut self, wanted: impl Fn(&str) -> bool) -> Vec<Read> {
        let mut found = Vec::new();
        for (source, reader) in self.sources.iter_mut().filter(|(source, _)| wanted(source.name)) {
            let mut rows = vec![Rows::default(); source.tables.len()];
            let (mut coverage, mut facts): (Vec<Coverage>, Vec<model::Fact>) = Default::default();
            let t = self.host.now().saturating_sub(self.start) as i64;
            let mut out = Out::new(source.name, source.tables, &mut rows, &mut self.symbols, &mut coverage, &mut facts);
            if let Err(why) = reader.read(&self.host, &mut out)
                && !self.missing.iter().any(|(name, known)| *name == source.name && *known == why)
            {
                self.missing.push((source.name, why));
            }
            let tables = source.tables.iter().zip(rows).filter(|(_, rows)| !rows.is_empty());
            found.extend(tables.map(|(table, rows)| Read { table, t, rows }));
        }
        found
    }
}
