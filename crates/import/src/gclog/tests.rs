//! Logs of each kind.

use super::*;
use proptest::prelude::*;

fn ms(time: f64) -> i64 {
    (time * 1e6).round() as i64
}

const M: i64 = 1 << 20;

/// Kind, operation, cause, begin and length.
type Told<'a> = (&'a str, Option<&'a str>, Option<&'a str>, Option<i64>, i64);

fn told(pauses: &[Found]) -> Vec<Told<'_>> {
    pauses.iter().map(|p| (p.kind, p.operation.as_deref(), p.cause.as_deref(), p.at, p.time)).collect()
}

#[test]
fn unified_logging_of_g1() {
    let log = unified::read(
        "[0.005s][info][gc] Using G1\n\
         [0.008s][info][gc,init] Version: 17.0.9+9 (release)\n\
         [0.450s][info][gc,start    ] GC(0) Pause Young (Normal) (G1 Evacuation Pause)\n\
         [0.451s][info][gc,task     ] GC(0) Using 2 workers of 2 for evacuation\n\
         [0.454s][info][gc          ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.456ms\n\
         [0.454s][info][safepoint   ] Safepoint \"G1CollectForAllocation\", Time since last: 12345 ns, Reaching safepoint: 21000 ns, \
         Cleanup: 1000 ns, At safepoint: 3500000 ns, Total: 3522000 ns\n\
         [0.600s][info][safepoint   ] Safepoint \"ThreadDump\", Time since last: 145000000 ns, Reaching safepoint: 50000 ns, \
         At safepoint: 200000 ns, Leaving safepoint: 7000 ns, Total: 257000 ns, Threads: 3 runnable, 12 total\n\
         [0.700s][info][gc          ] GC(1) Pause Young (Mixed) (G1 Humongous Allocation) 40M->30M(256M) 5.000ms\n\
         [0.800s][info][gc          ] GC(2) Pause Remark 40M->40M(256M) 1.250ms\n\
         [0.900s][info][gc          ] GC(3) Concurrent Mark Cycle 12.000ms\n\
         [1.000s][info][gc          ] GC(4) Pause Full (System.gc()) 40M->2M(64M) 12.500ms\n\
         [1.100s][info][gc          ] GC(5) Pause Young (Concurrent Start) (Metadata GC Threshold) (Evacuation Failure: Allocation) \
         40M->2M(64M) 2.5ms\n",
    );
    let (of, op) = (Some("G1 Evacuation Pause"), Some("G1CollectForAllocation"));
    assert_eq!(
        told(&log.pauses),
        [
            ("young", op, of, Some(ms(450.0)), ms(3.456)),
            ("operation", Some("ThreadDump"), None, Some(ms(599.8)), ms(0.2)),
            ("young", None, Some("G1 Humongous Allocation"), Some(ms(695.0)), ms(5.0)),
            ("concurrent", None, None, Some(ms(798.75)), ms(1.25)),
            ("full", None, Some("System.gc()"), Some(ms(987.5)), ms(12.5)),
            ("young", None, Some("Metadata GC Threshold"), Some(ms(1097.5)), ms(2.5)),
        ]
    );
    assert_eq!(log.pauses.iter().map(|p| p.to_stop).take(3).collect::<Vec<_>>(), [Some(21_000), Some(50_000), None]);
    assert_eq!((log.pauses[0].used, log.pauses[1].used), (Some((24 * M, 4 * M, Some(256 * M))), None));
    assert_eq!((log.collector.as_deref(), log.version.as_deref()), (Some("G1"), Some("17.0.9+9 (release)")));
    assert_eq!((log.last, log.first), (ms(1100.0), None));
}

