//! The debug information of a file as the search for data needs it: its units, each read when something of it is asked for, and an index of what has a fixed
//! address: variables, and the code of units.
//!
//! All of it was written by others. Nothing here follows a reference deeper than [`DEEPEST`], and who asks does so within [`guarded`].

use crate::stacks::symbols::{Bytes, NoDwarf, whole};
use addr2line::gimli;
use gimli::{AttributeValue, DebuggingInformationEntry, Operation, UnitOffset, UnitType};
use host::Host;
use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The most debug information of one file that is read, bytes.
pub(super) const LARGEST: u64 = 512 << 20;

/// References from type to type that are followed.
pub(super) const DEEPEST: u32 = 32;

/// So long is looked for the variables of a file.
const LONGEST: Duration = Duration::from_secs(10);

/// The most variables of a file.
const MOST: usize = 4_000_000;

pub(super) type Tree = DebuggingInformationEntry<Bytes>;
pub(super) type Unit = gimli::Unit<Bytes>;

/// Runs what reads foreign debug information: should that panic, it said nothing.
pub(super) fn guarded<T>(run: impl FnOnce() -> Option<T>) -> Option<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).ok().flatten()
}

/// An entry by its place: in which file, unit and where in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Die {
    /// In the file that several debug files share.
    pub extra: bool,
    pub unit: u32,
    pub at: usize,
}

/// A unit that was read.
pub(super) struct Parsed {
    pub unit: Unit,
    pub language: gimli::DwLang,
}

/// An entry that was read.
pub(super) struct Entry {
    pub die: Die,
    pub parsed: Arc<Parsed>,
    pub tree: Tree,
}

impl Entry {
    pub(super) fn value(&self, name: gimli::DwAt) -> Option<AttributeValue<Bytes>> {
        self.tree.attr_value(name)
    }

    pub(super) fn number(&self, name: gimli::DwAt) -> Option<u64> {
        self.value(name)?.udata_value()
    }
}

/// One file's entries.
struct Half {
    dwarf: gimli::Dwarf<Bytes>,
    /// Ascending by place, those of `.debug_types` after the others.
    headers: Vec<gimli::UnitHeader<Bytes>>,
    units: Mutex<HashMap<u32, Option<Arc<Parsed>>>>,
    /// Units of single types, by signature.
    types: HashMap<u64, Die>,
}

impl Half {
    fn new(dwarf: gimli::Dwarf<Bytes>, extra: bool) -> Self {
        let mut headers = Vec::new();
        let mut units = dwarf.units();
        while let Ok(Some(header)) = units.next() {
            headers.push(header);
        }
        let mut units = dwarf.type_units();
        while let Ok(Some(header)) = units.next() {
            headers.push(header);
        }
        let mut types = HashMap::new();
        for (unit, header) in headers.iter().enumerate() {
            if let UnitType::Type { type_signature, type_offset } = header.type_() {
                types.insert(type_signature.0, Die { extra, unit: unit as u32, at: type_offset.0 });
            }
        }
        Half { dwarf, headers, units: Mutex::default(), types }
    }

    fn parse(&self, number: u32) -> Option<Parsed> {
        let header = self.headers.get(number as usize)?;
        let unit = self.dwarf.unit(header.clone()).ok()?;
        let language = unit.entry(unit.header.root_offset()).ok()?.attr_value(gimli::DW_AT_language);
        let language = match language {
            Some(AttributeValue::Language(language)) => language,
            _ => gimli::DW_LANG_C,
        };
        Some(Parsed { unit, language })
    }

    /// The unit that holds a place of `.debug_info`.
    fn unit_at(&self, offset: usize) -> Option<(u32, usize)> {
        let start = |header: &gimli::UnitHeader<Bytes>| header.offset().0;
        let at = self.headers.partition_point(|header| start(header) <= offset).checked_sub(1)?;
        Some((at as u32, offset - start(self.headers.get(at)?)))
    }
}

/// What has a fixed address.
#[derive(Default)]
pub(super) struct Index {
    /// Variables by address.
    pub globals: Vec<(u64, Die)>,
    /// Code, its start and end, by unit.
    code: Vec<(u64, u64, u32)>,
}

/// The debug information of a file.
pub(in crate::stacks) struct Debug {
    main: Half,
    extra: Option<Half>,
    index: OnceLock<Index>,
    /// What was asked before: qualified names of types, where types that are only declared are defined, and what is in scope at an address.
    pub(super) names: Mutex<HashMap<Die, Arc<str>>>,
    pub(super) defined: Mutex<HashMap<Arc<str>, Option<Die>>>,
    pub(super) scopes: Mutex<HashMap<u64, Option<Arc<super::scopes::Scope>>>>,
}

impl Debug {
    pub(super) fn open(host: &Host, file: &File) -> Result<Self, NoDwarf> {
        let (main, extra) = whole(host, file, LARGEST)?;
        guarded(|| Some(Self::of(main, extra))).ok_or(NoDwarf::Damaged)
    }

