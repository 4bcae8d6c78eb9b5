//! Where results go, and what they never take the place of.

use crate::common::{Folder, program, repository, skipped};
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

/// A folder with two recordings, which are made of a profile that is kept.
fn recordings() -> Folder {
    let folder = Folder::new();
    fs::copy(repository().join("fixtures/profiles/busy.script.txt"), folder.path("busy.txt")).unwrap();
    for name in ["a.twin", "b.twin"] {
        folder.expect(0, ["import", "--no-symbols", "busy.txt", "-o", name]);
    }
    folder
}

fn mode(folder: &Folder, name: &str) -> u32 {
    folder.path(name).metadata().unwrap().permissions().mode() & 0o777
}

/// The commands that write one file.
fn writers(to: &str) -> [Vec<&str>; 4] {
    [
        vec!["report", "a.twin", "-o", to],
        vec!["flame", "a.twin", "--format", "svg", "-o", to],
        vec!["export", "openmetrics", "a.twin", "-o", to],
        vec!["import", "--force", "--no-symbols", "busy.txt", "-o", to],
    ]
}

#[test]
fn links_pipes_and_devices_stay_what_they_are() {
    let folder = recordings();
    fs::write(folder.path("precious"), "text").unwrap();
    symlink("precious", folder.path("link")).unwrap();
    let path = std::ffi::CString::new(folder.path("pipe").into_os_string().into_encoded_bytes()).unwrap();
    // SAFETY: the name ends in NUL and outlives the call.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    // A device like /dev/null, which a test must not risk.
    let made = std::process::Command::new("mknod").arg(folder.path("device")).args(["c", "1", "3"]).status();
    let has_device = made.is_ok_and(|status| status.success());
    if !has_device {
        skipped("a device that is named as an output", "mknod needs root");
    }
    let before = folder.files();
    for (name, what) in [("link", "a symbolic link"), ("pipe", "a named pipe"), ("device", "a device")] {
        for words in writers(name).iter().filter(|_| name != "device" || has_device) {
            let done = folder.run(words);
            assert!(matches!(done.status.code(), Some(1 | 2)), "{done}");
            done.says(what).says(name);
        }
        let record = ["record", "-d", "1s", "--only", "cpu", "--rotate", "1", "-o", name];
        if name != "device" || has_device {
            folder.expect(2, record).says(what);
        }
    }
    assert_eq!(folder.files(), before, "nothing is left behind");
    assert_eq!(fs::read_to_string(folder.path("precious")).unwrap(), "text");
    assert!(fs::symlink_metadata(folder.path("link")).unwrap().is_symlink());
    assert!(!has_device || fs::symlink_metadata(folder.path("device")).unwrap().file_type().is_char_device());
}

#[test]
fn names_that_were_predictable_are_no_way_in() {
    let folder = recordings();
    fs::write(folder.path("precious"), "text").unwrap();
    for name in ["p.html.part", "i.twin.part", "i.twin-reserve"] {
        symlink("precious", folder.path(name)).unwrap();
    }
    folder.expect(0, ["report", "a.twin", "-o", "p.html"]);
    folder.expect(0, ["import", "--no-symbols", "busy.txt", "-o", "i.twin"]);
    assert_eq!(fs::read_to_string(folder.path("precious")).unwrap(), "text");
    assert!(fs::symlink_metadata(folder.path("p.html")).unwrap().is_file());
}

#[test]
fn inputs_and_recordings_are_not_written_over() {
    let folder = recordings();
    let bytes = |name: &str| fs::read(folder.path(name)).unwrap();
    let before = ["a.twin", "b.twin", "busy.txt"].map(bytes);
    for to in ["a.twin", "b.twin"] {
        for words in &writers(to)[..3] {
            folder.expect(1, words).says("write to another file");
        }
    }
    folder.expect(2, ["import", "--force", "busy.txt", "-o", "busy.txt"]).says("is read by the same command");
    assert_eq!(["a.twin", "b.twin", "busy.txt"].map(bytes), before);
    // A page takes the place of a page.
    folder.expect(0, ["report", "a.twin", "-o", "p.html"]);
    folder.expect(0, ["report", "b.twin", "-o", "p.html"]);
}

#[test]
fn streams_get_the_result_alone() {
    let folder = recordings();
    for to in ["-", "/dev/stdout", "/dev/fd/1"] {
        for (words, start) in writers(to).iter().zip(["<!", "<", "# "]) {
            let done = folder.expect(0, words);
            assert!(done.stdout.trim_start().starts_with(start), "{done}");
        }
    }
    let folded = folder.expect(0, ["flame", "a.twin", "-o", "-"]).stdout;
    assert!(folded.lines().all(|line| line.rsplit(' ').next().is_some_and(|n| n.parse::<f64>().is_ok())), "{folded}");
    for words in [
        vec!["import", "busy.txt", "-o", "-"],
        vec!["record", "-d", "1s", "--only", "cpu", "-o", "-"],
        vec!["record", "-d", "1s", "--only", "cpu", "-f", "-o", "/dev/null"],
    ] {
        folder.expect(2, words).says("a recording is a database");
    }
    folder.expect(2, ["export", "csv", "a.twin", "-o", "-"]).says("folders of files");
    folder.expect(2, ["report", "a.twin", "--open", "-o", "-"]).says("--open needs a file");
    assert_eq!(folder.files(), ["a.twin", "b.twin", "busy.txt"]);
}

