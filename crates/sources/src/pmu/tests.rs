use super::devices::{Device, devices};
use super::*;
use crate::testing::{Played, fixture, host_of, play, survives};
use model::Status;
use std::fmt::Write;

const MACHINES: [(&str, &str); 9] = [
    ("skylake-sp", include_str!("../../../../fixtures/pmu/skylake-sp.txt")),
    ("ice-lake-sp", include_str!("../../../../fixtures/pmu/ice-lake-sp.txt")),
    ("sapphire-rapids", include_str!("../../../../fixtures/pmu/sapphire-rapids.txt")),
    ("alder-lake", include_str!("../../../../fixtures/pmu/alder-lake.txt")),
    ("zen2", include_str!("../../../../fixtures/pmu/zen2.txt")),
    ("zen4", include_str!("../../../../fixtures/pmu/zen4.txt")),
    ("neoverse-n1", include_str!("../../../../fixtures/pmu/neoverse-n1.txt")),
    ("neoverse-v2", include_str!("../../../../fixtures/pmu/neoverse-v2.txt")),
    ("qemu-virt", include_str!("../../../../fixtures/pmu/qemu-virt.txt")),
];

/// What a machine counts, for [`RECORDED`]: two frames, each a text.
#[derive(Default)]
struct Counts {
    frames: [String; 3],
}

impl Counts {
    /// An event that counts `each` in every frame on both CPUs, in the self-test and for the command, while it has counters all the time.
    fn event(&mut self, kind: u32, config: u64, each: u64) {
        self.multiplexed(kind, config, each, 1);
    }

    /// The same, which has counters for one part in `parts` of the time.
    fn multiplexed(&mut self, kind: u32, config: u64, each: u64, parts: u64) {
        for (frame, text) in self.frames.iter_mut().enumerate() {
            let (frame, second) = (frame as u64, 1_000_000_000);
            for whom in ["0", "1", "command"] {
                let times = frame * second;
                let _ = writeln!(
                    text,
                    "count {kind} {config:#x} {whom} {} {times} {}",
                    frame * each / parts,
                    times / parts
                );
            }
            let _ = writeln!(
                text,
                "count {kind} {config:#x} test 1000 500 500\ncount {kind} {config:#x} loop 400010 500 500"
            );
        }
    }

    fn line(&mut self, line: &str) {
        self.frames.iter_mut().for_each(|text| text.insert_str(0, &format!("{line}\n")));
    }
}

/// A machine of `fixtures/pmu`, with these counts.
fn machine(name: &str, counts: &Counts) -> (tempfile::TempDir, Host) {
    let (_, text) = MACHINES.iter().find(|(other, _)| *other == name).unwrap();
    let mut files: Vec<(String, String)> = text
        .lines()
        .map(|line| {
            let (path, content) = line.split_once(" = ").unwrap();
            let path = if path.starts_with('/') { path.to_owned() } else { format!("{DEVICES}/{path}") };
            (path, content.replace("\\n", "\n").replace("\\t", "\t") + "\n")
        })
        .collect();
    for (frame, text) in counts.frames.iter().enumerate() {
        files.push((format!("/frame-{frame}{}", host::counting::RECORDED), text.clone()));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, content)| (path.as_str(), content.as_str())).collect();
    host_of(&files)
}

/// The configuration of an event of a group on a machine.
fn config(name: &str, device: &str, group: &str, event: &str) -> u64 {
    let (_dir, host) = machine(name, &Counts::default());
    let cpuinfo = host.read_text("/proc/cpuinfo").unwrap();
    let cpu = counters::microarchitecture(&counters::identities(&cpuinfo)[0].1);
    let group = counters::groups().iter().find(|other| other.name == group).unwrap();
    let section = group.section(cpu).or(group.section("generic")).unwrap();
    let event = section.events.iter().find(|other| other.name == event).unwrap();
    let devices = devices(&host);
    let is_only = devices.iter().filter(|device| device.is_core).count() == 1;
    let device: &Device = devices.iter().find(|other| other.name == device).unwrap();
    device.encode(&host, &event.encoding, is_only).unwrap().config
}