    pub(super) fn of(main: gimli::Dwarf<Bytes>, extra: Option<gimli::Dwarf<Bytes>>) -> Self {
        Debug {
            main: Half::new(main, false),
            extra: extra.map(|extra| Half::new(extra, true)),
            index: OnceLock::new(),
            names: Mutex::default(),
            defined: Mutex::default(),
            scopes: Mutex::default(),
        }
    }

    fn half(&self, extra: bool) -> Option<&Half> {
        if extra { self.extra.as_ref() } else { Some(&self.main) }
    }

    pub(super) fn dwarf(&self, extra: bool) -> Option<&gimli::Dwarf<Bytes>> {
        self.half(extra).map(|half| &half.dwarf)
    }

    /// The unit of an entry.
    pub(super) fn parsed(&self, die: Die) -> Option<Arc<Parsed>> {
        let half = self.half(die.extra)?;
        let known = half.units.lock().unwrap_or_else(PoisonError::into_inner).get(&die.unit).cloned();
        if let Some(known) = known {
            return known;
        }
        let parsed = half.parse(die.unit).map(Arc::new);
        half.units.lock().unwrap_or_else(PoisonError::into_inner).insert(die.unit, parsed.clone());
        parsed
    }

    pub(super) fn entry(&self, die: Die) -> Option<Entry> {
        let parsed = self.parsed(die)?;
        let tree = parsed.unit.entry(UnitOffset(die.at)).ok()?;
        Some(Entry { die, parsed, tree })
    }

    /// The entry that an attribute of another one refers to.
    pub(super) fn follow(&self, from: Die, value: &AttributeValue<Bytes>) -> Option<Die> {
        match *value {
            AttributeValue::UnitRef(at) => Some(Die { at: at.0, ..from }),
            AttributeValue::DebugInfoRef(at) => {
                let (unit, at) = self.half(from.extra)?.unit_at(at.0)?;
                Some(Die { unit, at, ..from })
            }
            AttributeValue::DebugInfoRefSup(at) => {
                let (unit, at) = self.extra.as_ref()?.unit_at(at.0)?;
                Some(Die { extra: true, unit, at })
            }
            AttributeValue::DebugTypesRef(signature) => self.half(from.extra)?.types.get(&signature.0).copied(),
            _ => None,
        }
    }

    /// An attribute of an entry, or of what it completes: its declaration, or the function that was put into others.
    pub(super) fn inherited(&self, entry: &Entry, name: gimli::DwAt) -> Option<(Die, AttributeValue<Bytes>)> {
        if let Some(value) = entry.value(name) {
            return Some((entry.die, value));
        }
        let mut from = self.origin(entry)?;
        for _ in 0..4 {
            let entry = self.entry(from)?;
            if let Some(value) = entry.value(name) {
                return Some((from, value));
            }
            from = self.origin(&entry)?;
        }
        None
    }

    fn origin(&self, entry: &Entry) -> Option<Die> {
        let value = entry.value(gimli::DW_AT_specification).or_else(|| entry.value(gimli::DW_AT_abstract_origin))?;
        self.follow(entry.die, &value)
    }

    /// The type of a variable, member or element.
    pub(super) fn type_of(&self, entry: &Entry) -> Option<Die> {
        let (die, value) = self.inherited(entry, gimli::DW_AT_type)?;
        self.follow(die, &value)
    }

    pub(super) fn string(&self, die: Die, value: AttributeValue<Bytes>) -> Option<String> {
        let parsed = self.parsed(die)?;
        let text = self.dwarf(die.extra)?.attr_string(&parsed.unit, value).ok()?;
        let text = gimli::Reader::to_string_lossy(&text).ok()?;
        (!text.is_empty()).then(|| text.into_owned())
    }

    pub(super) fn text(&self, entry: &Entry, name: gimli::DwAt) -> Option<String> {
        let (die, value) = self.inherited(entry, name)?;
        self.string(die, value)
    }

    /// `file:line` of where something is declared.
    pub(super) fn declared(&self, entry: &Entry) -> Option<String> {
        let (die, line) = self.inherited(entry, gimli::DW_AT_decl_line)?;
        let line = line.udata_value()?;
        // The file stands beside the line.
        let (_, file) = self.inherited(&self.entry(die)?, gimli::DW_AT_decl_file)?;
        let AttributeValue::FileIndex(file) = file else { return None };
        let parsed = self.parsed(die)?;
        let header = parsed.unit.line_program.as_ref()?.header();
        let name = self.string(die, header.file(file)?.path_name())?;
        Some(format!("{}:{line}", name.rsplit('/').next()?))
    }

