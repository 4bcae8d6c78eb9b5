#!/usr/bin/env python3
"""Writes an image from scratch, for all machines given, as an OCI archive. Needs no daemon.

usage: oci.py VERSION FILE.tar LEVEL MACHINE=TREE…

The image has the recorder of each TREE as /twinscope-recorder, its usr/share/doc, and an empty /tmp to record into.
The format: https://github.com/opencontainers/image-spec/blob/main/image-layout.md. `podman load`, `skopeo copy
oci-archive:FILE …`, `ctr image import` and `docker load` (25 or newer) take it.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import tarfile
import time
from pathlib import Path

NAME = "docker.io/twinscope/twinscope-recorder"
KIND = "application/vnd.oci.image."
PLATFORM = {"x86_64": "amd64", "aarch64": "arm64"}
WHEN = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))


def member(name: str, mode: int, content: bytes | None) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.mode, entry.mtime = mode, WHEN
    if content is None:
        entry.type = tarfile.DIRTYPE
    else:
        entry.size = len(content)
    return entry


def layer(tree: Path) -> bytes:
    """The files of the image, as an uncompressed tar."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        tar.addfile(member("tmp", 0o1777, None))
        for part in ("usr", "usr/share", "usr/share/doc", "usr/share/doc/twinscope-recorder"):
            tar.addfile(member(part, 0o755, None))
        files = [tree / "usr/bin/twinscope-recorder", *sorted((tree / "usr/share/doc/twinscope-recorder").iterdir())]
        for file in files:
            content = file.read_bytes()
            program = file.parent.name == "bin"
            name, mode = (file.name, 0o755) if program else (str(file.relative_to(tree)), 0o644)
            tar.addfile(member(name, mode, content), io.BytesIO(content))
    return out.getvalue()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("version", "path", "level"):
        options.add_argument(name)
    options.add_argument("trees", nargs="+")
    asked = options.parse_args()
    version, path, level, trees = asked.version, asked.path, asked.level, asked.trees
    blobs: dict[str, bytes] = {}

    def blob(kind: str, content: bytes) -> dict:
        digest = hashlib.sha256(content).hexdigest()
        blobs[digest] = content
        return {"mediaType": KIND + kind, "digest": f"sha256:{digest}", "size": len(content)}

    def document(kind: str, value: dict) -> dict:
        return blob(kind, json.dumps(value, sort_keys=True).encode())

    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(WHEN))
    labels = {
        "org.opencontainers.image.title": "twinscope-recorder",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.source": "https://github.com/twinscope/twinscope",
    }
    manifests = []
    for machine, tree in (pair.split("=", 1) for pair in trees):
        files = layer(Path(tree))
        platform = {"architecture": PLATFORM[machine], "os": "linux"}
        config = {
            **platform,
            "created": created,
            "config": {
                "Entrypoint": ["/twinscope-recorder"],
                "Env": ["PATH=/"],
                "WorkingDir": "/tmp",
                "Labels": labels,
            },
            "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(files).hexdigest()]},
            "history": [{"created": created, "created_by": "scripts/package/oci.py"}],
        }
        packed = blob("layer.v1.tar+gzip", gzip.compress(files, int(level), mtime=0))
        manifest = {
            "schemaVersion": 2,
            "mediaType": KIND + "manifest.v1+json",
            "config": document("config.v1+json", config),
            "layers": [packed],
            "annotations": labels,
        }
        manifests.append({**document("manifest.v1+json", manifest), "platform": platform})

    of_all = {"schemaVersion": 2, "mediaType": KIND + "index.v1+json", "manifests": manifests, "annotations": labels}
    entry = document("index.v1+json", of_all)
    # The first is the specification's, the second what containerd calls the image.
    entry["annotations"] = {
        "org.opencontainers.image.ref.name": version,
        "io.containerd.image.name": f"{NAME}:{version}",
    }
    index = {"schemaVersion": 2, "mediaType": KIND + "index.v1+json", "manifests": [entry]}

    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        files = {"oci-layout": json.dumps({"imageLayoutVersion": "1.0.0"}).encode(), "index.json": json.dumps(index).encode()}
        for name, content in files.items():
            tar.addfile(member(name, 0o644, content), io.BytesIO(content))
        tar.addfile(member("blobs", 0o755, None))
        tar.addfile(member("blobs/sha256", 0o755, None))
        for digest in sorted(blobs):
            tar.addfile(member(f"blobs/sha256/{digest}", 0o644, blobs[digest]), io.BytesIO(blobs[digest]))


main()
