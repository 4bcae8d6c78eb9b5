//! Names of classes: from what a `Symbol` holds (chapter 4.2 of the JVM specification) to what a programmer would write.

/// The longest name that is kept.
const LONGEST: usize = 400;

/// The class of a name as HotSpot keeps it: `com/example/Counter` is `com.example.Counter`, `[[I` is `int[][]`. `None` for what is no name.
pub(super) fn class(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= LONGEST)?;
    let element = text.trim_start_matches('[');
    let dimensions = text.len() - element.len();
    let name = match (dimensions, element) {
        (0, name) => ordinary(name)?,
        (1..=255, name) => match name.strip_prefix('L') {
            Some(class) => ordinary(class.strip_suffix(';')?)?,
            None => primitive(name)?.to_owned(),
        },
        _ => return None,
    };
    Some(name + &"[]".repeat(dimensions))
}

/// The type that a descriptor of a field tells (chapter 4.3 of the JVM specification), and how many bytes it takes where it is not a reference.
pub(super) fn kind(descriptor: &[u8]) -> Option<(String, Option<u64>)> {
    let text = std::str::from_utf8(descriptor).ok().filter(|text| text.len() <= LONGEST)?;
    if text.starts_with('[') {
        return Some((class(descriptor)?, None));
    }
    if let Some(class) = text.strip_prefix('L') {
        return Some((ordinary(class.strip_suffix(';')?)?, None));
    }
    let bytes = match text {
        "B" | "Z" => 1,
        "C" | "S" => 2,
        "F" | "I" => 4,
        _ => 8,
    };
    Some((primitive(text)?.to_owned(), Some(bytes)))
}

/// The name of a field as HotSpot keeps it; `None` for what is no name.
pub(super) fn field(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.is_empty() && text.len() <= LONGEST)?;
    let is_part = |c: char| !c.is_control() && !c.is_whitespace() && !matches!(c, '.' | ';' | '[' | '/');
    text.chars().all(is_part).then(|| text.to_owned())
}

/// The name of a source file as a class has it; `None` for what is no name.
pub(super) fn file(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.is_empty() && text.len() <= LONGEST)?;
    let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
    (!name.is_empty() && !name.chars().any(char::is_control)).then(|| name.to_owned())
}

/// The name of a class without the numbers that those have which are made at run time: in another run it has another.
pub(super) fn alike(class: &str) -> &str {
    const MADE: [&str; 4] = [
        "$Proxy",
        "GeneratedMethodAccessor",
        "GeneratedConstructorAccessor",
        "GeneratedSerializationConstructorAccessor",
    ];
    const LAMBDA: &str = "$$Lambda";
    let unnumbered = |text: &str| text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    // Up to 8 a second number follows (`$$Lambda$1/1587487668`, `LambdaForm$MH/1587487668`), which is kept as the last part of the name.
    let class = match class.rsplit_once('.') {
        Some((rest, number)) if !number.is_empty() && unnumbered(number) == 0 => rest,
        _ => class,
    };
    let end = unnumbered(class);
    if let Some(at) = class.find(LAMBDA).filter(|at| end <= at + LAMBDA.len() + 1) {
        return class.get(..at + LAMBDA.len()).unwrap_or(class);
    }
    // `Service$$EnhancerBySpringCGLIB$$1f2e3d4c`
    if let Some((rest, hash)) = class.rsplit_once("$$")
        && rest.ends_with("CGLIB")
        && hash.bytes().all(|b| b.is_ascii_hexdigit())
    {
        return rest;
    }
    // `$Proxy12`
    class.get(..end).filter(|rest| MADE.iter().any(|made| rest.ends_with(made))).unwrap_or(class)
}

fn ordinary(name: &str) -> Option<String> {
    // Classes that are made at run time have their address behind a plus or a slash: in another run it is another.
    let made = ["+0x", "/0x"].into_iter().find_map(|by| name.split_once(by));
    let name = match made {
        Some((name, address)) if address.bytes().all(|b| b.is_ascii_hexdigit()) => name,
        _ => name,
    };
    let is_part = |part: &str| {
        !part.is_empty() && part.chars().all(|c| !c.is_control() && !c.is_whitespace() && !matches!(c, '.' | ';' | '['))
    };
    name.split('/').all(is_part).then(|| name.replace('/', "."))
}

