//! What the cloud's metadata service says of this instance. Asked only where the user wants it (`Scope::cloud_metadata`), with a
//! short time-out, and only for named items: the service also hands out credentials and start-up scripts, which are not asked for.

use super::Facts;
use super::platform::Identity;
use model::Unavailable;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Link-local address of the service; AWS, Google Cloud and Azure have the same.
const SERVICE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)), 80);
/// A service that is there answers within a few milliseconds.
const TIMEOUT: Duration = Duration::from_millis(200);
/// Answers are one line each.
const LONGEST: u64 = 4096;

/// AWS: "Instance metadata categories" of the EC2 user guide; version 2, with a session token.
const AWS: &[(&str, &str)] = &[
    ("instance_type", "instance-type"),
    ("instance_id", "instance-id"),
    ("life_cycle", "instance-life-cycle"),
    ("zone", "placement/availability-zone"),
    ("placement_group", "placement/group-name"),
    ("image", "ami-id"),
];
/// Google Cloud: "Predefined metadata keys".
const GOOGLE: &[(&str, &str)] = &[
    ("instance_type", "machine-type"),
    ("instance_id", "id"),
    ("life_cycle", "scheduling/preemptible"),
    ("zone", "zone"),
    ("cpu_platform", "cpu-platform"),
    ("image", "image"),
];
/// Azure: "Azure Instance Metadata Service", category compute.
const AZURE: &[(&str, &str)] = &[
    ("instance_type", "vmSize"),
    ("instance_id", "vmId"),
    ("life_cycle", "priority"),
    ("zone", "zone"),
    ("region", "location"),
    ("image", "version"),
];

/// Asks the service of the cloud that the firmware names; of an unknown machine, each of them.
pub(super) fn ask(facts: &mut Facts<'_, '_>) -> Vec<(&'static str, String)> {
    match ask_at(SERVICE, Identity::of(facts).cloud()) {
        Ok(found) if !found.is_empty() => found,
        Ok(_) => {
            facts
                .missing("metadata", Unavailable::absent(format!("{SERVICE}: no metadata service that is known here")));
            Vec::new()
        }
        Err(error) => {
            facts.missing("metadata", Unavailable::absent(format!("{SERVICE}: no metadata service answers: {error}")));
            Vec::new()
        }
    }
}

fn ask_at(service: SocketAddr, cloud: Option<&str>) -> io::Result<Vec<(&'static str, String)>> {
    let is = |name: &str| cloud.is_none_or(|c| c == name);
    let mut found = Vec::new();
    if is("AWS") {
        let token =
            "PUT /latest/api/token HTTP/1.0\r\nX-aws-ec2-metadata-token-ttl-seconds: 60\r\nContent-Length: 0\r\n";
        if let Some(token) = request(service, token)?.filter(|t| t.bytes().all(|b| b.is_ascii_graphic())) {
            for (name, path) in AWS {
                let head = format!("GET /latest/meta-data/{path} HTTP/1.0\r\nX-aws-ec2-metadata-token: {token}\r\n");
                found.extend(request(service, &head)?.map(|value| (*name, value)));
            }
        }
    }
    if found.is_empty() && is("Google Cloud") {
        for (name, path) in GOOGLE {
            let head = format!("GET /computeMetadata/v1/instance/{path} HTTP/1.0\r\nMetadata-Flavor: Google\r\n");
            // projects/123/zones/europe-west1-b: the project is none of ours.
            let value = request(service, &head)?.map(|v| v.rsplit('/').next().unwrap_or_default().to_owned());
            match value {
                Some(value) => found.push((*name, value)),
                // A service that does not know the first item is another cloud's.
                None if found.is_empty() => break,
                None => {}
            }
        }
    }
    if found.is_empty() && is("Azure") {
        for (name, path) in AZURE {
            let head = format!(
                "GET /metadata/instance/compute/{path}?api-version=2021-02-01&format=text HTTP/1.0\r\nMetadata: true\r\n"
            );
            match request(service, &head)? {
                Some(value) => found.push((*name, value)),
                None if found.is_empty() => break,
                None => {}
            }
        }
    }
    found.retain(|(_, value)| !value.is_empty());
    Ok(found)
}

