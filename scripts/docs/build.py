#!/usr/bin/env python3
"""Builds the documentation as a site: target/docs, from the pages that docs/SUMMARY.md names, as they lie.

usage: scripts/docs/build.py [MDBOOK]       default: target/tools/bin/mdbook, which `make docs` installs

Pages are laid out under target/book/src as in the repository, so that relative links between them, which work on
GitHub, work in the book too. A link to what is no page of the book (a folder, a source file) leads to the repository.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "target/book"
REPOSITORY = "https://github.com/twinscope/twinscope"
LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")


def inside(page: Path, target: str) -> Path:
    """The path from the root of the repository that a link of `page` leads to."""
    return Path(os.path.normpath(page.parent / target))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("mdbook", nargs="?", default=str(ROOT / "target/tools/bin/mdbook"))
    mdbook = options.parse_args().mdbook
    summary = Path("docs/SUMMARY.md")
    text = (ROOT / summary).read_text(encoding="utf-8")
    pages = {inside(summary, target) for target, _ in LINK.findall(text)}

    shutil.rmtree(BOOK, ignore_errors=True)
    source = BOOK / "src"
    shutil.copytree(ROOT / "docs/images", source / "docs/images")
    for page in pages:
        def link(found: re.Match) -> str:
            target, heading = found[1], found[2] or ""
            if "://" in target or target.startswith("mailto:"):
                return found[0]
            path = inside(page, target)
            if path in pages or path.parts[:2] == ("docs", "images"):
                return found[0]
            kind = "tree" if (ROOT / path).is_dir() else "blob"
            return f"]({REPOSITORY}/{kind}/main/{path}{heading})"

        (source / page).parent.mkdir(parents=True, exist_ok=True)
        written = LINK.sub(link, (ROOT / page).read_text(encoding="utf-8"))
        (source / page).write_text(written, encoding="utf-8")
    # mdBook wants the summary at the root of its sources.
    (source / "SUMMARY.md").write_text(LINK.sub(lambda found: f"]({inside(summary, found[1])})", text), encoding="utf-8")
    shutil.copy(ROOT / "docs/book.toml", BOOK / "book.toml")
    sys.exit(subprocess.run([mdbook, "build", str(BOOK)], check=False).returncode)


if __name__ == "__main__":
    main()
