//! Events as other tools name them, and which columns they fill: by the names of makers and of the kernel, or by their codes.

use crate::{Encoding, Event, Formula, Group, Section, number};

/// Who made a CPU. The same code is another event elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// Arm, and who builds its cores.
    Arm,
    /// Intel.
    Intel,
    /// AMD.
    Amd,
}

/// What is known of the machine that counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Its microarchitecture, as the files of `counters/` call it.
    pub cpu: Option<String>,
    /// Who made it.
    pub maker: Option<Maker>,
}

/// An event as a tool named it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// The name in small letters, without PMU and modifiers; empty where it is a code.
    pub name: String,
    /// Fields of the PMU that are not 0, by name.
    pub terms: Vec<(String, u64)>,
    /// The PMU, where it was named.
    pub pmu: String,
    /// A code as `perf` writes it after an r.
    pub raw: Option<u64>,
    /// Counted in the kernel only.
    pub kernel: bool,
    /// Counted in user space only.
    pub user: bool,
}

/// Names that mean what a column of the files does: those of the kernel, and of `perf` where it has other ones than the makers' lists.
const ALSO: &[(&str, &str)] = &[
    ("cycles", "cycles"),
    ("cycles", "cycles_kernel"),
    ("cpu_clk_unhalted.thread", "cycles"),
    ("ls_not_halted_cyc", "cycles"),
    ("inst_retired.any", "instructions"),
    ("ex_ret_instr", "instructions"),
    ("ref-cycles", "ref_cycles"),
    ("branches", "branches"),
    ("ex_ret_brn", "branches"),
    ("ex_ret_brn_misp", "branch_misses"),
    // What the kernel's branch-misses is on Arm.
    ("br_mis_pred", "branch_misses"),
    ("ex_ret_ops", "slots_retired"),
    ("l1-dcache-load-misses", "l1d_misses"),
    ("l1-icache-load-misses", "l1i_misses"),
];

impl Maker {
    /// Whose a microarchitecture is; none of `generic`.
    fn of(cpu: &str) -> Option<Maker> {
        match cpu {
            "generic" => None,
            _ if cpu.starts_with("neoverse") => Some(Maker::Arm),
            _ if cpu.starts_with("zen") => Some(Maker::Amd),
            _ => Some(Maker::Intel),
        }
    }
}

impl Section {
    /// Whose its CPUs are; none of `generic`.
    fn maker(&self) -> Option<Maker> {
        self.cpus.first().and_then(|cpu| Maker::of(cpu))
    }
}

impl Machine {
    /// What events tell of the machine: the name of their PMU, or a code for cycles that only one maker has.
    pub fn guess(cpu: Option<&str>, events: &[Named]) -> Machine {
        let has = |code: u64| events.iter().any(|event| event.code(None) == Some(code));
        let maker = match cpu.and_then(Maker::of) {
            Some(maker) => Some(maker),
            None if events.iter().any(|event| event.pmu.starts_with("arm")) => Some(Maker::Arm),
            None if has(0x3c) => Some(Maker::Intel),
            None if has(0x76) => Some(Maker::Amd),
            None if has(0x11) && has(0x08) => Some(Maker::Arm),
            None => None,
        };
        Machine { cpu: cpu.map(str::to_owned), maker }
    }
}