#[test]
fn any_decorations_or_none() {
    let pause = "GC(0) Pause Young (Allocation Failure) 65M->1M(250M) 3.000ms\n";
    let at = |decorations: &str| {
        let log = unified::read(&format!("{decorations}{pause}"));
        assert!(is_log(&format!("{decorations}{pause}")), "{decorations}");
        assert_eq!((log.pauses[0].time, log.pauses[0].used), (ms(3.0), Some((65 * M, M, Some(250 * M)))));
        (log.pauses[0].at, log.first)
    };
    assert_eq!(at(""), (None, None));
    assert_eq!(at("[2.003s] "), (Some(ms(2000.0)), None));
    assert_eq!(at("[2003ms][bench-3][4711][4712][info ][gc] "), (Some(ms(2000.0)), None));
    assert_eq!(at("[2003000000ns] "), (Some(ms(2000.0)), None));
    let wall = 1_795_651_200_000_000_000;
    let (begun, first) = at("[2026-11-26T02:00:00.003+0200][gc] ");
    assert_eq!((begun, first), (Some(wall), Some((wall + ms(3.0), None))));
    let (begun, first) = at("[2026-11-26T00:00:00.003Z][2.003s] ");
    assert_eq!((begun, first), (Some(ms(2000.0)), Some((wall + ms(3.0), Some(ms(2003.0))))));
    assert_eq!(at("[1795651200003ms] ").0, Some(wall));
    assert_eq!(unified::read("[0.1s][4711][4712][gc] GC(0) Pause Remark 0.1ms\n").pid, Some(4711));
}

fn is_log(text: &str) -> bool {
    looks_like(text.as_bytes())
}

#[test]
fn pauses_of_concurrent_collectors() {
    let log = unified::read(
        "[1.000s][gc,phases] GC(0) Pause Mark Start 0.014ms\n\
         [1.000s][safepoint ] Safepoint \"ZMarkStart\", Time since last: 900 ns, Reaching safepoint: 90000 ns, At safepoint: 20000 ns, Total: 110000 ns\n\
         [1.100s][gc,phases] GC(1) Y: Pause Mark Start (Major) 0.020ms\n\
         [1.200s][gc       ] GC(2) Pause Init Mark (unload classes) 0.300ms\n\
         [1.300s][gc       ] GC(0) Garbage Collection (Warmup) 42M(10%)->24M(6%)\n",
    );
    assert_eq!(
        told(&log.pauses),
        [
            ("concurrent", Some("ZMarkStart"), None, Some(ms(999.986)), ms(0.014)),
            ("concurrent", None, None, Some(ms(1099.98)), ms(0.02)),
            ("concurrent", None, None, Some(ms(1199.7)), ms(0.3)),
        ]
    );
}

#[test]
fn safepoints_as_jdk_9_to_12_tell_them() {
    let log = unified::read(
        "[0.5s][safepoint] Entering safepoint region: RevokeBias\n[0.5s][safepoint] Leaving safepoint region\n\
         [0.5s][safepoint] Total time for which application threads were stopped: 0.0012000 seconds, Stopping threads took: 0.0002000 seconds\n",
    );
    assert_eq!(told(&log.pauses), [("operation", Some("RevokeBias"), None, Some(ms(499.0)), ms(1.0))]);
    assert_eq!(log.pauses[0].to_stop, Some(ms(0.2)));
}

