"""Holds manifests against the schemas of several versions of Kubernetes, offline. Exit code 1 where one does not fit."""

import argparse
import json
import sys

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("files", nargs="+", metavar="MANIFEST")
files = options.parse_args().files

import kubernetes_validate
import yaml

# Of the last years, and the newest that the package has.
known = ["1.25", "1.28", "1.31", kubernetes_validate.latest_version()]
bad = 0
for name in files:
    with open(name, encoding="utf-8") as file:
        documents = list(yaml.safe_load_all(file)) if name.endswith(".yaml") else [json.load(file)]
    for document in documents:
        for version in known:
            try:
                kubernetes_validate.validate(document, version, strict=True)
            except Exception as why:  # each kind of error of the package says what does not fit
                bad += 1
                print(f"{name}: {document.get('kind')}: {version}: {why}")
print(f"{len(files)} files, versions {', '.join(map(str, known))}: {bad} errors")
sys.exit(bad > 0)