impl Named {
    /// Reads a name as `perf stat` prints it: `cycles:u`, `cpu/event=0xc0,umask=0x1/k`, `armv8_pmuv3_0/cpu_cycles/`, `r11`, `INST_RETIRED.ANY`.
    pub fn parse(text: &str) -> Named {
        let mut named = Named::default();
        let (inner, modifiers) = match text.split_once('/').and_then(|(pmu, rest)| Some((pmu, rest.rsplit_once('/')?)))
        {
            Some((pmu, (inner, modifiers))) => {
                named.pmu = pmu.to_owned();
                (inner, modifiers)
            }
            None => text.split_once(':').unwrap_or((text, "")),
        };
        named.kernel = modifiers.contains('k') && !modifiers.contains('u');
        named.user = modifiers.contains('u') && !modifiers.contains('k');
        for term in inner.split(',').map(str::trim).filter(|term| !term.is_empty()) {
            match term.split_once('=') {
                Some(("name", _)) => {}
                Some((field, value)) => {
                    let value = value.trim();
                    // perf takes hexadecimal digits without 0x, too, which are decimal ones to it where they can be.
                    if let Ok(value) = number(value) {
                        named.put(field.trim(), value);
                    }
                }
                None => named.name = term.to_ascii_lowercase(),
            }
        }
        let digits = named.name.strip_prefix('r');
        if let Some(code) = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
            named.raw = Some(code);
            named.name.clear();
        }
        named
    }

    /// An event by its code, as `perf_event_attr` has it.
    pub fn of_code(code: u64) -> Named {
        Named { raw: Some(code), ..Named::default() }
    }

    fn put(&mut self, field: &str, value: u64) {
        if value != 0 {
            self.terms.push((field.to_owned(), value));
            self.terms.sort();
        }
    }

    /// The code of the event, without what goes with it.
    fn code(&self, maker: Option<Maker>) -> Option<u64> {
        let terms = self.fields(maker);
        terms.iter().find(|(field, _)| field == "event").map(|(_, value)| *value)
    }

    /// Its fields, also of a code.
    fn fields(&self, maker: Option<Maker>) -> Vec<(String, u64)> {
        let Some(raw) = self.raw else { return self.terms.clone() };
        let mut all = Named::default();
        if maker == Some(Maker::Arm) {
            all.put("event", raw);
        } else {
            let more = if maker == Some(Maker::Amd) { (raw >> 32 & 0xf) << 8 } else { 0 };
            all.put("event", raw & 0xff | more);
            all.put("umask", raw >> 8 & 0xff);
            all.put("edge", raw >> 18 & 1);
            all.put("inv", raw >> 23 & 1);
            all.put("cmask", raw >> 24 & 0xff);
        }
        all.terms
    }

    /// Whether it is what an event of a file tells to count.
    fn is(&self, event: &Event, of: Option<Maker>, machine: &Machine) -> bool {
        if event.kernel != self.kernel {
            return false;
        }
        if !self.name.is_empty() {
            let is_also = ALSO.iter().any(|(name, column)| *name == self.name && *column == event.name);
            return is_also
                || event.maker.eq_ignore_ascii_case(&self.name)
                || match &event.encoding {
                    Encoding::Hardware(name) | Encoding::Alias(name) => *name == self.name,
                    Encoding::Terms(_) => false,
                };
        }
        let Encoding::Terms(terms) = &event.encoding else { return false };
        let mut terms: Vec<_> = terms.iter().filter(|(_, value)| *value != 0).cloned().collect();
        terms.sort();
        let fields = self.fields(machine.maker);
        // What the kernel's branch-misses is on Arm.
        let is_prediction = of == Some(Maker::Arm) && event.name == "branch_misses" && self.code(of) == Some(0x10);
        !fields.is_empty() && machine.maker.is_some() && machine.maker == of && (fields == terms || is_prediction)
    }
}

/// How a group's columns are filled from the events of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Columns, or names in formulas, and which event fills them.
    pub direct: Vec<(String, usize)>,
    /// Columns that are computed.
    pub computed: Vec<(String, Formula)>,
    /// Columns that are computed in another way on each CPU, where it is not known which CPU it was.
    pub unclear: Vec<String>,
}

impl Plan {
    /// Of a group, from events that were counted together.
    pub fn new(group: &Group, machine: &Machine, events: &[Named]) -> Plan {
        let mut plan = Plan::default();
        let is_it = |section: &&Section| {
            let of = section.maker();
            let fits = machine.maker.is_none() || of.is_none() || machine.maker == of;
            fits && machine
                .cpu
                .as_ref()
                .is_none_or(|cpu| section.cpus.iter().any(|name| name == cpu || name == "generic"))
        };
        let sections: Vec<&Section> = group.sections.iter().filter(is_it).collect();
        let mut unclear: Vec<String> = Vec::new();
        // What the kernel has a name for is that on any CPU.
        let (common, own): (Vec<&Section>, Vec<&Section>) =
            sections.iter().partition(|section| section.maker().is_none());
        for section in common {
            for event in &section.events {
                if let Some(at) = events.iter().position(|named| named.is(event, None, machine)) {
                    plan.direct.push((event.name.clone(), at));
                }
            }
        }
        let known = plan.direct.len();
        for section in own {
            for event in &section.events {
                let Some(at) = events.iter().position(|named| named.is(event, section.maker(), machine)) else {
                    continue;
                };
                match plan.direct.iter().position(|(name, _)| *name == event.name) {
                    None => plan.direct.push((event.name.clone(), at)),
                    // Another code, of another CPU of this maker.
                    Some(place) if place >= known && plan.direct.get(place).is_some_and(|(_, other)| *other != at) => {
                        unclear.push(event.name.clone());
                    }
                    Some(_) => {}
                }
            }
        }
        for section in sections {
            for (name, formula) in &section.computed {
                let is_there = |part: &str| {
                    plan.direct.iter().any(|(other, _)| other == part)
                        || plan.computed.iter().any(|(other, _)| other == part)
                };
                if !formula.names().into_iter().all(is_there) {
                    continue;
                }
                match plan.computed.iter().find(|(other, _)| other == name) {
                    None => plan.computed.push((name.clone(), formula.clone())),
                    Some((_, other)) if other != formula => unclear.push(name.clone()),
                    Some(_) => {}
                }
            }
        }
        // What is computed of something unclear is unclear, too.
        let mut more = true;
        while more {
            more = false;
            for (name, formula) in &plan.computed {
                let of_unclear = formula.names().into_iter().any(|part| unclear.iter().any(|other| other == part));
                if of_unclear && !unclear.contains(name) {
                    unclear.push(name.clone());
                    more = true;
                }
            }
        }
        plan.direct.retain(|(name, _)| !unclear.contains(name));
        plan.computed.retain(|(name, _)| !unclear.contains(name));
        unclear.sort();
        unclear.dedup();
        unclear.retain(|name| group.columns.iter().any(|(column, _)| column == name));
        plan.unclear = unclear;
        plan
    }

