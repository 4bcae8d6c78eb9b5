//! Names of files and folders that a command writes.

use std::path::PathBuf;

/// Refuses a name that begins with `-`. It is nearly always an option in the wrong place, and `rm` takes the file for one.
///
/// # Errors
/// Says how to write it where that is meant.
pub fn output_path(path: PathBuf) -> Result<PathBuf, String> {
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        return Err(format!("begins with - as options do; if it is meant, write ./{}", path.display()));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_like_an_option_is_refused() {
        for name in ["--help", "-o", "-", "-x.twin"] {
            assert!(output_path(name.into()).unwrap_err().ends_with(&format!("./{name}")), "{name}");
        }
        for name in ["x.twin", "./-x.twin", "a/-x.twin", ""] {
            assert_eq!(output_path(name.into()), Ok(name.into()));
        }
    }
}
