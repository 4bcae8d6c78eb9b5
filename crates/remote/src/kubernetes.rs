//! Nodes and pods by the user's own kubectl: one pod a node for as long as it takes, in which there is nothing but the recorder. It is asked by
//! `kubectl exec`, sends what it recorded to standard output, and is deleted; one that nobody deletes is ended by its deadline.

use crate::clock::Clock;
use crate::crew::{chance, each};
use crate::process::{Answer, Ended, Input, Until, talk};
use crate::reach::{Failure, Order, Reach, last_line};
use crate::sha256;
use crate::state::{Host, Step};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Where the recorder is in its image, and the folder that it writes to.
const RECORDER: &str = "/twinscope-recorder";
const FOLDER: &str = "/data";

/// The label of our pods, with the run as its value.
const LABEL: &str = "twinscope-run";

/// What a recorder needs in place of all privileges: eBPF and counters (capabilities(7)), other processes, addresses of the kernel, memory that stays.
const CAPABILITIES: [&str; 6] = ["BPF", "PERFMON", "SYS_PTRACE", "SYSLOG", "SYS_RESOURCE", "DAC_READ_SEARCH"];

/// The first kernel with the first two of them.
const SINCE: (u32, u32) = (5, 8);

/// Reasons for waiting, as the kubelet calls them, of which a container does not come up by itself soon.
const STUCK: [&str; 7] = [
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
];

/// Which nodes or pods.
#[derive(Clone, Debug)]
pub enum Targets {
    /// These nodes.
    Nodes(Vec<String>),
    /// All nodes with these labels; "" for all.
    Selector(String),
    /// The pods of `deployment/NAME` and its like, in the namespace.
    PodsOf(String),
}

/// How kubectl is called, and what pods are made.
#[derive(Clone, Debug)]
pub struct KubernetesOptions {
    /// The program and its first words.
    pub words: Vec<String>,
    /// The namespace; "" for that of its context.
    pub namespace: String,
    /// The image of the recorder; "" where pods are asked that run already.
    pub image: String,
    /// All privileges in place of capabilities.
    pub privileged: bool,
    /// After this time a pod ends by itself.
    pub deadline: Duration,
    /// Time limit of a step.
    pub limit: Duration,
}

/// Nodes and pods by kubectl.
pub struct Kubernetes {
    options: KubernetesOptions,
    run: String,
    /// The pod on each node.
    pods: Mutex<BTreeMap<String, String>>,
}

impl Kubernetes {
    /// For the nodes or pods of a run.
    pub fn new(options: KubernetesOptions, run: &str) -> Self {
        Kubernetes { options, run: run.to_owned(), pods: Mutex::default() }
    }

    fn kubectl(&self) -> Command {
        let mut words = self.options.words.iter();
        let mut command = Command::new(words.next().map_or("kubectl", String::as_str));
        command.args(words);
        if !self.options.namespace.is_empty() {
            command.arg(format!("--namespace={}", self.options.namespace));
        }
        command
    }

    /// Runs kubectl with these words. Returns what it prints.
    fn run(&self, step: &'static str, words: &[&str], input: &[u8]) -> Result<String, Failure> {
        let mut command = self.kubectl();
        command.args(words);
        let until = Until { limit: Instant::now() + self.options.limit, stop: None };
        let mut heard = Vec::new();
        let done = talk(&mut command, Input { first: input, open: false }, until, &mut |bytes| {
            heard.extend_from_slice(bytes);
            if heard.len() > 256 << 20 { Err(std::io::Error::other("prints without end")) } else { Ok(Answer::Listen) }
        });
        match done.ended {
            Ended::Code(0) => Ok(String::from_utf8_lossy(&heard).into_owned()),
            _ => Err(Failure::of(step, &done, self.options.limit, |code, said| (said_by(code, said), false))),
        }
    }

    fn get(&self, words: &[&str]) -> Result<Value, String> {
        let text = self.run("look", words, b"").map_err(|failure| failure.why)?;
        serde_json::from_str(&text).map_err(|why| format!("kubectl {}: prints no JSON: {why}", words.join(" ")))
    }

