//! Hosts by the user's own ssh: its configuration, agents, jump hosts and known hosts serve here too. One control master a host, and three steps:
//! look (machine, folder, recorder, clock), send the recorder where it is not there, run it.
//!
//! The shell there is asked for nothing but to start `sh`, whatever it is; a script comes through standard input, so that no name and no word
//! of a command is read by another shell.

use crate::clock::Clock;
use crate::names::quoted;
use crate::process::{Answer, Ended, Input, Until, talk};
use crate::reach::{Failure, Order, Reach, last_line};
use crate::recorders::{Recorder, Recorders};
use crate::sha256;
use crate::state::Host;
use std::collections::HashSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

/// So many connections are kept from one step of a run to the next; each takes 1.5 MB here. The others are made anew for each step, which takes
/// 90 ms of CPU time each.
const MOST_KEPT: usize = 160;

/// A path there, or a part of one, that is read alike by every shell.
fn is_plain(path: &str) -> bool {
    path.starts_with('/') && path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-@+".contains(c))
}

/// How ssh is called.
#[derive(Clone, Debug)]
pub struct SshOptions {
    /// The program and its first words.
    pub words: Vec<String>,
    /// Never root by sudo.
    pub no_sudo: bool,
    /// How long a connection may rest without being closed.
    pub rest: Duration,
    /// Time limit of a step of a host.
    pub limit: Duration,
}

/// How long the program may take to say what it is, and how much of that is looked at, bytes.
const VERSION: Duration = Duration::from_secs(5);
const MOST_OF_VERSION: usize = 4096;

/// Hosts by ssh.
pub struct Ssh {
    options: SshOptions,
    recorders: Recorders,
    /// Begins each line that is meant for us; no greeting has it.
    word: String,
    /// Where the sockets of control masters are; none where the program is not OpenSSH's.
    sockets: Option<tempfile::TempDir>,
    /// The hosts whose connection is kept.
    kept: Mutex<HashSet<String>>,
}

impl Ssh {
    /// For hosts of a run. `run` is a word that no other run has.
    ///
    /// # Errors
    /// In words, where the program cannot be started.
    pub fn new(options: SshOptions, recorders: Recorders, run: &str) -> Result<Self, String> {
        let (program, first) = options.words.split_first().ok_or("--ssh names no program")?;
        let (mut version, mut command) = (Vec::new(), Command::new(program));
        let until = Until { limit: std::time::Instant::now() + options.limit.min(VERSION), stop: None };
        let done = talk(command.args(first).arg("-V"), Input { first: b"", open: false }, until, &mut |more| {
            version
                .extend(more.get(..more.len().min(MOST_OF_VERSION.saturating_sub(version.len()))).unwrap_or_default());
            Ok(Answer::Listen)
        });
        if let Ended::Broken(why) = done.ended {
            return Err(format!("--ssh cannot be started: {why}"));
        }
        // One that does not say it in time is taken for another program: hosts have a limit of their own.
        let sockets = if done.said.contains("OpenSSH") || String::from_utf8_lossy(&version).contains("OpenSSH") {
            Some(folder_of_sockets().map_err(|why| format!("a folder for connections: {why}"))?)
        } else {
            None
        };
        Ok(Ssh { options, recorders, word: format!("twinscope-{run}"), sockets, kept: Mutex::default() })
    }

