//! Figures of all CPUs at once: their frequency while all are busy, and what they read from memory together.

use super::{On, Prepared, Probe, spare};
use crate::calls as libc;
use crate::measure::{HUGE, Memory, pin, refused};
use crate::memory::sum;
use host::additions::additions;
use host::speed;
use model::Unavailable;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

/// Threads, one a CPU: more than these fill the channels of any machine, and what they say of frequency holds for the others.
const MOST: usize = 32;

/// Bytes that each reads, at least.
const READ: usize = 8 << 20;

/// What a thread of the team is to do.
#[derive(Clone, Copy, PartialEq)]
enum Job {
    /// Be busy for a while, then measure its frequency while the others still are.
    Run,
    /// Read its memory.
    Read,
}

/// Threads that wait for jobs. They end when it is dropped.
struct Team {
    jobs: Vec<Sender<Job>>,
    told: Receiver<f64>,
}

/// How long a CPU does something else before it is given up.
const PATIENCE: Duration = Duration::from_millis(500);

impl Team {
    /// Has all do a job; what each says.
    fn all(&self, job: Job) -> Result<Vec<f64>, Unavailable> {
        // What came too late for the round before.
        while self.told.try_recv().is_ok() {}
        for of in &self.jobs {
            of.send(job).map_err(|_| Unavailable::failed("a thread of the measurement died"))?;
        }
        let mut found = Vec::new();
        for _ in &self.jobs {
            let value = self.told.recv_timeout(PATIENCE);
            found.push(value.map_err(|_| Unavailable::failed("a CPU had no time for 0.5 s"))?);
        }
        Ok(found)
    }
}

/// A thread of it.
fn work(cpu: usize, size: usize, barrier: &Barrier, jobs: &Receiver<Job>, tell: &Sender<f64>) {
    let memory = pin(cpu).and_then(|()| {
        let memory = Memory::map(size, Some(libc::MADV_HUGEPAGE)).or_else(|_| Memory::map(size, None))?;
        memory.touch();
        Ok(memory)
    });
    while let Ok(job) = jobs.recv() {
        barrier.wait();
        let value = match (job, &memory) {
            (Job::Run, _) => {
                let end = Instant::now() + Duration::from_micros(300);
                while Instant::now() < end {
                    additions(100);
                }
                speed::frequency().unwrap_or(f64::NAN)
            }
            (Job::Read, Ok(memory)) => {
                let start = Instant::now();
                std::hint::black_box(sum(memory.start(), memory.length()));
                memory.length() as f64 / start.elapsed().as_secs_f64()
            }
            (Job::Read, Err(_)) => f64::NAN,
        };
        if tell.send(value).is_err() {
            return;
        }
    }
}

/// Some of the CPUs, evenly spread over them.
fn members(cpus: &[usize]) -> Vec<usize> {
    cpus.iter().copied().step_by(cpus.len().div_ceil(MOST).max(1)).collect()
}

/// Adds both.
pub(super) fn prepare<'a>(on: On<'a>, into: &mut Prepared<'a>) {
    let On { context, cpus, .. } = on;
    let cpus = members(cpus);
    if cpus.len() < 2 {
        let why = "one CPU: it is all of them".to_owned();
        into.missing.push(super::NoFigure { id: "bandwidth.all".into(), why });
        return;
    }
    let size = READ.max((64 << 20) / cpus.len()).min(spare(context) / cpus.len()).next_multiple_of(HUGE);
    let team = (|| {
        let barrier = Arc::new(Barrier::new(cpus.len()));
        let (tell, told) = channel();
        let mut jobs = Vec::new();
        for &cpu in &cpus {
            let (give, take) = channel();
            let (barrier, tell) = (Arc::clone(&barrier), tell.clone());
            std::thread::Builder::new()
                .spawn(move || work(cpu, size, &barrier, &take, &tell))
                .map_err(|e| refused("a thread", &e))?;
            jobs.push(give);
        }
        Ok(Rc::new(RefCell::new(Team { jobs, told })))
    })();
    let count = cpus.len();
    into.add("bandwidth.all", team.map(|team| probes(&team, count)));
}

fn probes<'a>(team: &Rc<RefCell<Team>>, count: usize) -> Vec<Probe<'a>> {
    let ask = |job: Job| {
        let team = Rc::clone(team);
        move || {
            let mut values = team.borrow().all(job)?;
            values.retain(|value| value.is_finite());
            values.sort_by(f64::total_cmp);
            let of_one = values.get(values.len() / 2).copied();
            let value = if job == Job::Run { of_one } else { Some(values.iter().sum()) };
            value.ok_or_else(|| Unavailable::failed("no CPU of all could be measured"))
        }
    };
    let mut all = vec![Probe::rate(
        "bandwidth.all",
        format!("bytes that CPUs read from memory at once (here {count})"),
        "B/s",
        ask(Job::Read),
    )];
    if additions(1) {
        all.push(Probe::rate("frequency.all", "frequency, all CPUs busy", "Hz", ask(Job::Run)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_spread() {
        assert_eq!(members(&[0, 1]), [0, 1]);
        let of_many: Vec<usize> = members(&(0..192).collect::<Vec<_>>());
        assert!(of_many.len() <= MOST && of_many.starts_with(&[0, 6]), "{of_many:?}");
        assert_eq!(members(&[]), Vec::<usize>::new());
    }
}