    /// The nodes or pods that are meant. Nodes that cannot be recorded are among them, with why.
    ///
    /// # Errors
    /// In words, where kubectl fails, or there is no such thing.
    pub fn find(&self, targets: &Targets) -> Result<Vec<Host>, String> {
        match targets {
            Targets::PodsOf(what) => self.pods_of(what),
            Targets::Nodes(names) => {
                let mut all: BTreeMap<String, Host> =
                    self.nodes("")?.into_iter().map(|host| (host.host.clone(), host)).collect();
                let missing = |name: &String| Host { unfit: Some("there is no such node".into()), ..host_of(name) };
                Ok(names.iter().map(|name| all.remove(name).unwrap_or_else(|| missing(name))).collect())
            }
            Targets::Selector(selector) => match self.nodes(selector)? {
                none if none.is_empty() => Err(format!("no node has the labels {selector}")),
                nodes => Ok(nodes),
            },
        }
    }

    fn nodes(&self, selector: &str) -> Result<Vec<Host>, String> {
        let selector = format!("--selector={selector}");
        let mut words = vec!["get", "nodes", "--output=json"];
        if selector != "--selector=" {
            words.push(&selector);
        }
        let found = self.get(&words)?;
        Ok(items(&found).map(|node| self.node(node)).collect())
    }

    fn node(&self, node: &Value) -> Host {
        let name = text(node, "/metadata/name");
        let mut host = Host { node: name.clone(), ..host_of(&name) };
        let info = |what: &str| text(node, &format!("/status/nodeInfo/{what}"));
        let (system, kernel, machine) = (info("operatingSystem"), info("kernelVersion"), info("architecture"));
        host.unfit = if system != "linux" && !system.is_empty() {
            Some(format!("its system is {system}, and linux is needed"))
        } else if !["amd64", "arm64", ""].contains(&machine.as_str()) {
            Some(format!("its machine is {machine}, for which there is no recorder"))
        } else if version(&kernel).is_some_and(|version| version < SINCE) && !self.options.privileged {
            Some(format!(
                "its kernel {kernel} knows no capabilities for eBPF and counters (5.8 has them): give --privileged"
            ))
        } else {
            None
        };
        host
    }

    fn pods_of(&self, what: &str) -> Result<Vec<Host>, String> {
        let found = self.get(&["get", what, "--output=json"])?;
        let labels = found.pointer("/spec/selector/matchLabels").and_then(Value::as_object);
        let labels = labels
            .filter(|labels| !labels.is_empty())
            .ok_or_else(|| format!("{what}: selects its pods by no labels"))?;
        let parts: Vec<String> =
            labels.iter().filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?))).collect();
        let pods = self.get(&["get", "pods", &format!("--selector={}", parts.join(",")), "--output=json"])?;
        let runs = |pod: &&Value| text(pod, "/status/phase") == "Running" && !text(pod, "/spec/nodeName").is_empty();
        let hosts: Vec<Host> = items(&pods)
            .filter(runs)
            .map(|pod| Host {
                node: text(pod, "/spec/nodeName"),
                uid: text(pod, "/metadata/uid"),
                ..host_of(&text(pod, "/metadata/name"))
            })
            .collect();
        if hosts.is_empty() { Err(format!("{what}: none of its pods is running")) } else { Ok(hosts) }
    }

    /// Whether pods are made here, and not asked that run already.
    fn makes_pods(&self) -> bool {
        !self.options.image.is_empty()
    }

    /// The pod for a node.
    fn manifest(&self, name: &str, node: &str) -> Value {
        let mut security = json!({"runAsUser": 0, "readOnlyRootFilesystem": true});
        let parts = if self.options.privileged {
            json!({"privileged": true})
        } else {
            json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"], "add": CAPABILITIES}})
        };
        if let (Some(security), Value::Object(parts)) = (security.as_object_mut(), parts) {
            security.extend(parts);
        }
        let deadline = self.options.deadline.as_secs().max(60);
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "labels": {"app.kubernetes.io/name": "twinscope-recorder", LABEL: self.run}},
            "spec": {
                "nodeName": node,
                "hostPID": true,
                "restartPolicy": "Never",
                "automountServiceAccountToken": false,
                "activeDeadlineSeconds": deadline,
                "terminationGracePeriodSeconds": 5,
                "tolerations": [{"operator": "Exists"}],
                "containers": [{
                    "name": "recorder",
                    "image": self.options.image,
                    "command": [RECORDER, "hold", format!("{deadline}s")],
                    "env": [{"name": "TMPDIR", "value": FOLDER}],
                    "securityContext": security,
                    "resources": {
                        "requests": {"cpu": "20m", "memory": "64Mi"},
                        "limits": {"cpu": "1", "memory": "512Mi", "ephemeral-storage": "2Gi"},
                    },
                    "volumeMounts": [
                        {"name": "host", "mountPath": "/host", "readOnly": true, "mountPropagation": "HostToContainer"},
                        {"name": "data", "mountPath": FOLDER},
                    ],
                }],
                "volumes": [
                    {"name": "host", "hostPath": {"path": "/"}},
                    {"name": "data", "emptyDir": {"sizeLimit": "2Gi"}},
                ],
            },
        })
    }

    /// Waits until the pods of these nodes run. Returns why the others do not.
    fn wait(&self, mut waited: BTreeMap<String, String>) -> BTreeMap<String, Failure> {
        let (mut failed, end) = (BTreeMap::new(), Instant::now() + self.options.limit);
        let selector = format!("--selector={LABEL}={}", self.run);
        loop {
            let found = self.get(&["get", "pods", &selector, "--output=json"]);
            let late = Instant::now() >= end;
            let why = found.as_ref().err().cloned().unwrap_or_else(|| "is not there any more".into());
            let found = found.unwrap_or_default();
            waited.retain(|node, name| {
                let pod = items(&found).find(|pod| text(pod, "/metadata/name") == *name);
                let Some(pod) = pod else {
                    if late {
                        failed.insert(node.clone(), Failure::new("pod", format!("pod {name} {why}")));
                    }
                    return !late;
                };
                match comes_up(pod) {
                    Ok(true) => false,
                    Ok(false) if !late => true,
                    Ok(false) => {
                        let why = format!("does not run after {} s{}", self.options.limit.as_secs(), waits_for(pod));
                        failed.insert(node.clone(), Failure::new("pod", why));
                        false
                    }
                    Err(why) => {
                        failed.insert(node.clone(), Failure::new("pod", why));
                        false
                    }
                }
            });
            if waited.is_empty() {
                return failed;
            }
            std::thread::sleep(Duration::from_millis(500));
        }
    }
}