#[test]
fn classic_lines() {
    let log = classic::read(
        "CommandLine flags: -XX:InitialHeapSize=16777216 -XX:+PrintGC -XX:+UseParallelGC\n\
         2026-11-26T00:00:01.500+0000: 1.500: [GC (Allocation Failure) [PSYoungGen: 65536K->1234K(76288K)] 65536K->1242K(251392K), 0.0012345 secs] \
         [Times: user=0.01 sys=0.00, real=0.00 secs] \n\
         2026-11-26T00:00:01.502+0000: 1.502: Total time for which application threads were stopped: 0.0014345 seconds, Stopping threads took: 0.0000100 seconds\n\
         2.000: [GC (Allocation Failure) 2.000: [ParNew: 629119K->69888K(629120K), 0.0584157 secs] 1619346K->1273247K(2027264K), 0.0585007 secs]\n\
         3.000: [Full GC (System.gc()) [PSYoungGen: 8K->0K(76288K)] [ParOldGen: 8K->500K(175104K)] 16K->500K(251392K), [Metaspace: 2680K->2680K(1056768K)], 0.0053 secs]\n\
         4.000: [GC pause (G1 Evacuation Pause) (mixed), 0.0100000 secs]\n\
         \x20  [Parallel Time: 9.0 ms, GC Workers: 2]\n\
         \x20  [Eden: 24.0M(24.0M)->0.0B(13.0M) Survivors: 0.0B->3072.0K Heap: 24.0M(256.0M)->4096.0K(256.0M)]\n\
         5.000: [GC remark 5.000: [Finalize Marking, 0.0001 secs], 0.0020000 secs]\n\
         6.000: [GC (CMS Initial Mark) [1 CMS-initial-mark: 10K(20K)] 30K(40K), 0.0001997 secs]\n\
         7.000: Total time for which application threads were stopped: 0.0010000 seconds\n\
         8.000: [GC (Allocation Failure) 8.000: [ParNew8.001: [CMS-concurrent-abortable-preclean: 0.1/0.2 secs]\n",
    );
    let failed = Some("Allocation Failure");
    assert_eq!(
        told(&log.pauses),
        [
            ("young", None, failed, Some(ms(1500.0)), ms(1.2345)),
            ("young", None, failed, Some(ms(2000.0)), ms(58.5007)),
            ("full", None, Some("System.gc()"), Some(ms(3000.0)), ms(5.3)),
            ("young", None, Some("G1 Evacuation Pause"), Some(ms(4000.0)), ms(10.0)),
            ("concurrent", None, None, Some(ms(5000.0)), ms(2.0)),
            ("concurrent", None, Some("CMS Initial Mark"), Some(ms(6000.0)), ms(0.1997)),
        ]
    );
    assert_eq!(log.pauses[0].to_stop, Some(10_000));
    let used: Vec<_> = log.pauses.iter().map(|p| p.used).collect();
    let k = 1024;
    assert_eq!(used[0], Some((65536 * k, 1242 * k, Some(251_392 * k))));
    assert_eq!(used[1], Some((1_619_346 * k, 1_273_247 * k, Some(2_027_264 * k))));
    assert_eq!(
        (used[2], used[3], used[5]),
        (Some((16 * k, 500 * k, Some(251_392 * k))), Some((24 * M, 4 * M, Some(256 * M))), None)
    );
    assert_eq!(log.collector.as_deref(), Some("Parallel"));
    assert_eq!(log.first, Some((iso("2026-11-26T00:00:01.500+0000").unwrap(), Some(ms(1500.0)))));
}

