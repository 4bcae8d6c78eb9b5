#!/usr/bin/env python3
"""Answers questions about a fleet with Spark (PySpark 3.5 and 4: local, a cluster, Spark Connect), and makes fleets.

twinscope fleet bands FLEET --engine 'python3 engines/spark.py'                  docs/engines.md, docs/fleet.md
python3 engines/spark.py --summarise 's3a://bucket/*.twin' --fleet s3://bucket/fleet --program bin/twinscope
Or start it by spark-submit, with `--py-files engines/summarise.py --files bin/twinscope`. Needs pyspark and pyarrow.
"""

import argparse
import json
import os
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq
import summarise
from pyspark.sql import SparkSession
from pyspark.sql.functions import broadcast

KINDS = {"text": pa.string(), "integer": pa.int64(), "real": pa.float64(), "single": pa.float32()}
WORDS = {"text": "string", "integer": "bigint", "real": "double", "single": "float"}


def view(spark, name, about):
    """Makes a view of files, some columns renamed. Those of this machine are small: each executor gets the rows."""
    if about.get("here"):
        table = pa.concat_tables([pq.read_table(path) for path in about["paths"]])
        word = {str(kind): WORDS[of] for of, kind in KINDS.items()}
        schema = ", ".join(f"`{field.name}` {word[str(field.type)]}" for field in table.schema)
        rows = broadcast(spark.createDataFrame([tuple(row.values()) for row in table.to_pylist()], schema))
    elif about["paths"]:
        rows = spark.read.option("mergeSchema", "true").parquet(*about["paths"])
    else:
        rows = spark.createDataFrame([], ", ".join(f"`{column}` {WORDS[kind]}" for column, kind in about["columns"]))
    for old, new in about.get("rename", {}).items():
        rows = rows.withColumnRenamed(old, new)
    rows.createOrReplaceTempView(name)


def answer(spark, message):
    """Does what a message asks for, and says how many rows there are."""
    for name, about in message.get("views", {}).items():
        view(spark, name, about)
    if "ask" not in message:
        return 0
    rows = spark.sql(message["ask"])
    if hasattr(rows, "toArrow"):
        table = rows.toArrow()
    else:  # Spark 3.5
        schema = pa.schema([(column, KINDS[{v: k for k, v in WORDS.items()}[word]]) for column, word in rows.dtypes])
        table = pa.Table.from_pylist([row.asDict() for row in rows.collect()], schema)
    pq.write_table(table, message["put"], compression="zstd")
    return table.num_rows


def serve(spark, lines, out):
    for line in lines:
        began = time.monotonic()
        try:
            said = {"rows": answer(spark, json.loads(line))}
        except Exception as error:  # whatever it is, it is the answer
            said = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps({**said, "seconds": time.monotonic() - began}), file=out, flush=True)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ["--master", "--remote", "--summarise", "--fleet", "--program"]:
        words.add_argument(name, default="twinscope" if name == "--program" else None)
    words.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE")
    options, lines, out = words.parse_args(), sys.stdin, sys.stdout
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit keeps the streams to itself
        lines, out = (open(f"/proc/{os.getppid()}/fd/{number}", mode) for number, mode in ((0, "r"), (1, "w")))
        os.dup2(os.open(f"/proc/{os.getppid()}/fd/2", os.O_WRONLY), 2)
    builder = SparkSession.builder.appName("twinscope fleet").config("spark.ui.showConsoleProgress", "false")
    builder = builder.master(options.master) if options.master else builder
    builder = builder.remote(options.remote) if options.remote else builder
    for pair in options.conf:
        builder = builder.config(*pair.split("=", 1))
    spark = builder.getOrCreate()
    code = summarise.summarise(spark, options, KINDS) if options.summarise else serve(spark, lines, out)
    spark.stop()
    sys.exit(code)


if __name__ == "__main__":
    main()
