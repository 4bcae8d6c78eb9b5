//! Pictures by stand-ins for a browser, which fail in each way, and by Chromium where it is installed.

use super::*;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

/// A browser that is a script: `$picture` is where it is to write, `$page` what it is to draw.
fn stand_in(folder: &Path, name: &str, does: &str) -> PathBuf {
    let path = folder.join(name);
    let script = format!(
        "#!/bin/sh\nfor a; do case $a in --screenshot=*) picture=${{a#--screenshot=}};; file://*) page=${{a#file://}};; esac; done\n{does}\n"
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn drawing(browser: PathBuf, target: PathBuf) -> Drawing {
    Drawing { browser, target, theme: Theme::Light, limit: Duration::from_secs(20) }
}

const PAGE: &str = "<!doctype html>\n<html lang=\"en\"><body>a page</body></html>\n";

/// What is left in a folder, but for the stand-in.
fn left(folder: &Path) -> Vec<OsString> {
    let mut names: Vec<OsString> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.retain(|name| name != "browser" && name != "whole.png");
    names
}

#[test]
fn a_picture_is_drawn_and_nothing_else_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.png");
    std::fs::write(&whole, png::tests::whole()).unwrap();
    let does =
        format!("grep -q '<html data-picture=\"dark\" lang' \"$page\" || exit 9; cp {} \"$picture\"", whole.display());
    let browser = stand_in(folder.path(), "browser", &does);
    let mut drawing = drawing(browser, folder.path().join("first screen.png"));
    drawing.theme = Theme::Dark;
    drawing.write(PAGE).unwrap();
    assert_eq!(left(folder.path()), ["first screen.png"]);
    let made = png::cut(&std::fs::read(drawing.target).unwrap()).unwrap_err();
    assert_eq!(made, Flaw::Unfinished, "the line at its end is cut off");
}

#[test]
fn a_browser_that_demands_to_run_without_its_sandbox_gets_that() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.png");
    std::fs::write(&whole, png::tests::whole()).unwrap();
    let demands = "echo 'Running as root without --no-sandbox is not supported.' >&2; exit 1";
    let does = format!("case \"$*\" in *--no-sandbox*) cp {} \"$picture\";; *) {demands};; esac", whole.display());
    drawing(stand_in(folder.path(), "browser", &does), folder.path().join("a.png")).write(PAGE).unwrap();
    assert_eq!(left(folder.path()), ["a.png"]);
}

#[test]
fn each_failure_is_one_line_and_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("a.png");
    std::fs::write(&target, "as before").unwrap();
    for (does, says) in [
        ("exit 0", "wrote no picture"),
        ("echo 'no display' >&2; exit 3", "ended with exit status: 3; it said: no display"),
        ("printf 'a \\033[31mred\\033[0m word' >&2; exit 3", "it said: a "),
        ("kill -SEGV $$", "ended with signal: 11 (SIGSEGV)"),
        ("kill -ABRT $$", "ended with signal: 6 (SIGABRT)"),
        (": > \"$picture\"", "cannot be read: it is no PNG"),
        ("echo '<svg/>' > \"$picture\"", "cannot be read: it is no PNG"),
        ("mkdir \"$picture\"", "Is a directory"),
        ("rm -r \"${picture%/*}\"", "wrote no picture"),
    ] {
        let error = drawing(stand_in(folder.path(), "browser", does), target.clone()).write(PAGE).unwrap_err();
        let said = format!("{error:#}");
        assert!(said.contains(says), "{does}: {said}");
        assert!(said.starts_with(&format!("{}: the picture could not be made (the page", target.display())), "{said}");
        assert!(!said.contains('\n') && !said.contains('\u{1b}'), "{said}");
        assert_eq!(std::fs::read(&target).unwrap(), b"as before");
        assert_eq!(left(folder.path()), ["a.png"], "{does}");
    }
}

