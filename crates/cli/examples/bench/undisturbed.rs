//! How much slower a service is with something beside it than without, where others use the machine too. What they take comes and goes in tenths of a
//! second, and takes more than what is to be measured. So the service is under load all the time, its work is counted ten times a second, and of its
//! pace in these tenths with and without, those which others disturbed least are compared: the 95th percentiles. The interval comes of resampling whole phases.

use query::stats::quantile::quantile;
use query::stats::rng::Rng;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Error, Read, Result, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What is compared, as parts of the tenths.
const UNDISTURBED: f64 = 0.95;
const MEDIAN: f64 = 0.5;
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

/// Of work counted as lines "seconds total" on standard input, prints what is lost: "beside what, metric, unit, figure" with tabs between, the figure
/// thrice, as the lower end of its 95 % interval, itself and the upper end. `phases` has lines "from until beside what".
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
    let mut paces: BTreeMap<String, Vec<Vec<f64>>> = BTreeMap::new();
    for line in std::fs::read_to_string(phases)?.lines() {
        let mut words = line.splitn(3, ' ');
        let mut time = || words.next().and_then(|word| word.parse::<f64>().ok());
        let (Some(from), Some(until), Some(beside)) = (time(), time(), words.next()) else {
            return Err(Error::other(format!("{}: not a phase: {line}", phases.display())));
        };
        let within: Vec<&[f64; 2]> = counts.iter().filter(|count| count[0] >= from && count[0] <= until).collect();
        let of_phase = within.windows(2).map(|pair| (pair[1][1] - pair[0][1]) / (pair[1][0] - pair[0][0]));
        paces.entry(beside.to_owned()).or_default().push(of_phase.collect());
    }
    if paces.values().any(|phases| phases.len() < 3 || phases.iter().any(|phase| phase.len() < 10)) {
        let lengths = paces.values().map(|of| of.iter().map(Vec::len).collect::<Vec<usize>>());
        return Err(Error::other(format!(
            "too little was counted: tenths of a second: {:?}",
            lengths.collect::<Vec<_>>()
        )));
    }
    let Some(without) = paces.remove(WITHOUT) else {
        return Err(Error::other(format!("{}: no phase {WITHOUT}", phases.display())));
    };
    let at = |phases: &[Vec<f64>], q: f64| {
        let all = phases.concat();
        quantile(&all, &vec![1.0; all.len()], q).unwrap_or(f64::NAN)
    };
    println!("{WITHOUT}\tthroughput without\t/s\t{:.0}", at(&without, UNDISTURBED));
    let mut rng = Rng::new(1);
    for (beside, with) in &paces {
        for (q, metric) in [(UNDISTURBED, "loss where others disturb least"), (MEDIAN, "loss at the median")] {
            let lost = |with: &[Vec<f64>], without: &[Vec<f64>]| 100.0 * (1.0 - at(with, q) / at(without, q));
            let mut again =
                |of: &[Vec<f64>]| -> Vec<Vec<f64>> { (0..of.len()).map(|_| of[rng.below(of.len())].clone()).collect() };
            let resampled: Vec<f64> = (0..RESAMPLED).map(|_| lost(&again(with), &again(&without))).collect();
            let of_resampled = |q: f64| quantile(&resampled, &[1.0; RESAMPLED], q).unwrap_or(f64::NAN);
            for value in [of_resampled(0.025), lost(with, &without), of_resampled(0.975)] {
                println!("{beside}\t{metric}\t%\t{value:.2}");
            }
        }
    }
    Ok(())
}
