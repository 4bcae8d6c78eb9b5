//! `report --image`: the first screen as a picture, by the Chromium that the tests of the page use.

use crate::common::{Folder, OF_A_FIXTURE, skipped};

/// Width and height that the header of a PNG tells.
fn size(png: &[u8]) -> (u32, u32) {
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn the_first_screen_is_drawn() {
    let chromium = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".into());
    if !std::path::Path::new(&chromium).exists() {
        skipped("a picture of the report", &format!("there is no Chromium at {chromium} ($CHROMIUM names another)"));
        return;
    }
    let folder = Folder::new();
    folder.expect(0, ["record", "-q", "-o", "a.twin"].iter().chain(&OF_A_FIXTURE));
    let drawn = |name: &'static str, more: &[&'static str]| {
        let words = ["report", "a.twin", "--browser", chromium.as_str(), "--image", name];
        let done = folder.expect(0, words.iter().chain(more));
        assert!(done.stdout.contains(name) && done.stdout.contains("pixels"), "{done}");
        std::fs::read(folder.path(name)).unwrap()
    };
    let light = drawn("light.png", &[]);
    assert_eq!(folder.files(), ["a.twin", "light.png"], "no page is kept, and nothing is left of the browser's");
    let dark = drawn("dark.png", &["--theme", "dark", "-o", "r.html"]);
    assert_eq!(folder.files(), ["a.twin", "dark.png", "light.png", "r.html"]);
    let (width, height) = size(&light);
    assert_eq!(width, 2560);
    assert!((800..6000).contains(&height), "{height}");
    assert_eq!(size(&dark), (width, height), "colours change no size");
    assert!(light.len() > 20_000 && dark != light, "{} and {} bytes", light.len(), dark.len());
    let page = std::fs::read_to_string(folder.path("r.html")).unwrap();
    assert!(!page.contains("data-picture=\""), "the page that is kept is for people");
}

#[test]
fn what_is_missing_is_said_before_anything_takes_time() {
    let folder = Folder::new();
    folder.expect(0, ["record", "-q", "--only", "cpu", "-o", "a.twin"].iter().chain(&OF_A_FIXTURE));
    let mut command = folder.command(["report", "a.twin", "--image", "a.png", "-o", "r.html"]);
    command.env("PATH", folder.path("nowhere")).env_remove("TWINSCOPE_BROWSER");
    let done = folder.start(command).wait();
    assert_eq!(done.status.code(), Some(1), "{done}");
    done.says("no browser was found").says("chromium").says("--browser").says("attach the page itself");
    assert_eq!(folder.files(), ["a.twin"]);
    folder
        .expect(1, ["report", "a.twin", "--image", "a.png", "--browser", "opera-9"])
        .says("opera-9: there is no such browser");
    folder.expect(2, ["report", "a.twin", "--image", "a.svg"]).says("a name that ends in .png");
    folder.expect(2, ["report", "a.twin", "--theme", "dark"]).says("--image");
}
