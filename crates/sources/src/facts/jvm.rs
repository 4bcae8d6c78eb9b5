//! Java virtual machines found running: version, and the flags that were given to them, masked. One set of facts for each main class or
//! jar; processes that were started the same way are one. Arguments of the program itself are not recorded here.

use super::Facts;
use super::kernel::assignment;
use crate::mask;

/// Options whose value is the next word (the launcher's usage text; java(1)).
const WITH_VALUE: &[&str] = &[
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--add-exports",
    "--add-opens",
    "--add-reads",
    "--patch-module",
    "--limit-modules",
    "--describe-module",
    "-d",
    "--source",
    "--enable-native-access",
    "--illegal-native-access",
];

/// Lists of files: long, and different with each release of a program.
const PATHS: &[&str] = &["-cp", "-classpath", "--class-path", "-p", "--module-path", "--upgrade-module-path"];

/// Names of variables that add options. Only whether they are set is recorded.
const VARIABLES: &[&str] =
    &["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "LD_PRELOAD", "MALLOC_ARENA_MAX"];

/// One way in which a JVM was started.
#[derive(Debug, PartialEq)]
struct Machine {
    /// Main class, module or jar.
    main: String,
    facts: Vec<(String, String)>,
}

/// The JVMs found.
#[derive(Debug, Default)]
pub(super) struct Machines {
    found: Vec<Machine>,
}

impl Machines {
    /// Looks at a process.
    pub(super) fn meet(&mut self, facts: &Facts<'_, '_>, pid: &str, exe: &str, cmdline: &[u8]) {
        let words = mask::split(cmdline);
        let is_launcher = exe.rsplit('/').next() == Some("java");
        let home = if is_launcher {
            exe.strip_suffix("/bin/java").map(str::to_owned)
        } else if words.iter().any(|w| w.starts_with("-XX:") || w.starts_with("-Xmx") || w.starts_with("-Djava.")) {
            // A program that holds a JVM, such as a launcher of its own: its library is mapped.
            match embedded_home(&facts.host.read_text(&format!("/proc/{pid}/maps")).unwrap_or_default()) {
                Some(home) => Some(home),
                None => return,
            }
        } else {
            return;
        };
        let mut machine = read(&words, facts.scope.unmasked);
        let mut about: Vec<(String, String)> = Vec::new();
        if let Some(home) = home {
            about.push(("home".into(), home.clone()));
            about.extend(release(facts, pid, &home));
        }
        if let Ok(environment) = facts.host.read(&format!("/proc/{pid}/environ")) {
            for name in variables(&environment) {
                about.push((name.into(), "set".into()));
            }
        }
        about.append(&mut machine.facts);
        about.extend(effective(facts, pid));
        machine.facts = about;
        if !self.found.contains(&machine) {
            self.found.push(machine);
        }
    }

    /// Records what was found. A second way to start the same main class has `#2` after its name.
    pub(super) fn tell(mut self, facts: &mut Facts<'_, '_>) {
        // Process ids have no order that means anything; what was said has.
        self.found.sort_by(|a, b| (&a.main, &a.facts).cmp(&(&b.main, &b.facts)));
        let mut last = (String::new(), 0);
        for machine in self.found {
            last = if last.0 == machine.main { (last.0, last.1 + 1) } else { (machine.main, 1) };
            let name = if last.1 == 1 { last.0.clone() } else { format!("{}#{}", last.0, last.1) };
            for (fact, value) in machine.facts {
                facts.set(&format!("java.{name}.{fact}"), value);
            }
        }
    }
}

/// What the options came to, with who gave them, those too that the JVM chose by the CPUs and the memory that it found: read in its own memory. Texts are
/// left out: they are paths and commands.
#[cfg(feature = "bpf")]
fn effective(facts: &Facts<'_, '_>, pid: &str) -> Vec<(String, String)> {
    // A recorded host runs nothing.
    let Some(pid) = pid.parse().ok().filter(|_| !facts.host.is_fixture()) else { return Vec::new() };
    let Ok(way) = facts.scope.stacks.hotspot(pid) else { return Vec::new() };
    let flags = crate::hotspot::flags_set(&crate::memory::Process(pid), &way).unwrap_or_default();
    let is_text = |flag: &crate::hotspot::Flag| flag.is_text;
    let fact = |flag: crate::hotspot::Flag| {
        (format!("flag.{}", flag.name), format!("{} ({})", flag.value, flag.origin.name()))
    };
    flags.into_iter().filter(|flag| !is_text(flag)).map(fact).collect()
}

#[cfg(not(feature = "bpf"))]
fn effective(_facts: &Facts<'_, '_>, _pid: &str) -> Vec<(String, String)> {
    Vec::new()
}

/// The folder of the Java installation whose `libjvm.so` is mapped: `…/lib/server/libjvm.so`, of Java 8 `…/lib/amd64/server/libjvm.so`.
fn embedded_home(maps: &str) -> Option<String> {
    let path = maps
        .lines()
        .find_map(|line| line.split_once('/').map(|(_, rest)| rest).filter(|r| r.ends_with("/libjvm.so")))?;
    let (home, _) = path.split_once("/lib/server/").or_else(|| path.rsplit_once("/lib/"))?;
    Some(format!("/{home}"))
}

/// Version and maker, from the file `release` of the installation; as the process sees it, which may be in a container.
fn release(facts: &Facts<'_, '_>, pid: &str, home: &str) -> Vec<(String, String)> {
    // Java 8 as a JDK has its JVM below jre/.
    let homes = [home, home.strip_suffix("/jre").unwrap_or(home)];
    let paths =
        homes.iter().flat_map(|home| [host::seen_by(pid, &format!("{home}/release")), format!("{home}/release")]);
    let Some(text) = paths.into_iter().find_map(|path| facts.host.read_text(&path).ok()) else { return Vec::new() };
    let fact = |name: &str, key: &str| Some((name.to_owned(), assignment(&text, key)?.to_owned()));
    let version = fact("version", "JAVA_RUNTIME_VERSION").or_else(|| fact("version", "JAVA_VERSION"));
    version.into_iter().chain(fact("implementor", "IMPLEMENTOR")).chain(fact("vm", "JVM_VARIANT")).collect()
}

/// Those of [`VARIABLES`] that are set. Their values do not leave this function.
fn variables(environment: &[u8]) -> Vec<&'static str> {
    let is_set = |name: &str| {
        environment
            .split(|&b| b == 0)
            .any(|entry| entry.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"=")))
    };
    VARIABLES.iter().copied().filter(|name| is_set(name)).collect()
}

