//! Which version of the JDK a JVM is of.

use super::tables::Tables;
use crate::memory::{Memory, Trouble};

/// A version: 17.0.15 has feature 17, update 15.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Version {
    pub feature: u32,
    /// `None` where the JVM does not say (8).
    pub update: Option<u32>,
    /// In its own words, such as `17.0.15+6-Debian-1deb12u1`; of 8 it is that of HotSpot.
    pub release: Option<String>,
}

impl Version {
    pub(super) fn read(memory: &impl Memory, tables: &Tables) -> Result<Option<Self>, Trouble> {
        let owners = |field: &'static str| ["Abstract_VM_Version", "VM_Version"].map(|owner| (owner, field));
        let number = |place: Option<u64>| -> Result<Option<u32>, Trouble> {
            place.map_or(Ok(None), |place| Ok(memory.word(place)?.map(|word| word as u32)))
        };
        // HotSpot of JDK 8 calls itself 25: only that of the JDK is the one that is meant. 25 has no such structure any more.
        let jdk = tables.address(&[("JDK_Version", "_current")]).zip(tables.offset(&[("JDK_Version", "_major")]));
        let jdk = number(jdk.map(|(current, major)| current.wrapping_add(major)))?.map(|word| word & 0xff);
        let hotspot = number(tables.address(&owners("_vm_major_version")))?;
        let Some(feature) = jdk.filter(|&major| major != 0).or(hotspot) else { return Ok(None) };
        let update = number(tables.address(&owners("_vm_security_version")))?;
        let release = match tables.address(&owners("_s_vm_release")) {
            Some(place) => memory.word(place)?.map_or(Ok(None), |text| memory.text(text))?,
            None => None,
        };
        let release = release.filter(|text| !text.is_empty() && !text.chars().any(char::is_control));
        Ok(Some(Version { feature, update, release }))
    }
}

/// Whether a version of OpenJDK has the fix of JDK-8180450 ("secondary_super_cache does not scale well"): a table of hashes in place of the one word that
/// remembers the last interface asked for. `None` where that is not known.
///
/// Fixed in 23 (openjdk/jdk pull 18309, b19). In 21 since 21.0.8 (openjdk/jdk21u-dev pull 1090, integrated; listed in the notes of 21.0.8+9; 21.0.8 was seen
/// to stay silent, and to have the flag). 22 never had it (openjdk/jdk22u pull 166 was closed without being integrated), nor had 9 to 16 and 18 to 20, which
/// had ended. No backport to 17 was found; 17.0.9 and 17.0.15 were seen without. 8 and 11 are maintained by several, and not known.
pub(crate) fn has_fix_of_8180450(version: &Version) -> Option<bool> {
    match (version.feature, version.update) {
        (23.., _) => Some(true),
        (21, update) => update.map(|update| update >= 8),
        (17, Some(0..=15)) | (9 | 10 | 12..=16 | 18..=20 | 22, _) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_versions_have_the_fix() {
        let of = |feature, update| has_fix_of_8180450(&Version { feature, update, release: None });
        assert_eq!((of(25, Some(3)), of(23, None), of(22, Some(2))), (Some(true), Some(true), Some(false)));
        assert_eq!((of(21, Some(8)), of(21, Some(7)), of(21, None)), (Some(true), Some(false), None));
        assert_eq!(
            (of(17, Some(15)), of(17, Some(40)), of(11, Some(30)), of(8, None)),
            (Some(false), None, None, None)
        );
    }
}
