"""The first step of a fleet on Spark: recordings to executors, which run `twinscope fleet summary -`; see spark.py."""

import json
import os
import subprocess
import sys
import time
import uuid

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
from pyspark import cloudpickle


def place(fleet):
    return pa.fs.FileSystem.from_uri(fleet if "://" in fleet else os.path.abspath(fleet))


def write(fleet, summaries, kinds):
    """Writes what `twinscope fleet summary` printed as a part of each dataset, that of the recordings last."""
    (files, base), name = place(fleet), f"part-{int(time.time() * 1000):013}-{uuid.uuid4().hex}.parquet"
    for same in zip(*summaries):
        schema = pa.schema([(column, kinds[kind]) for column, kind, _ in same[0]["columns"]])
        rows = [pa.table([pa.array(c[2], schema.field(c[0]).type) for c in of["columns"]], schema) for of in same]
        table = pa.concat_tables(rows).sort_by([(column, "ascending") for column in schema.names[: same[0]["key"]]])
        files.create_dir(f"{base}/{same[0]['dataset']}", recursive=True)
        path = f"{base}/{same[0]['dataset']}/{name}"
        pq.write_table(table, path, filesystem=files, compression="zstd", row_group_size=1 << 16)


def reduce(batches, program, fleet, known, kinds):
    """On an executor: recordings to parts. Gives a row for each that was not reduced as a whole."""
    from pyspark import SparkFiles

    sent, waiting, said = SparkFiles.get(os.path.basename(program)), [], []
    for path, content in ((row["path"], row["content"]) for batch in batches for row in batch.to_pylist()):
        words = [sent if os.path.exists(sent) else program, "fleet", "summary", "-", "--file", path]
        done = subprocess.run(words, input=content, capture_output=True)
        if done.returncode:
            said.append((path, done.stderr.decode(errors="replace").strip()))
        summary = [json.loads(line) for line in done.stdout.splitlines()]
        if summary and summary[-1]["columns"][1][2][0] not in known:
            waiting.append(summary)
        if len(waiting) == 500:
            write(fleet, waiting, kinds)
            waiting = []
    if waiting:
        write(fleet, waiting, kinds)
    yield pa.RecordBatch.from_pylist([{"path": path, "why": why} for path, why in said], pa.schema(
        [("path", pa.string()), ("why", pa.string())]))


def summarise(spark, options, kinds):
    """Reduces recordings on the executors, and adds them to a fleet. Returns the exit code."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    files, base = place(options.fleet)
    files.create_dir(base, recursive=True)
    with files.open_output_stream(f"{base}/fleet.json") as about:
        about.write(b'{"format": 1, "tool": "spark.py"}\n')
    try:
        known = {row.id for row in spark.read.parquet(f"{options.fleet}/recording").select("id").collect()}
    except Exception:  # nothing is there yet
        known = set()
    if options.remote:
        spark.addArtifact(options.program, file=True)
    elif os.path.exists(options.program):
        spark.sparkContext.addFile(os.path.abspath(options.program))
    program, fleet = options.program, options.fleet
    recordings = spark.read.format("binaryFile").load(options.summarise).select("path", "content")
    reduced = recordings.mapInArrow(lambda rows: reduce(rows, program, fleet, known, kinds), "path string, why string")
    bad = reduced.collect()
    for row in bad:
        print(f"{row.path}: {row.why}", file=sys.stderr)
    return 3 if bad else 0
