//! Types as debug information describes them: names as written in the language, sizes, the members that lie in a range, and the pointers in them.

use super::Member;
use super::debug::{DEEPEST, Debug, Die, Entry, Tree};
use addr2line::gimli;
use gimli::AttributeValue;
use std::ops::Range;
use std::sync::{Arc, PoisonError};

/// The most members that are told, and pointers that are looked at, of one thing.
const MOST: usize = 256;
const MOST_POINTERS: usize = 64;

/// What the members of one thing are told of.
struct Walk<'a> {
    range: &'a Range<u64>,
    out: Vec<Member>,
    /// Entries that may still be visited.
    left: u32,
}

impl Debug {
    /// A type without its qualifiers and other names.
    pub(super) fn peel(&self, die: Die) -> Option<Entry> {
        let mut entry = self.entry(die)?;
        for _ in 0..DEEPEST {
            match entry.tree.tag() {
                gimli::DW_TAG_typedef
                | gimli::DW_TAG_const_type
                | gimli::DW_TAG_volatile_type
                | gimli::DW_TAG_restrict_type
                | gimli::DW_TAG_atomic_type
                | gimli::DW_TAG_immutable_type
                | gimli::DW_TAG_template_alias
                | gimli::DW_TAG_packed_type => entry = self.entry(self.type_of(&entry)?)?,
                _ => return Some(self.complete(entry)),
            }
        }
        None
    }

    /// The definition of what is only declared.
    fn complete(&self, entry: Entry) -> Entry {
        if !is_structure(&entry.tree) || !entry.tree.has_attr(gimli::DW_AT_declaration) {
            return entry;
        }
        let by_signature = entry.value(gimli::DW_AT_signature).and_then(|signature| self.follow(entry.die, &signature));
        let by_name = || self.definition(&self.text(&entry, gimli::DW_AT_name)?);
        by_signature.or_else(by_name).and_then(|die| self.entry(die)).unwrap_or(entry)
    }

    /// Bytes that something of a type takes.
    pub(super) fn size_of(&self, die: Die) -> Option<u64> {
        self.size(die, DEEPEST)
    }

