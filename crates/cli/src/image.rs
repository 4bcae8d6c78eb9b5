//! `--image FILE.png` of reports: the first screen of the page as a picture, for a ticket. A browser that is installed draws it, because the page is
//! what people see, and so there is one drawing of it only.

mod browser;
mod png;

use crate::output;
use anyhow::{Context, Result, anyhow};
use browser::{Failed, KNOWN};
use clap::{Args, ValueEnum};
use png::{Cut, Flaw};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names the browser where `--browser` does not.
const VARIABLE: &str = "TWINSCOPE_BROWSER";

/// How long a browser may take. It is there after some seconds, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The colours of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
enum Theme {
    #[default]
    Light,
    Dark,
}

/// A picture of the page.
#[derive(Args, Debug)]
pub(crate) struct Image {
    /// Write the first screen of the page as a picture too, for a ticket: Chromium, Chrome, Edge or Firefox draws it, without a network. Without `-o`
    /// no page is kept
    #[arg(long, value_name = "FILE.png", value_parser = recorder::result())]
    image: Option<PathBuf>,

    /// The browser that draws the picture [default: $TWINSCOPE_BROWSER, else the first that is found]
    #[arg(long, value_name = "PROGRAM", requires = "image")]
    browser: Option<PathBuf>,

    /// The colours of the picture [default: light]
    #[arg(long, value_enum, requires = "image")]
    theme: Option<Theme>,
}

/// A picture that can be drawn: there is a browser.
#[derive(Debug)]
pub(crate) struct Drawing {
    browser: PathBuf,
    target: PathBuf,
    theme: Theme,
    limit: Duration,
}

impl Image {
    /// Where the page is to be written: nowhere if a picture is all that was asked for.
    pub(crate) fn page(&self, asked: Option<&Path>, wanted: bool, default: &str) -> Option<PathBuf> {
        let written = self.image.is_none() || wanted;
        asked.map(Path::to_owned).or_else(|| written.then(|| default.into()))
    }

    /// Looks for the browser, before anything takes time; None if no picture was asked for.
    pub(crate) fn prepare(&self) -> Result<Option<Drawing>> {
        let Some(target) = &self.image else { return Ok(None) };
        if !files::is_stream(target) && !target.extension().is_some_and(|end| end.eq_ignore_ascii_case("png")) {
            let why = format!("--image {}: pictures are PNG; give a name that ends in .png", target.display());
            return Err(recorder::Usage(crate::text::clean(&why)).into());
        }
        let told =
            self.browser.clone().or_else(|| std::env::var_os(VARIABLE).filter(|v| !v.is_empty()).map(PathBuf::from));
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let browser = found(told.as_deref(), &paths)?;
        Ok(Some(Drawing { browser, target: target.clone(), theme: self.theme.unwrap_or_default(), limit: LIMIT }))
    }
}

/// The browser that was told, or the first known one.
fn found(told: Option<&Path>, paths: &OsStr) -> Result<PathBuf> {
    if let Some(told) = told {
        let none =
            || anyhow!("{}: there is no such browser; leave out --image, and attach the page itself", told.display());
        return browser::find(told.as_os_str(), paths).ok_or_else(none);
    }
    KNOWN.iter().find_map(|name| browser::find(OsStr::new(name), paths)).ok_or_else(|| {
        let names: Vec<&str> = KNOWN.iter().filter(|name| !name.starts_with('/')).copied().collect();
        anyhow!(
            "--image: no browser was found to draw the picture (looked for {} in PATH); name one by --browser or ${VARIABLE}, or leave out --image \
             and attach the page itself",
            names.join(", ")
        )
    })
}

impl Drawing {
    /// Draws the first screen of `html`, and says where. Nothing is left at its place where that fails.
    pub(crate) fn write(&self, html: &str) -> Result<()> {
        crate::stop::heed_signals();
        let drawn = self.draw(html);
        crate::stop::leave_signals();
        let made = drawn.with_context(|| {
            format!(
                "{}: the picture could not be made (the page can be attached instead: -o FILE.html)",
                crate::text::path(&self.target)
            )
        })?;
        let size = query::human(made.bytes.len() as f64, "B");
        let size = format!("{} × {} pixels, {size}", made.width, made.height);
        output::tell(&self.target, &format!("{} ({size})", self.target.display()));
        Ok(())
    }

    /// All in a folder beside the target, which is gone afterwards: browsers that are packed as snaps see the home folder, but not `/tmp`.
    fn draw(&self, html: &str) -> Result<Cut> {
        let beside = self.target.parent().filter(|p| !p.as_os_str().is_empty() && !files::is_stream(&self.target));
        let beside = beside.unwrap_or(Path::new("."));
        let beside = std::path::absolute(beside)?;
        let folder = tempfile::Builder::new().prefix("twinscope-picture-").tempdir_in(&beside)?;
        let (page, picture) = (folder.path().join("page.html"), folder.path().join("picture.png"));
        files::write(&page, self.marked(html).as_bytes(), files::Rules::default())
            .with_context(|| page.display().to_string())?;
        match browser::draw(&self.browser, &page, &picture, folder.path(), self.limit) {
            Ok(()) => {}
            Err(Failed::Why(why)) => return Err(anyhow!(why)),
            Err(Failed::Stopped) => return Err(anyhow!("a signal asked for the end")),
        }
        let flawed = |flaw: Flaw| {
            let browser = self.browser.display();
            match flaw {
                Flaw::Damaged(how) => anyhow!("{browser} wrote a picture that cannot be read: {how}"),
                Flaw::Unfinished => anyhow!("{browser} took the picture before the page was drawn"),
                Flaw::Blank => anyhow!("{browser} wrote an empty picture"),
            }
        };
        let made = png::cut(&std::fs::read(&picture)?).map_err(flawed)?;
        output::write(&self.target, &made.bytes, "picture")?;
        Ok(made)
    }

    /// The page, told that it is drawn for a picture, and in which colours (`ui/src/picture.ts`).
    fn marked(&self, html: &str) -> String {
        let theme = if self.theme == Theme::Dark { "dark" } else { "light" };
        html.replacen("<html ", &format!("<html data-picture=\"{theme}\" "), 1)
    }
}

#[cfg(test)]
mod tests;
