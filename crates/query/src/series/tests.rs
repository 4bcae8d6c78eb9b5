//! Series on hand-written recordings.

use super::*;
use crate::testing::{CPU, ENDED, MEMINFO, NET, PROCESS, VMSTAT, frame};
use model::Table;
use proptest::prelude::*;
use store::Select;

const NAN: f64 = f64::NAN;

fn grid(table: &'static Table, text: &str, name: &str, by: &[&str]) -> Grid {
    let frame = frame(table, text);
    Grid::new(&frame, &metric(table, name).unwrap(), by, None).unwrap()
}

/// Each series as "labels: value …", with `-` where nothing was measured.
fn shown(grid: &Grid) -> Vec<String> {
    let series = |s: &Series| {
        let value = |i: usize| match s.value(i) {
            v if v.is_nan() => "-".to_owned(),
            v => format!("{}", (v * 1e6).round() / 1e6),
        };
        format!("{}: {}", s.labels.join(","), grid.all().map(value).collect::<Vec<_>>().join(" "))
    };
    grid.series.iter().map(series).collect()
}

#[test]
fn rates_come_from_the_exact_time_between_reads() {
    let text = "t cpu user idle mhz
        0    0 100 0 1000
        0    1 100 0 3000
        1    0 150 0 1000
        1    1 100 0 3000
        1.5  0 200 0 1000
        1.5  1 150 0 2000";
    let each = grid(&CPU, text, "user", &["cpu"]);
    assert_eq!((&each.from[..], &each.to[..]), (&[0.0, 1.0][..], &[1.0, 1.5][..]));
    assert_eq!(shown(&each), ["0: 0.5 1", "1: 0 1"]);
    let total = grid(&CPU, text, "user", &[]);
    assert_eq!(shown(&total), [": 0.5 2"]);
    assert_eq!((total.series[0].entities, total.series[0].resets), (2, 0));
    // 1.5 CPU-seconds in 1.5 s: the ratio of the sums, not the mean of 0.5 and 2.
    assert_eq!(total.series[0].mean(total.all()), Some(1.0));
    assert_eq!(total.series[0].values(total.all()), [0.5, 2.0]);
}

#[test]
fn levels_are_points_from_the_first_read_on() {
    let text = "t cpu user idle mhz
        0 0 0 0 1000
        0 1 0 0 3000
        1 0 0 0 -
        1 1 0 0 3000";
    let folded = grid(&CPU, text, "mhz", &[]);
    assert_eq!((&folded.from[..], &folded.to[..]), (&[0.0, 1.0][..], &[0.0, 1.0][..]));
    assert_eq!(shown(&folded), [": 2000 3000"]);
    assert_eq!(folded.series[0].mean(0..2), Some(7000.0 / 3.0));
    assert_eq!(folded.within(0.0, 0.5), 0..1);
    let text = "t name received speed\n0 a 0 5\n0 b 0 7\n1 a 0 9\n1 b 0 7";
    assert_eq!(shown(&grid(&NET, text, "speed", &[])), [": 7 9"]);
}

#[test]
fn what_is_not_there_is_not_zero() {
    let text = "t name received speed
        0 a 10 1
        0 b 10 1
        1 a 20 1
        2 a 20 1
        2 b 5000 1
        3 a 30 -
        3 b 5010 -
        4 a - -
        4 b 5030 -";
    // b is gone at 1 and back at 2; a's counter is not read at 4.
    let each = grid(&NET, text, "received", &["name"]);
    assert_eq!(shown(&each), ["a: 10 0 10 -", "b: - - 10 20"]);
    assert_eq!(shown(&grid(&NET, text, "received", &[])), [": 10 0 20 20"]);
    assert_eq!(each.series[1].sums(0..2), None);
    assert_eq!(each.series[1].mean(each.all()), Some(15.0));
}

#[test]
fn what_begins_between_two_reads_counts_from_zero_where_its_table_says_so() {
    let text = "t pid comm user rss
        0 1 a 9000000000 100
        1 1 a 9500000000 100
        2 1 a 9500000000 100
        2 2 b 250000000 50
        3 2 b 500000000 60
        4 1 a 9900000000 100
        4 2 b 500000000 60
        4 3 c - 5";
    // a is gone at 3 and comes back; c's counter was not read.
    let user = grid(&PROCESS, text, "user", &["comm"]);
    assert_eq!(shown(&user), ["a: 0.5 0 - -", "b: - 0.25 0.25 0"]);
    assert_eq!(
        shown(&grid(&PROCESS, text, "rss", &["comm"])),
        ["a: 100 100 100 - 100", "b: - - 50 60 60", "c: - - - - 5"]
    );
    assert_eq!(shown(&grid(&PROCESS, text, "user", &[])), [": 0.5 0.25 0.25 0"]);
    let text = "t name received speed\n0 a 5 1\n1 a 5 1\n1 b 7 1\n2 a 5 1\n2 b 9 1";
    assert_eq!(shown(&grid(&NET, text, "received", &["name"])), ["a: 0 0", "b: - 2"]);
}

