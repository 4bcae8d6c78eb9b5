//! The thread that finds JVMs, has the programs attached in them, and ten times a second follows the stacks that were taken and names their classes.

use super::rows::{KEY, Key, NUMBERS};
use crate::Scope;
use crate::counted::{COUNT_EVENTS, Counted, Plan, Taken};
use crate::hotspot::{Names, Unknown, Way};
use crate::looking::{Look, Looker, Next};
use crate::memory::Process;
use crate::stacks::{Stacks, User};
use crate::thin::{BUDGET, Cost, GATE, Rhythm, Set, Thinned};
use host::Host;
use host::bpf::Place;
use model::Unavailable;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/allocation.bpf.o"));

/// The programs of allocation.bpf.c, and the functions of `libjvm.so` that they run at: `HeapWord *` is another type since 12, the thread another since 16.
const PROGRAMS: [&str; 2] = ["in_new_buffer", "outside_buffer"];
const FUNCTIONS: [&[&str]; 2] = [
    &[
        "_ZN11AllocTracer27send_allocation_in_new_tlabEP5KlassPP12HeapWordImplmmP10JavaThread",
        "_ZN11AllocTracer27send_allocation_in_new_tlabEP5KlassPP12HeapWordImplmmP6Thread",
        "_ZN11AllocTracer27send_allocation_in_new_tlabEP5KlassP8HeapWordmmP6Thread",
    ],
    &[
        "_ZN11AllocTracer28send_allocation_outside_tlabEP5KlassPP12HeapWordImplmP10JavaThread",
        "_ZN11AllocTracer28send_allocation_outside_tlabEP5KlassPP12HeapWordImplmP6Thread",
        "_ZN11AllocTracer28send_allocation_outside_tlabEP5KlassP8HeapWordmP6Thread",
    ],
];
/// Nanoseconds of CPU time that an allocation costs more where it is counted: most of it is the trap into the kernel. (1,350 were measured where
/// `dearness` is 2.8.)
const COST: Cost = Cost { each: 480 };
/// Between two looks, and where there is no JVM.
const PAUSE: Duration = Duration::from_millis(100);
const NOBODY: Duration = Duration::from_millis(250);
/// JVMs that are looked at, and classes of one whose names are kept.
const MOST_JVMS: usize = 64;
const MOST_CLASSES: usize = 65_536;
/// One that is still starting is asked again after so long, and so often.
const AGAIN: Duration = Duration::from_millis(250);
const MOST_TRIES: u32 = 60;
/// Failures that are said.
const MOST_SAID: usize = 8;

/// A JVM.
#[derive(Debug, Default)]
pub(super) struct Jvm {
    way: Option<Arc<Way>>,
    /// When it was asked last what it is, and how often; then, how often it was asked for the names of its classes.
    asked: Option<Instant>,
    tries: u32,
    names: Option<Names>,
    /// Names of its classes as of when they were last read.
    classes: HashMap<u64, Arc<str>>,
}

impl Jvm {
    /// Reads the name of a class.
    fn name(&mut self, pid: u32, klass: u64) {
        // When it was met it may not have had a heap yet, nor what is read here.
        if let Some(way) = self.way.as_ref().filter(|_| self.names.is_none() && self.tries < MOST_TRIES) {
            self.names = Names::new(&Process(pid), way).ok();
            self.tries += 1;
        }
        let Some(Ok(Some(name))) = self.names.as_ref().map(|names| names.of(&Process(pid), klass)) else { return };
        if self.classes.len() >= MOST_CLASSES {
            self.classes.clear();
        }
        if self.classes.get(&klass).is_none_or(|known| **known != *name) {
            self.classes.insert(klass, name.into());
        }
    }
}

/// What the thread shares with the reads.
#[derive(Default)]
pub(super) struct State {
    host: Option<Host>,
    scope: Scope,
    jvms: BTreeMap<u32, Jvm>,
    /// Loaded when there is a JVM to look at; or why it cannot be.
    pub counted: Option<Result<Counted, Unavailable>>,
    pub missing: Vec<(&'static str, Unavailable)>,
    said: usize,
}

impl Look for State {
    const NAME: &'static str = "allocations";