    /// The columns of a group that it fills.
    pub fn columns<'a>(&'a self, group: &'a Group) -> impl Iterator<Item = &'a str> {
        let names = self.direct.iter().map(|(name, _)| name).chain(self.computed.iter().map(|(name, _)| name));
        names.map(String::as_str).filter(|name| group.columns.iter().any(|(column, _)| column == name))
    }

    /// What the columns come to in an interval, where the events came to so much.
    pub fn values(&self, counts: &[Option<f64>]) -> Vec<(&str, f64)> {
        let mut known: Vec<(&str, f64)> = Vec::new();
        for (name, at) in &self.direct {
            if let Some(count) = counts.get(*at).copied().flatten() {
                known.push((name, count));
            }
        }
        for (name, formula) in &self.computed {
            let of = |part: &str| known.iter().find(|(other, _)| *other == part).map(|(_, value)| *value);
            if let Some(value) = formula.value(&of) {
                known.push((name, value));
            }
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groups;

    fn plan(group: &str, cpu: Option<&str>, events: &[&str]) -> (Vec<String>, Vec<String>) {
        let named: Vec<Named> = events.iter().map(|text| Named::parse(text)).collect();
        let group = groups().iter().find(|known| known.name == group).unwrap();
        let plan = Plan::new(group, &Machine::guess(cpu, &named), &named);
        let mut columns: Vec<String> = plan.columns(group).map(str::to_owned).collect();
        columns.sort();
        (columns, plan.unclear)
    }

    #[test]
    fn names_of_tools_fill_columns() {
        for events in [
            ["cycles", "instructions", "branches", "branch-misses"],
            ["cpu-cycles:u", "instructions:u", "branch-instructions:u", "branch-misses:u"],
            ["cpu_cycles", "inst_retired", "br_retired", "br_mis_pred_retired"],
            [
                "CPU_CLK_UNHALTED.THREAD",
                "INST_RETIRED.ANY",
                "BR_INST_RETIRED.ALL_BRANCHES",
                "BR_MISP_RETIRED.ALL_BRANCHES",
            ],
            ["ls_not_halted_cyc", "ex_ret_instr", "ex_ret_brn", "ex_ret_brn_misp"],
            [
                "armv8_pmuv3_0/event=0x11/",
                "armv8_pmuv3_0/event=0x8/",
                "armv8_pmuv3_0/event=0x21/",
                "armv8_pmuv3_0/event=0x10/",
            ],
            ["cpu/event=0x76/", "cpu/event=0xc0,umask=0x0/", "cpu/event=0xc2/", "cpu/event=0xc3/"],
            ["r3c", "rc0", "rc4", "rc5"],
        ] {
            let (columns, unclear) = plan("branch", None, &events);
            assert_eq!(columns, ["branch_misses", "branches", "cycles", "instructions"], "{events:?}");
            assert!(unclear.is_empty());
        }
    }

    #[test]
    fn a_code_alone_says_nothing_without_the_maker() {
        assert_eq!(plan("branch", None, &["cpu/event=0xc0/", "cpu/event=0xc4/"]).0, Vec::<String>::new());
        assert_eq!(plan("branch", Some("zen4"), &["rc0", "rc2"]).0, ["branches", "instructions"]);
    }

    #[test]
    fn modifiers_are_kept_apart() {
        let (columns, _) = plan("core", None, &["cycles", "instructions", "cycles:k"]);
        assert_eq!(columns, ["cycles", "cycles_kernel", "instructions"]);
        let named = Named::parse("cpu/event=0x1a0,umask=0x1e,name=x/k");
        assert_eq!((named.kernel, named.terms.len(), named.name.as_str()), (true, 2, ""));
        // No code: a name that begins with r.
        assert_eq!(Named::parse("ref-cycles").name, "ref-cycles");
    }

    #[test]
    fn what_differs_by_cpu_needs_the_cpu() {
        let events = [
            "cpu_cycles",
            "inst_retired",
            "stall_slot_frontend",
            "stall_slot_backend",
            "stall_slot",
            "op_retired",
            "op_spec",
            "br_mis_pred",
        ];
        let (columns, unclear) = plan("topdown", None, &events);
        assert!(!columns.iter().any(|name| name.starts_with("slots")), "{columns:?}");
        assert!(unclear.iter().any(|name| name == "slots_frontend"), "{unclear:?}");
        let (columns, unclear) = plan("topdown", Some("neoverse-v2"), &events);
        for name in ["slots", "slots_frontend", "slots_backend", "slots_retired", "slots_bad"] {
            assert!(columns.iter().any(|other| other == name), "{name}");
        }
        assert!(unclear.is_empty());
    }
}
