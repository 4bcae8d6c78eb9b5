//! Recordings that are written by a simulation, from fixed seeds: what equal runs must not list, whatever their noise, and what must be
//! said where the pace, the phases or the number of runs differ.

use compare::{Choice, Comparison, Condition, Options, Per, compare};
use model::{Column, Manifest, Table, Unit, Work};
use query::stats::rng::Rng;
use query::testing::{CPU, PROCESS, VMSTAT, write};
use query::{Run, open};
use std::fmt::Write;

static WORK: Table =
    Table::wide("work", "work done", &[Column::counter("done", Unit::None, "units of work done").better()]);

/// Processes, told apart by their names as real ones are.
static JOBS: Table = Table { groups: &[&["comm"]], ..PROCESS };

/// Fields of `/proc/vmstat` that are simulated, each a metric.
const FIELDS: usize = 80;

/// What a run does.
#[derive(Clone, Copy)]
struct Program {
    /// Seconds between two reads, and how many reads.
    step: f64,
    reads: usize,
    /// Units of work a second.
    pace: f64,
    /// CPUs in use, and from which share of the time on how many.
    cpus: f64,
    end: Option<(f64, f64)>,
    /// Standard deviation of a run's own level, as a share: equal for all samples of a metric.
    offset: f64,
}

const PROGRAM: Program = Program { step: 0.2, reads: 40, pace: 1000.0, cpus: 1.6, end: None, offset: 0.01 };

/// A series with autocorrelation 0.6 and a variation of 15 % around 1.
struct Noise(f64);

impl Noise {
    fn next(&mut self, rng: &mut Rng) -> f64 {
        self.0 = 0.6 * self.0 + 0.8 * rng.normal();
        (1.0 + 0.15 * self.0).max(0.0)
    }
}

/// Writes one run.
fn record(dir: &std::path::Path, name: &str, rng: &mut Rng, program: Program) -> std::path::PathBuf {
    let Program { step, reads, pace, cpus, end, offset } = program;
    let level = |rng: &mut Rng| (1.0 + offset * rng.normal()).max(0.1);
    let mut work = String::from("t done\n");
    let mut cpu = String::from("t cpu user idle mhz\n");
    let mut process = String::from("t pid comm user rss\n");
    let mut vmstat = String::from("t field value\n");
    let run = level(rng);
    let levels: Vec<f64> = (0..FIELDS).map(|_| level(rng)).collect();
    let mut noise: Vec<Noise> = (0..FIELDS + 2).map(|_| Noise(rng.normal())).collect();
    let mut sums = vec![0.0; FIELDS + 3];
    for read in 0..reads {
        let t = read as f64 * step;
        if read > 0 {
            let share = (read as f64 - 0.5) / (reads - 1) as f64;
            let cpus = end.filter(|(from, _)| share >= *from).map_or(cpus, |e| e.1);
            sums[0] += pace * run * step * (0.8 + 0.2 * noise[0].next(rng));
            let busy = (cpus * (0.9 + 0.1 * noise[1].next(rng))).min(2.0) * step;
            sums[1] += 100.0 * busy;
            sums[2] += 100.0 * (2.0 * step - busy);
            for field in 0..FIELDS {
                sums[3 + field] += 400.0 * (1 + field % 7) as f64 * levels[field] * step * noise[2 + field].next(rng);
            }
        }
        writeln!(work, "{t} {}", sums[0] as i64).unwrap();
        writeln!(cpu, "{t} 0 {} {} 2000", sums[1] as i64, sums[2] as i64).unwrap();
        writeln!(process, "{t} 10 job {} 100000000", (sums[1] * 1e7) as i64).unwrap();
        writeln!(process, "{t} 11 neighbour {} 100000000", (t * 1e8) as i64).unwrap();
        for field in 0..FIELDS {
            writeln!(vmstat, "{t} field{field} {}", sums[3 + field] as i64).unwrap();
        }
    }
    let wall = ((reads - 1) as f64 * step * 1e9) as i64;
    let manifest = Manifest {
        name: name.into(),
        cpus: 2,
        command: Some(vec!["./job".into()]),
        pid: Some(10),
        command_start: Some(0),
        wall: Some(wall),
        duration: Some(wall),
        work: Some(Work { unit: "operations".into(), total: sums[0], progress: Vec::new(), how: String::new() }),
        ..Manifest::default()
    };
    let path = dir.join(format!("{name}.twin"));
    write(&path, &manifest, &[(&WORK, &work), (&CPU, &cpu), (&JOBS, &process), (&VMSTAT, &vmstat)]);
    path
}

/// Records these programs and compares them; `repeats` as in [`Options`].
fn compared(seed: u64, programs: &[Program], options: &Options) -> (Vec<Run>, Comparison) {
    let dir = tempfile::tempdir().unwrap();
    let mut rng = Rng::new(seed);
    let paths: Vec<_> =
        programs.iter().enumerate().map(|(i, p)| record(dir.path(), &format!("r{i}"), &mut rng, *p)).collect();
    let runs = open(&paths).unwrap();
    let comparison = compare(&runs, options).unwrap();
    (runs, comparison)
}

fn listed(comparison: &Comparison) -> Vec<String> {
    comparison.differences.iter().map(|d| format!("{} {:?} {:?}", d.metric, d.per, d.labels)).collect()
}

