//! Finds the built pages, which are embedded into the program.

use std::path::Path;

fn main() {
    for name in ["index.html", "flame.html", "experiment.html"] {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/dist").join(name);
        println!("cargo::rerun-if-changed={}", page.display());
        if !page.exists() {
            println!("cargo::error=the page is not built: run `make ui` (npm ci && npm run build in ui/)");
        }
    }
}