/// Main class and flags of a command line.
fn read(words: &[String], unmasked: bool) -> Machine {
    let masked = if unmasked { words.to_vec() } else { mask::arguments(words) };
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut main = String::new();
    let mut rest = masked.iter().skip(1);
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-jar" => {
                main = rest.next().map(|path| jar_name(path)).unwrap_or_default();
                break;
            }
            "-m" | "--module" => {
                main = rest.next().cloned().unwrap_or_default();
                break;
            }
            option if WITH_VALUE.contains(&option) => {
                let value = rest.next().cloned().unwrap_or_default();
                if !PATHS.contains(&option) {
                    add(&mut facts, option, &value);
                }
            }
            flag if flag.starts_with('-') => {
                let (name, value) = flag_of(flag);
                if !PATHS.contains(&name.as_str()) {
                    add(&mut facts, &name, &value);
                }
            }
            file if file.starts_with('@') => add(&mut facts, "argument files", file),
            class => {
                main = class.to_owned();
                break;
            }
        }
    }
    if main.is_empty() {
        main = "unknown".into();
    }
    Machine { main, facts }
}

/// Adds a flag; those that may be given again (`--add-opens`) keep all their values in order.
fn add(facts: &mut Vec<(String, String)>, name: &str, value: &str) {
    match facts.iter_mut().find(|(known, _)| known == name) {
        // The last one holds for -XX, -X and -D.
        Some((_, values)) if name.starts_with("--") || name.starts_with("-agent") || name.starts_with("-javaagent") => {
            *values = format!("{values} {value}");
        }
        Some((_, values)) => *values = value.to_owned(),
        None => facts.push((name.to_owned(), value.to_owned())),
    }
}

