//! Finds the built pages, which are embedded into the program.

use std::path::PathBuf;

fn main() {
    // Asked for when this runs: a folder that was moved has a program of this that was built elsewhere.
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    for name in ["index.html", "flame.html", "experiment.html", "fleet.html"] {
        let page = here.join("../../ui/dist").join(name);
        println!("cargo::rerun-if-changed={}", page.display());
        if !page.exists() {
            println!("cargo::error=the page is not built: run `make ui` (npm ci && npm run build in ui/)");
        }
    }
}
