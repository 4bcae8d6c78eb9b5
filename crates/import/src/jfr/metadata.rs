//! What the metadata of a chunk say: the classes that its events and constants are of, with their fields.

use super::number::Numbers;
use crate::bytes::Bytes;
use std::collections::HashMap;

/// No more bytes, elements and texts than this: the metadata of JDK 25 have 150 KB and 8,000 elements.
const MOST_BYTES: usize = 16 << 20;
const MOST: usize = 200_000;

/// Elements lie in each other no deeper: a value of an annotation of a field of a class of the metadata is the sixth.
const DEEPEST: usize = 12;

/// A class whose fields, with those of classes in it, are more than this is none that anybody writes.
const MOST_FIELDS: usize = 4096;

/// What a field holds. Classes are by their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Byte,
    Char,
    Short,
    Int,
    Long,
    Float,
    Double,
    Text,
    Constant(usize),
    Struct(usize),
    /// A class that is not there: nothing after it can be read.
    Unknown,
}

/// What the number of a field counts, where that is time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    Ticks,
    /// So many nanoseconds.
    Nanoseconds(i64),
}

#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) list: bool,
    pub(super) span: Option<Span>,
}

#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) fields: Vec<Field>,
    /// Whether values of it can be read: all classes of its fields are there, and it does not hold itself.
    pub(super) sound: bool,
}

#[derive(Debug, Default)]
pub(super) struct Types {
    pub(super) classes: Vec<Class>,
    places: HashMap<i64, usize>,
}

struct Element<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
    children: Vec<Element<'a>>,
}

impl<'a> Element<'a> {
    fn attribute(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.attribute(name)?.parse().ok()
    }

    fn is(&self, name: &str) -> bool {
        self.attribute(name) == Some("true")
    }
}

impl Types {
    /// Reads the fields of an event of metadata.
    ///
    /// # Errors
    /// That it is damaged.
    pub(super) fn parse(fields: &[u8]) -> Result<Types, String> {
        if fields.len() > MOST_BYTES {
            return Err("the metadata of a chunk are too large".into());
        }
        let mut rest = Bytes(fields);
        let texts = texts(&mut rest).ok_or("the metadata of a chunk are damaged")?;
        let mut left = MOST;
        let root = element(&mut rest, &texts, 0, &mut left).ok_or("the metadata of a chunk are damaged")?;
        let metadata = root.children.iter().find(|child| child.name == "metadata");
        let classes: Vec<&Element> = metadata
            .into_iter()
            .flat_map(|m| &m.children)
            .filter(|c| c.name == "class" && c.number("id").is_some())
            .collect();
        let places: HashMap<i64, usize> =
            classes.iter().enumerate().filter_map(|(at, class)| Some((class.number("id")?, at))).collect();
        let names: HashMap<i64, &str> =
            classes.iter().filter_map(|class| Some((class.number("id")?, class.attribute("name")?))).collect();
        let class = |element: &&Element| Class {
            name: element.attribute("name").unwrap_or_default().to_owned(),
            fields: element.children.iter().filter(|c| c.name == "field").map(|f| field(f, &places, &names)).collect(),
            sound: false,
        };
        let mut types = Types { classes: classes.iter().map(class).collect(), places };
        let mut known: Vec<Option<usize>> = vec![None; types.classes.len()];
        for at in 0..types.classes.len() {
            let size = types.size(at, 0, &mut known);
            if let Some(class) = types.classes.get_mut(at) {
                class.sound = size.is_some();
            }
        }
        Ok(types)
    }

    /// How many fields a value of a class has in all, with those of classes in it. `None` where it cannot be read.
    fn size(&self, at: usize, depth: usize, known: &mut Vec<Option<usize>>) -> Option<usize> {
        if let Some(size) = known.get(at).copied().flatten() {
            return Some(size);
        }
        if depth > DEEPEST {
            return None;
        }
        let mut all = 0;
        for field in &self.classes.get(at)?.fields {
            all += match field.kind {
                Kind::Unknown => return None,
                // One that takes no byte could be there as often as anybody says.
                Kind::Struct(of) => self.size(of, depth + 1, known).filter(|size| *size > 0)?,
                _ => 1,
            };
            if all > MOST_FIELDS {
                return None;
            }
        }
        if let Some(slot) = known.get_mut(at) {
            *slot = Some(all);
        }
        Some(all)
    }

