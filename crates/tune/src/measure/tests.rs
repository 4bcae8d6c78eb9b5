use super::*;
use model::{Usage, Work};

fn file(measures: &str) -> Result<Vec<Measured>, (String, String)> {
    let text = format!("[workload]\ncommand = [\"x\"]\nthroughput = 'done (\\d+)'\nunit = \"states\"\n{measures}");
    Measured::all(&File::parse(&text, "e.toml").unwrap())
}

fn take(measure: &str, output: &str, manifest: &Manifest, warm_up: u64) -> Result<f64, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    std::fs::write(&path, output).unwrap();
    let warm_up = Duration::from_secs(warm_up);
    let of = Remains {
        recording: Path::new("/no/such.twin"),
        manifest,
        output: &path,
        dir: folder.path(),
        warm_up,
        used: Used::default(),
    };
    file(&format!("[[measure]]\nbetter = \"less\"\n{measure}")).unwrap()[0].take(&of)
}

#[test]
fn what_is_usual_is_measured_without_being_told() {
    let all = file("").unwrap();
    let heads: Vec<_> = all.iter().map(|m| (m.head.name.as_str(), m.unit.as_str(), m.head.better)).collect();
    assert_eq!(heads, [("work", "states/s", Better::More), ("cpu", "s", Better::Less), ("rss", "B", Better::Less)]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |text: &str| file(&format!("[[measure]]\n{text}\n")).unwrap_err().1;
    assert!(refused("name = \"x\"").contains("without a source"));
    assert!(refused("from = \"cpu\"\nline = 1").contains("several sources"));
    assert!(refused("regex = 'x'").contains("no group"));
    assert!(refused("regex = '(x)'").contains("better"));
    assert!(refused("line = 0").contains("line 0"));
    assert!(refused("format = \"wrkk\"").contains("did you mean wrk?"));
    assert!(refused("json = \"a\"").contains("begins with /"));
    assert!(refused("metric = \"busy\"").contains("TABLE.NAME"));
    assert!(refused("from = \"cpu\"\nlimit = \"low\"").contains("limit"));
    assert!(refused("from = \"cpu\"\nfile = \"x\"").contains("read from an output"));
    assert!(refused("from = \"cpu\"\nvalue = \"p99\"").contains("with a format"));
    assert!(file("[[measure]]\nfrom = \"cpu\"\n[[measure]]\nfrom = \"cpu\"\n").unwrap_err().1.contains("two measures"));
}

#[test]
fn outputs_are_read() {
    let none = Manifest::default();
    let of = |measure: &str, output: &str| take(measure, output, &none, 0);
    assert_eq!(of("regex = 'took ([0-9.,]+)'", "took 1\ntook 1,234.5 ms\n"), Ok(1234.5));
    assert!(of("regex = 'took (\\S+)'", "took long\n").unwrap_err().contains("no number"));
    assert!(of("regex = 'took (\\S+)'", "").unwrap_err().contains("nothing in it matches"));
    assert_eq!(of("json = \"/a/1\"", "log\n{\"a\": [1, \"2.5\"]}\nbye\n"), Ok(2.5));
    assert!(of("json = \"/a/7\"", "{\"a\": [1]}").unwrap_err().contains("has no /a/7"));
    assert!(of("json = \"\"", "{").unwrap_err().contains("no JSON"));
    assert_eq!(of("line = -1", "1\n2\n3\n"), Ok(3.0));
    assert_eq!(of("line = 2", "1\n2\n3\n"), Ok(2.0));
    assert!(of("line = 4", "1\n2\n3\n").is_err() && of("line = -4", "1\n2\n3\n").is_err());
    assert!(of("line = 1\nfile = \"elsewhere\"", "1\n").unwrap_err().contains("elsewhere"));
    assert_eq!(of("line = 1\nfile = \"out\"", "7\n"), Ok(7.0));
    assert!(of("metric = \"cpu.busy\"", "").is_err());
}

#[test]
fn work_is_counted_after_the_warm_up() {
    let progress: Vec<(f64, f64)> = (1..=10).map(|s| (f64::from(s) + 0.5, f64::from(s) * 100.0)).collect();
    let work = Work { unit: "states".into(), total: 1000.0, progress, how: String::new() };
    let usage = Usage { user: 1.5, system: 0.5, max_rss: 4096, ..Usage::default() };
    let mut manifest = Manifest {
        work: Some(work),
        wall: Some(10_000_000_000),
        command_start: Some(500_000_000),
        usage: Some(usage),
        exit: Some(Exit::Code(0)),
        ..Manifest::default()
    };
    assert_eq!(take("from = \"work\"", "", &manifest, 0), Ok(100.0));
    assert_eq!(take("from = \"work\"", "", &manifest, 3), Ok(100.0));
    assert!(take("from = \"work\"", "", &manifest, 10).unwrap_err().contains("running total"));
    assert_eq!(take("from = \"cpu\"", "", &manifest, 0), Ok(2.0));
    assert_eq!(take("from = \"rss\"", "", &manifest, 0), Ok(4096.0));
    assert_eq!(failure(&manifest, Duration::from_secs(1)), None);
    manifest.exit = Some(Exit::Signal(9));
    assert_eq!(failure(&manifest, Duration::from_secs(1)).as_deref(), Some("ended by signal 9"));
    manifest.ended = Some(model::DURATION_OVER.into());
    assert!(failure(&manifest, Duration::from_secs(60)).unwrap().contains("60 s"));
    manifest.work = None;
    assert!(take("from = \"work\"", "", &manifest, 0).unwrap_err().contains("no work was reported"));
}