    fn round(looker: &Looker<Self>, stacks: &Stacks, _came: bool) -> Next {
        looker.found().round(stacks).into()
    }
}

impl State {
    pub fn of(host: Host, scope: Scope) -> Self {
        State { host: Some(host), scope, ..State::default() }
    }

    /// Detaches all programs, and looks no more.
    pub fn end(&mut self) {
        (self.host, self.counted) = (None, None);
    }

    /// Looks at all JVMs. How long to wait for the next time.
    pub fn round(&mut self, stacks: &Stacks) -> Duration {
        let Some(host) = &self.host else { return NOBODY };
        let mut pids = self.scope.jvms.list(host, &self.scope.target);
        pids.truncate(MOST_JVMS);
        let gone: Vec<u32> = self.jvms.keys().filter(|pid| !pids.contains(pid)).copied().collect();
        self.drain(stacks);
        gone.into_iter().for_each(|pid| self.forget(pid));
        for &pid in &pids {
            self.look(pid, stacks);
        }
        if let Some(Ok(counted)) = &self.counted {
            for (pid, why) in counted.places().refused() {
                let why = Unavailable { why: format!("process {pid}: its JVM: {}", why.why), ..why };
                self.say("allocation", why);
            }
        }
        if pids.is_empty() { self.scope.jvms.wait().clamp(PAUSE / 10, NOBODY) } else { PAUSE }
    }

    fn say(&mut self, item: &'static str, why: Unavailable) {
        if self.said < MOST_SAID {
            self.said += 1;
            self.missing.push((item, why));
        }
    }

    /// Its classes are kept: what it allocated may not have been read yet.
    fn forget(&mut self, pid: u32) {
        if let Some(Ok(counted)) = &self.counted {
            counted.places().forget(pid);
        }
        match self.jvms.get_mut(&pid) {
            Some(jvm) if jvm.way.is_some() => {
                *jvm = Jvm { classes: std::mem::take(&mut jvm.classes), ..Jvm::default() }
            }
            _ => {}
        }
        if self.jvms.len() > MOST_JVMS * 2 {
            self.jvms.retain(|_, jvm| jvm.way.is_some());
        }
    }

    /// Has the programs attached in a JVM, if that was not done.
    fn look(&mut self, pid: u32, stacks: &Stacks) {
        let jvm = self.jvms.entry(pid).or_default();
        if jvm.way.is_none() && (jvm.tries >= MOST_TRIES || jvm.asked.is_some_and(|asked| asked.elapsed() < AGAIN)) {
            return;
        }
        match (stacks.hotspot(pid), &jvm.way) {
            (Ok(way), Some(known)) if Arc::ptr_eq(&way, known) => {}
            // Another program took its place.
            (_, Some(_)) => self.forget(pid),
            (Ok(way), None) => {
                (jvm.way, jvm.tries) = (Some(way), 0);
                self.probe(pid, stacks);
            }
            (Err(unknown), None) => {
                (jvm.tries, jvm.asked) = (jvm.tries + 1, Some(Instant::now()));
                self.refuse(pid, unknown);
            }
        }
    }

    fn refuse(&mut self, pid: u32, unknown: Unknown) {
        let Some(why) = unknown.why() else { return };
        if let Some(jvm) = self.jvms.get_mut(&pid) {
            jvm.tries = MOST_TRIES;
        }
        if let Some(why) = why.said(pid, "what its JVM allocates") {
            self.say("allocation", why);
        }
    }

    fn probe(&mut self, pid: u32, stacks: &Stacks) {
        let places = match stacks.functions(pid, "libjvm.so", &FUNCTIONS) {
            // It has ended.
            None => return,
            Some(Ok((file, offsets))) if offsets.iter().any(Option::is_some) => (file, offsets),
            Some(found) => {
                let why =
                    found.err().unwrap_or_else(|| "its libjvm.so does not name AllocTracer, as before JDK 11".into());
                let why = Unavailable::absent(format!("process {pid}: {why}: what its JVM allocates is not known"));
                let remedy =
                    "a JDK from 11 on whose libjvm.so has its symbol table, or the file with its debug symbols";
                return self.say("allocation", why.remedy(remedy));
            }
        };
        let counted = match self.counted.get_or_insert_with(|| load(&self.scope)) {
            Ok(counted) => counted,
            Err(why) => {
                let why = why.clone();
                return self.say("allocation", why);
            }
        };
        for (program, offset) in PROGRAMS.into_iter().zip(places.1) {
            if let Some(offset) = offset {
                counted.places().add(Place { program, pid, file: Arc::clone(&places.0), offset });
            }
        }
    }