#[test]
fn a_result_that_may_not_grow_is_an_error_and_leaves_nothing() {
    let folder = recordings();
    fs::write(folder.path("old"), "text").unwrap();
    let before = folder.files();
    let recording = fs::read(folder.path("b.twin")).unwrap();
    let long = "select printf('%9999s', 1)";
    let commands: [(&[&str], &str); 4] = [
        (&["report", "a.twin", "-o", "old"], "old: the report could not be written: File too large"),
        (
            &["flame", "a.twin", "--format", "svg", "-o", "old"],
            "old: the flame graph could not be written: File too large",
        ),
        (
            &["import", "--force", "--no-symbols", "busy.txt", "-o", "b.twin"],
            "b.twin: a file may have 1024 bytes at most here",
        ),
        (&["sql", "a.twin", long], "standard output: File too large"),
    ];
    for (words, why) in commands {
        let mut shell = std::process::Command::new("sh");
        // Two blocks of 512 bytes. Standard output of the test is a file, too.
        shell.args(["-c", "ulimit -f 2; exec \"$@\"", "sh"]).arg(program()).args(words);
        shell.current_dir(folder.path(""));
        let done = folder.start(shell).wait();
        // By default SIGXFSZ ends a program, without a word.
        assert_eq!(done.status.code(), Some(1), "{done}");
        done.says(why);
    }
    assert_eq!(folder.files(), before, "nothing is left behind");
    assert_eq!(fs::read_to_string(folder.path("old")).unwrap(), "text");
    assert_eq!(fs::read(folder.path("b.twin")).unwrap(), recording);
}

#[test]
fn only_the_owner_reads_what_is_written() {
    let folder = recordings();
    folder.expect(0, ["report", "a.twin", "-o", "p.html"]);
    folder.expect(0, ["export", "csv", "a.twin", "-o", "csv", "--only", "sample"]);
    for name in ["a.twin", "p.html", "csv/sample.csv"] {
        assert_eq!(mode(&folder, name), 0o600, "{name}");
    }
    folder.expect(0, ["report", "a.twin", "-o", "p.html", "--mode", "0644"]);
    assert_eq!(mode(&folder, "p.html"), 0o644);
    folder.expect(2, ["report", "a.twin", "-o", "p.html", "--mode", "0777"]).says("0600 to 0666");
}

#[test]
fn sudo_gives_files_to_who_called_it() {
    use std::os::unix::fs::MetadataExt;
    let folder = recordings();
    if folder.path("a.twin").metadata().unwrap().uid() != 0 {
        skipped("files under sudo", "giving files away needs root");
        return;
    }
    let mut command = folder.command(["report", "a.twin", "-o", "made/p.html"]);
    fs::create_dir(folder.path("made")).unwrap();
    command.env("SUDO_UID", "4242").env("SUDO_GID", "4343");
    assert!(folder.start(command).wait().status.success());
    let owner = folder.path("made/p.html").metadata().unwrap();
    assert_eq!((owner.uid(), owner.gid()), (4242, 4343));
}

/// A recorder that somebody else made up, in the folder where recorders were looked for once.
#[test]
fn a_fake_recorder_is_not_believed() {
    let folder = Folder::new();
    fs::write(folder.path("precious"), "text").unwrap();
    // SAFETY: plain system call.
    let uid = unsafe { libc::getuid() };
    let fake = folder.path(&format!("twinscope-{uid}/{}", std::process::id()));
    fs::create_dir_all(&fake).unwrap();
    for name in ["marks", "control"] {
        symlink(folder.path("precious"), fake.join(name)).unwrap();
    }
    let pipe = std::ffi::CString::new(fake.join("recording").into_os_string().into_encoded_bytes()).unwrap();
    // SAFETY: the name ends in NUL and outlives the call.
    assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
    for words in [vec!["mark", "x", "--of", "none.twin"], vec!["snapshot", "--of", "none.twin", "-o", "s.twin"]] {
        let mut command = folder.command(words);
        command.env("TMPDIR", folder.path("")).env_remove("XDG_RUNTIME_DIR");
        let done = folder.start(command).wait();
        assert_eq!(done.status.code(), Some(1), "{done}");
        done.says("no recorder of this user");
    }
    assert_eq!(fs::read_to_string(folder.path("precious")).unwrap(), "text");
}