fn primitive(letter: &str) -> Option<&'static str> {
    Some(match letter {
        "B" => "byte",
        "C" => "char",
        "D" => "double",
        "F" => "float",
        "I" => "int",
        "J" => "long",
        "S" => "short",
        "Z" => "boolean",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_those_of_the_language() {
        let of = |text: &str| class(text.as_bytes());
        for (held, written) in [
            ("com/example/Counter", "com.example.Counter"),
            ("Counter$Inner", "Counter$Inner"),
            ("Größe", "Größe"),
            ("[I", "int[]"),
            ("[[Ljava/lang/Object;", "java.lang.Object[][]"),
            ("a/B$$Lambda+0x00007f2a1c00a000", "a.B$$Lambda"),
            ("a/B$$Lambda$14/0x0000000800c03000", "a.B$$Lambda$14"),
        ] {
            assert_eq!(of(held).as_deref(), Some(written));
        }
        for no in ["", "/", "a//b", "a/", "/a", "a.b", "a b", "[", "[Q", "[La/B", "a;", "a\u{1}", "a[b"] {
            assert_eq!(of(no), None, "{no:?}");
        }
        assert_eq!(class(&[0xff, 0xfe]), None);
        assert_eq!(of(&"a".repeat(LONGEST + 1)), None);
    }

    #[test]
    fn descriptors_are_types_of_the_language() {
        let of = |text: &str| kind(text.as_bytes());
        assert_eq!(of("J"), Some(("long".to_owned(), Some(8))));
        assert_eq!(of("Z"), Some(("boolean".to_owned(), Some(1))));
        assert_eq!(of("Ljava/lang/String;"), Some(("java.lang.String".to_owned(), None)));
        assert_eq!(of("[[I"), Some(("int[][]".to_owned(), None)));
        for no in ["", "X", "L", "La/B", "a/B", "JJ", "["] {
            assert_eq!(of(no), None, "{no:?}");
        }
        assert_eq!(field("größe$1".as_bytes()).as_deref(), Some("größe$1"));
        assert_eq!((field(b""), field(b"a/b"), field(b"\xff")), (None, None, None));
    }

    #[test]
    fn classes_made_at_run_time_are_alike() {
        for (name, expected) in [
            ("a.B$$Lambda$14", "a.B$$Lambda"),
            ("a.B$$Lambda$14.1587487668", "a.B$$Lambda"),
            ("a.B$$Lambda", "a.B$$Lambda"),
            ("java.lang.invoke.LambdaForm$MH.1587487668", "java.lang.invoke.LambdaForm$MH"),
            ("jdk.proxy2.$Proxy31", "jdk.proxy2.$Proxy"),
            ("jdk.internal.reflect.GeneratedMethodAccessor7", "jdk.internal.reflect.GeneratedMethodAccessor"),
            ("a.Service$$EnhancerBySpringCGLIB$$1f2e3d4c", "a.Service$$EnhancerBySpringCGLIB"),
            ("a.B$1", "a.B$1"),
            ("a.Base64", "a.Base64"),
            ("", ""),
        ] {
            assert_eq!(alike(name), expected);
        }
        assert_eq!(file(b"Report.java").as_deref(), Some("Report.java"));
        assert_eq!(file(b"/srv/a/Report.kt").as_deref(), Some("Report.kt"));
        assert_eq!((file(b""), file(b"a/"), file(b"a\n"), file(b"\xff")), (None, None, None, None));
    }

    proptest! {
        #[test]
        fn foreign_bytes_never_panic(bytes: Vec<u8>) {
            let _ = (class(&bytes), kind(&bytes), field(&bytes), file(&bytes), class(&bytes).as_deref().map(alike));
        }
    }
}
