//! The browser that draws a picture of a page: which one, how it is asked, and for how long. Chromium and its like take a picture by
//! `--screenshot` (<https://developer.chrome.com/docs/chromium/headless>), Firefox too (`firefox --help`).

use crate::stop::STOP;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Programs that are looked for, in this order.
pub(super) const KNOWN: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "microsoft-edge-stable",
    "firefox",
    "firefox-esr",
    // Where macOS has them, which are not in PATH.
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "/Applications/Firefox.app/Contents/MacOS/firefox",
];

/// Width and height of the window in CSS pixels. What is below the end of the page is cut off.
const WINDOW: (u32, u32) = (1280, 3000);

/// Pixels of the picture to a CSS pixel: sharp on screens of any kind. Firefox has no such option, and draws one to one.
const SCALE: u32 = 2;

/// How long a page may take before Chromium takes its picture, in milliseconds of a clock of its own: that jumps from one timer to the next, so that
/// this is no waiting.
const BUDGET: u32 = 20_000;

/// The most that is read of what a browser complains of, bytes, from its end.
const MOST_SAID: u64 = 16 << 10;

/// How often it is looked whether it has ended.
const TICK: Duration = Duration::from_millis(20);

/// Finds a program by its name, as a shell does: in `paths`, or where its path says.
pub(super) fn find(name: &OsStr, paths: &OsStr) -> Option<PathBuf> {
    let runs = |path: &Path| {
        use std::os::unix::fs::PermissionsExt;
        path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    if name.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(|path| runs(path));
    }
    std::env::split_paths(paths).map(|folder| folder.join(name)).find(|path| runs(path))
}

/// Why there is no picture.
#[derive(Debug)]
pub(super) enum Failed {
    /// In words.
    Why(String),
    /// A signal asked for the end.
    Stopped,
}

/// How one run of the browser ended, and what it said.
struct Ended {
    status: ExitStatus,
    said: String,
}

/// Has `page` drawn into `picture`. All that the browser writes is in `folder`, which is its own.
pub(super) fn draw(program: &Path, page: &Path, picture: &Path, folder: &Path, limit: Duration) -> Result<(), Failed> {
    let until = Instant::now() + limit;
    let profile = folder.join("profile");
    let fails = |why: std::io::Error| Failed::Why(why.to_string());
    std::fs::create_dir_all(&profile).map_err(fails)?;
    let firefox = is_firefox(program);
    if firefox {
        files::write(&profile.join("user.js"), FIREFOX_SETTINGS.as_bytes(), files::Rules::default()).map_err(fails)?;
    }
    let arguments = if firefox { of_firefox(page, picture, &profile) } else { of_chromium(page, picture, &profile) };
    let mut ended = run(program, &arguments, folder, until, limit)?;
    // As root, and where the kernel gives it no namespaces, Chromium does not start without this option, and says so. The page runs no script but ours
    // and has no network, so nothing from outside is let out of the sandbox.
    if !firefox && !picture.exists() && ended.said.contains("--no-sandbox") {
        let open: Vec<OsString> = arguments.iter().cloned().chain(["--no-sandbox".into()]).collect();
        ended = run(program, &open, folder, until, limit)?;
    }
    let last = ended.said.lines().map(str::trim).rfind(|line| !line.is_empty());
    let last = last
        .map_or_else(String::new, |line| format!("; it said: {}", crate::text::cut(&crate::text::clean(line), 200)));
    if !ended.status.success() {
        return Err(Failed::Why(format!("{} ended with {}{last}", program.display(), ended.status)));
    }
    if !picture.exists() {
        return Err(Failed::Why(format!("{} wrote no picture{last}", program.display())));
    }
    Ok(())
}

/// Whether a program takes the options of Firefox.
fn is_firefox(program: &Path) -> bool {
    let name = program.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    name.contains("firefox") || name.contains("librewolf")
}