/// Options of JDK 8 and before print more between the brackets of a pause, over several lines.
#[test]
fn pauses_over_several_lines() {
    let told = |text: &str| {
        let log = classic::read(text);
        let pauses = log
            .pauses
            .iter()
            .map(|p| (p.kind, p.cause.clone().unwrap_or_default(), p.at.map(|at| at / 1_000_000), p.time / 1000));
        (pauses.collect::<Vec<_>>(), log.unfinished)
    };
    let cause = |text: &str| text.to_owned();
    for (name, text, expected) in [
        (
            "PrintTenuringDistribution of G1",
            "26.214: [GC pause (G1 Evacuation Pause) (young)\nDesired survivor size 1342177280 bytes, new threshold 15 (max 15)\n\
             - age   1:    3163600 bytes,    3163600 total\n, 0.7578613 secs]\n   [Parallel Time: 663.4 ms, GC Workers: 18]\n\
             \x20     [GC Worker Start (ms): Min: 26214.3, Avg: 26215.9, Max: 26218.8, Diff: 4.4]\n",
            vec![("young", cause("G1 Evacuation Pause"), Some(26_214), 757_861)],
        ),
        (
            "PrintTenuringDistribution of Parallel",
            "0.260: [GC (Allocation Failure) \nDesired survivor size 4194304 bytes, new threshold 7 (max 15)\n\
             [PSYoungGen: 24571K->4081K(28672K)] 24571K->22186K(94208K), 0.0199218 secs] [Times: user=0.02 sys=0.02, real=0.02 secs]\n",
            vec![("young", cause("Allocation Failure"), Some(260), 19_921)],
        ),
        (
            "PrintAdaptiveSizePolicy of G1",
            "4.438: [GC pause (G1 Humongous Allocation) (young) 4.438: [G1Ergonomics (CSet Construction) start choosing CSet, _pending_cards: 5397]\n\
             \x204.438: [G1Ergonomics (CSet Construction) add young regions to CSet, eden: 1 regions]\n, 0.0208940 secs]\n",
            vec![("young", cause("G1 Humongous Allocation"), Some(4438), 20_894)],
        ),
        (
            "PrintAdaptiveSizePolicy of Parallel",
            "0.207: [Full GCAdaptiveSizePolicy::old generation size: collection: 4 (17563648) -> (18743296) \n\
             AdaptiveSizePolicy::survivor space sizes: collection: 4 (524288, 524288) -> (1441792, 524288) \n 10036K->9989K(64384K), 0.0053011 secs]\n",
            vec![("full", String::new(), Some(207), 5_301)],
        ),
        (
            "PrintFLSStatistics and PrintHeapAtGC of CMS",
            "{Heap before GC invocations=1 (full 1):\n par new generation   total 1310720K, used 830688K [0x0000000640000000, 0x00000006a0000000)\n\
             0.356: [GCBefore GC:\nStatistics for BinaryTreeDictionary:\n------\nTotal Free Space: 7289486\n\
             0.356: [ParNew: 4878K->492K(4928K), 0.0028687 secs] 69671K->68647K(98300K)After GC:\nStatistics for BinaryTreeDictionary:\n, 0.0030039 secs]\n",
            vec![("young", String::new(), Some(356), 3_003)],
        ),
        (
            "a concurrent phase within",
            "8.775: [GC pause (young)8.775: [GC concurrent-mark-end, 0.0101638 sec]\n, 0.00831998 secs]\n",
            vec![("young", String::new(), Some(8775), 8_319)],
        ),
        (
            "a failure of CMS",
            "2.5: [GC 2.5: [ParNew (promotion failed): 1098428K->1102189K(1179648K), 0.5939440 secs]3.1: [CMS3.1: [CMS-concurrent-mark: 0.1/0.2 secs]\n\
             \x20(concurrent mode failure): 1682222K->728816K(2359296K), 2.9698110 secs] 2776803K->728816K(3538944K), [CMS Perm : 1K->1K(2K)], 3.5649460 secs]\n",
            vec![("young", String::new(), Some(2500), 3_564_946)],
        ),
        (
            "Shenandoah of JDK 8",
            "2.469: [Pause Init Mark (process weakrefs), start]\n2.472: [Pause Init Mark (process weakrefs), 3.000 ms]\n\
             2.500: [Concurrent marking (process weakrefs), 0.333 ms]\n9.000: [Pause Full 40M->2M(64M), 100.000 ms]\n",
            vec![("concurrent", String::new(), Some(2469), 3_000), ("full", String::new(), Some(8900), 100_000)],
        ),
        (
            "PrintGCID",
            "2022-08-01T17:16:33.170+0000: 0.169: #0: [GC (Allocation Failure) 2022-08-01T17:16:33.171+0000: 0.170: #0: [ParNew: 8678K->1081K(9792K), 0.0088 secs] \
             8678K->8064K(31680K), 0.0106548 secs]\n",
            vec![("young", cause("Allocation Failure"), Some(169), 10_654)],
        ),
    ] {
        assert!(is_log(text), "{name}");
        assert_eq!(told(text), (expected, 0), "{name}");
    }
    // A JVM that was killed, or a file that was full.
    let cut = "1.000: [GC pause (young)\nDesired survivor size 1 bytes\n2.000: [GC pause (young), 0.0100000 secs]\n3.000: [GC pause (young)\n";
    assert_eq!(told(cut), (vec![("young", String::new(), Some(2000), 10_000)], 2));
    let endless = "1.000: [GC pause (young)\n".to_owned()
        + &"- age 1: 3 bytes\n".repeat(3000)
        + "4.000: [GC pause (young), 0.0100000 secs]\n";
    assert_eq!(told(&endless), (vec![("young", String::new(), Some(4000), 10_000)], 1));
}

/// The head of a log says what it is, also where more than its first lines have no pause, or none at all follows.
#[test]
fn heads_of_logs() {
    let head = "2016-04-14 22:37:22 GC log file created logs/gc.log.1\n\
                OpenJDK 64-Bit Server VM (25.342-b07) for linux-amd64 JRE (1.8.0_342-b07), built on Jul 16 2022 09:19:19 by \"openjdk\" with gcc 4.4.7\n\
                Memory: 4k page, physical 2097152k(2094644k free), swap 3145728k(3145728k free)\n\
                CommandLine flags: -XX:+PrintGC -XX:+UseG1GC\n";
    let log = head.to_owned()
        + &" garbage-first heap   total 65536K\n".repeat(300)
        + "1.000: [GC pause (young), 0.0100000 secs]\n";
    let read = |text: &str| {
        assert!(is_log(text), "{text}");
        let mut profile = Profile::new(crate::Options::default());
        read(text.as_bytes(), &mut profile).unwrap();
        profile
    };
    let profile = read(&log);
    assert_eq!(profile.table("jvm_pause").len(), 1);
    let fact = |name: &str| profile.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str());
    assert_eq!((fact("java.version"), fact("java.collector")), (Some("1.8.0_342-b07"), Some("G1")));
    let profile = read(head);
    assert!(profile.is_empty() && profile.notes()[0].starts_with("the log tells of no pause"), "{:?}", profile.notes());
    // ZGC tells of whole collections only, unless it is asked for more.
    let profile = read(
        "[0.995s][info][gc] Using The Z Garbage Collector\n[2,048s][info][gc] GC(1) Garbage Collection (Warmup) 208M(20%)->164M(16%)\n",
    );
    let heap = profile.table("jvm_heap");
    assert!(heap.len() == 1 && heap[0].contains(&("used", 164 * M)), "{heap:?}");
    assert!(profile.notes()[0].contains("what the heap held, and of no pause"), "{:?}", profile.notes());
}