/// Computed by hand from the fields of each machine.
#[test]
fn events_are_encoded_as_each_machine_wants_them() {
    for (machine, device, group, event, expected) in [
        // event 0x3c, any: bit 21
        ("skylake-sp", "cpu", "topdown", "cycles_any", 0x20_003c),
        ("skylake-sp", "cpu", "topdown", "recovery_any", 0x20_010d),
        ("skylake-sp", "cpu", "topdown", "not_delivered", 0x19c),
        // cmask 6: bits 24 to 31
        ("skylake-sp", "cpu", "memory", "stalls_memory", 0x0600_06a3),
        ("skylake-sp", "cpu", "core", "ref_cycles", 0x300),
        ("ice-lake-sp", "cpu", "topdown", "all_slots", 0x400),
        ("ice-lake-sp", "cpu", "topdown", "td_backend", 0x8300),
        ("ice-lake-sp", "cpu", "topdown", "uop_dropping", 0x100d),
        ("sapphire-rapids", "cpu", "topdown", "td_memory", 0x8700),
        ("sapphire-rapids", "cpu", "topdown", "uop_dropping", 0x10ad),
        ("sapphire-rapids", "cpu", "fetch", "itlb_walks", 0xe11),
        // The upper half is the number of the PMU.
        ("alder-lake", "cpu_core", "branch", "branches", 4 << 32 | 4),
        ("alder-lake", "cpu_atom", "core", "instructions", 10 << 32 | 1),
        ("zen2", "cpu", "tlb", "dtlb_walks", 0xf045),
        ("zen2", "cpu", "branch", "branch_misses", 0xc3),
        // event 0x1a0: 0xa0 and a 1 at bit 32; umask 1, cmask 6
        ("zen4", "cpu", "topdown", "fetch_cycles", 0x1_0600_01a0),
        ("zen4", "cpu", "topdown", "slots_backend", 0x1_0000_1ea0),
        ("zen4", "cpu", "topdown", "no_retire_load", 0xa2d6),
        ("zen4", "cpu", "core", "ref_cycles", 0x1_0000_0120),
        ("neoverse-n1", "armv8_pmuv3_0", "fetch", "code_sparsity", 0x11c),
        ("neoverse-n1", "armv8_pmuv3_0", "tlb", "dtlb_walks", 0x34),
        ("neoverse-v2", "armv8_pmuv3_0", "core", "ref_cycles", 0x4004),
        ("neoverse-v2", "armv8_pmuv3_0", "topdown", "stall_slot", 0x3f),
        ("qemu-virt", "armv8_pmuv3", "core", "instructions", 1),
    ] {
        assert_eq!(config(machine, device, group, event), expected, "{machine} {group} {event}");
    }
}

/// Counts of Zen 4 for the groups that are customary: one CPU has 1,000,000 instructions a second in 2,000,000 cycles.
fn zen4() -> Counts {
    let mut counts = Counts::default();
    counts.line("counters 4 6");
    for (config, each) in
        [(0x76, 2_000_000), (0xc0, 1_000_000), (0xc2, 200_000), (0xc3, 2_000), (0x1_0000_0120, 1_500_000)]
    {
        counts.event(4, config, each);
    }
    // Of the kernel's events one is the same number, which a recording cannot tell apart: it does not matter here.
    for (config, each) in [(0x1060, 5_000), (0x164, 1_000), (0xf85, 300)] {
        counts.event(4, config, each);
    }
    // The generic events, by which counters are found.
    counts.event(0, 1, 1);
    counts.line("counters 0 6");
    counts
}

fn value(played: &Played, table: &str, start: &str, column: &str) -> String {
    let at = COLUMNS.iter().position(|other| other.name == column).unwrap();
    played.row(table, start).split(' ').nth(at).unwrap().to_owned()
}