    /// The hosts whose connection is kept.
    fn kept(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.kept.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Whether the connection to a host is to be kept: it is for the first that ask.
    fn keeps(&self, host: &Host) -> bool {
        let mut kept = self.kept();
        kept.contains(&host.host) || kept.len() < MOST_KEPT && kept.insert(host.host.clone())
    }

    /// The socket of a host's control master.
    fn socket(&self, host: &Host) -> Option<PathBuf> {
        let name = sha256::hex(host.host.as_bytes());
        self.sockets.as_ref().map(|folder| folder.path().join(name.get(..12).unwrap_or_default()))
    }

    /// ssh to a host, up to the words of the command there.
    fn to(&self, host: &Host) -> Command {
        let mut words = self.options.words.iter();
        let mut command = Command::new(words.next().map_or("ssh", String::as_str));
        command.args(words);
        if let Some(socket) = self.socket(host) {
            let limit = self.options.limit.as_secs().clamp(1, 30);
            let mut options = vec![
                "BatchMode=yes".to_owned(),
                "LogLevel=ERROR".into(),
                format!("ConnectTimeout={limit}"),
                "ServerAliveInterval=15".into(),
                "ClearAllForwardings=yes".into(),
                "RemoteCommand=none".into(),
            ];
            if self.keeps(host) {
                options.push("ControlMaster=auto".into());
                options.push(format!("ControlPath={}", socket.display()));
                options.push(format!("ControlPersist={}", self.options.rest.as_secs().max(10)));
            } else {
                // Nor is it by what the user's configuration says.
                options.extend(["ControlMaster=no".to_owned(), "ControlPath=none".into()]);
            }
            for option in options {
                command.arg("-o").arg(option);
            }
            command.arg("-T").arg("--");
        }
        command.arg(&host.host);
        command
    }

    /// A script for `sh` there.
    fn script(&self, host: &Host, script: &str) -> Order {
        let mut command = self.to(host);
        command.arg("sh");
        Order { command, input: script.as_bytes().to_vec() }
    }

    /// The recorder there with these words, as a line of a script; it reads nothing of the script.
    fn line(host: &Host, words: &[String]) -> String {
        let mut line = String::from(if host.sudo { "sudo -n " } else { "" });
        line.push_str(&quoted(&host.recorder));
        for word in words {
            line.push(' ');
            line.push_str(&quoted(word));
        }
        line + " </dev/null"
    }

    /// Looks what is there.
    fn look(&self, host: &Host, until: Until<'_>) -> Result<Found, Failure> {
        let script = look_script(&self.word, &self.recorders);
        let mut command = self.to(host);
        command.arg("sh");
        let (mut found, mut clock, mut rest) = (Found::default(), Clock::default(), Vec::new());
        let input = Input { first: script.as_bytes(), open: true };
        let done = talk(&mut command, input, until, &mut |bytes| {
            rest.extend_from_slice(bytes);
            let mut answer = Answer::Listen;
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line);
                // A greeting without an end may stand before it.
                let Some((_, words)) = line.trim_end().split_once(&self.word) else { continue };
                let words = words.trim();
                if let Some(time) = words.strip_prefix("clock") {
                    clock.answered(time);
                    answer = clock.ask().map_or(Answer::Close, |word| Answer::Say(word.to_vec()));
                } else {
                    found.take(words);
                }
            }
            if rest.len() > 1 << 20 { Err(std::io::Error::other("prints without end")) } else { Ok(answer) }
        });
        found.clock = clock.ahead();
        match done.ended {
            Ended::Code(0) if !found.machine.is_empty() => Ok(found),
            Ended::Code(0) => Err(Failure::new("look", format!("its login runs no sh{}", heard(&rest)))),
            _ => Err(Failure::of("look", &done, self.options.limit, |code, said| self.why(host, code, said))),
        }
    }

    /// Closes the connection to a host, if it is kept.
    fn let_go(&self, host: &Host) {
        if !self.kept().remove(&host.host) {
            return;
        }
        let Some(socket) = self.socket(host).filter(|socket| socket.exists()) else { return };
        let mut words = self.options.words.iter();
        let mut command = Command::new(words.next().map_or("ssh", String::as_str));
        command
            .args(words)
            .arg("-o")
            .arg(format!("ControlPath={}", socket.display()))
            .args(["-O", "exit", "--"])
            .arg(&host.host);
        let until = Until { limit: std::time::Instant::now() + Duration::from_secs(5), stop: None };
        // One that has gone already is what was asked for.
        let _ = talk(&mut command, Input { first: b"", open: false }, until, &mut |_| Ok(Answer::Listen));
    }

    /// Sends the recorder.
    fn send(&self, host: &Host, recorder: &Recorder, until: Until<'_>) -> Result<(), Failure> {
        let mut command = self.to(host);
        // In one line and without words that shells other than sh read in another way.
        let size = recorder.bytes.len();
        command.arg(format!(
            "sh -c 'umask 077; t=\"$1.$$\"; if cat >\"$t\" && test \"$(wc -c <\"$t\")\" -eq {size} && chmod 700 \"$t\" && mv -f \"$t\" \"$1\"; \
             then exit 0; else rm -f \"$t\"; exit 9; fi' sh {}",
            host.recorder
        ));
        let done =
            talk(&mut command, Input { first: &recorder.bytes, open: false }, until, &mut |_| Ok(Answer::Listen));
        match done.ended {
            Ended::Code(0) => Ok(()),
            _ => Err(Failure::of("send", &done, self.options.limit, |code, said| self.why(host, code, said))),
        }
    }
}