#[test]
fn a_group_has_room_for_those_that_came_before_and_after() {
    let text = "t name received speed
        0 c 0 1
        1 b 0 3
        2 b 10 3
        2 a 0 5
        3 a 7 5
        4 c 0 1";
    let all = grid(&NET, text, "received", &[]);
    assert_eq!(shown(&all), [": - 10 7 -"]);
    let each = grid(&NET, text, "received", &["name"]);
    let b = &each.series[1];
    assert_eq!(b.measured(each.all()).collect::<Vec<_>>(), [(1, 10.0, 1.0)]);
    assert_eq!((b.den(0), b.den(99), b.sums(2..4), b.sums(0..99)), (0.0, 0.0, None, Some((10.0, 1.0))));
    let filled = b.or_zero(&[1.0, 1.0, NAN, 2.0]);
    assert_eq!(filled.measured(0..4).collect::<Vec<_>>(), [(0, 0.0, 1.0), (1, 10.0, 1.0), (3, 0.0, 2.0)]);
    assert_eq!(shown(&grid(&NET, text, "speed", &["name"])), ["a: - - 5 5 -", "b: - 3 3 - -", "c: 1 - - - 1"]);
}

#[test]
fn rows_that_were_left_out_hold_across_generations() {
    let text = "t name received speed
        0 a 10 1
        1 a 10 1
        2 a 10 1
        seal
        3 a 10 1
        4 a 12 1
        seal
        5 a 12 1";
    assert_eq!(shown(&grid(&NET, text, "received", &[])), [": 0 0 0 2 0"]);
}

#[test]
fn a_counter_that_goes_down_is_a_reset() {
    let text = "t name received speed
        0 a 1000 1
        1 a 5 1
        2 a 15 1
        3 a 9223372036854775807 1
        4 a -9223372036854775807 1";
    let all = grid(&NET, text, "received", &[]);
    assert_eq!(shown(&all)[0].split(' ').take(3).collect::<Vec<_>>(), [":", "-", "10"]);
    assert_eq!(all.series[0].resets, 2);
    assert!(all.series[0].num(2) > 9e18);
    // Only resets: the group is there, to say so.
    let only = grid(&NET, "t name received speed\n0 a 2 1\n1 a 1 1", "received", &[]);
    assert_eq!((shown(&only), only.series[0].resets), (vec![": -".to_owned()], 1));
}

#[test]
fn ratios_are_ratios_of_sums() {
    let text = "t cpu user idle mhz
        0 0 0  0  1
        0 1 0  0  1
        1 0 10 90 1
        1 1 30 0  1
        2 0 10 90 1
        2 1 30 0  1";
    let share = grid(&CPU, text, "busy_share", &[]);
    assert_eq!(shown(&share), [format!(": {} -", (40.0 / 130.0 * 1e6f64).round() / 1e6)]);
    // The second interval was measured: nothing happened in it.
    assert_eq!(share.series[0].num(1), 0.0);
    assert_eq!(share.series[0].mean(1..2), None);
    assert_eq!(share.series[0].mean(0..2), Some(40.0 / 130.0));
}

#[test]
fn fields_of_long_tables() {
    let text = "t field value
        0 pgfault 100
        0 pgmajfault 0
        0 new 1
        1 pgfault 200
        1 pgmajfault 25
        1 new 1
        2 pgfault 200
        2 pgmajfault 25
        2 new 4";
    assert_eq!(shown(&grid(&VMSTAT, text, "pgfault", &[])), [": 100 0"]);
    assert_eq!(shown(&grid(&VMSTAT, text, "new", &[])), [": 0 3"]);
    assert_eq!(shown(&grid(&VMSTAT, text, "major_share", &[])), [": 0.25 -"]);
    assert!(grid(&VMSTAT, text, "none", &[]).series.is_empty());
    let text = "t node field value
        0 0 total 10
        0 0 free 4
        0 1 total 20
        1 0 total 10
        1 0 free 5
        1 1 total 20";
    // A sum of levels is a level; node 1 has no figure of its free memory.
    assert_eq!(shown(&grid(&MEMINFO, text, "used", &["node"])), ["0: 6144 5120"]);
    assert_eq!(shown(&grid(&MEMINFO, text, "total", &["node"])), ["0: 10240 10240", "1: 20480 20480"]);
}