#[test]
fn a_browser_that_hangs_is_ended_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("whole.png");
    let does = format!("sleep 600 & echo $! > {}; wait", pids.display());
    let mut drawing = drawing(stand_in(folder.path(), "browser", &does), folder.path().join("a.png"));
    drawing.limit = Duration::from_secs(1);
    let began = Instant::now();
    let said = format!("{:#}", drawing.write(PAGE).unwrap_err());
    assert!(said.contains("had not drawn the page after 1 s, and was ended"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(10));
    let pid: libc::pid_t = std::fs::read_to_string(pids).unwrap().trim().parse().unwrap();
    // Gone, or dead and not yet collected by whoever is process 1 here; a signal takes a moment.
    let status = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let ended = || status().is_empty() || status().contains(") Z ") || status().contains(") X ");
    while !ended() {
        assert!(began.elapsed() < Duration::from_secs(30), "{}", status());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(left(folder.path()), Vec::<OsString>::new());
}

#[test]
fn a_target_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let browser = stand_in(folder.path(), "browser", "exit 0");
    let said = format!("{:#}", drawing(browser, folder.path().join("missing/a.png")).write(PAGE).unwrap_err());
    assert!(said.contains("missing/a.png: the picture could not be made") && said.contains("No such file"), "{said}");
}

#[test]
fn a_full_disk_leaves_nothing() {
    // /dev/full takes the place of a picture on a disk without room: what is written there fails with ENOSPC.
    let folder = tempfile::tempdir().unwrap();
    let browser =
        stand_in(folder.path(), "browser", "echo x > /dev/full || { echo 'No space left on device' >&2; exit 1; }");
    let said = format!("{:#}", drawing(browser, folder.path().join("a.png")).write(PAGE).unwrap_err());
    assert!(said.contains("No space left on device"), "{said}");
    assert_eq!(left(folder.path()), Vec::<OsString>::new());
}

#[test]
fn browsers_are_found_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let said = format!("{:#}", found(None, folder.path().as_os_str()).unwrap_err());
    for part in ["chromium", "firefox-esr", "--browser", "$TWINSCOPE_BROWSER", "attach the page itself"] {
        assert!(said.contains(part), "{said}");
    }
    let firefox = stand_in(folder.path(), "firefox", "exit 0");
    assert_eq!(found(None, folder.path().as_os_str()).unwrap(), firefox);
    let chromium = stand_in(folder.path(), "chromium", "exit 0");
    assert_eq!(found(None, folder.path().as_os_str()).unwrap(), chromium);
    assert_eq!(found(Some(Path::new("firefox")), folder.path().as_os_str()).unwrap(), firefox);
    let said = format!("{:#}", found(Some(Path::new("/nowhere/opera")), folder.path().as_os_str()).unwrap_err());
    assert!(said.contains("/nowhere/opera: there is no such browser"), "{said}");
}

#[test]
fn only_a_name_of_a_png_is_taken() {
    let image = Image { image: Some("a.pdf".into()), browser: None, theme: None };
    let said = image.prepare().unwrap_err();
    assert!(said.is::<recorder::Usage>() && format!("{said}").contains("ends in .png"), "{said}");
}

/// Chromium as the tests of the page find it.
fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("CHROMIUM").map_or_else(|| PathBuf::from("/usr/bin/chromium"), PathBuf::from);
    if !path.exists() {
        eprintln!("SKIPPED: there is no Chromium at {} ($CHROMIUM names another)", path.display());
        return None;
    }
    Some(path)
}

#[test]
fn chromium_draws_a_page_to_its_end() {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::Builder::new().prefix("a folder ü#").tempdir().unwrap();
    let mut drawing = drawing(browser, folder.path().join("a.png"));
    drawing.limit = LIMIT;
    let page = |end: &str| {
        format!(
            "<!doctype html>\n<html lang=\"en\"><body style=\"margin: 0\"><h1 style=\"height: 100px; margin: 0\">A page</h1>{end}</body></html>"
        )
    };
    drawing.write(&page("<div style=\"height: 8px; background: #fe02fc\"></div>")).unwrap();
    let bytes = std::fs::read(&drawing.target).unwrap();
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    let size = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((size(16), size(20)), (2560, 198), "twice the 1280 pixels of the window, and all above the line");
    let said = format!("{:#}", drawing.write(&page("")).unwrap_err());
    assert!(said.contains("took the picture before the page was drawn"), "{said}");
    assert_eq!(std::fs::read(&drawing.target).unwrap(), bytes, "the picture of before is still there");
    assert_eq!(left(folder.path()), ["a.png"]);
}