/// A folder with a name that is short enough: a socket's path has 108 bytes (unix(7)), of which ssh takes some for itself.
fn folder_of_sockets() -> std::io::Result<tempfile::TempDir> {
    let builder = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix("twinscope-");
        builder
    };
    let folder = builder().tempdir()?;
    if folder.path().as_os_str().len() < 60 { Ok(folder) } else { builder().tempdir_in("/tmp") }
}

fn heard(rest: &[u8]) -> String {
    match last_line(&String::from_utf8_lossy(rest)) {
        line if line.is_empty() => String::new(),
        line => format!("; it printed: {line}"),
    }
}

/// What a look found.
#[derive(Debug, Default)]
struct Found {
    system: String,
    machine: String,
    user: String,
    is_root: bool,
    has_sudo: bool,
    folder: Option<String>,
    /// Whether the recorder is there, and what it should be.
    cached: bool,
    /// Folders that were tried, and why they do not serve.
    refused: Vec<String>,
    clock: Option<(i64, i64)>,
}

impl Found {
    fn take(&mut self, words: &str) {
        let (kind, rest) = words.split_once(' ').unwrap_or((words, ""));
        let rest = rest.trim();
        match kind {
            "system" => {
                let (system, machine) = rest.split_once(' ').unwrap_or((rest, ""));
                (self.system, self.machine) = (system.into(), last_line(machine));
            }
            "user" => {
                let (id, name) = rest.split_once(' ').unwrap_or((rest, ""));
                (self.is_root, self.user) = (id == "0", last_line(name));
            }
            "sudo" => self.has_sudo = true,
            "folder" => self.folder = Some(rest.into()),
            "cached" => self.cached = true,
            "refused" => self.refused.push(last_line(rest)),
            _ => {}
        }
    }
}