    fn size(&self, die: Die, depth: u32) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        let entry = self.peel(die)?;
        if let Some(size) = entry.number(gimli::DW_AT_byte_size) {
            return Some(size);
        }
        match entry.tree.tag() {
            gimli::DW_TAG_array_type => {
                let element = self.size(self.type_of(&entry)?, depth)?;
                self.dimensions(&entry)?.iter().try_fold(element, |size, &count| size.checked_mul(count))
            }
            gimli::DW_TAG_enumeration_type => self.size(self.type_of(&entry)?, depth),
            tag if is_pointer(tag) => Some(8),
            _ => None,
        }
    }

    /// How many elements an array has, in each dimension.
    fn dimensions(&self, array: &Entry) -> Option<Vec<u64>> {
        let mut found = Vec::new();
        for child in self.children(array) {
            if child.tree.tag() != gimli::DW_TAG_subrange_type || found.len() >= 8 {
                continue;
            }
            let count = child.number(gimli::DW_AT_count).or_else(|| {
                let last = child.value(gimli::DW_AT_upper_bound)?.sdata_value()?;
                let first = child.value(gimli::DW_AT_lower_bound).and_then(|v| v.sdata_value()).unwrap_or(0);
                u64::try_from(last.checked_sub(first)?.checked_add(1)?).ok()
            });
            found.push(count?);
        }
        (!found.is_empty()).then_some(found)
    }

    /// The entries right below one.
    pub(super) fn children(&self, of: &Entry) -> Vec<Entry> {
        let mut found = Vec::new();
        let Ok(mut entries) = of.parsed.unit.entries_at_offset(of.tree.offset()) else { return found };
        if !matches!(entries.next_dfs(), Ok(Some(_))) || !of.tree.has_children() {
            return found;
        }
        let mut next = entries.next_entry().ok().filter(|&more| more).and_then(|_| entries.current().cloned());
        while let Some(tree) = next {
            if found.len() >= 10_000 {
                break;
            }
            let die = Die { at: tree.offset().0, ..of.die };
            found.push(Entry { die, parsed: Arc::clone(&of.parsed), tree });
            next = entries.next_sibling().ok().flatten().cloned();
        }
        found
    }

    /// What a type is called.
    pub(super) fn name_of(&self, die: Die) -> String {
        self.name(die, DEEPEST).unwrap_or_else(|| "?".into())
    }

    fn name(&self, die: Die, depth: u32) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let entry = self.entry(die)?;
        let target = || match self.type_of(&entry) {
            Some(of) => self.name(of, depth),
            None => Some("void".into()),
        };
        let tag = entry.tree.tag();
        if entry.tree.has_attr(gimli::DW_AT_name) && tag != gimli::DW_TAG_array_type {
            return self.qualified(&entry);
        }
        match tag {
            gimli::DW_TAG_pointer_type => match target()? {
                // A pointer to a function has its star within.
                of if of.ends_with(')') => Some(of.replacen("(", "(*)(", 1)),
                of if of.ends_with('*') => Some(format!("{of}*")),
                of => Some(format!("{of} *")),
            },
            gimli::DW_TAG_reference_type => Some(format!("{} &", target()?)),
            gimli::DW_TAG_rvalue_reference_type => Some(format!("{} &&", target()?)),
            gimli::DW_TAG_array_type => {
                let counts = self.dimensions(&entry).unwrap_or_default();
                let counts: String = counts.iter().map(|count| format!("[{count}]")).collect();
                Some(format!("{}{}", target()?, if counts.is_empty() { "[]" } else { &counts }))
            }
            gimli::DW_TAG_subroutine_type => Some(format!("{} ()", target()?)),
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => Some("struct".into()),
            gimli::DW_TAG_union_type => Some("union".into()),
            gimli::DW_TAG_enumeration_type => Some("enum".into()),
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type
            | gimli::DW_TAG_immutable_type => target(),
            _ => None,
        }
    }

    /// The name of an entry with the namespaces and types that it lies in; in C with `struct` before it.
    fn qualified(&self, entry: &Entry) -> Option<String> {
        let known = self.names.lock().unwrap_or_else(PoisonError::into_inner).get(&entry.die).cloned();
        if let Some(known) = known {
            return Some(known.to_string());
        }
        let name = self.text(entry, gimli::DW_AT_name)?;
        let name = match (entry.tree.tag(), entry.parsed.language) {
            (gimli::DW_TAG_base_type, _) | (_, gimli::DW_LANG_Go) => name,
            (tag, language) if is_c(language) => match tag {
                gimli::DW_TAG_structure_type => format!("struct {name}"),
                gimli::DW_TAG_union_type => format!("union {name}"),
                gimli::DW_TAG_enumeration_type => format!("enum {name}"),
                _ => name,
            },
            // Of pointers it is the whole name already.
            (tag, _) if is_pointer(tag) => name,
            _ => match self.around(entry) {
                Some(around) => format!("{around}{name}"),
                None => name,
            },
        };
        self.names.lock().unwrap_or_else(PoisonError::into_inner).insert(entry.die, name.as_str().into());
        Some(name)
    }

    /// The namespaces and types that an entry lies in, each with `::` after it.
    fn around(&self, entry: &Entry) -> Option<String> {
        let unit = &entry.parsed.unit;
        let mut entries = unit.entries_raw(None).ok()?;
        let mut tree = Tree::default();
        // Depth and place of what is open.
        let mut open: Vec<(isize, Die)> = Vec::new();
        while !entries.is_empty() {
            let at = entries.next_offset();
            let depth = entries.next_depth();
            while open.last().is_some_and(|&(of, _)| of >= depth) {
                open.pop();
            }
            if at.0 >= entry.die.at {
                break;
            }
            if !entries.read_entry(&mut tree).ok()? {
                continue;
            }
            if tree.has_children() {
                open.push((depth, Die { at: at.0, ..entry.die }));
            }
        }
        let mut around = String::new();
        for (_, die) in open {
            let outer = self.entry(die)?;
            let is_scope = outer.tree.tag() == gimli::DW_TAG_namespace || is_structure(&outer.tree);
            if let Some(name) = self.text(&outer, gimli::DW_AT_name).filter(|_| is_scope) {
                around.push_str(&name);
                around.push_str("::");
            }
        }
        Some(around)
    }

    /// The type that a pointer or reference leads to.
    pub(super) fn pointee(&self, die: Die) -> Option<Die> {
        let entry = self.peel(die)?;
        is_pointer(entry.tree.tag()).then(|| self.type_of(&entry)).flatten()
    }

    /// The pointers in a type: where each lies in it, what it leads to, and what it is called there.
    pub(super) fn pointers(&self, die: Die) -> Vec<(u64, Die, String)> {
        let mut found = Vec::new();
        let mut left = 2000;
        self.find_pointers(die, 0, "", &mut found, &mut left, DEEPEST);
        found
    }

    fn find_pointers(
        &self,
        die: Die,
        offset: u64,
        path: &str,
        found: &mut Vec<(u64, Die, String)>,
        left: &mut u32,
        depth: u32,
    ) {
        let Some(depth) = depth.checked_sub(1).filter(|_| found.len() < MOST_POINTERS && *left > 0) else { return };
        *left -= 1;
        let Some(entry) = self.peel(die) else { return };
        if is_pointer(entry.tree.tag()) {
            if let Some(target) = self.type_of(&entry) {
                found.push((offset, target, path.to_owned()));
            }
        } else if is_structure(&entry.tree) {
            for child in self.children(&entry) {
                let inner = match child.tree.tag() {
                    gimli::DW_TAG_member | gimli::DW_TAG_inheritance => child,
                    _ => continue,
                };
                let (Some(of), Some((at, _))) = (self.type_of(&inner), self.place(&inner)) else { continue };
                let path = self.joined(path, &inner);
                self.find_pointers(of, offset.saturating_add(at), &path, found, left, depth);
            }
        }
    }

    /// Where a member lies in its structure, and its size if it is a bit field.
    fn place(&self, member: &Entry) -> Option<(u64, Option<u64>)> {
        if member.tree.has_attr(gimli::DW_AT_external) || member.tree.has_attr(gimli::DW_AT_declaration) {
            return None;
        }
        if let (Some(bit), Some(bits)) =
            (member.number(gimli::DW_AT_data_bit_offset), member.number(gimli::DW_AT_bit_size))
        {
            return Some((bit / 8, Some((bit % 8).saturating_add(bits).div_ceil(8))));
        }
        let place = match member.value(gimli::DW_AT_data_member_location) {
            // All of a union, and what begins at 0 in old debug information.
            None => 0,
            Some(AttributeValue::Exprloc(expression)) => {
                let mut steps = expression.operations(member.parsed.unit.encoding());
                match (steps.next().ok()??, steps.next().ok()?) {
                    (gimli::Operation::PlusConstant { value }, None) => value,
                    // A virtual base: where it lies, the object itself says.
                    _ => return None,
                }
            }
            Some(value) => value.udata_value()?,
        };
        let storage = member.number(gimli::DW_AT_byte_size).filter(|_| member.tree.has_attr(gimli::DW_AT_bit_size));
        Some((place, storage))
    }

    /// The path of a member: what has no name, as a base class, adds nothing.
    fn joined(&self, path: &str, member: &Entry) -> String {
        let inherits = member.tree.tag() == gimli::DW_TAG_inheritance;
        match self.text(member, gimli::DW_AT_name).filter(|_| !inherits) {
            None => path.to_owned(),
            Some(name) => {
                // Fields of Rust's tuples are called `__0`.
                let number = name.strip_prefix("__").filter(|n| n.bytes().all(|b| b.is_ascii_digit()) && !n.is_empty());
                let name = number.unwrap_or(&name);
                if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
            }
        }
    }

    /// The members of something of a type that lie in a range of it, in their order. `path` is what it is called.
    pub(super) fn members(&self, die: Die, range: &Range<u64>, path: &str) -> Vec<Member> {
        let mut walk = Walk { range, out: Vec::new(), left: 5000 };
        self.walk(die, 0, None, path, &mut walk, DEEPEST);
        walk.out.sort_by_key(|member| (member.offset, member.size));
        walk.out
    }

    /// The members of those of an array's elements, from a pointer to its first one, that lie in a range.
    pub(super) fn elements(&self, die: Die, range: &Range<u64>, path: &str) -> Vec<Member> {
        let mut walk = Walk { range, out: Vec::new(), left: 5000 };
        if let Some(size) = self.size_of(die).filter(|&size| size > 0) {
            self.walk_elements(die, 0, size, u64::MAX, path, &mut walk, DEEPEST);
        }
        walk.out.sort_by_key(|member| (member.offset, member.size));
        walk.out
    }

    #[allow(clippy::too_many_arguments)]
    fn walk_elements(&self, of: Die, offset: u64, size: u64, count: u64, path: &str, walk: &mut Walk<'_>, depth: u32) {
        let first = walk.range.start.saturating_sub(offset) / size;
        let end = walk.range.end.saturating_sub(offset).div_ceil(size).min(count);
        for number in first..end.max(first) {
            if walk.out.len() >= MOST {
                return;
            }
            let at = offset.saturating_add(number.saturating_mul(size));
            self.walk(of, at, None, &format!("{path}[{number}]"), walk, depth);
        }
    }

    fn walk(&self, die: Die, offset: u64, size: Option<u64>, path: &str, walk: &mut Walk<'_>, depth: u32) {
        let Some(depth) = depth.checked_sub(1).filter(|_| walk.out.len() < MOST && walk.left > 0) else { return };
        walk.left -= 1;
        let Some(entry) = self.peel(die) else { return };
        let Some(length) = size.or_else(|| self.size_of(die)) else { return };
        if length == 0 || offset >= walk.range.end || offset.saturating_add(length) <= walk.range.start {
            return;
        }
        let padding = path.rsplit('.').next() == Some("_");
        match entry.tree.tag() {
            gimli::DW_TAG_array_type if !padding => {
                let element = self.type_of(&entry);
                let parts = element.and_then(|e| Some((e, self.size_of(e)?, self.dimensions(&entry)?)));
                if let Some((element, element_size, counts)) = parts.filter(|(_, size, _)| *size > 0) {
                    return self.walk_array(element, element_size, &counts, offset, path, walk, depth);
                }
            }
            _ if is_structure(&entry.tree) && !padding && !self.is_atomic(&entry) => {
                let children = self.children(&entry);
                let is_member = |e: &&Entry| matches!(e.tree.tag(), gimli::DW_TAG_member | gimli::DW_TAG_inheritance);
                // Which of an enumeration's variants it is, its content decides.
                let is_open = !children.iter().any(|e| e.tree.tag() == gimli::DW_TAG_variant_part);
                if is_open && children.iter().any(|e| is_member(&e)) {
                    for child in children.iter().filter(is_member) {
                        let (Some(of), Some((at, size))) = (self.type_of(child), self.place(child)) else { continue };
                        let path = self.joined(path, child);
                        self.walk(of, offset.saturating_add(at), size, &path, walk, depth);
                    }
                    return;
                }
            }
            _ => {}
        }
        walk.out.push(Member { offset, size: length, path: path.to_owned(), of_type: self.name_of(die) });
    }

    #[allow(clippy::too_many_arguments)]
    fn walk_array(
        &self,
        element: Die,
        size: u64,
        counts: &[u64],
        offset: u64,
        path: &str,
        walk: &mut Walk<'_>,
        depth: u32,
    ) {
        let Some((&count, inner)) = counts.split_first() else { return };
        if inner.is_empty() {
            return self.walk_elements(element, offset, size, count, path, walk, depth);
        }
        let Some(row) = inner.iter().try_fold(size, |size, &n| size.checked_mul(n)).filter(|&row| row > 0) else {
            return;
        };
        let first = walk.range.start.saturating_sub(offset) / row;
        let end = walk.range.end.saturating_sub(offset).div_ceil(row).min(count);
        for number in first..end.max(first) {
            if walk.out.len() >= MOST {
                return;
            }
            let at = offset.saturating_add(number.saturating_mul(row));
            self.walk_array(element, size, inner, at, &format!("{path}[{number}]"), walk, depth);
        }
    }

    /// Whether a structure is one number that the language's library wraps for atomic access.
    fn is_atomic(&self, entry: &Entry) -> bool {
        let name = entry.tree.has_attr(gimli::DW_AT_name).then(|| self.qualified(entry)).flatten().unwrap_or_default();
        let starts = [
            "std::atomic<",
            "std::__1::atomic<",
            "std::__atomic_base<",
            "core::sync::atomic::Atomic",
            "sync/atomic.",
            "internal/runtime/atomic.",
        ];
        starts.iter().any(|start| name.starts_with(start))
    }
}

pub(super) fn is_structure(tree: &Tree) -> bool {
    matches!(
        tree.tag(),
        gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_interface_type
    )
}

fn is_pointer(tag: gimli::DwTag) -> bool {
    matches!(tag, gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type)
}

fn is_c(language: gimli::DwLang) -> bool {
    matches!(
        language,
        gimli::DW_LANG_C | gimli::DW_LANG_C89 | gimli::DW_LANG_C99 | gimli::DW_LANG_C11 | gimli::DW_LANG_C17
    )
}
