//! A program of one's own that says which values to try: asked and told in lines of JSON on its standard input, answering on
//! its standard output. docs/tune.md describes the lines.

use super::process::{self, Ended};
use crate::file::nearest;
use crate::optimise::{Dimension, Space, Told, history, space};
use crate::plan::Better;
use crate::session::Session;
use crate::space::{Set, for_sh};
use serde_json::{Map, Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// An answer that takes longer will not come.
const PATIENCE: Duration = Duration::from_secs(600);

/// Whether somebody wants to stop is asked this often.
const POLL: Duration = Duration::from_millis(50);

/// Who is not asked any more has this long to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// So many answers in a row may be values for which `where` does not hold.
const REDRAWN: usize = 100;

/// The program, while it runs.
#[derive(Debug)]
pub(super) struct Asker {
    child: Child,
    /// Lines to it; they are written by a thread, so that a program that does not read holds nobody up.
    input: Option<Sender<String>>,
    answers: Receiver<Result<String, String>>,
    /// What it is called in errors, and where its errors are.
    called: String,
    log: PathBuf,
    /// Trials that it was told, and lines that it wrote.
    told: usize,
    lines: usize,
}

impl Asker {
    /// Starts it.
    ///
    /// # Errors
    /// Why it could not be started.
    pub(super) fn start(words: &[String], dir: &Path, folder: &Path) -> Result<Asker, String> {
        let called = words.iter().map(|word| for_sh(word)).collect::<Vec<_>>().join(" ");
        let failed = |why: String| format!("ask: {called}: {why}");
        let (program, arguments) = words.split_first().ok_or("ask: no command")?;
        let log = folder.join("ask.log");
        let errors = files::append(&log);
        let errors = errors.map_err(|e| failed(format!("{}: {e}", log.display())))?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(dir).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        // SAFETY: between fork and exec one system call is made, which takes numbers.
        unsafe {
            command.pre_exec(|| {
                // When this program is killed, nobody asks it any more.
                #[cfg(target_os = "linux")]
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
                Ok(())
            });
        }
        let mut child = command.spawn().map_err(|e| failed(e.to_string()))?;
        let (input, lines) = channel::<String>();
        let (answer, answers) = channel();
        if let (Some(mut to), Some(from)) = (child.stdin.take(), child.stdout.take()) {
            std::thread::spawn(move || {
                // Who does not read any more is found out when his answer does not come.
                while let Ok(line) = lines.recv() {
                    if to.write_all(line.as_bytes()).and_then(|()| to.flush()).is_err() {
                        return;
                    }
                }
            });
            std::thread::spawn(move || {
                for line in BufReader::new(from).lines() {
                    if answer.send(line.map_err(|e| e.to_string())).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(Asker { child, input: Some(input), answers, called, log, told: 0, lines: 0 })
    }

    /// The values to try next; `None` where somebody wants to stop. It is told first what came out since it was last asked, which
    /// is all of the session where it has just been started.
    ///
    /// # Errors
    /// What is wrong with its answer, or that none came.
    pub(super) fn ask(&mut self, session: &Session, stop: &AtomicBool) -> Result<Option<Set>, String> {
        let space = space(session).ok_or("ask: this session seeks nothing")?;
        let told = history(session);
        let about = About::of(space, session);
        for told in told.iter().skip(self.told) {
            self.write(&about.tell(told));
        }
        self.told = told.len();
        let number = told.len() + 1;
        for _ in 0..REDRAWN {
            self.write(&about.ask(number));
            let Some(line) = self.answer(stop)? else { return Ok(None) };
            let failed = |what: String| self.wrong(&what, &line);
            let set = set_of(&line, space).map_err(failed)?;
            if space.allows(&set).map_err(failed)? {
                return Ok(Some(set));
            }
            // It learns that these values cannot be, and is asked for others.
            self.write(&about.tell(&Told { number, trial: 0, set, values: Vec::new() }));
        }
        Err(format!("ask: {}: {REDRAWN} answers in a row are values for which `where` does not hold", self.called))
    }

    fn write(&self, line: &Value) {
        if let Some(input) = &self.input {
            // Where its thread has ended, so has the program, and its answer will not come.
            let _ = input.send(format!("{line}\n"));
        }
    }

    fn answer(&mut self, stop: &AtomicBool) -> Result<Option<String>, String> {
        let since = Instant::now();
        loop {
            match self.answers.recv_timeout(POLL) {
                Ok(Ok(line)) => {
                    self.lines += 1;
                    if !line.trim().is_empty() {
                        return Ok(Some(line));
                    }
                }
                Ok(Err(e)) => return Err(self.wrong(&e, "")),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let ended = self.child.wait().map(|status| Ended::Status(status).failure());
                    let how = ended.ok().flatten().unwrap_or("exit code 0".into());
                    let log = self.log.display();
                    return Err(format!(
                        "ask: {} ended without an answer: {how}; what it said is in {log}",
                        self.called
                    ));
                }
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            if since.elapsed() > PATIENCE {
                return Err(format!("ask: {} did not answer for {} s", self.called, PATIENCE.as_secs()));
            }
        }
    }

    fn wrong(&self, what: &str, line: &str) -> String {
        format!("ask: line {} of what {} wrote: {what}: {line:?}", self.lines, self.called)
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        // The end of its input says that it is over.
        self.input = None;
        let asked = Instant::now();
        while asked.elapsed() < GRACE {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(10)),
                _ => return,
            }
        }
        process::end(&mut self.child);
    }
}

/// What each line says beside its own.
struct About {
    space: Value,
    better: Vec<&'static str>,
}

impl About {
    fn of(space: &Space, session: &Session) -> About {
        let dimension = |d: &Dimension| {
            let (name, rest) = d.parameters.split_first()?;
            let values: Vec<Value> = d.values.iter().filter_map(|point| point.first()).map(|v| scalar(v)).collect();
            let mut of = json!({ "values": values, "ordered": d.ordered });
            if !rest.is_empty() {
                of["with"] = json!(rest);
            }
            Some((name.clone(), of))
        };
        let measures = session.plan().measures.iter().take(session.plan().objectives());
        let better = measures.map(|m| if m.better == Better::More { "more" } else { "less" }).collect();
        About { space: Value::Object(space.dimensions.iter().filter_map(dimension).collect()), better }
    }

    /// One measure, or a list of several.
    fn one_or_all(all: Vec<Value>) -> Value {
        match <[Value; 1]>::try_from(all) {
            Ok([one]) => one,
            Err(all) => Value::Array(all),
        }
    }

    fn better(&self) -> Value {
        About::one_or_all(self.better.iter().map(|word| json!(word)).collect())
    }

    fn ask(&self, number: usize) -> Value {
        json!({ "ask": number, "space": self.space, "better": self.better() })
    }

    fn tell(&self, told: &Told) -> Value {
        let set: Map<String, Value> = told.set.iter().map(|(name, value)| (name.clone(), scalar(value))).collect();
        let value = match told.failed() {
            true => Value::Null,
            false => About::one_or_all((0..self.better.len()).map(|m| json!(told.value(m))).collect()),
        };
        json!({
            "tell": told.number, "set": set, "value": value, "failed": told.failed(), "space": self.space,
            "better": self.better(),
        })
    }
}

/// A value as JSON has it, where that is the same text.
fn scalar(value: &str) -> Value {
    let json: Option<Value> = serde_json::from_str(value).ok();
    match json {
        Some(Value::Bool(b)) => Value::Bool(b),
        Some(Value::Number(n)) if n.to_string() == value => Value::Number(n),
        _ => Value::String(value.to_owned()),
    }
}

/// The values that an answer names.
fn set_of(line: &str, space: &Space) -> Result<Set, String> {
    let answer: Value = serde_json::from_str(line).map_err(|e| format!("it is no JSON ({e})"))?;
    let (Some(set), Some(1)) = (answer.get("set").and_then(Value::as_object), answer.as_object().map(Map::len)) else {
        return Err("expected {\"set\": {NAME: VALUE, …}}".into());
    };
    let mut named = Set::new();
    for (name, value) in set {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            _ => return Err(format!("{name} is neither a text nor a number")),
        };
        named.insert(name.clone(), value);
    }
    let same = |a: &str, b: &str| {
        let number = |text: &str| text.parse::<f64>().ok();
        a == b || number(a).zip(number(b)).is_some_and(|(a, b)| a == b)
    };
    let mut whole = Set::new();
    for d in &space.dimensions {
        let own: Vec<(usize, &String)> =
            d.parameters.iter().enumerate().filter_map(|(at, p)| Some((at, named.get(p)?))).collect();
        if own.is_empty() {
            return Err(format!("{} is missing", d.parameters.join(", ")));
        }
        let is = |point: &Vec<String>| own.iter().all(|(at, v)| point.get(*at).is_some_and(|p| same(p, v)));
        let Some(place) = d.values.iter().position(is) else {
            let known: Vec<&str> = d.values.iter().filter_map(|point| point.first()).map(String::as_str).collect();
            let value: Vec<&str> = own.iter().map(|(_, v)| v.as_str()).collect();
            return Err(format!(
                "{} has no value {}; there are {}",
                d.parameters.join(", "),
                value.join(", "),
                known.join(", ")
            ));
        };
        named.retain(|name, _| !d.parameters.contains(name));
        whole.extend(d.at(place));
    }
    if let Some(name) = named.keys().next() {
        let known: Vec<&str> = space.dimensions.iter().flat_map(|d| &d.parameters).map(String::as_str).collect();
        let meant = nearest(name, &known).map_or(String::new(), |k| format!("; did you mean {k}?"));
        return Err(format!("{name} is no parameter that varies{meant}"));
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn space() -> Space {
        let list = |of: &[&str]| of.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>();
        let parameters = BTreeMap::from([
            ("gc".into(), list(&["g1", "par"])),
            ("heap".into(), list(&["512", "256", "1024"])),
            ("log".into(), list(&["true", "false"])),
            ("a".into(), list(&["1", "2"])),
            ("b".into(), list(&["x", "y"])),
        ]);
        Space::of(&parameters, &[list(&["a", "b"])], &[]).unwrap()
    }

    #[test]
    fn answers_are_read() {
        let set = set_of("{\"set\": {\"gc\": \"par\", \"heap\": 1024.0, \"log\": false, \"a\": 2}}", &space()).unwrap();
        assert_eq!((set["gc"].as_str(), set["heap"].as_str(), set["b"].as_str()), ("par", "1024", "y"));
        assert_eq!(space().check(&set), Ok(()));
        let wrong = |line: &str| set_of(line, &space()).unwrap_err();
        assert!(wrong("par").contains("no JSON"));
        assert!(wrong("{\"gc\": 1}").contains("expected {\"set\""));
        assert!(wrong("{\"set\": {\"gc\": \"par\"}}").contains("a, b is missing"));
        let all = "\"gc\": \"par\", \"heap\": 256, \"log\": true, \"a\": 1";
        assert!(wrong(&format!("{{\"set\": {{{all}, \"hep\": 1}}}}")).contains("did you mean heap?"));
        let other = all.replace("256", "300");
        assert!(
            wrong(&format!("{{\"set\": {{{other}}}}}")).contains("heap has no value 300; there are 256, 512, 1024")
        );
        assert!(wrong(&format!("{{\"set\": {{{all}, \"b\": \"y\"}}}}")).contains("a, b has no value 1, y"));
        assert!(wrong("{\"set\": {\"gc\": [1]}}").contains("neither"));
    }

    #[test]
    fn values_are_numbers_where_they_look_so() {
        assert_eq!(
            ["5", "0.5", "true", "05", "1e3", "x"].map(scalar),
            [json!(5), json!(0.5), json!(true), json!("05"), json!("1e3"), json!("x")]
        );
    }
}