#[test]
fn decimal_commas() {
    let line = "1,234: [GC 1,234: [ParNew: 118016K->13056K(118016K), 0,0665670 secs] 118,5M->60,5M(511,9M), 0,0666230 secs] [Times: user=0,10 sys=0,00, real=0,07 secs]\n\
                2,500: [Full GC (System.gc()) 24M->4M(256M), 0,2500000 secs]\n";
    let log = classic::read(line);
    let told: Vec<_> = log.pauses.iter().map(|p| (p.at.unwrap(), p.time)).collect();
    assert_eq!(told, [(1_234_000_000, 66_623_000), (2_500_000_000, 250_000_000)]);
    assert_eq!(log.pauses[0].used.map(|(before, ..)| before), Some(124_256_256));
    assert_eq!(log.last, 2_750_000_000);
}

#[test]
fn pauses_that_cannot_be_are_refused() {
    let lines = |times: &[&str]| -> Result<(usize, String), String> {
        let text: String =
            times.iter().enumerate().map(|(n, time)| format!("{n}.5: [GC (x) 24M->4M(256M), {time} secs]\n")).collect();
        let mut profile = Profile::new(crate::Options::default());
        read(text.as_bytes(), &mut profile)?;
        Ok((
            profile.events().iter().find(|(name, _)| *name == "jvm_pause").map_or(0, |(_, rows)| *rows),
            profile.notes().join("; "),
        ))
    };
    assert_eq!(lines(&["0.01"; 9]).unwrap().0, 9);
    let (taken, notes) = lines(&["0.01", "0.02", "665670.0", "0.02"]).unwrap();
    assert!(taken == 3 && notes.contains("1 pauses that end after the next one began"), "{taken} {notes}");
    let why = lines(&["665670.0", "445.1", "0.1", "999.1", "0.1"]).unwrap_err();
    assert!(why.contains("which cannot be"), "{why}");
}

#[test]
fn times_of_day() {
    assert_eq!(iso("1970-01-01T00:00:00.000+0000"), Some(0));
    assert_eq!(iso("2000-03-01T01:00:00.500+0100"), Some(951_868_800_500_000_000));
    assert_eq!(iso("2026-11-25T22:00:00,000-0200"), Some(1_795_651_200_000_000_000));
    for wrong in
        ["", "2026", "2026-13-01T00:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01T00:00:00", "9999999-01-01T00:00:00Z"]
    {
        assert_eq!(iso(wrong), None, "{wrong}");
    }
}

#[test]
fn prose_is_no_log() {
    for text in ["hello\n", "[section]\nkey = 1\n", "app;main;work 3\n", "[2026-11-26T00:00:00Z] INFO started\n"] {
        assert!(!is_log(text), "{text}");
    }
}

proptest! {
    #[test]
    fn whatever_lines_say_nothing_ends(
        lines in prop::collection::vec("(\\[[0-9.a-zA-Z:+-]{0,12}\\]){0,3} ?(GC\\([0-9]{0,3}\\) )?(Pause |Safepoint \"|\\[GC|Total time )?[A-Za-z0-9 ()\\[\\],.:>KM%-]{0,60}", 0..20),
    ) {
        let text = lines.join("\n");
        let _ = looks_like(text.as_bytes());
        let _ = read(text.as_bytes(), &mut Profile::new(crate::Options::default()));
        drop((unified::read(&text), classic::read(&text)));
    }
}
