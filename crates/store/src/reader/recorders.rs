//! The recorder is no part of what it measured. Rows of its processes, and of other recorders that ran at the time, are left out here, where all rows are
//! read, so that no question need think of them.

use model::{Column, Manifest, NULL};

/// What is taken for a recorder in recordings that do not name theirs: programs called so.
const CALLED: &str = "twinscope";

/// Which rows of a recording are recorders'.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorders {
    named: Vec<(i64, String)>,
    /// Whether a program may be told by its name alone: not where the workload is a recorder itself.
    by_name: bool,
}

/// Where a table says whose a row is, by the places of its stored columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whose {
    pid: Option<usize>,
    comm: Option<usize>,
}

impl Whose {
    /// `None` of a table that tells no processes apart.
    pub(super) fn of(columns: &[Column]) -> Option<Self> {
        let at = |name: &str| columns.iter().position(|column| column.is_label() && column.name == name);
        let whose = Whose { pid: at("pid"), comm: at("comm") };
        (whose.pid.is_some() || whose.comm.is_some()).then_some(whose)
    }

    /// The columns that it goes by.
    pub(super) fn columns(self) -> impl Iterator<Item = usize> {
        self.pid.into_iter().chain(self.comm)
    }

    /// The process of a row, and its name, from its cells.
    pub(super) fn cells(self, cell: impl Fn(usize) -> i64) -> (i64, i64) {
        let cell = |place: Option<usize>| place.map_or(NULL, &cell);
        (cell(self.pid), cell(self.comm))
    }
}

impl Recorders {
    pub(super) fn of(manifest: &Manifest) -> Self {
        let program = manifest.command.as_ref().and_then(|command| command.first()?.rsplit('/').next());
        Recorders {
            named: manifest.recorders.iter().map(|recorder| (recorder.pid, recorder.name.clone())).collect(),
            by_name: !manifest.is_chosen() && program.is_none_or(|program| !program.starts_with(CALLED)),
        }
    }

    /// Whether a row with this process, [`NULL`] or 0 where it has none, and the name of that is a recorder's.
    pub(super) fn have(&self, pid: i64, comm: Option<&str>) -> bool {
        let is_named = |name: &str| self.named.iter().any(|(_, known)| known == name);
        match comm {
            Some(comm) if comm == model::HOLDER => true,
            Some(comm) if self.named.is_empty() => self.by_name && comm.starts_with(CALLED),
            Some(comm) if pid == NULL || pid == 0 => self.by_name && is_named(comm),
            // A number may have been another program's before.
            Some(comm) => self.named.iter().any(|(known, name)| *known == pid && name == comm),
            None => pid != 0 && self.named.iter().any(|(known, _)| *known == pid),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Recording, Select, Writer};
    use model::{OwnProcess, Rows, Symbols, Table, Unit, whose};

    fn manifest(recorders: &[(i64, &str)], command: Option<&str>, scope: &str) -> Manifest {
        let of = |(pid, name): &(i64, &str)| OwnProcess { pid: *pid, name: (*name).into() };
        Manifest {
            recorders: recorders.iter().map(of).collect(),
            command: command.map(|command| vec![command.to_owned()]),
            scope: scope.into(),
            ..Manifest::default()
        }
    }

    #[test]
    fn a_recorder_is_told_by_its_number_and_its_name() {
        let recorders = Recorders::of(&manifest(&[(7, "twinscope"), (8, model::HOLDER)], None, ""));
        assert!(recorders.have(7, Some("twinscope")) && recorders.have(7, None));
        assert!(!recorders.have(7, Some("rustc")), "the number was another's");
        assert!(!recorders.have(9, Some("twinscope")), "a program called so that does not record is what it is");
        assert!(recorders.have(9, Some(model::HOLDER)), "of another recorder");
        assert!(recorders.have(0, Some("twinscope")) && recorders.have(NULL, Some("twinscope")));
        assert!(!recorders.have(0, None) && !recorders.have(NULL, None) && !recorders.have(9, None));
    }

    #[test]
    fn older_recordings_go_by_the_name() {
        let recorders = Recorders::of(&manifest(&[], Some("/usr/bin/make"), whose::COMMAND));
        assert!(recorders.have(7, Some("twinscope")) && !recorders.have(7, Some("make")));
        for (command, scope) in [(Some("target/twinscope"), whose::COMMAND), (None, "process 7")] {
            let recorders = Recorders::of(&manifest(&[], command, scope));
            assert!(!recorders.have(7, Some("twinscope")), "it is what is looked at");
        }
    }

    static USE: Table = Table::wide(
        "use",
        "CPU time",
        &[
            Column::number("pid", "process"),
            Column::label("comm", "name"),
            Column::counter("cpu", Unit::Nanoseconds, "CPU time"),
        ],
    );
    static EVENT: Table = Table::wide(
        "event",
        "events",
        &[
            Column::number("pid", "process"),
            Column::label("comm", "name"),
            Column::gauge("weight", Unit::Nanoseconds, "weight"),
        ],
    )
    .of_events();

    /// Sealed and open rows alike, as frames and as batches.
    #[test]
    fn no_row_of_a_recorder_is_read_unless_it_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.twin");
        let mut writer = Writer::create(&path, false, i64::MAX).unwrap();
        let manifest = manifest(&[(7, "twinscope")], None, "");
        writer.manifest(&manifest).unwrap();
        let tables = [writer.define("test", &USE), writer.define("test", &EVENT)];
        let mut symbols = Symbols::default();
        for t in [0, 1] {
            let cells = [(7, "twinscope", 3), (5, "app", 4), (5, "twinscope", 5)];
            let cells = cells.iter().flat_map(|&(pid, comm, n)| [pid, symbols.cell(comm), n + t]).collect::<Vec<i64>>();
            for table in tables {
                writer.put(table, t, &Rows { width: 3, cells: cells.clone() });
            }
            writer.commit(&symbols).unwrap();
            if t == 0 {
                writer.seal(&symbols).unwrap();
            }
        }
        // Still being written: a part is sealed, the rest open.
        let recording = Recording::open(&path).unwrap();
        for table in ["use", "event"] {
            let of = |recorders| {
                let frame = recording.load(table, &Select { recorders, ..Select::default() }).unwrap();
                let name = |cell: i64| frame.symbols.text(cell).unwrap().to_owned();
                let rows = |e: &crate::Entity| (e.labels[0], name(e.labels[1]), e.rows.len());
                frame.entities.iter().map(rows).collect::<Vec<_>>()
            };
            assert_eq!(of(false), [(5, "app".into(), 2), (5, "twinscope".into(), 2)]);
            assert_eq!(of(true), [(7, "twinscope".into(), 2)]);
            // The columns by which a recorder is told need not be asked for.
            let mut weights = Vec::new();
            let column = if table == "use" { "cpu" } else { "weight" };
            recording.scan(table, &[column], None, &mut Symbols::default(), |batch| {
                weights.extend((0..batch.len()).map(|row| (batch.t(row), batch.cell(0, row))));
            });
            weights.sort_unstable();
            assert_eq!(weights, [(0, 4), (0, 5), (1, 5), (1, 6)], "{table}");
        }
        drop(recording);
        writer.finish(&manifest, &symbols).unwrap();
    }
}