#[test]
fn counts_come_by_cpu_and_group() {
    let (_dir, host) = machine("zen4", &zen4());
    let played = play(&SOURCE, &host, 3).unwrap();
    assert!(played[0].error.is_none());
    assert_eq!(played[0].rows("pmu").len(), 6, "two CPUs, three groups");
    for (frame, times) in [(0, 0), (1, 1), (2, 2)] {
        let of = |column: &str| value(&played[frame], "pmu", "1 branch ", column);
        assert_eq!(of("cycles"), (2_000_000 * times).to_string());
        assert_eq!(of("branch_misses"), (2_000 * times).to_string());
        assert_eq!(of("itlb_walks"), "-", "not in this group");
        assert_eq!(value(&played[frame], "pmu", "0 fetch ", "itlb_walks"), (300 * times).to_string());
    }
    assert_eq!(played[1].row("pmu_raw", "0 branch branch_misses"), "0 branch branch_misses 2000 1000000000 1000000000");
    assert_eq!(played[0].row("pmu_group", "branch "), "branch - \"cycles instructions branches branch_misses\" \"\"");
    assert_eq!(played[1].row("pmu_group", "branch "), "branch 1 \"cycles instructions branches branch_misses\" \"\"");
    assert!(played.iter().all(|frame| frame.coverage.is_empty()), "{:?}", played[0].coverage);
    let facts: Vec<(&str, &str)> = played[0].facts.iter().map(|f| (f.name.as_str(), f.value.as_str())).collect();
    assert_eq!(facts, [("PMU", "cpu"), ("microarchitecture", "zen4"), ("counters at a time", "6")]);
}

#[test]
fn what_had_counters_for_a_part_of_the_time_is_scaled_up() {
    let mut counts = zen4();
    for text in &mut counts.frames {
        *text = text
            .lines()
            .filter(|line| !line.contains(" 0x1060 ") && !line.contains(" 0x164 "))
            .map(|l| format!("{l}\n"))
            .collect();
    }
    counts.multiplexed(4, 0x1060, 5_000, 4);
    counts.multiplexed(4, 0x164, 5_000, 4);
    // The times of a group are those of its last event here.
    let mut late = Counts::default();
    late.multiplexed(4, 0xf85, 300, 4);
    for (text, late) in counts.frames.iter_mut().zip(late.frames) {
        *text = late + text;
    }
    let (_dir, host) = machine("zen4", &counts);
    let played = play(&SOURCE, &host, 3).unwrap();
    assert_eq!(value(&played[2], "pmu", "0 fetch ", "itlb_walks"), "600");
    assert_eq!(value(&played[2], "pmu", "0 fetch ", "l1i_misses"), "10000");
    assert!(played[1].row("pmu_group", "fetch ").starts_with("fetch 0.25 "));
    let said: Vec<_> = played.iter().flat_map(|frame| &frame.coverage).collect();
    assert_eq!(said.len(), 1, "once: {said:?}");
    assert_eq!((said[0].item.as_str(), said[0].status), ("pmu", Status::Estimated));
    assert!(said[0].why.contains("for 25 % of the time"), "{}", said[0].why);
}

#[test]
fn an_interval_without_counters_is_not_there() {
    let mut counts = zen4();
    // In the second frame all is as in the first, but that a second has passed.
    let still = counts.frames[0].clone();
    counts.frames[1] = still
        .lines()
        .map(|line| match line.strip_suffix(" 0 0 0") {
            Some(start) => format!("{start} 0 1000000000 0\n"),
            None => format!("{line}\n"),
        })
        .collect();
    let (_dir, host) = machine("zen4", &counts);
    let played = play(&SOURCE, &host, 3).unwrap();
    assert_eq!(value(&played[1], "pmu", "0 branch ", "cycles"), "-");
    assert_eq!(value(&played[2], "pmu", "0 branch ", "cycles"), (4_000_000 / 2).to_string());
    assert!(played[1].row("pmu_group", "branch ").starts_with("branch 0 "));
}

#[test]
fn what_opens_and_does_not_count_is_absent() {
    let mut counts = zen4();
    for text in &mut counts.frames {
        *text = text.replace("count 4 0xc3 test 1000", "count 4 0xc3 test 0");
    }
    let (_dir, host) = machine("zen4", &counts);
    let played = play(&SOURCE, &host, 2).unwrap();
    assert_eq!(value(&played[1], "pmu", "0 branch ", "branch_misses"), "-");
    assert_eq!(value(&played[1], "pmu", "0 branch ", "branches"), "200000");
    assert!(played[0].row("pmu_group", "branch ").ends_with("\"branch_misses: opens, but does not count\""));
}

