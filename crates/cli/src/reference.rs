//! The reference in docs/reference, made from the declarations themselves so that it cannot be wrong.

use anyhow::{Context, Result};
use clap::Command;
use model::{Column, Compare, Den, Derived, Polarity, Table};
use sources::{Pace, Source};
use std::fmt::Write;
use std::path::Path;

/// Writes `commands.md` and `sources.md` into `folder`.
pub(crate) fn write(command: Command, folder: &Path) -> Result<()> {
    let (commands, sources) = (commands(command)?, sources_page()?);
    let rules = files::Rules { replace: true, ..files::Rules::default() };
    files::make_folder(folder)
        .and_then(|()| files::write(&folder.join("commands.md"), commands.as_bytes(), rules))
        .and_then(|()| files::write(&folder.join("sources.md"), sources.as_bytes(), rules))
        .with_context(|| format!("{}: the reference could not be written", folder.display()))
}

fn commands(mut command: Command) -> Result<String> {
    let mut page = String::from("# Commands\n\nMade by `twinscope reference`; do not edit.\n");
    command = command.term_width(100);
    command.build();
    let names: Vec<String> = command
        .get_subcommands()
        .filter(|c| !c.is_hide_set() && c.get_name() != "help")
        .map(|c| c.get_name().to_owned())
        .collect();
    writeln!(page, "\n```text\n{}```", command.render_long_help().to_string().trim_end().to_owned() + "\n")?;
    for name in names {
        if let Some(sub) = command.find_subcommand_mut(&name) {
            writeln!(page, "\n## twinscope {name}\n\n```text\n{}\n```", sub.render_long_help().to_string().trim_end())?;
        }
    }
    Ok(page)
}

fn pace(pace: Pace) -> String {
    match pace {
        Pace::Tick => "at every tick".into(),
        Pace::AtLeast(1) => "at every tick, at most once a second".into(),
        Pace::AtLeast(seconds) => format!("every {seconds} s"),
        Pace::Once => "once".into(),
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

fn polarity(polarity: Polarity) -> &'static str {
    match polarity {
        Polarity::Better => "more is better",
        Polarity::Worse => "more is worse",
        Polarity::Neutral => "",
    }
}

fn compare(compare: Compare) -> &'static str {
    match compare {
        Compare::Ratio => "ratio",
        Compare::Difference => "difference",
        Compare::Distribution => "distribution",
        Compare::Equality => "equality",
        Compare::Never => "",
    }
}

fn sources_page() -> Result<String> {
    let mut page = String::from(
        "# Sources and tables\n\nMade by `twinscope reference`; do not edit.\n\n\
         Every table also has `run`, the name of the recording, and `t`, nanoseconds since its start. Values are stored as the kernel gives\n\
         them, in the unit named here; the `_rate` form of a table has base units and rates per second.\n",
    );
    for source in sources::ALL {
        describe(&mut page, source)?;
    }
    Ok(page)
}

fn describe(page: &mut String, source: &Source) -> Result<()> {
    writeln!(page, "\n## {}\n\n{}. Read {}.", source.name, cell(source.title), pace(source.pace))?;
    writeln!(page, "Documented: {}.", cell(source.documented))?;
    let files: Vec<String> = source.reads.iter().map(|f| format!("`{f}`")).collect();
    if !files.is_empty() {
        writeln!(page, "Files: {}.", files.join(", "))?;
    }
    if !source.needs.is_empty() {
        writeln!(page, "Needs: {}.", cell(source.needs))?;
    }
    for table in source.tables {
        describe_table(page, table)?;
    }
    Ok(())
}

fn describe_table(page: &mut String, table: &Table) -> Result<()> {
    writeln!(page, "\n### {}\n\n{}.", table.name, cell(table.help))?;
    if table.is_long() {
        writeln!(page, "One row per `field` and `value`; fields that are not listed here are kept too.")?;
    }
    if table.events {
        writeln!(page, "Rows are events.")?;
    }
    if let Some(measure) = table.measure {
        writeln!(page, "Call trees: `twinscope flame --state {}`, {}.", measure.id, cell(measure.help))?;
    }
    writeln!(
        page,
        "\n| {} | kind | unit | compared by | what it is |\n|---|---|---|---|---|",
        if table.is_long() { "label or field" } else { "column" }
    )?;
    for column in table.columns {
        describe_column(page, column)?;
    }
    for derived in table.derived {
        describe_derived(page, derived)?;
    }
    Ok(())
}