#[test]
fn equal_runs_list_nothing_in_20_of_20() {
    for seed in 0..20 {
        let (_, comparison) = compared(seed, &[PROGRAM, PROGRAM], &Options::default());
        assert!(comparison.compared > FIELDS, "{}", comparison.compared);
        assert!(listed(&comparison).is_empty(), "seed {seed}: {:?}", listed(&comparison));
        assert!(comparison.phases.is_empty() && comparison.cautions.is_empty(), "seed {seed}: {comparison:?}");
    }
}

#[test]
fn repeats_that_differ_from_run_to_run_list_nothing_in_20_of_20() {
    let wild = Program { offset: 0.15, reads: 20, ..PROGRAM };
    let options = Options { repeats: 3, ..Options::default() };
    let mut once = 0;
    for seed in 100..120 {
        let (_, comparison) = compared(seed, &[wild; 6], &options);
        assert!(listed(&comparison).is_empty(), "seed {seed}: {:?}", listed(&comparison));
        let (_, single) = compared(seed, &[wild; 2], &Options::default());
        once += usize::from(single.cautions.iter().any(|c| c.kind == compare::CautionKind::Once));
        let known = single.cautions.iter().all(|c| c.kind == compare::CautionKind::Once);
        assert!(known, "{:?}", single.cautions);
    }
    // One run a side is told apart from repeats where its pace differs.
    assert!(once >= 10, "{once}");
}

#[test]
fn a_quarter_of_the_pace_is_found_in_six_seconds() {
    let fast = Program { reads: 31, pace: 40_000.0, ..PROGRAM };
    let slow = Program { pace: 10_000.0, ..fast };
    // Beside true differences a twentieth of what is listed may be chance; nothing differs per second here but the pace.
    let (mut chance, mut all) = (0, 0);
    for seed in 200..210 {
        let (_, comparison) = compared(seed, &[fast, slow], &Options::default());
        let condition = Condition::parse("work.done -5%").unwrap();
        let found = condition.holds(&comparison);
        let found = found.unwrap_or_else(|| panic!("seed {seed}: {:?}", listed(&comparison)));
        assert!(found.change.is_some_and(|c| (-0.8..-0.7).contains(&c)), "{found:?}");
        assert_eq!(comparison.differences[0].metric, "work.done", "it stands first");
        // What the system does by itself is no more per operation because there are fewer operations; what the program uses is.
        let per_second = |d: &compare::Difference| {
            comparison.differences.iter().any(|o| o.per == Per::Second && o.metric == d.metric && o.labels == d.labels)
        };
        for d in &comparison.differences[1..] {
            let own = d.labels.get("comm").is_some_and(|c| c == "job");
            assert!(d.per == Per::Second || own || per_second(d), "seed {seed}: {} {:?}", d.metric, d.labels);
            chance += usize::from(d.per == Per::Second);
            all += 1;
        }
        assert!(
            listed(&comparison).iter().any(|d| d.starts_with("process.user Operation")),
            "seed {seed}: {:?}",
            listed(&comparison)
        );
        // And no pace, no fall.
        let (_, same) = compared(seed, &[slow, slow], &Options::default());
        assert!(condition.holds(&same).is_none() && condition.is_known(&same));
    }
    eprintln!("{chance} of {all} listed beside the pace are chance");
    assert!(chance <= 1, "{chance} of {all}");
}

#[test]
fn repeats_find_what_holds() {
    let wild = Program { offset: 0.05, reads: 20, ..PROGRAM };
    let slow = Program { pace: 500.0, ..wild };
    let options = Options { repeats: 4, ..Options::default() };
    for seed in 300..305 {
        let (_, comparison) = compared(seed, &[wild, wild, wild, wild, slow, slow, slow, slow], &options);
        let found = comparison.differences.iter().find(|d| d.metric == "work.done");
        assert!(found.is_some_and(|d| d.run == 4 && d.q < 0.05), "seed {seed}: {:?}", listed(&comparison));
        assert!(comparison.cautions.is_empty(), "{:?}", comparison.cautions);
        assert!(comparison.headline.headline.contains("× as long per operation"), "{:?}", comparison.headline);
    }
}

#[test]
fn an_end_on_one_cpu_is_named() {
    let slow = Program { cpus: 2.0, end: Some((0.6, 1.0)), ..PROGRAM };
    let fast = Program { cpus: 2.0, ..PROGRAM };
    for seed in 400..405 {
        let (_, comparison) = compared(seed, &[fast, slow], &Options::default());
        let [phase] = comparison.phases.as_slice() else { panic!("seed {seed}: {:?}", comparison.phases) };
        assert!(phase.run == 1 && phase.to == 1.0 && (phase.from - 0.6).abs() < 0.06, "{phase:?}");
        let detail = &comparison.headline.detail;
        assert!(detail.contains("of r1 ran on 1.0 CPUs"), "{detail}");
    }
}

#[test]
fn a_window_with_too_little_says_so() {
    let at = |s: f64| compare::Bound::At(s);
    let options = Options { window: Choice::Between(at(1.0), at(1.5)), ..Options::default() };
    let (_, comparison) = compared(500, &[PROGRAM, PROGRAM], &options);
    assert_eq!(comparison.compared, 0);
    assert_eq!(comparison.headline.headline, "Too little was recorded to compare.");
}
