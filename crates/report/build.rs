//! Finds the built page, which is embedded into the program.

use std::path::Path;

fn main() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/dist/index.html");
    println!("cargo::rerun-if-changed={}", page.display());
    if !page.exists() {
        println!("cargo::error=the page is not built: run `make ui` (npm ci && npm run build in ui/)");
    }
}