/// Sends a request and returns the body of the answer; `None` for any status but 200.
fn request(service: SocketAddr, head: &str) -> io::Result<Option<String>> {
    let deadline = Instant::now() + TIMEOUT;
    let mut stream = TcpStream::connect_timeout(&service, TIMEOUT)?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    stream.write_all(format!("{head}Host: {}\r\nConnection: close\r\n\r\n", service.ip()).as_bytes())?;
    let mut answer = Vec::new();
    let mut chunk = [0; 1024];
    // One time-out for the whole answer, however slowly it comes.
    while (answer.len() as u64) < LONGEST {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut chunk)? {
            0 => break,
            n => answer.extend_from_slice(chunk.get(..n).unwrap_or_default()),
        }
        if is_complete(&answer) {
            break;
        }
    }
    Ok(body(&answer))
}

/// Head and body of an HTTP answer.
fn split(answer: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memmem::find(answer, b"\r\n\r\n")?;
    Some((answer.get(..end)?, answer.get(end + 4..)?))
}

/// Whether the answer has as many bytes as its Content-Length says.
fn is_complete(answer: &[u8]) -> bool {
    let Some((head, body)) = split(answer) else { return false };
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    length.is_some_and(|length| body.len() >= length)
}

/// The body of an answer with status 200, as one line of text.
fn body(answer: &[u8]) -> Option<String> {
    let (head, body) = split(answer)?;
    let status = head.split(|&b| b == b' ').nth(1)?;
    let text = std::str::from_utf8(body).ok()?.trim();
    (status == b"200" && !text.contains('\n')).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::TcpListener;

    /// A service on this machine that answers with the first of `answers` whose key is in the request.
    fn service(answers: &'static [(&'static str, &'static str)]) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut request = Vec::new();
                let mut byte = [0];
                while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) > 0 {
                    request.push(byte[0]);
                }
                let request = String::from_utf8(request).unwrap();
                let found = answers.iter().find(|(key, _)| request.contains(key));
                let answer = match found {
                    Some((_, body)) => format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()),
                    None => "HTTP/1.1 404 Not Found\r\n\r\nno".to_owned(),
                };
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        address
    }

    #[test]
    fn each_cloud_is_asked_in_its_way() {
        let aws = service(&[
            ("PUT /latest/api/token", "TOKEN123"),
            ("instance-type HTTP/1.0\r\nX-aws-ec2-metadata-token: TOKEN123", "m7i.large"),
            ("placement/availability-zone", "eu-west-1a"),
        ]);
        assert_eq!(
            ask_at(aws, None).unwrap(),
            [("instance_type", "m7i.large".to_owned()), ("zone", "eu-west-1a".to_owned())]
        );
        let google = service(&[(
            "instance/machine-type HTTP/1.0\r\nMetadata-Flavor: Google",
            "projects/1/machineTypes/n2-standard-4",
        )]);
        assert_eq!(ask_at(google, Some("Google Cloud")).unwrap(), [("instance_type", "n2-standard-4".to_owned())]);
        let azure = service(&[(
            "compute/vmSize?api-version=2021-02-01&format=text HTTP/1.0\r\nMetadata: true",
            "Standard_D4s_v5",
        )]);
        assert_eq!(ask_at(azure, None).unwrap(), [("instance_type", "Standard_D4s_v5".to_owned())]);
        assert_eq!(ask_at(service(&[]), None).unwrap(), []);
    }

    #[test]
    fn a_service_that_is_silent_costs_one_timeout() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let begin = Instant::now();
        assert!(ask_at(listener.local_addr().unwrap(), None).is_err());
        assert!(begin.elapsed() < TIMEOUT * 5, "{:?}", begin.elapsed());
    }

    #[test]
    fn answers() {
        assert_eq!(body(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nx \n").as_deref(), Some("x"));
        assert_eq!(body(b"HTTP/1.1 401 Unauthorized\r\n\r\nx"), None);
        assert_eq!(body(b"HTTP/1.1 200 OK\r\n\r\na\nb"), None);
        assert!(is_complete(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx"));
        assert!(!is_complete(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx"));
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes: Vec<u8>) {
            let _ = (body(&bytes), is_complete(&bytes));
        }
    }
}