fn of_chromium(page: &Path, picture: &Path, profile: &Path) -> Vec<OsString> {
    let path = |option: &str, path: &Path| {
        let mut text = OsString::from(option);
        text.push(path);
        text
    };
    let mut all: Vec<OsString> = [
        "--headless",
        "--hide-scrollbars",
        "--disable-gpu",
        "--disable-extensions",
        "--no-first-run",
        "--no-default-browser-check",
        // The page needs no network, and what the browser would fetch for itself is not wanted either.
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--force-color-profile=srgb",
    ]
    .map(OsString::from)
    .into();
    all.push(format!("--force-device-scale-factor={SCALE}").into());
    all.push(format!("--window-size={},{}", WINDOW.0, WINDOW.1).into());
    all.push(format!("--virtual-time-budget={BUDGET}").into());
    all.push(path("--user-data-dir=", profile));
    all.push(path("--screenshot=", picture));
    all.push(url(page).into());
    all
}

fn of_firefox(page: &Path, picture: &Path, profile: &Path) -> Vec<OsString> {
    vec![
        "--headless".into(),
        "--no-remote".into(),
        "--profile".into(),
        profile.into(),
        "--screenshot".into(),
        picture.into(),
        format!("--window-size={},{}", WINDOW.0, WINDOW.1).into(),
        url(page).into(),
    ]
}

/// Settings of a profile of Firefox: colours as they are, and no network of its own.
const FIREFOX_SETTINGS: &str = "user_pref(\"gfx.color_management.mode\", 0);
user_pref(\"network.proxy.type\", 1);
user_pref(\"network.proxy.http\", \"127.0.0.1\");
user_pref(\"network.proxy.http_port\", 9);
user_pref(\"network.proxy.ssl\", \"127.0.0.1\");
user_pref(\"network.proxy.ssl_port\", 9);
user_pref(\"app.update.enabled\", false);
user_pref(\"browser.shell.checkDefaultBrowser\", false);
user_pref(\"datareporting.policy.dataSubmissionEnabled\", false);
user_pref(\"toolkit.telemetry.enabled\", false);
";

/// The address of a file.
fn url(path: &Path) -> String {
    let mut url = String::from("file://");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            url.push(byte.into());
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    url
}

/// Runs it until it ends, `until` is there, or a signal asks for the end; then it and all that it started are ended. `limit` is for the words.
fn run(
    program: &Path,
    arguments: &[OsString],
    folder: &Path,
    until: Instant,
    limit: Duration,
) -> Result<Ended, Failed> {
    let broken = |why: std::io::Error| Failed::Why(format!("{}: {why}", program.display()));
    let complaints = folder.join("said");
    let said = files::start_over(&complaints).map_err(|why| Failed::Why(why.to_string()))?;
    // In a group of its own, so that all of its processes can be ended. What it says goes to a file: a pipe could fill, or be held open.
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(said)
        .process_group(0)
        .spawn()
        .map_err(broken)?;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Ok(status),
            Ok(None) => {}
            Err(why) => break Err(broken(why)),
        }
        if STOP.load(Ordering::Relaxed) {
            break Err(Failed::Stopped);
        }
        if Instant::now() >= until {
            let late =
                format!("{} had not drawn the page after {} s, and was ended", program.display(), limit.as_secs());
            break Err(Failed::Why(late));
        }
        std::thread::sleep(TICK);
    };
    end(&mut child);
    Ok(Ended { status: status?, said: tail(&complaints) })
}

/// Ends it and all that it has started.
fn end(child: &mut Child) {
    // SAFETY: takes numbers; the group is that of the child, which has its number.
    unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
    let _ = child.wait();
}

/// The end of a file, as text.
fn tail(path: &Path) -> String {
    let read = || {
        let mut file = File::open(path)?;
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(length.saturating_sub(MOST_SAID)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(bytes)
    };
    // What cannot be read back adds nothing to how it ended.
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_any_file() {
        assert_eq!(url(Path::new("/a b/c#d?e%.html")), "file:///a%20b/c%23d%3Fe%25.html");
    }

    #[test]
    fn browsers_are_told_apart_by_their_names() {
        for firefox in ["/usr/bin/firefox-esr", "/Applications/Firefox.app/Contents/MacOS/firefox", "librewolf"] {
            assert!(is_firefox(Path::new(firefox)));
        }
        assert!(!is_firefox(Path::new("/home/firefox/bin/chromium")));
    }
}