    /// Follows the stacks that were taken, and names their classes; they go with the next read.
    pub fn drain(&mut self, stacks: &Stacks) {
        let State { counted: Some(Ok(counted)), jvms, .. } = self else { return };
        let mut named = HashSet::new();
        counted.drain((KEY, NUMBERS), &mut |key, pid, _, user| allocating((jvms, stacks), &mut named, key, pid, user));
    }

    /// The allocations since the last read whose stacks were taken.
    pub fn taken(&mut self, stacks: &Stacks) -> Vec<Taken> {
        let State { counted: Some(Ok(counted)), jvms, .. } = self else { return Vec::new() };
        let mut named = HashSet::new();
        counted
            .stacks_by((KEY, NUMBERS), &mut |key, pid, _, user| allocating((jvms, stacks), &mut named, key, pid, user))
    }

    /// Reads the name of a class anew: at the address of one that was unloaded another may be.
    pub fn name(&mut self, pid: u32, klass: u64) {
        if let Some(jvm) = self.jvms.get_mut(&pid) {
            jvm.name(pid, klass);
        }
    }

    /// The name of a class; `None` where it was never read.
    pub fn class(&self, pid: u32, klass: u64) -> Option<&str> {
        class(&self.jvms, pid, klass)
    }
}

type Jvms = BTreeMap<u32, Jvm>;

/// The cell of the stack of an allocation. `named` are the classes whose names were read just now.
fn allocating(
    (jvms, stacks): (&mut Jvms, &Stacks),
    named: &mut HashSet<(u32, u64)>,
    key: &[u8],
    pid: u32,
    user: User<'_>,
) -> i64 {
    let klass = Key::of(key).klass;
    if named.insert((pid, klass))
        && let Some(jvm) = jvms.get_mut(&pid)
    {
        jvm.name(pid, klass);
    }
    stacks.allocating(pid, user, class(jvms, pid, klass))
}

fn class(jvms: &Jvms, pid: u32, klass: u64) -> Option<&str> {
    jvms.get(&pid)?.classes.get(&klass).map(|name| &**name)
}

fn load(scope: &Scope) -> Result<Counted, Unavailable> {
    let plan = Plan {
        name: "allocation",
        object: OBJECT,
        attach: &[],
        without: &[],
        constants: &[],
        thinned: Some(Thinned {
            what: "buffers that JVMs allocate in",
            sets: &[Set { counter: COUNT_EVENTS, programs: &PROGRAMS }],
            cost: COST,
            // To attach and detach takes some tenths of a second.
            rhythm: Rhythm::LONG,
            budget: BUDGET,
            expected: 0.0,
            gate: GATE,
        }),
    };
    let counted = Counted::open(&Host::live(), scope, &plan);
    // What was read for it of the kernel's types.
    host::settle();
    counted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hotspot::testing::{classes, feature};
    use std::process::{Command, Stdio};

    #[test]
    fn classes_of_a_jvm_that_is_met_while_it_starts_are_named() {
        let Some((folder, jdks)) = classes("src/allocation/Allocations.java", "classes of a JVM that starts") else {
            return;
        };
        for jdk in jdks {
            let mut java = Command::new(jdk.join("bin/java"));
            java.arg("-cp").arg(folder.path()).args(["Allocations", "1", "1", "1"]);
            let mut java = java.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
            let (pid, stacks, mut jvm) = (java.id(), Stacks::default(), Jvm::default());
            while jvm.way.is_none() && java.try_wait().unwrap().is_none() {
                jvm.way = stacks.hotspot(pid).ok();
            }
            jvm.name(pid, 0);
            println!("JDK {}: has a heap when it is met: {}", feature(&jdk), jvm.names.is_some());
            while jvm.names.is_none() && java.try_wait().unwrap().is_none() {
                std::thread::sleep(PAUSE);
                jvm.name(pid, 0);
            }
            let _ = java.kill();
            let _ = java.wait();
            assert!(jvm.names.is_some(), "JDK {}", feature(&jdk));
        }
    }
}
