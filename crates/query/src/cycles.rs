//! Cycles and instructions of functions, by samples of both: what cycles an instruction took. The view `function_cycles` of `stdlib/` says the same of
//! whole recordings.

use crate::Run;
use crate::code::{Code, Frame};
use crate::profile::{file_name, identity, unresolved};
use crate::stats::poisson::{self, Sum};
use model::{NULL, Symbols, Window};
use std::collections::HashMap;

/// The table.
const TABLE: &str = "counted_sample";

/// What tells functions apart, also of several runs, whose programs lie elsewhere: name, the module's file name, kind of code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Function {
    /// What it is called; where it has no name, after its file.
    pub name: String,
    /// The file name of the file that it is in; `[kernel]`, `[jit]` …
    pub module: String,
    /// As in the table `frame`: native, inlined, jit, kernel …
    pub kind: String,
}

/// What was counted in a function itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cycles {
    /// Cycles, with the samples that tell of them.
    pub cycles: Sum,
    /// Instructions, likewise.
    pub instructions: Sum,
}

impl Cycles {
    /// Cycles per instruction, with the 95 % interval; `None` where no sample tells of the one or the other.
    pub fn per_instruction(&self) -> Option<[f64; 3]> {
        let factor = poisson::factor(&[self.cycles.effective(), self.instructions.effective()])?;
        let cpi = self.cycles.sum / self.instructions.sum;
        Some([cpi, cpi / factor, cpi * factor])
    }

    /// How many times the cycles per instruction of another these are, with the 95 % interval.
    pub fn against(&self, other: &Cycles) -> Option<[f64; 3]> {
        let all = [self.cycles, self.instructions, other.cycles, other.instructions];
        let factor = poisson::factor(&all.map(|sum| sum.effective()))?;
        let ratio = self.cycles.sum / self.instructions.sum / (other.cycles.sum / other.instructions.sum);
        Some([ratio, ratio / factor, ratio * factor])
    }
}

/// What was counted in all functions in a window; `None` where a recording has no samples by instructions.
pub fn functions(run: &Run, window: &Window) -> Option<HashMap<Function, Cycles>> {
    let mut stacks: HashMap<i64, Cycles> = HashMap::new();
    let columns = ["stack", "cycles", "cycle_samples", "instructions", "instruction_samples"];
    let interval = run.recording.manifest().interval;
    let between = Some((window.from, i64::MAX));
    let mut is_told = false;
    run.recording.scan(TABLE, &columns, between, &mut Symbols::default(), |batch| {
        is_told |= !batch.is_empty();
        for row in 0..batch.len() {
            let part = batch.part(row, interval, window);
            let of = |column: usize| {
                let cell = batch.cell(column, row);
                if cell == NULL { 0.0 } else { cell.max(0) as f64 * part }
            };
            if part <= 0.0 {
                continue;
            }
            let sum = stacks.entry(batch.cell(0, row)).or_default();
            sum.cycles.add(of(1), of(2));
            sum.instructions.add(of(3), of(4));
        }
    });
    if !is_told {
        return None;
    }
    let code = Code::load(run, stacks.keys().copied());
    let mut functions: HashMap<Function, Cycles> = HashMap::new();
    for (stack, of) in stacks {
        let sum = functions.entry(function(code.frames(stack).first())).or_default();
        sum.cycles.append(&of.cycles);
        sum.instructions.append(&of.instructions);
    }
    Some(functions)
}

