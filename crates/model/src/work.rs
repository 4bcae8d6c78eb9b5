//! What counts as the work of a recording: the option `--work`, which `record` keeps and those who read recordings may say anew.

use std::str::FromStr;

/// What counts as work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum WorkChoice {
    /// What the workload reported; else what the recording was made with; else requests of the busiest port, where it serves.
    #[default]
    Auto,
    /// Requests answered on this port.
    Port(u16),
    /// Requests made: to all, or to servers on this port.
    Client(Option<u16>),
    /// What was read from this file; `-`: from the standard input.
    Reads(String),
    /// Nothing.
    None,
}

impl FromStr for WorkChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let port = |number: &str| match number.parse::<u16>() {
            Ok(port) if port > 0 => Ok(port),
            _ => Err(format!("{number}: not a port: a number from 1 to 65535")),
        };
        match text.split_once(':') {
            None if text == "auto" => Ok(WorkChoice::Auto),
            None if text == "client" => Ok(WorkChoice::Client(None)),
            None if text == "none" => Ok(WorkChoice::None),
            Some(("port", number)) => port(number).map(WorkChoice::Port),
            Some(("client", number)) => port(number).map(|port| WorkChoice::Client(Some(port))),
            Some(("reads", "")) => {
                Err("reads: name the file, such as reads:/run/queue, or reads:- for the standard input".into())
            }
            Some(("reads", path)) => Ok(WorkChoice::Reads(path.to_owned())),
            _ => Err(format!("{text}: say auto, port:NUMBER, client, client:NUMBER, reads:PATH or none")),
        }
    }
}

impl std::fmt::Display for WorkChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WorkChoice::Auto => f.write_str("auto"),
            WorkChoice::Port(port) => write!(f, "port:{port}"),
            WorkChoice::Client(None) => f.write_str("client"),
            WorkChoice::Client(Some(port)) => write!(f, "client:{port}"),
            WorkChoice::Reads(path) => write!(f, "reads:{path}"),
            WorkChoice::None => f.write_str("none"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read_as_it_is_written() {
        for text in ["auto", "port:8080", "client", "client:5432", "reads:-", "reads:/a:b/c", "none"] {
            assert_eq!(text.parse::<WorkChoice>().unwrap().to_string(), text);
        }
        for wrong in ["", "port", "port:", "port:x", "port:0", "port:70000", "server:80", "client:", "reads", "reads:"]
        {
            assert!(wrong.parse::<WorkChoice>().is_err(), "{wrong}");
        }
    }
}
