//! The recorders that can be sent: static programs that lie beside this one, one for each kind of machine.

use crate::sha256;
use std::path::{Path, PathBuf};

/// The machines that there are recorders for, as `uname -m` calls them, with the number in an ELF header (e_machine of elf(5)).
pub(crate) const MACHINES: [(&str, u16); 2] = [("x86_64", 62), ("aarch64", 183)];

/// A recorder: a program, and by what it is known again.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    pub(crate) machine: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// SHA-256, 64 digits.
    pub(crate) hash: String,
}

impl Recorder {
    /// The name under which it is kept on a host.
    pub(crate) fn name(&self) -> String {
        format!("twinscope-recorder-{}", self.hash.get(..16).unwrap_or_default())
    }
}

/// All recorders that are here.
#[derive(Clone, Debug, Default)]
pub struct Recorders {
    all: Vec<Recorder>,
    looked: Vec<PathBuf>,
}

impl Recorders {
    /// Reads the recorders. `given` is one, or a folder of them; otherwise they are looked for beside `program`.
    ///
    /// # Errors
    /// In words, where what was given is not there or is no recorder, or none is found.
    pub fn find(given: Option<&Path>, program: &Path) -> Result<Self, String> {
        let mut found = Recorders::default();
        if let Some(file) = given.filter(|path| !path.is_dir()) {
            let bytes = std::fs::read(file).map_err(|why| format!("{}: {why}", file.display()))?;
            let hash = sha256::hex(&bytes);
            let put = |machine| Recorder { machine, bytes: bytes.clone(), hash: hash.clone() };
            match machine_of(&bytes) {
                Machine::Is(machine) => found.all.push(put(machine)),
                // A script runs on any machine.
                Machine::Any => found.all.extend(MACHINES.map(|(machine, _)| put(machine))),
                Machine::Other => return Err(format!("{}: is a program for another machine, or none", file.display())),
            }
            return Ok(found);
        }
        let beside = program.parent().unwrap_or(Path::new("."));
        let folders = match given {
            Some(folder) => vec![folder.to_owned()],
            None => vec![beside.to_owned(), beside.join("../dist"), beside.join("../lib/twinscope")],
        };
        for (machine, _) in MACHINES {
            let paths = folders.iter().map(|folder| folder.join(format!("twinscope-recorder-{machine}")));
            for path in paths {
                if let Ok(bytes) = std::fs::read(&path)
                    && matches!(machine_of(&bytes), Machine::Is(of) if of == machine)
                {
                    found.all.push(Recorder { machine, hash: sha256::hex(&bytes), bytes });
                    break;
                }
            }
        }
        found.looked = folders;
        if found.all.is_empty() {
            return Err(format!("no recorder to send: {}", found.missing(MACHINES[0].0)));
        }
        Ok(found)
    }

    /// That of a machine.
    ///
    /// # Errors
    /// In words, where there is none.
    pub(crate) fn of(&self, machine: &str) -> Result<&Recorder, String> {
        let found = self.all.iter().find(|recorder| recorder.machine == machine);
        found.ok_or_else(|| match MACHINES.iter().any(|(known, _)| *known == machine) {
            true => format!("its machine is {machine}, and {}", self.missing(machine)),
            false => format!("its machine is {machine}, for which there is no recorder"),
        })
    }

    pub(crate) fn all(&self) -> &[Recorder] {
        &self.all
    }

    fn missing(&self, machine: &str) -> String {
        let folders: Vec<String> = self.looked.iter().map(|folder| folder.display().to_string()).collect();
        let looked = if folders.is_empty() { String::new() } else { format!(" in {}", folders.join(", ")) };
        format!(
            "there is no twinscope-recorder-{machine}{looked}: build it with `make recorder`, or name it with --recorder"
        )
    }
}

enum Machine {
    Is(&'static str),
    Any,
    Other,
}

fn machine_of(bytes: &[u8]) -> Machine {
    match bytes {
        [b'#', b'!', ..] => Machine::Any,
        [0x7f, b'E', b'L', b'F', _, 1, ..] => {
            let number = bytes.get(18..20).and_then(|two| two.try_into().ok()).map(u16::from_le_bytes);
            let known = MACHINES.iter().find(|(_, of)| Some(*of) == number);
            known.map_or(Machine::Other, |(machine, _)| Machine::Is(machine))
        }
        _ => Machine::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorders_beside_the_program() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("bin/twinscope");
        std::fs::create_dir_all(dir.path().join("bin")).unwrap();
        std::fs::create_dir_all(dir.path().join("dist")).unwrap();
        let why = Recorders::find(None, &program).unwrap_err();
        assert!(why.contains("twinscope-recorder-x86_64") && why.contains("--recorder"), "{why}");
        let elf = |number: u8| {
            let mut bytes = b"\x7fELF\x02\x01".to_vec();
            bytes.resize(18, 0);
            bytes.extend([number, 0]);
            bytes
        };
        std::fs::write(dir.path().join("dist/twinscope-recorder-aarch64"), elf(183)).unwrap();
        // One with the name of another machine is none.
        std::fs::write(dir.path().join("bin/twinscope-recorder-x86_64"), elf(183)).unwrap();
        let found = Recorders::find(None, &program).unwrap();
        assert_eq!(found.of("aarch64").unwrap().machine, "aarch64");
        assert!(found.of("x86_64").unwrap_err().contains("no twinscope-recorder-x86_64 in "));
        assert!(found.of("riscv64").unwrap_err().contains("for which there is no recorder"));
        let script = dir.path().join("script");
        std::fs::write(&script, "#!/bin/sh\n").unwrap();
        assert_eq!(Recorders::find(Some(&script), &program).unwrap().all().len(), 2);
        std::fs::write(&script, "text").unwrap();
        assert!(Recorders::find(Some(&script), &program).is_err());
        assert!(Recorders::find(Some(Path::new("/no/such")), &program).unwrap_err().contains("/no/such"));
    }
}
