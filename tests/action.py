#!/usr/bin/env python3
"""Runs the steps of action.yml as a runner does: each in a new bash, with inputs as variables of the step and files for
outputs, paths and the summary. Prints `ok: …`, `FAILED: …` or `SKIPPED: …` for each check, and `end`.

usage: action.py PROGRAM        PROGRAM is the twinscope to be found on the PATH
"""

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent.parent
ACTION = yaml.safe_load((HERE / "action.yml").read_text())
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


def check(what: str, holds: bool, why: str = "") -> None:
    print(f"ok: {what}" if holds else f"FAILED: {what}: {why[-1500:]!r}")


def git(folder: Path, *command: str) -> str:
    settings = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
    return subprocess.run(("git", "-C", str(folder), *settings, *command), check=True, capture_output=True, text=True).stdout.strip()


class Runner:
    """One job with one use of the action."""

    def __init__(self, folder: Path, workspace: Path, path: str):
        self.folder, self.workspace = folder, workspace
        folder.mkdir()
        for name in ("output", "path", "summary"):
            (folder / name).touch()
        (folder / "temp").mkdir()
        self.path, self.log = path, ""

    def run(self, **inputs: str) -> str | None:
        """Runs the steps until one fails. Returns the name of that one."""
        values = {name: str(value.get("default", "")) for name, value in ACTION["inputs"].items()} | inputs
        for step in ACTION["runs"]["steps"]:
            environment = {
                "PATH": ":".join([*(self.folder / "path").read_text().split(), self.path]),
                "HOME": str(self.folder),
                "GITHUB_ACTION_PATH": str(HERE),
                "GITHUB_WORKSPACE": str(self.workspace),
                "GITHUB_OUTPUT": str(self.folder / "output"),
                "GITHUB_PATH": str(self.folder / "path"),
                "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
                "RUNNER_TEMP": str(self.folder / "temp"),
            }
            for name, value in step["env"].items():
                environment[name] = EXPRESSION.sub(lambda m: values[m[1].removeprefix("inputs.")], value)
            command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
            done = subprocess.run(
                command, env=environment, cwd=self.workspace, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            self.log += done.stdout
            if done.returncode != 0:
                return step["name"]
        return None

    def file(self, name: str) -> str:
        return (self.folder / name).read_text()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program", type=Path)
    program = options.parse_args().program.resolve()
    steps = ACTION["runs"]["steps"]
    check("no step has an expression in its script", not any("${{" in s["run"] for s in steps))
    used = [EXPRESSION.sub(r"\1", v) for s in steps for v in s["env"].values()]
    check("each input reaches one step, and no other does", sorted(used) == sorted(f"inputs.{i}" for i in ACTION["inputs"]))

    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        (work / "bin").mkdir()
        shutil.copy(program, work / "bin/twinscope")
        path = f"{work}/bin:{os.environ['PATH']}"
        origin = work / "origin"
        origin.mkdir()
        git(origin, "init", "--quiet")
        (origin / "work.sh").write_text("sleep 1\n")
        git(origin, "add", ".")
        git(origin, "commit", "--quiet", "-m", "base")
        base = git(origin, "rev-parse", "HEAD")
        (origin / "work.sh").write_text("sleep 1.1\n")
        git(origin, "commit", "--quiet", "-am", "head")
        git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
        workspace = work / "workspace"
        git(work, "clone", "--quiet", "--depth=1", f"file://{origin}", str(workspace))

        # What compare says is its own tests' matter: here it says that the condition holds, and what it was asked.
        (work / "says").mkdir()
        says = work / "says/twinscope"
        says.write_text(
            f'#!/bin/sh\n[ "$1" = compare ] || exec {work}/bin/twinscope "$@"\nprintf "%s\\n" "$@" > {work}/asked\necho differs\nexit 4\n'
        )
        says.chmod(0o755)
        job = Runner(work / "fails", workspace, f"{work}/says:{path}")
        failed = job.run(
            base=base,
            command="bash work.sh && cat built",
            build="touch built",
            repeats="2",
            options="--interval=100ms",
            **{"fail-on": "any\n\ncpu.busy +10%"},
        )
        check("where a condition holds, the step that compares fails", failed == "Compare", f"{failed}: {job.log}")
        recordings = job.folder / "temp/twinscope/recordings"
        side = {name: [f"{recordings}/{name}-{n}.twin" for n in (1, 2)] for name in ("base", "head")}
        asked = ["compare", *side["base"], "--fail-on", "any", "--fail-on", "cpu.busy +10%", "--", *side["head"]]
        check("compare is asked for each condition, the base first", (work / "asked").read_text().splitlines() == asked)
        check("the output says so", "failed=yes\n" in job.file("output"), job.file("output"))
        summary = job.file("summary")
        check("the summary has the verdict and what differs", "**Failed**" in summary and "    differs\n" in summary, summary)
        names = sorted(p.name for p in recordings.glob("*.twin"))
        check("both sides are recorded, twice each", names == ["base-1.twin", "base-2.twin", "head-1.twin", "head-2.twin"], str(names))
        # Each was built in its own folder, and recorded there.
        both = (job.folder / "temp/twinscope/base/built").exists() and (workspace / "built").exists()
        check("each side is built in its own folder", both)

        job = Runner(work / "hostile", workspace, path)
        hostile = f"'; touch {work}/bitten; echo $(touch {work}/bitten) `touch {work}/bitten` ${{IFS}}"
        failed = job.run(base=base, command="true", repeats="1", options=hostile)
        check("what stands in options is not run", failed == "Record base and head in turn" and not (work / "bitten").exists(), job.log)
        job = Runner(work / "base", workspace, path)
        failed = job.run(base="--upload-pack=touch " + str(work / "bitten"), command="true")
        check("a base that is no commit is refused and said", failed == "Build base and head" and "is no commit" in job.log, job.log)
        check("what stands in the base is not run", not (work / "bitten").exists())
        job = Runner(work / "breaks", workspace, path)
        failed = job.run(base=base, command="exit 7", repeats="1")
        check("a command that fails is said", failed == "Record base and head in turn" and "ended with 7 in the base" in job.log, job.log)
        job = Runner(work / "empty", workspace, path)
        failed = job.run(base=base, command="", repeats="1")
        check("a command must be named", "'command' is empty" in job.log, job.log)
        job = Runner(work / "missing", workspace, os.environ["PATH"])
        failed = job.run(base=base, command="true", twinscope=str(work / "no-such.whl"))
        check("a wheel that is missing is said", failed == "Install Twinscope" and "could not install" in job.log, job.log)
        job = Runner(work / "same", workspace, path)
        head = git(workspace, "rev-parse", "HEAD")
        failed = job.run(base=head, command="bash work.sh", repeats="1", options="--interval=100ms")
        check("a change that changes nothing passes", failed is None and "failed=no\n" in job.file("output"), f"{failed}: {job.log}")
    print("end")


main()