/// What `sh` is asked to look for. A folder serves that belongs to the user alone, and where a program can be run.
fn look_script(word: &str, recorders: &Recorders) -> String {
    let known: Vec<String> =
        recorders.all().iter().map(|r| format!("{}) name={} hash={} ;;", r.machine, r.name(), r.hash)).collect();
    format!(
        r#"umask 077
say() {{ echo "{word} $*"; }}
user=$(id -u)
machine=$(uname -m)
say system "$(uname -s)" "$machine"
say user "$user" "$(id -un)"
command -v sudo >/dev/null 2>&1 && say sudo
name= hash=
case $machine in
{known}
esac
for folder in "${{HOME:+$HOME/.cache/twinscope}}" "/dev/shm/twinscope-$user" "/var/tmp/twinscope-$user"; do
    case $folder in /*) ;; *) continue ;; esac
    why=$(mkdir -p "$folder" 2>&1) || {{ say refused "$folder: $why"; continue; }}
    if [ ! -d "$folder" ] || [ -L "$folder" ] || [ ! -O "$folder" ]; then say refused "$folder: belongs to someone else"; continue; fi
    try=$folder/try-$$
    why=$( {{ chmod 700 "$folder" && echo '#!/bin/sh' | cat >"$try" && chmod 700 "$try" && "$try"; }} 2>&1 )
    code=$?
    rm -f "$try"
    if [ $code -ne 0 ]; then say refused "$folder: nothing can be run there: $why"; continue; fi
    say folder "$folder"
    if [ -n "$name" ] && [ -f "$folder/$name" ] && [ "$(sha256sum <"$folder/$name" 2>/dev/null)" = "$hash  -" ]; then say cached; fi
    break
done
say clock
for round in 1 2 3; do
    read -r line || exit 0
    say clock "$(date +%s%N)"
done
"#,
        known = known.join("\n"),
    )
}

impl Reach for Ssh {
    fn prepare(&self, host: &mut Host, until: Until<'_>) -> Result<(), Failure> {
        let found = self.look(host, until)?;
        if found.system != "Linux" {
            return Err(Failure::new(
                "look",
                format!("its system is {}, and Linux is needed", last_line(&found.system)),
            ));
        }
        let recorder = self.recorders.of(&found.machine).map_err(|why| Failure::new("look", why))?;
        let Some(base) = found.folder.as_ref().filter(|folder| is_plain(folder)) else {
            let odd = found.folder.map(|folder| format!("{}: has a name with unusual characters", last_line(&folder)));
            let refused: Vec<String> = found.refused.into_iter().chain(odd).collect();
            return Err(Failure::new("look", format!("no folder that may execute: {}", refused.join("; "))));
        };
        let hash = sha256::hex(host.host.as_bytes());
        host.recorder = format!("{base}/{}", recorder.name());
        host.folder = format!("{base}/{}-{}", self.word, hash.get(..12).unwrap_or_default());
        host.sudo = !found.is_root && !self.options.no_sudo;
        (host.clock_ahead, host.clock_error) =
            (found.clock.map(|(ahead, _)| ahead), found.clock.map_or(0, |(_, error)| error));
        if host.sudo && !found.has_sudo {
            let why =
                format!("{} is not root there, and there is no sudo: --no-sudo records what {0} may see", found.user);
            return Err(Failure::new("sudo", why));
        }
        if !found.cached {
            self.send(host, recorder, until)?;
        }
        Ok(())
    }

    fn recorder(&self, host: &Host, words: &[String]) -> Order {
        let folder = quoted(&host.folder);
        self.script(host, &format!("umask 077\nmkdir -p {folder} || exit\n{}\nexit\n", Self::line(host, words)))
    }

    fn fetch(&self, host: &Host) -> (Order, Option<Vec<u8>>) {
        let send = Self::line(host, &["send".into(), "--header".into(), host.there()]);
        let (folder, word) = (quoted(&host.folder), &self.word);
        let script =
            format!("{send} || exit\nread -r word\nif [ \"$word\" = {word} ]; then rm -rf {folder}; fi\nexit\n");
        (self.script(host, &script), Some(format!("{word}\n").into_bytes()))
    }

    fn why(&self, host: &Host, code: i32, said: &str) -> (String, bool) {
        let line = last_line(said);
        let has = |text: &str| said.contains(text);
        if has("REMOTE HOST IDENTIFICATION HAS CHANGED") {
            return (
                "its host key has changed: find out why, then remove the old one with ssh-keygen -R".into(),
                false,
            );
        }
        if has("Host key verification failed") {
            return ("its host key is not known: connect once by hand, or add it to the known hosts".into(), false);
        }
        if host.sudo
            && said.lines().any(|line| line.starts_with("sudo:") || line.contains("is not in the sudoers file"))
        {
            let recorder = host.recorder.rsplit_once('-').map_or(host.recorder.as_str(), |(name, _)| name);
            return (
                format!(
                    "{line}: allow it there by a line for sudoers, USER ALL=(root) NOPASSWD: {recorder}-*, or give --no-sudo"
                ),
                false,
            );
        }
        if code == 255 {
            let for_good =
                ["Permission denied", "Name or service not known", "not allowed"].iter().any(|text| has(text));
            let line = if line.is_empty() { "ssh ended with code 255 and said nothing".into() } else { line };
            return (line, !for_good);
        }
        (if line.is_empty() { format!("ended with code {code} and said nothing") } else { line }, false)
    }

    fn clean(&self, host: &Host, until: Until<'_>) -> Result<(), Failure> {
        let base = host.recorder.rsplit_once('/').map_or("", |(base, _)| base);
        if !is_plain(base) {
            return Ok(());
        }
        let script = format!("rm -f {base}/twinscope-recorder-*\nrmdir {base} 2>/dev/null\nexit 0\n");
        match self.script(host, &script).run(until).0 {
            done if matches!(done.ended, Ended::Code(0)) => Ok(()),
            done => Err(Failure::of("clean", &done, self.options.limit, |code, said| self.why(host, code, said))),
        }
    }

    fn fetched(&self, host: &Host) {
        self.let_go(host);
    }

    fn end(&self, hosts: &[Host], _keeps: bool) -> Result<(), String> {
        if self.sockets.is_some() {
            let numbers: Vec<usize> = (0..hosts.len()).collect();
            crate::crew::each(&numbers, 8, &|_| (), &|number| {
                if let Some(host) = hosts.get(number) {
                    self.let_go(host);
                }
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn an_ssh_that_does_not_say_what_it_is_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let script = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
            path.display().to_string()
        };
        let ssh = |word: String, seconds| {
            let limit = Duration::from_secs(seconds);
            let options = SshOptions { words: vec![word], no_sudo: true, rest: limit, limit };
            Ssh::new(options, Recorders::default(), "r1")
        };
        // It would be waited for until the test is killed.
        let silent = ssh(script("silent", "exec sleep 100000"), 1).unwrap();
        assert!(silent.sockets.is_none());
        assert!(ssh(script("endless", "exec yes"), 1).unwrap().sockets.is_none());
        assert!(ssh(script("ssh", "echo OpenSSH_9.2p1 >&2"), 60).unwrap().sockets.is_some());
        let why = ssh(folder.path().join("none").display().to_string(), 60).err().unwrap();
        assert!(why.contains("cannot be started") && why.contains("none"), "{why}");
    }
}