    /// The place of the class of a number.
    pub(super) fn by_id(&self, id: i64) -> Option<usize> {
        self.places.get(&id).copied()
    }

    /// The place of the class of a name.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.classes.iter().position(|class| class.name == name)
    }
}

fn field(element: &Element, places: &HashMap<i64, usize>, names: &HashMap<i64, &str>) -> Field {
    let class = element.number("class").unwrap_or(-1);
    let kind = match (names.get(&class).copied(), places.get(&class)) {
        _ if element.is("constantPool") => places.get(&class).map_or(Kind::Unknown, |at| Kind::Constant(*at)),
        (Some("boolean" | "byte"), _) => Kind::Byte,
        (Some("char"), _) => Kind::Char,
        (Some("short"), _) => Kind::Short,
        (Some("int"), _) => Kind::Int,
        (Some("long"), _) => Kind::Long,
        (Some("float"), _) => Kind::Float,
        (Some("double"), _) => Kind::Double,
        (Some("java.lang.String"), _) => Kind::Text,
        (_, Some(at)) => Kind::Struct(*at),
        (_, None) => Kind::Unknown,
    };
    let annotation = |of: &str| {
        let is = |child: &&Element| {
            child.name == "annotation" && child.number("class").and_then(|id| names.get(&id).copied()) == Some(of)
        };
        element.children.iter().find(is).and_then(|child| child.attribute("value"))
    };
    let span = annotation("jdk.jfr.Timespan").map(|unit| match unit {
        "NANOSECONDS" => Span::Nanoseconds(1),
        "MICROSECONDS" => Span::Nanoseconds(1000),
        "MILLISECONDS" => Span::Nanoseconds(1_000_000),
        "SECONDS" => Span::Nanoseconds(1_000_000_000),
        _ => Span::Ticks,
    });
    let list = element.attribute("dimension").is_some_and(|n| n != "0");
    Field { name: element.attribute("name").unwrap_or_default().to_owned(), kind, list, span }
}

fn texts(rest: &mut Bytes) -> Option<Vec<String>> {
    // When, how long, and the number of the metadata.
    for _ in 0..3 {
        rest.number()?;
    }
    let count = usize::try_from(rest.number()?).ok().filter(|n| *n <= MOST)?;
    let mut texts = Vec::new();
    for _ in 0..count {
        let text = match *rest.take(1)?.first()? {
            0 | 1 => String::new(),
            3 => {
                let length = usize::try_from(rest.number()?).ok()?;
                String::from_utf8_lossy(rest.take(length)?).into_owned()
            }
            4 => {
                let length = usize::try_from(rest.number()?).ok().filter(|n| *n <= rest.0.len())?;
                let chars: Option<Vec<u16>> = (0..length).map(|_| rest.number().map(|n| n as u16)).collect();
                String::from_utf16_lossy(&chars?)
            }
            5 => {
                let length = usize::try_from(rest.number()?).ok()?;
                rest.take(length)?.iter().map(|b| char::from(*b)).collect()
            }
            _ => return None,
        };
        texts.push(text);
    }
    Some(texts)
}

fn element<'a>(rest: &mut Bytes, texts: &'a [String], depth: usize, left: &mut usize) -> Option<Element<'a>> {
    *left = left.checked_sub(1)?;
    if depth > DEEPEST {
        return None;
    }
    let text = |rest: &mut Bytes| texts.get(usize::try_from(rest.number()?).ok()?).map(String::as_str);
    let name = text(rest)?;
    let mut attributes = Vec::new();
    for _ in 0..rest.number()? {
        *left = left.checked_sub(1)?;
        attributes.push((text(rest)?, text(rest)?));
    }
    let mut children = Vec::new();
    for _ in 0..rest.number()? {
        children.push(element(rest, texts, depth + 1, left)?);
    }
    Some(Element { name, attributes, children })
}
