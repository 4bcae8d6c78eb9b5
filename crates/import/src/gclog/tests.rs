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