    /// What has a fixed address. The first call reads all entries.
    pub(super) fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut index = Index::default();
            // What was found until something was damaged counts.
            guarded(|| {
                self.fill(&mut index);
                Some(())
            });
            index.globals.sort_unstable();
            index.code.sort_unstable();
            index
        })
    }

    fn fill(&self, index: &mut Index) {
        let end = Instant::now() + LONGEST;
        for number in 0..self.main.headers.len() as u32 {
            // Not kept: most are never asked for again.
            let Some(Parsed { unit, .. }) = self.main.parse(number) else { continue };
            if let Ok(mut ranges) = self.main.dwarf.unit_ranges(&unit) {
                while let Ok(Some(range)) = ranges.next() {
                    if range.begin != 0 && range.begin < range.end && index.code.len() < MOST {
                        index.code.push((range.begin, range.end, number));
                    }
                }
            }
            // One that is damaged says nothing more.
            let _ = self.variables(&unit, number, index);
            if Instant::now() > end || index.globals.len() > MOST {
                return;
            }
        }
    }

    /// Variables of a unit.
    fn variables(&self, unit: &Unit, number: u32, index: &mut Index) -> Result<(), gimli::Error> {
        let mut entries = unit.entries_raw(None)?;
        while !entries.is_empty() {
            let at = entries.next_offset();
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            if abbreviation.tag() != gimli::DW_TAG_variable {
                entries.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            for &wanted in abbreviation.attributes() {
                let attribute = entries.read_attribute(wanted)?;
                if attribute.name() != gimli::DW_AT_location {
                    continue;
                }
                let AttributeValue::Exprloc(location) = attribute.value() else { continue };
                let die = Die { extra: false, unit: number, at: at.0 };
                index.globals.extend(self.fixed(unit, location).map(|address| (address, die)));
            }
        }
        Ok(())
    }

    /// The fixed address that an expression stands for. A variable of each thread has none.
    fn fixed(&self, unit: &Unit, location: gimli::Expression<Bytes>) -> Option<u64> {
        let mut steps = location.operations(unit.encoding());
        let mut place = match steps.next().ok()?? {
            Operation::Address { address } => address,
            Operation::AddressIndex { index } => self.main.dwarf.address(unit, index).ok()?,
            _ => return None,
        };
        while let Some(step) = steps.next().ok()? {
            match step {
                Operation::PlusConstant { value } => place = place.wrapping_add(value),
                _ => return None,
            }
        }
        Some(place).filter(|place| *place != 0)
    }

    /// The units whose code is at an address.
    pub(super) fn units_at(&self, address: u64) -> Vec<u32> {
        let code = &self.index().code;
        let below = code.partition_point(|&(start, ..)| start <= address);
        // Where ranges lie in each other, the outer one began earlier.
        let near = code.get(below.saturating_sub(64)..below).unwrap_or_default();
        let mut units: Vec<u32> = near.iter().rev().filter(|&&(_, end, _)| address < end).map(|u| u.2).collect();
        units.dedup();
        units
    }

    /// The definition of a structure that a unit only declares, by its name.
    pub(super) fn definition(&self, name: &str) -> Option<Die> {
        let known = self.defined.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied();
        if let Some(known) = known {
            return known;
        }
        let end = Instant::now() + Duration::from_secs(2);
        let mut found = None;
        for number in 0..self.main.headers.len() as u32 {
            let Some(Parsed { unit, .. }) = self.main.parse(number) else { continue };
            found = self.defined_in(&unit, number, name);
            if found.is_some() || Instant::now() > end {
                break;
            }
        }
        self.defined.lock().unwrap_or_else(PoisonError::into_inner).insert(name.into(), found);
        found
    }

    fn defined_in(&self, unit: &Unit, number: u32, name: &str) -> Option<Die> {
        let mut entries = unit.entries_raw(None).ok()?;
        let mut tree = Tree::default();
        while !entries.is_empty() {
            if !entries.read_entry(&mut tree).ok()? {
                continue;
            }
            let is_one = matches!(
                tree.tag(),
                gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type
            );
            if !is_one || tree.has_attr(gimli::DW_AT_declaration) || !tree.has_attr(gimli::DW_AT_byte_size) {
                continue;
            }
            let text = self.main.dwarf.attr_string(unit, tree.attr_value(gimli::DW_AT_name)?).ok()?;
            if gimli::Reader::to_string_lossy(&text).ok()? == name {
                return Some(Die { extra: false, unit: number, at: tree.offset().0 });
            }
        }
        None
    }

    /// The variable of an address among those of an index, whose type holds it: its address, entry and size.
    pub(super) fn variable(&self, of: &[(u64, Die)], address: u64) -> Option<(u64, Entry, u64)> {
        let mut at = of.partition_point(|&(start, _)| start <= address);
        for _ in 0..16 {
            at = at.checked_sub(1)?;
            let &(start, die) = of.get(at)?;
            let Some(entry) = self.entry(die) else { continue };
            let Some(size) = self.type_of(&entry).and_then(|of| self.size_of(of)) else { continue };
            if address - start < size {
                return Some((start, entry, size));
            }
        }
        None
    }
}

/// The part of a range within a thing, from the thing's start.
pub(super) fn within(range: &Range<u64>, start: u64) -> Range<u64> {
    range.start.saturating_sub(start)..range.end.saturating_sub(start)
}