fn host_of(name: &str) -> Host {
    Host { host: name.to_owned(), file: format!("{}.twin", crate::names::file_name(name)), ..Host::default() }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.get("items").and_then(Value::as_array).into_iter().flatten()
}

fn text(value: &Value, path: &str) -> String {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The first two numbers of a kernel's release.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn said_by(code: i32, said: &str) -> String {
    match last_line(said) {
        line if line.is_empty() => format!("kubectl ended with code {code} and said nothing"),
        line => line,
    }
}

/// Whether the container of a pod runs; the error is why it will not.
fn comes_up(pod: &Value) -> Result<bool, String> {
    let phase = text(pod, "/status/phase");
    let state = |what: &str| text(pod, &format!("/status/containerStatuses/0/state/{what}"));
    if phase == "Failed" || phase == "Succeeded" {
        let parts = [text(pod, "/status/reason"), text(pod, "/status/message"), state("terminated/reason")];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        return Err(format!("its pod ended: {}", last_line(&parts.join(": "))));
    }
    let reason = state("waiting/reason");
    if STUCK.contains(&reason.as_str()) {
        return Err(format!("its pod cannot start: {reason}: {}", last_line(&state("waiting/message"))));
    }
    Ok(phase == "Running" && pod.pointer("/status/containerStatuses/0/state/running").is_some())
}

/// What a pod that does not run waits for.
fn waits_for(pod: &Value) -> String {
    let conditions = pod.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    let why =
        conditions.filter(|c| text(c, "/status") == "False").map(|c| text(c, "/message")).find(|why| !why.is_empty());
    let waiting = text(pod, "/status/containerStatuses/0/state/waiting/reason");
    match why.unwrap_or(waiting) {
        why if why.is_empty() => String::new(),
        why => format!(": {}", last_line(&why)),
    }
}