fn function(frame: Option<&Frame>) -> Function {
    let (name, module, kind) =
        frame.map_or_else(|| (unresolved(""), "", ""), |f| (f.name.clone(), f.module.as_str(), f.kind.as_str()));
    Function { name, module: file_name(module).to_owned(), kind: identity(kind).to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Session, testing};

    /// `work` in two places of the code, `wait` in which no instruction was sampled, the kernel; and what has no stack.
    fn run_of_three() -> Run {
        let counted = "t pid comm stack cycles cycle_samples instructions instruction_samples
            1 7 app 1 4000 4 2000 2
            1 7 app 2 2000 2 1000 1
            2 7 app 1 4000 4 2000 2
            2 7 app 3 5000 5 0 0
            2 7 app 4 100 1 400 4
            2 7 app - 10 1 10 1";
        let stack = "t number parent frame\n0 1 - 1\n0 2 - 2\n0 3 - 3\n0 4 - 4";
        let frame = "t number function module build_id offset source kind
            0 1 work /bin/app - 16 - native
            0 2 work /bin/app - 20 - native
            0 3 wait /bin/app - 32 - native
            0 4 do_work [kernel] - 48 - kernel";
        testing::run("a", &[(&testing::COUNTED, counted), (&testing::STACK, stack), (&testing::FRAME, frame)])
    }

    fn of<'a>(all: &'a HashMap<Function, Cycles>, name: &str) -> &'a Cycles {
        all.iter().find(|(function, _)| function.name == name).unwrap().1
    }

    #[test]
    fn cycles_of_functions_are_those_of_their_places() {
        let run = run_of_three();
        let all = functions(&run, &Window { from: 0, to: i64::MAX, why: String::new() }).unwrap();
        let work = of(&all, "work");
        assert_eq!((work.cycles.sum, work.cycles.number, work.instructions.sum), (10_000.0, 10.0, 5000.0));
        let [cpi, low, high] = work.per_instruction().unwrap();
        let factor = (1.959_964 * (1.0 / 10.0 + 1.0 / 5.0_f64).sqrt()).exp();
        assert!((cpi - 2.0).abs() < 1e-9 && (low * factor - 2.0).abs() < 1e-4 && (high / factor - 2.0).abs() < 1e-4);
        assert_eq!(of(&all, "wait").per_instruction(), None);
        assert_eq!(of(&all, "do_work").per_instruction().unwrap()[0], 0.25);
        // Eight times as many cycles an instruction, and that is less sure than either.
        let [ratio, least, most] = work.against(of(&all, "do_work")).unwrap();
        assert!((ratio - 8.0).abs() < 1e-9 && least < 8.0 / factor && most > 8.0 * factor);
        assert_eq!(work.against(of(&all, "wait")), None);

        // Only what the second read told.
        let second = functions(&run, &Window { from: 1_500_000_000, to: 2_000_000_000, why: String::new() }).unwrap();
        assert_eq!((of(&second, "work").cycles.sum, of(&second, "work").cycles.number), (4000.0, 4.0));
        let none = testing::run("b", &[(&testing::STACK, "t number parent frame\n0 1 - 1")]);
        assert!(functions(&none, &Window { from: 0, to: i64::MAX, why: String::new() }).is_none());
    }

    #[test]
    fn the_view_says_the_same() {
        let run = run_of_three();
        let all = functions(&run, &Window { from: 0, to: i64::MAX, why: String::new() }).unwrap();
        let session = Session::of(vec![run]).unwrap();
        let sql = "select function_name(function, module), cycles, cycle_samples, instruction_samples, cpi, cpi_low, cpi_high from function_cycles";
        let rows = session.all(sql).unwrap().1;
        assert_eq!(rows.len(), all.len());
        for row in rows {
            let number = |at: usize| match &row[at] {
                rusqlite::types::Value::Integer(whole) => Some(*whole as f64),
                rusqlite::types::Value::Real(real) => Some(*real),
                _ => None,
            };
            let rusqlite::types::Value::Text(name) = &row[0] else { panic!("{row:?}") };
            let of = of(&all, name);
            assert_eq!(number(1), Some(of.cycles.sum), "{name}");
            assert_eq!([number(2), number(3)], [of.cycles, of.instructions].map(|sum| Some(sum.number)), "{name}");
            let expected = of.per_instruction();
            let same = |at: usize, part: usize| match (number(at), expected.map(|all| all[part])) {
                (Some(of_view), Some(own)) => (of_view / own - 1.0).abs() < 1e-9,
                (of_view, own) => of_view.is_none() && own.is_none(),
            };
            assert!(same(5, 1) && same(6, 2), "{name}: {row:?}, {expected:?}");
        }
    }
}