#[test]
fn groups_sort_by_number_and_can_be_chosen() {
    let text = "t cpu user idle mhz
        0 10 0 0 1
        0 9  0 0 1
        0 -  0 0 1
        1 10 1 0 1
        1 9  2 0 1
        1 -  4 0 1";
    let each = grid(&CPU, text, "user", &["cpu"]);
    assert_eq!(shown(&each), [": 0.04", "9: 0.02", "10: 0.01"]);
    let frame = frame(&CPU, text);
    let some = Grid::new(&frame, &metric(&CPU, "user").unwrap(), &[], Some(("cpu", &["9", "10"]))).unwrap();
    assert_eq!(shown(&some), [": 0.03"]);
}

#[test]
fn mistakes_are_said() {
    let frame_of = |columns: &[&str]| {
        let run = crate::testing::run("a", &[(&CPU, "t cpu user idle mhz\n0 0 1 1 1\n1 0 2 2 2")]);
        run.recording.load("cpu", &Select { columns: Some(columns), ..Select::default() }).unwrap()
    };
    let user = metric(&CPU, "user").unwrap();
    let error = Grid::new(&frame_of(&["user"]), &user, &["core"], None).unwrap_err().to_string();
    assert_eq!(error, "table cpu has no label core; its labels are: cpu");
    let error = Grid::new(&frame_of(&["idle"]), &user, &[], None).unwrap_err().to_string();
    assert_eq!(error, "metric cpu.user cannot be computed from this frame of table cpu: column user was not decoded");
    assert!(Grid::new(&frame_of(&["user"]), &metric(&NET, "received").unwrap(), &[], None).is_err());
    assert!(metrics(&ENDED).is_empty());
}

#[test]
fn few_reads_give_few_intervals() {
    let one = grid(&CPU, "t cpu user idle mhz\n0 0 1 1 5", "user", &[]);
    assert!(one.is_empty() && one.series.is_empty());
    assert_eq!(one.buckets(10).time.len(), 0);
    assert_eq!(shown(&grid(&CPU, "t cpu user idle mhz\n0 0 1 1 5", "mhz", &[])), [": 5"]);
}

#[test]
fn windows_take_whole_intervals() {
    let text = "t name received speed\n0 a 0 1\n1 a 1 1\n2 a 3 1\n3 a 6 1\n4 a 10 1";
    let all = grid(&NET, text, "received", &[]);
    assert_eq!(all.within(0.5, 3.5), 1..3);
    assert_eq!(all.within(1.0, 3.0), 1..3);
    assert_eq!(all.within(-1.0, 9.0), 0..4);
    assert_eq!(all.within(1.2, 1.8), 2..2);
    assert_eq!(all.series[0].mean(all.within(1.0, 3.0)), Some(2.5));
    assert_eq!(all.series[0].mean(7..9), None);
}

#[test]
fn fewer_points_keep_the_extremes() {
    let text = "t name received speed\n0 a 0 1\n1 a 1 1\n2 a 3 1\n3 a 6 1\n4 b 0 1\n5 b 9 1";
    let all = grid(&NET, text, "received", &["name"]);
    let buckets = all.buckets(3);
    assert_eq!(buckets.ranges, [0..2, 2..4, 4..5]);
    assert_eq!(buckets.time, [1.0, 3.0, 4.5]);
    let a = all.series[0].resample(&buckets);
    assert_eq!(
        format!("{a:?}"),
        format!("{:?}", Resampled { mean: vec![1.5, 3.0, NAN], min: vec![1.0, 3.0, NAN], max: vec![2.0, 3.0, NAN] })
    );
    assert_eq!(all.buckets(100).ranges.len(), 5);
    assert_eq!(all.buckets(0).ranges.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Thinning, carrying forward and folding lose nothing: the sum over a group is the sum over dense rows.
    #[test]
    fn folding_equals_the_sum_of_dense_rows(steps in proptest::collection::vec(proptest::collection::vec(0i64..3, 3), 2..12), seal in 1usize..6) {
        let mut text = String::from("t cpu user idle mhz\n");
        let mut totals = [0i64; 3];
        for (t, step) in steps.iter().enumerate() {
            for (cpu, grown) in step.iter().enumerate() {
                totals[cpu] += grown;
                text.push_str(&format!("{t} {cpu} {} 0 1\n", totals[cpu]));
            }
            if t % seal == 0 {
                text.push_str("seal\n");
            }
        }
        let total = grid(&CPU, &text, "user", &[]);
        let expected: Vec<f64> = steps.iter().skip(1).map(|s| s.iter().sum::<i64>() as f64 / 100.0).collect();
        let found: Vec<f64> = total.all().map(|i| total.series[0].value(i)).collect();
        prop_assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {expected:?}");
    }
}