fn describe_column(page: &mut String, c: &Column) -> Result<()> {
    let kind = serde_json::to_value(c.kind)?;
    let unit = serde_json::to_value(c.unit)?;
    let unit = unit.as_str().filter(|u| *u != "none").unwrap_or("");
    let more = polarity(c.polarity);
    let help = if more.is_empty() { cell(c.help) } else { format!("{}; {more}", cell(c.help)) };
    writeln!(page, "| `{}` | {} | {unit} | {} | {help} |", c.name, kind.as_str().unwrap_or(""), compare(c.compare))?;
    Ok(())
}

fn describe_derived(page: &mut String, d: &Derived) -> Result<()> {
    let sum = |list: &[(&str, f64)]| {
        let term =
            |&(name, weight): &(&str, f64)| if weight == 1.0 { name.to_owned() } else { format!("{weight}·{name}") };
        list.iter().map(term).collect::<Vec<_>>().join(" + ")
    };
    let by = match d.den {
        Den::Time => "time".into(),
        Den::Columns(list) => sum(list),
    };
    let more = polarity(d.polarity);
    let help = if more.is_empty() { cell(d.help) } else { format!("{}; {more}", cell(d.help)) };
    writeln!(
        page,
        "| `{}` | derived: ({}) / ({by}) | {} | {} | {help} |",
        d.name,
        sum(d.num),
        d.unit,
        compare(d.compare)
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    /// README.md and the pages of docs/ that people write: not docs/reference, which the program makes, nor docs/journal.
    fn pages() -> Vec<(PathBuf, String)> {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
        paths.push(root.join("README.md"));
        assert!(paths.len() > 10, "docs/ was found");
        paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
    }

    /// Lines outside of code blocks with their numbers, from 1.
    fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
        let mut code = false;
        (1..).zip(text.lines()).filter(move |(_, line)| {
            let fence = line.trim_start().starts_with("```");
            code ^= fence;
            !code && !fence
        })
    }

    #[test]
    fn lines_of_docs_are_short_enough_for_a_diff() {
        for (path, text) in pages() {
            for (number, line) in prose(&text).filter(|(_, line)| !line.starts_with('|')) {
                assert!(line.chars().count() <= 120, "{}:{number} has more than 120 characters", path.display());
            }
        }
    }

    /// The anchors of a page's headings, as GitHub and mdBook make them.
    fn anchors(text: &str) -> Vec<String> {
        let mut anchors: Vec<String> = Vec::new();
        for (_, line) in prose(text) {
            let title = line.trim_start_matches('#');
            if title.len() == line.len() || !title.starts_with(' ') {
                continue;
            }
            let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            let anchor: String = kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect();
            let again = anchors.iter().filter(|before| **before == anchor).count();
            anchors.push(if again == 0 { anchor } else { format!("{anchor}-{again}") });
        }
        anchors
    }

    /// The relative links of a page: its line, the path, and the heading there ("" where none is named).
    fn links(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
        prose(text).flat_map(|(number, line)| {
            line.split("](").skip(1).filter_map(|rest| rest.split(')').next()).filter(|to| !to.contains("://")).map(
                move |to| {
                    let (path, heading) = to.split_once('#').unwrap_or((to, ""));
                    (number, path, heading)
                },
            )
        })
    }

    #[test]
    fn links_of_docs_lead_to_files_and_headings() {
        let mut found = 0;
        for (path, text) in pages() {
            for (number, target, heading) in links(&text) {
                let at = format!("{}:{number} links to {target}#{heading}", path.display());
                let file = if target.is_empty() { path.clone() } else { path.parent().unwrap().join(target) };
                assert!(file.exists(), "{at}: there is no such file");
                if !heading.is_empty() {
                    let there = std::fs::read_to_string(&file).unwrap();
                    assert!(anchors(&there).iter().any(|a| a == heading), "{at}: there is no such heading");
                }
                found += 1;
            }
        }
        assert!(found > 50, "links were found");
    }

    #[test]
    fn the_book_has_every_page_of_docs() {
        let pages = pages();
        let (summary, text) =
            pages.iter().find(|(path, _)| path.ends_with("docs/SUMMARY.md")).expect("docs/SUMMARY.md");
        let docs = summary.parent().unwrap();
        let there: Vec<PathBuf> = links(text).map(|(_, target, _)| docs.join(target).canonicalize().unwrap()).collect();
        let below = ["reference", "journal"].map(|folder| std::fs::read_dir(docs.join(folder)).unwrap());
        let below = below.into_iter().flatten().map(|entry| entry.unwrap().path());
        for page in pages.iter().map(|(path, _)| path.clone()).chain(below).filter(|path| path != summary) {
            if page.extension().is_some_and(|extension| extension == "md") {
                let page = page.canonicalize().unwrap();
                assert!(there.contains(&page), "docs/SUMMARY.md does not name {}", page.display());
            }
        }
    }
}