impl Reach for Kubernetes {
    fn begin(&self, hosts: &[Host], at_once: usize, stop: &AtomicBool) -> Vec<(String, Failure)> {
        if !self.makes_pods() {
            return Vec::new();
        }
        let usable = |host: &&Host| !host.node.is_empty() && host.unfit.is_none();
        let nodes: Vec<String> =
            hosts.iter().filter(usable).map(|host| host.node.clone()).collect::<BTreeSet<_>>().into_iter().collect();
        let (failed, made) = (Mutex::new(BTreeMap::new()), Mutex::new(BTreeMap::new()));
        let numbers: Vec<usize> = (0..nodes.len()).collect();
        each(&numbers, at_once, &|_| (), &|number| {
            let Some(node) = nodes.get(number) else { return };
            if stop.load(std::sync::atomic::Ordering::Relaxed) {
                failed.lock().unwrap_or_else(|e| e.into_inner()).insert(node.clone(), Failure::stopped());
                return;
            }
            let hash = sha256::hex(node.as_bytes());
            // Not the name of one before, which may be on its way out.
            let once = (chance() * f64::from(1 << 24)) as u32;
            let name = format!("twinscope-{}-{}-{once:06x}", self.run, hash.get(..8).unwrap_or_default());
            match self.run("pod", &["create", "--filename=-"], self.manifest(&name, node).to_string().as_bytes()) {
                Ok(_) => {
                    made.lock().unwrap_or_else(|e| e.into_inner()).insert(node.clone(), name);
                }
                Err(failure) => {
                    failed.lock().unwrap_or_else(|e| e.into_inner()).insert(node.clone(), failure);
                }
            }
        });
        let (mut failed, made) = (
            failed.into_inner().unwrap_or_else(|e| e.into_inner()),
            made.into_inner().unwrap_or_else(|e| e.into_inner()),
        );
        failed.extend(self.wait(made.clone()));
        *self.pods.lock().unwrap_or_else(|e| e.into_inner()) = made;
        hosts.iter().filter_map(|host| Some((host.host.clone(), failed.get(&host.node)?.clone()))).collect()
    }

    fn prepare(&self, host: &mut Host, until: Until<'_>) -> Result<(), Failure> {
        host.pod = match self.pods.lock().unwrap_or_else(|e| e.into_inner()).get(&host.node) {
            Some(pod) => pod.clone(),
            None if self.makes_pods() => return Err(Failure::new("pod", "there is no pod on its node")),
            // One that records already.
            None if host.pod.is_empty() => host.host.clone(),
            None => host.pod.clone(),
        };
        (host.recorder, host.folder) = (RECORDER.into(), FOLDER.into());
        let mut command = self.kubectl();
        command.args(["exec", "--stdin", &host.pod, "--container=recorder", "--", RECORDER, "clock"]);
        let (mut clock, mut rest) = (Clock::default(), Vec::new());
        let done = talk(&mut command, Input { first: b"", open: true }, until, &mut |bytes| {
            rest.extend_from_slice(bytes);
            let mut answer = Answer::Listen;
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                if let Some(time) = String::from_utf8_lossy(&line).trim().strip_prefix("twinscope-clock") {
                    clock.answered(time);
                    answer = clock.ask().map_or(Answer::Close, |word| Answer::Say(word.to_vec()));
                }
            }
            if rest.len() > 1 << 20 { Err(std::io::Error::other("prints without end")) } else { Ok(answer) }
        });
        if !matches!(done.ended, Ended::Code(0)) {
            return Err(Failure::of("exec", &done, self.options.limit, |code, said| self.why(host, code, said)));
        }
        (host.clock_ahead, host.clock_error) =
            (clock.ahead().map(|(ahead, _)| ahead), clock.ahead().map_or(0, |(_, error)| error));
        Ok(())
    }

    fn recorder(&self, host: &Host, words: &[String]) -> Order {
        let mut command = self.kubectl();
        command.args(["exec", &host.pod, "--container=recorder", "--", RECORDER]).args(words);
        Order { command, input: Vec::new() }
    }

    fn fetch(&self, host: &Host) -> (Order, Option<Vec<u8>>) {
        (self.recorder(host, &["send".into(), "--header".into(), host.there()]), None)
    }

    fn fetched(&self, host: &Host) {
        if !self.makes_pods() {
            // The pod stays, and its room is needed.
            let until = Until { limit: Instant::now() + self.options.limit, stop: None };
            self.recorder(host, &["drop".into(), host.there()]).run(until);
        }
    }

    fn why(&self, _host: &Host, code: i32, said: &str) -> (String, bool) {
        // The last line is kubectl's own where a command there failed.
        let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        let own = |line: &&&str| line.starts_with("command terminated with exit code");
        let why = match lines.iter().rfind(|line| !own(line)) {
            Some(line) => last_line(line),
            None => said_by(code, said),
        };
        let again = ["connection", "timeout", "timed out", "EOF", "TLS handshake", "Too Many Requests"];
        (why, again.iter().any(|word| said.contains(word)))
    }

    fn is_lost(&self, said: &str) -> bool {
        ["NotFound", "not found", "completed pod", "No such file"].iter().any(|word| said.contains(word))
    }

    fn options(&self, host: &Host) -> Vec<String> {
        let group = (!host.uid.is_empty()).then(|| format!("--cgroup=pod:{}", host.uid));
        std::iter::once("--root=/host".to_owned()).chain(group).collect()
    }

    fn end(&self, hosts: &[Host], keeps: bool) -> Result<(), String> {
        let records = |host: &&Host| host.step == Step::Recording && !host.pod.is_empty();
        let kept: BTreeSet<&str> = hosts.iter().filter(records).map(|host| host.pod.as_str()).collect();
        if keeps && !kept.is_empty() || !self.has_pods(hosts) {
            return Ok(());
        }
        let selector = format!("--selector={LABEL}={}", self.run);
        let mut words = vec!["delete", "pods", "--ignore-not-found", "--wait=false", "--grace-period=1"];
        let others: BTreeSet<&str> =
            hosts.iter().map(|host| host.pod.as_str()).filter(|pod| !pod.is_empty() && !kept.contains(pod)).collect();
        if kept.is_empty() {
            words.push(&selector);
        } else if others.is_empty() {
            return Ok(());
        } else {
            words.extend(others);
        }
        self.run("delete", &words, b"").map(|_| ()).map_err(|failure| {
            let minutes = self.options.deadline.as_secs() / 60;
            format!(
                "pods with the label {LABEL}={} could not be deleted: {}; they end by themselves after {minutes} min",
                self.run, failure.why
            )
        })
    }
}

