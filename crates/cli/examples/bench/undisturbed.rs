//! How much slower a service is with something beside it than without, where others use the machine too. What they take comes and goes in tenths of a
//! second, and takes more than what is to be measured. So the service is under load all the time, its work is counted ten times a second, and of its
//! pace in these tenths with and without, those which others disturbed least are compared: the 95th percentiles. Also compared is the part of the CPU time that is
//! the service's and its client's own code, for what slows the machine slows all code; it does not see what code loses to colder caches.
//! Intervals come of resampling whole phases; and how far off they are shows in phases without anything, compared to one another.

use query::stats::quantile::quantile;
use query::stats::rng::Rng;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Error, Read, Result, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Which part of the tenths is slower than what is compared.
const UNDISTURBED: f64 = 0.95;
/// Times the phases are resampled.
const RESAMPLED: usize = 1000;

/// Prints "seconds requests" ten times a second, of an nginx whose page `/served` is that of its module stub_status, until it is gone.
pub fn served(address: &str) -> Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut answer = BufReader::new(stream.try_clone()?);
    loop {
        write!(stream, "GET /served HTTP/1.1\r\nHost: bench\r\n\r\n")?;
        let mut length = 0;
        loop {
            let mut line = String::new();
            if answer.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().map_err(Error::other)?;
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut page = vec![0; length];
        answer.read_exact(&mut page)?;
        // "… server accepts handled requests", and below it the numbers.
        let page = String::from_utf8_lossy(&page).into_owned();
        let requests = page.lines().nth(2).and_then(|line| line.split_whitespace().nth(2));
        let requests = requests.ok_or_else(|| Error::other(format!("not a page of stub_status: {page}")))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(Error::other)?;
        println!("{:.6} {requests}", now.as_secs_f64());
        std::io::stdout().flush()?;
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// What the phases are called in which nothing is beside the service.
const WITHOUT: &str = "without";
/// What those of them are called that are compared to the others, to see what a loss of nothing looks like.
const NOTHING: &str = "nothing";
/// So many there must be of each kind, and so many counts in each.
const PHASES: usize = 3;
const COUNTS: usize = 10;

/// A phase.
struct Phase {
    /// The paces in its tenths of a second.
    paces: Vec<f64>,
    /// CPU time in the code of the service and its client, and in all, in ticks.
    ticks: [f64; 2],
}

/// The pace where others disturbed least.
fn undisturbed(phases: &[&Phase]) -> f64 {
    let all = phases.iter().map(|phase| phase.paces.as_slice()).collect::<Vec<_>>().concat();
    quantile(&all, &vec![1.0; all.len()], UNDISTURBED).unwrap_or(f64::NAN)
}

/// Which part of the CPU time was in the code of the service and its client: whatever makes the machine slower or faster does so to all code.
fn own(phases: &[&Phase]) -> f64 {
    let sum = |of: usize| phases.iter().map(|phase| phase.ticks[of]).sum::<f64>();
    sum(0) / sum(1)
}

/// What is compared, by the name under which its loss is told.
type Measure = (&'static str, fn(&[&Phase]) -> f64);
const MEASURES: [Measure; 2] = [("loss where others disturb least", undisturbed), ("loss by CPU time", own)];

/// As many phases, drawn from these.
fn again<'a>(rng: &mut Rng, of: &[&'a Phase]) -> Vec<&'a Phase> {
    (0..of.len()).map(|_| of[rng.below(of.len())]).collect()
}

/// Prints what is lost `beside` something.
fn print_lost(beside: &str, with: &[&Phase], without: &[&Phase]) {
    let mut rng = Rng::new(1);
    for (metric, measure) in MEASURES {
        let lost = |with: &[&Phase], without: &[&Phase]| 100.0 * (1.0 - measure(with) / measure(without));
        let resampled: Vec<f64> =
            (0..RESAMPLED).map(|_| lost(&again(&mut rng, with), &again(&mut rng, without))).collect();
        let of_resampled = |q: f64| quantile(&resampled, &[1.0; RESAMPLED], q).unwrap_or(f64::NAN);
        for value in [of_resampled(0.025), lost(with, without), of_resampled(0.975)] {
            println!("{beside}\t{metric}\t%\t{value:.2}");
        }
    }
}

/// Of work counted as lines "seconds total" on standard input, prints what is lost: "beside what, metric, unit, figure" with tabs between, the figure
/// thrice, as the lower end of its 95 % interval, itself and the upper end. `phases` has lines "from until OWN ALL beside what": of ALL ticks
/// of CPU time, OWN were in the code of the service and its client.
pub fn loss(phases: &Path) -> Result<()> {
    let mut counts: Vec<[f64; 2]> = Vec::new();
    for line in std::io::stdin().lines() {
        let line = line?;
        if let Some((at, total)) = line.split_once(' ')
            && let (Ok(at), Ok(total)) = (at.parse(), total.parse())
        {
            counts.push([at, total]);
        }
    }
    // By phase, for within one what others do is much the same.
    let mut kinds: BTreeMap<String, Vec<Phase>> = BTreeMap::new();
    for line in std::fs::read_to_string(phases)?.lines() {
        let mut words = line.splitn(5, ' ');
        let mut number = || words.next().and_then(|word| word.parse::<f64>().ok());
        let numbers = [number(), number(), number(), number()];
        let ([Some(from), Some(until), Some(own), Some(all)], Some(beside)) = (numbers, words.next()) else {
            return Err(Error::other(format!("{}: not a phase: {line}", phases.display())));
        };
        let within: Vec<&[f64; 2]> = counts.iter().filter(|count| count[0] >= from && count[0] <= until).collect();
        let paces = within.windows(2).map(|pair| (pair[1][1] - pair[0][1]) / (pair[1][0] - pair[0][0])).collect();
        kinds.entry(beside.to_owned()).or_default().push(Phase { paces, ticks: [own, all] });
    }
    if kinds.values().any(|phases| phases.len() < PHASES || phases.iter().any(|phase| phase.paces.len() < COUNTS)) {
        let lengths = kinds.values().map(|of| of.iter().map(|phase| phase.paces.len()).collect::<Vec<usize>>());
        return Err(Error::other(format!(
            "too little was counted: tenths of a second: {:?}",
            lengths.collect::<Vec<_>>()
        )));
    }
    let Some(without) = kinds.remove(WITHOUT) else {
        return Err(Error::other(format!("{}: no phase {WITHOUT}", phases.display())));
    };
    let without: Vec<&Phase> = without.iter().collect();
    println!("{WITHOUT}\tthroughput without\t/s\t{:.0}", undisturbed(&without));
    for (beside, with) in &kinds {
        print_lost(beside, &with.iter().collect::<Vec<_>>(), &without);
    }
    let half = |first: usize| -> Vec<&Phase> { without.iter().skip(first).step_by(2).copied().collect() };
    let (others, with) = (half(0), half(1));
    if with.len() >= PHASES {
        print_lost(NOTHING, &with, &others);
    }
    Ok(())
}
