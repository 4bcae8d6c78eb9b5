//! Names read back from a recording live as long as the program, like the names the sources declare, so that
//! one `Table` type serves both. Equal names are stored once; a program opens few recordings with few names.

use std::collections::HashSet;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The one copy of `name` that lives for the rest of the program.
pub fn intern(name: &str) -> &'static str {
    static NAMES: OnceLock<Mutex<HashSet<&'static str>>> = OnceLock::new();
    let mut names = NAMES.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::intern;

    #[test]
    fn equal_names_are_one() {
        let built = String::from("cp") + "u";
        assert!(std::ptr::eq(intern("cpu"), intern(&built)));
    }
}