impl Kubernetes {
    /// Whether pods of this run may be there.
    fn has_pods(&self, hosts: &[Host]) -> bool {
        self.makes_pods() && hosts.iter().any(|host| !host.node.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kubernetes(privileged: bool) -> Kubernetes {
        let second = Duration::from_secs(1);
        let options = KubernetesOptions {
            words: vec!["kubectl".into()],
            namespace: String::new(),
            image: "recorder:1".into(),
            privileged,
            deadline: second * 600,
            limit: second,
        };
        Kubernetes::new(options, "r1")
    }

    #[test]
    fn a_pod_has_capabilities_or_all_privileges() {
        let pod = kubernetes(false).manifest("p", "n");
        let security = pod.pointer("/spec/containers/0/securityContext").unwrap();
        assert_eq!(security.pointer("/capabilities/add/0").unwrap(), "BPF");
        assert!(security.get("privileged").is_none());
        let pod = kubernetes(true).manifest("p", "n");
        let security = pod.pointer("/spec/containers/0/securityContext").unwrap();
        assert_eq!(security.get("privileged").unwrap(), true);
        // The server refuses both together.
        assert!(security.get("allowPrivilegeEscalation").is_none() && security.get("capabilities").is_none());
    }

    #[test]
    fn nodes_that_cannot_be_recorded() {
        let why = |info: Value, privileged| {
            kubernetes(privileged).node(&json!({"metadata": {"name": "n"}, "status": {"nodeInfo": info}})).unfit
        };
        assert_eq!(
            why(json!({"kernelVersion": "6.1.0", "architecture": "arm64", "operatingSystem": "linux"}), false),
            None
        );
        assert!(why(json!({"kernelVersion": "4.18.0-553.el8"}), false).unwrap().contains("--privileged"));
        assert_eq!(why(json!({"kernelVersion": "4.18.0-553.el8"}), true), None);
        assert!(why(json!({"architecture": "s390x"}), true).unwrap().contains("s390x"));
        assert!(why(json!({"operatingSystem": "windows"}), true).unwrap().contains("windows"));
    }

    #[test]
    fn pods_that_do_not_come_up() {
        let waiting = |reason: &str| json!({"status": {"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": reason, "message": "no such image"}}}]}});
        assert!(comes_up(&waiting("ImagePullBackOff")).unwrap_err().contains("ImagePullBackOff: no such image"));
        assert_eq!(comes_up(&waiting("ContainerCreating")), Ok(false));
        let evicted = json!({"status": {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}});
        assert_eq!(comes_up(&evicted), Err("its pod ended: Evicted: The node was low on resource: memory.".into()));
        assert_eq!(
            comes_up(&json!({"status": {"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]}})),
            Ok(true)
        );
        let unscheduled =
            json!({"status": {"conditions": [{"status": "False", "message": "0/3 nodes are available"}]}});
        assert_eq!(waits_for(&unscheduled), ": 0/3 nodes are available");
    }
}