/// Name and value of a flag: `-XX:+UseG1GC` is `-XX:UseG1GC` and "on", `-Xmx4g` is `-Xmx` and "4g".
fn flag_of(flag: &str) -> (String, String) {
    if let Some(name) = flag.strip_prefix("-XX:+") {
        return (format!("-XX:{name}"), "on".into());
    }
    if let Some(name) = flag.strip_prefix("-XX:-") {
        return (format!("-XX:{name}"), "off".into());
    }
    for prefix in ["-Xmx", "-Xms", "-Xmn", "-Xss"] {
        if let Some(value) = flag.strip_prefix(prefix) {
            return (prefix.into(), value.into());
        }
    }
    // -Xlog:gc*:file=x has an "=" that belongs to its value.
    let at = match flag {
        _ if flag.starts_with("-Xlog") || flag.starts_with("-javaagent") || flag.starts_with("-agent") => {
            flag.find(':')
        }
        _ if flag.starts_with("-X") && !flag.starts_with("-XX") => flag.find(':'),
        _ => flag.find('='),
    };
    match at.and_then(|at| Some((flag.get(..at)?, flag.get(at + 1..)?))) {
        Some((name, value)) => (name.into(), value.into()),
        None => (flag.into(), "set".into()),
    }
}

/// The name of a jar without its folder and version: `/opt/app-1.4.2.jar` is `app`, the same for the next release.
fn jar_name(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = name.strip_suffix(".jar").or_else(|| name.strip_suffix(".war")).unwrap_or(name);
    let version = name
        .match_indices('-')
        .map(|(at, _)| at)
        .find(|&at| name.get(at + 1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())));
    version.and_then(|at| name.get(..at)).filter(|n| !n.is_empty()).unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let machine = read(&words, false);
        let facts: Vec<String> = machine.facts.iter().map(|(n, v)| format!("{n}={v}")).collect();
        format!("{}: {}", machine.main, facts.join(" "))
    }

    #[test]
    fn command_lines() {
        for (line, expected) in [
            (
                "java -Xmx4g -Xms1g -XX:+UseG1GC -XX:-UseBiasedLocking -XX:MaxGCPauseMillis=50 -jar /opt/app-1.4.2.jar --x",
                "app: -Xmx=4g -Xms=1g -XX:UseG1GC=on -XX:UseBiasedLocking=off -XX:MaxGCPauseMillis=50",
            ),
            (
                "java -cp a.jar:b.jar -Ddb.password=hunter2 -Dx=y=z org.example.Main -Xmx9g",
                "org.example.Main: -Ddb.password=*** -Dx=y=z",
            ),
            (
                "java --add-opens a/b=c --add-opens d/e=f --add-opens=g/h=i -m mod/Main",
                "mod/Main: --add-opens=a/b=c d/e=f g/h=i",
            ),
            (
                "java -Xlog:gc*:file=/x -javaagent:/a.jar=k -agentlib:jdwp -Xint Main",
                "Main: -Xlog=gc*:file=/x -javaagent=/a.jar=k -agentlib=jdwp -Xint=set",
            ),
            ("java -Xmx1g -Xmx2g Main", "Main: -Xmx=2g"),
            ("java @args Main", "Main: argument files=@args"),
            ("java", "unknown: "),
        ] {
            assert_eq!(told(line), expected);
        }
    }

    #[test]
    fn installations_and_variables() {
        let maps = "7f00-7f01 r-xp 0 08:01 1  /usr/lib/jvm/java-17/lib/server/libjvm.so\n";
        assert_eq!(embedded_home(maps).as_deref(), Some("/usr/lib/jvm/java-17"));
        let old = "7f00-7f01 r-xp 0 08:01 1  /usr/lib/jvm/java-8/jre/lib/amd64/server/libjvm.so\n";
        assert_eq!(embedded_home(old).as_deref(), Some("/usr/lib/jvm/java-8/jre"));
        assert_eq!(embedded_home("7f00 r-xp 0 08:01 1 /lib/libc.so.6\n"), None);
        assert_eq!(variables(b"A=1\0JAVA_TOOL_OPTIONS=-Dsecret=x\0LD_PRELOADED=1\0"), ["JAVA_TOOL_OPTIONS"]);
        assert_eq!(jar_name("app.jar"), "app");
        assert_eq!(jar_name("/x/my-app-2.0-SNAPSHOT.jar"), "my-app");
    }

    proptest! {
        #[test]
        fn nothing_panics(words: Vec<String>, bytes: Vec<u8>, maps: String) {
            let _ = (read(&words, false), variables(&bytes), embedded_home(&maps));
        }
    }
}
