//! How tables of known tools are laid out: from the files of `presets/`, or one that the user names. A line is `KEY = VALUE`; `#` begins a comment.

use model::Unit;
use regex_lite::Regex;
use std::path::Path;

/// The files of `presets/`, by name.
const OWN: [(&str, &str); 4] = [
    ("perfspect", include_str!("../../presets/perfspect.txt")),
    ("pidstat", include_str!("../../presets/pidstat.txt")),
    ("rezolus", include_str!("../../presets/rezolus.txt")),
    ("vmstat", include_str!("../../presets/vmstat.txt")),
];

/// Which column has the time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum TimeColumn {
    /// Whichever looks like it.
    #[default]
    Any,
    /// That of this name.
    Named(String),
    /// The first or the last, whatever it is called.
    First,
    /// See [`TimeColumn::First`].
    Last,
}

/// How a table is laid out.
#[derive(Clone, Debug, Default)]
pub struct Preset {
    /// Its name.
    pub name: String,
    /// One line: of what tool.
    pub about: String,
    /// Columns by which such a table is known.
    pub(crate) header: Vec<String>,
    pub(crate) table: String,
    pub(crate) time: TimeColumn,
    pub(crate) host: Option<String>,
    pub(crate) labels: Vec<String>,
    pub(crate) metric: Option<String>,
    pub(crate) value: Option<String>,
    pub(crate) counter: Vec<Regex>,
    pub(crate) drop: Vec<Regex>,
    pub(crate) skip: Vec<Regex>,
    pub(crate) units: Vec<(Regex, Unit)>,
    /// The first row is no measurement.
    pub(crate) first_is_none: bool,
    /// The last column may have blanks in it.
    pub(crate) last_is_rest: bool,
    /// Unsigned numbers of Parquet count up.
    pub(crate) unsigned_counts: bool,
    /// Columns of Parquet say in their descriptions what they are.
    pub(crate) described: bool,
}

impl Preset {
    /// Those that come with the program.
    pub fn all() -> Vec<Preset> {
        OWN.iter().filter_map(|(name, text)| Preset::parse(name, text).ok()).collect()
    }

    /// One that comes with the program, or that of a file.
    ///
    /// # Errors
    /// In words, with the line of a file.
    pub fn named(name: &str) -> Result<Preset, String> {
        if let Some(preset) = Preset::all().into_iter().find(|preset| preset.name == name) {
            return Ok(preset);
        }
        if !name.contains(['/', '.']) {
            let names: Vec<&str> = OWN.iter().map(|(name, _)| *name).collect();
            return Err(format!("no preset {name}: they are {}, or the path of a file", names.join(", ")));
        }
        let text = files::foreign::text(std::path::Path::new(name)).map_err(|why| format!("{name}: {why}"))?;
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
        Preset::parse(&stem, &text).map_err(|why| format!("{name}: {why}"))
    }

    fn parse(name: &str, text: &str) -> Result<Preset, String> {
        let mut preset = Preset { name: name.to_owned(), table: name.to_owned(), ..Preset::default() };
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let Some((key, value)) = line.split_once(" = ") else {
                return Err(format!("line {number}: no KEY = VALUE"));
            };
            preset.set(key.trim(), value.trim()).map_err(|why| format!("line {number}: {why}"))?;
        }
        Ok(preset)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let regex = |text: &str| Regex::new(text).map_err(|why| format!("{text}: {why}"));
        let words = || value.split_whitespace().map(str::to_owned);
        match key {
            "about" => self.about = value.to_owned(),
            "header" => self.header = words().collect(),
            "table" => self.table = value.to_owned(),
            "time" => {
                self.time = match value {
                    "first" => TimeColumn::First,
                    "last" => TimeColumn::Last,
                    name => TimeColumn::Named(name.to_owned()),
                }
            }
            "host" => self.host = Some(value.to_owned()),
            "label" => self.labels.extend(words()),
            "metric" => self.metric = Some(value.to_owned()),
            "value" => self.value = Some(value.to_owned()),
            "counter" => self.counter.push(regex(value)?),
            "drop" => self.drop.push(regex(value)?),
            "skip" => self.skip.push(regex(value)?),
            "first" if value == "drop" => self.first_is_none = true,
            "last" if value == "rest" => self.last_is_rest = true,
            "unsigned" if value == "counters" => self.unsigned_counts = true,
            "described" if value == "yes" => self.described = true,
            "unit" => {
                let (pattern, word) = value.rsplit_once(' ').ok_or("unit = REGEX UNIT")?;
                self.units.push((regex(pattern.trim())?, super::units::of_word(word).unit));
            }
            _ => return Err(format!("{key} = {value} is nothing that a preset can say")),
        }
        Ok(())
    }

    /// Whether a header has the columns by which such a table is known.
    pub(crate) fn knows(&self, header: &[String]) -> bool {
        !self.header.is_empty() && self.header.iter().all(|name| header.iter().any(|own| own == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_the_program_are_sound_and_others_are_told_what_is_wrong() {
        assert_eq!(Preset::all().len(), OWN.len());
        assert!(Preset::all().iter().all(|preset| !preset.about.is_empty() && !preset.header.is_empty()));
        assert!(Preset::named("nothing").unwrap_err().contains("they are perfspect, pidstat"));
        assert_eq!(Preset::parse("x", "a").unwrap_err(), "line 1: no KEY = VALUE");
        assert!(Preset::parse("x", "\nskip = (").unwrap_err().starts_with("line 2: (: "));
        assert!(Preset::parse("x", "colour = red").unwrap_err().contains("nothing that a preset can say"));
    }
}
