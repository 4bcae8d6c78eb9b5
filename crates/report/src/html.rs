//! Puts data into the page.

use crate::Error;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use std::io::Write;

/// The page as `ui/` builds it.
const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../ui/dist/index.html"));

/// Where the data go.
const PLACE: &str = "<!--TWINSCOPE-DATA-->";

/// Compresses a block for the page.
pub(crate) fn pack(bytes: &[u8]) -> Result<String, Error> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(bytes).map_err(Error::Compress)?;
    Ok(STANDARD.encode(encoder.finish().map_err(Error::Compress)?))
}

/// The whole file.
pub(crate) fn assemble(head: &impl Serialize, blocks: &[(String, String)]) -> Result<String, Error> {
    // Names from outside cannot end the script element.
    let head = serde_json::to_string(head)?.replace('<', "\\u003c");
    let size: usize = blocks.iter().map(|(_, data)| data.len() + 100).sum();
    let (before, after) = PAGE.split_once(PLACE).unwrap_or((PAGE, ""));
    let mut html = String::with_capacity(PAGE.len() + head.len() + size + 200);
    html.push_str(before);
    html.push_str("<script type=\"application/json\" id=\"twinscope-head\">");
    html.push_str(&head);
    html.push_str("</script>\n");
    for (id, data) in blocks {
        html.push_str(&format!("<script type=\"text/plain\" id=\"block-{id}\">"));
        html.push_str(data);
        html.push_str("</script>\n");
    }
    html.push_str(after);
    Ok(html)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_cannot_break_out() {
        let blocks = [("page-cpu".into(), pack(b"data").unwrap())];
        let html = assemble(&json!({"name": "</script><img onerror=x>"}), &blocks).unwrap();
        assert!(!html.contains("</script><img"));
        assert!(html.contains("\\u003c/script>\\u003cimg") || html.contains("\\u003c/script\\u003e"), "escaped");
        assert!(html.contains("id=\"block-page-cpu\""));
        assert!(!html.contains(PLACE), "the page has a place for data");
    }
}