#[test]
fn instructions_that_a_loop_does_not_have_are_not_believed() {
    let mut counts = zen4();
    for text in &mut counts.frames {
        *text = text.replace("count 4 0xc0 loop 400010", "count 4 0xc0 loop 412000");
    }
    let (_dir, host) = machine("zen4", &counts);
    let played = play(&SOURCE, &host, 2).unwrap();
    assert_eq!(value(&played[1], "pmu", "0 branch ", "instructions"), "-");
    assert!(played[0].row("pmu_group", "branch ").contains("instructions: counts 3.0 % more than a loop has"));
}

#[test]
fn what_is_refused_is_told_by_its_name() {
    let mut counts = zen4();
    counts.line("refuse 4 0xf85 2");
    counts.line("refuse 4 0x1_0000_0120 2");
    let (_dir, host) = machine("zen4", &counts);
    let played = play(&SOURCE, &host, 1).unwrap();
    assert!(played[0].row("pmu_group", "fetch ").contains("itlb_walks: this machine does not have it"));
}

#[test]
fn a_group_is_split_where_there_are_too_few_counters() {
    let mut counts = zen4();
    counts.line("counters 4 3");
    counts.line("counters 0 3");
    let (_dir, host) = machine("zen4", &counts);
    let played = play(&SOURCE, &host, 2).unwrap();
    let groups: Vec<&str> = played[0].rows("pmu_group").iter().map(|row| row.split(" - ").next().unwrap()).collect();
    assert_eq!(groups, ["core", "\"core 2\"", "branch", "fetch", "\"fetch 2\"", "\"fetch 3\""]);
    assert_eq!(value(&played[1], "pmu", "0 branch ", "branch_misses"), "2000");
    assert!(
        played[0]
            .row("pmu_group", "branch ")
            .contains("branch_miss_ratio: takes 4 counters at the same time, and there are 3")
    );
    assert!(played[0].row("pmu_group", "\"fetch 3\"").contains("\"cycles instructions itlb_walks\""));
}

#[test]
fn without_privileges() {
    let mut counts = zen4();
    for config in ["0x76", "0xc0"] {
        counts.line(&format!("refuse 4 {config} 13"));
    }
    let (_dir, host) = machine("zen4", &counts);
    let why = play(&SOURCE, &host, 1).err().unwrap();
    assert_eq!(why.status, Status::Denied);
    assert!(why.remedy.unwrap().contains("cap_perfmon"));
}

/// The last read of the source's table of the command, of three, as labels and cells.
fn of_command(counts: &Counts) -> Vec<i64> {
    let (_dir, host) = machine("zen4", counts);
    host.set_frame(0, 0);
    let scope = Scope { target: Target::Children, ..Scope::default() };
    let mut reader = (SOURCE.open)(&host, &scope).unwrap();
    let (mut symbols, mut coverage, mut facts) = Default::default();
    let mut rows = vec![model::Rows::default(); SOURCE.tables.len()];
    for frame in 0..3 {
        host.set_frame(frame, 0);
        let mut out = Out::new("pmu", SOURCE.tables, &mut rows, &mut symbols, &mut coverage, &mut facts);
        reader.read(&host, &mut out).unwrap();
    }
    assert_eq!(rows[PROCESS].len(), 3);
    assert_eq!(symbols.text(rows[PROCESS].cells[0]), Some("command"));
    rows[PROCESS].cells[11..].to_vec()
}

#[test]
fn of_the_command() {
    let mut counts = zen4();
    // Beside the largest group, of five, there is no room for more in six counters.
    assert_eq!(of_command(&counts), [4_000_000, 2_000_000, NULL, NULL]);
    counts.line("counters 0 9");
    assert_eq!(of_command(&counts), [4_000_000, 2_000_000, 400_000, 4_000]);
}

#[test]
fn bandwidth_and_energy() {
    let mut counts = Counts::default();
    for (config, each) in [(0x3c, 2_000_000), (0xc0, 1_000_000), (0xc4, 200_000), (0xc5, 2_000)] {
        counts.event(4, config, each);
    }
    counts.event(0, 1, 1);
    // 64 bytes each; 2^-32 J each
    counts.event(13, 0x304, 1_000_000);
    counts.event(13, 0xc04, 250_000);
    counts.event(22, 2, 3 << 32);
    let (_dir, host) = machine("skylake-sp", &counts);
    let played = play(&SOURCE, &host, 2).unwrap();
    assert_eq!(
        played[1].rows("pmu_package"),
        [
            "power 0 energy-pkg 12884901888 - 3000000",
            "uncore_imc_0 0 cas_count_read 1000000 64000000 -",
            "uncore_imc_0 0 cas_count_write 250000 16000000 -",
        ]
    );
}

#[test]
fn cpus_of_two_kinds_count_apart() {
    let mut counts = Counts::default();
    for kind in [4, 10_u64] {
        for event in [0, 1, 4, 5] {
            counts.event(0, kind << 32 | event, 1_000 * (event + 1));
        }
    }
    let (_dir, host) = machine("alder-lake", &counts);
    let played = play(&SOURCE, &host, 2).unwrap();
    assert_eq!(played[1].rows("pmu_group").iter().filter(|row| row.contains("cpu_atom")).count(), 2);
    let row = played[1].row("pmu", "1 \"branch cpu_atom\"");
    assert!(row.contains(" 5000 6000 "), "{row}");
}

#[test]
fn an_arm_cpu_says_itself_what_it_lacks() {
    let mut counts = Counts::default();
    counts.line("counters 8 7");
    for config in [0x11, 0x8, 0x1, 0x23, 0x35] {
        counts.event(8, config, 1_000);
    }
    for config in [0, 1, 4, 5] {
        counts.event(0, config, 1_000);
    }
    let (_dir, host) = machine("neoverse-v2", &counts);
    std::fs::remove_file(host.path(&format!("{DEVICES}/armv8_pmuv3_0/events/itlb_walk"))).unwrap();
    let played = play(&SOURCE, &host, 2).unwrap();
    let fetch = played[0].row("pmu_group", "fetch ");
    assert!(
        fetch.contains("itlb_walks: the CPU does not have it; code_sparsity: this machine does not have it"),
        "{fetch}"
    );
    assert_eq!(value(&played[1], "pmu", "0 fetch ", "l1i_misses"), "1000");
    let branch = played[0].coverage.iter().find(|c| c.item == "branch").unwrap();
    assert!(branch.why.contains("branches: this machine does not have it"), "{}", branch.why);
}

#[test]
fn groups_of_ones_own() {
    let text = "# group: mine\n# title: mine\n# says: x\ncolumn cycles: x\ncolumn instructions: x\ncolumn twice: x\nevents zen4\n  cycles 0x76\n  \
                instructions 0xc0\n  misses 0xc3\n  twice = 2 * misses\nmetric m = 1000 * twice / instructions\n  unit: x\n  direction: worse\n  \
                floor: 1\n  help: x.\n";
    let (_dir, host) = machine("zen4", &zen4());
    host.set_frame(0, 0);
    let scope = Scope { counters: vec![counters::read("mine.txt", text).unwrap()], ..Scope::default() };
    let mut reader = (SOURCE.open)(&host, &scope).unwrap();
    let (mut symbols, mut coverage, mut facts) = Default::default();
    let mut rows = vec![model::Rows::default(); SOURCE.tables.len()];
    for frame in 0..2 {
        host.set_frame(frame, 0);
        let mut out = Out::new("pmu", SOURCE.tables, &mut rows, &mut symbols, &mut coverage, &mut facts);
        reader.read(&host, &mut out).unwrap();
    }
    let metrics: Vec<Option<f64>> = rows[METRIC].iter().map(|row| model::real_of(row[2])).collect();
    assert_eq!(metrics, [None, Some(4.0)], "1000 * 2 * 2,000 / 1,000,000");
}

#[test]
fn a_virtual_machine_without_a_pmu_has_none_in_a_sentence() {
    let why = play(&SOURCE, &fixture("vm-2cpu"), 1).err().unwrap();
    assert_eq!(why.status, Status::Absent);
    assert!(why.why.contains("is shown none"), "{why}");
    assert!(why.remedy.unwrap().contains("7g from 16xlarge"));
}

#[test]
fn hostile_content() {
    for content in [
        "",
        "x",
        "4",
        "config:0-7",
        "config:63-0,9",
        "0-99999999",
        "event=0x1,umask=0xffffffffffffffff",
        "18446744073709551616",
    ] {
        survives(&SOURCE, content);
    }
}
