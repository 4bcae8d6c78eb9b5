#!/usr/bin/env bash
# Reads a folder of summaries with Trino, by the statements of docs/fleet.md: each dataset as an external table of a Hive catalogue over its files. Holds the
# number of rows, the sum of each column of numbers and the order of hosts by a metric against `twinscope fleet sql`.
#
# usage: scripts/engines/trino.sh [FLEET]     default: 200 synthetic hosts; TWINSCOPE, SYNTHETIC=paths of the programs
#
# Fetches Trino from Maven Central once (0.8 GB, unpacked into target/engines). Needs Java 24 or newer (JAVA_HOME, else the newest in /usr/lib/jvm), 2 GB of
# memory, and pyarrow as tests/engines.sh installs it. Not a step of `make test`.
set -euo pipefail
# shellcheck source=scripts/lib/usage.sh
source "$(dirname "$0")/../lib/usage.sh"
cd "$(dirname "$0")/../.."

VERSION=476
trino=$PWD/target/engines/trino-server-$VERSION
python=$PWD/target/engines/venv/bin/python
twinscope=$(realpath "${TWINSCOPE:-target/release/twinscope}")

work=$(mktemp -d)
server=''
trap '[[ -z $server ]] || kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT

if [[ -z ${JAVA_HOME:-} ]]; then
    JAVA_HOME=$(find /usr/lib/jvm -maxdepth 1 -type d 2>/dev/null | sort -V | while read -r jdk; do
        major=$("$jdk/bin/java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
        [[ ${major:-0} -lt 24 ]] || echo "$jdk"
    done | tail -n 1)
fi
if [[ ! -x ${JAVA_HOME:-}/bin/java ]]; then
    echo "SKIPPED: Trino: no Java 24 or newer here (JAVA_HOME names one)"
    exit 0
fi
export JAVA_HOME PATH=$JAVA_HOME/bin:$PATH
if [[ ! -d $trino ]]; then
    mkdir -p target/engines
    from=https://repo1.maven.org/maven2/io/trino/trino-server/$VERSION/trino-server-$VERSION.tar.gz
    if ! curl -sSf --retry 3 -o "$work/trino.tar.gz" "$from"; then
        echo "SKIPPED: Trino: $from cannot be had"
        exit 0
    fi
    mkdir "$work/unpacked"
    tar -xzf "$work/trino.tar.gz" -C "$work/unpacked"
    mv "$work/unpacked/trino-server-$VERSION" "$trino"
    rm "$work/trino.tar.gz"
fi
tests/engines.sh --fetch >"$work/said"

fleet=${1:-$work/fleet}
[[ -n ${1:-} ]] || "${SYNTHETIC:-target/release/examples/synthetic}" "$fleet" --hosts 200 --metrics 50
port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

mkdir -p "$work/etc/catalog" "$work/data"
cat >"$work/etc/node.properties" <<EOF
node.environment=twinscope
node.id=one
node.data-dir=$work/data
node.internal-address=127.0.0.1
node.bind-ip=127.0.0.1
EOF
cat >"$work/etc/jvm.config" <<'EOF'
-server
-Xmx2G
-XX:+ExitOnOutOfMemoryError
-Djdk.attach.allowAttachSelf=true
--enable-native-access=ALL-UNNAMED
EOF
cat >"$work/etc/config.properties" <<EOF
coordinator=true
node-scheduler.include-coordinator=true
http-server.http.port=$port
discovery.uri=http://127.0.0.1:$port
catalog.management=static
EOF
cat >"$work/etc/catalog/hive.properties" <<EOF
connector.name=hive
hive.metastore=file
hive.metastore.catalog.dir=local://$work/metastore
hive.security=allow-all
fs.native-local.enabled=true
local.location=/
EOF
echo 'io.trino=WARN' >"$work/etc/log.properties"
"$trino/bin/launcher" run --etc-dir="$work/etc" --data-dir="$work/data" >"$work/server.log" 2>&1 &
server=$!

"$python" - "$port" "$(realpath "$fleet")" "$twinscope" "$server" <<'PY' || { grep -E 'ERROR|WARN' "$work/server.log" | tail -n 20; exit 1; }
import glob, json, math, os, subprocess, sys, time, urllib.request
import pyarrow.parquet

port, fleet, twinscope, server = sys.argv[1:]
TYPES = {"string": "varchar", "large_string": "varchar", "int64": "bigint", "double": "double", "float": "real"}


def get(request):
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def trino(statement):
    """All rows of a statement (https://trino.io/docs/current/develop/client-protocol.html)."""
    headers = {"X-Trino-User": "twinscope"}
    at = f"http://127.0.0.1:{port}/v1/statement"
    said = get(urllib.request.Request(at, data=statement.encode(), headers=headers))
    rows = []
    while True:
        if "error" in said:
            raise SystemExit(f"FAILED: {statement[:200]}: {said['error']['message']}")
        rows += said.get("data", [])
        if "nextUri" not in said:
            return rows
        said = get(urllib.request.Request(said["nextUri"], headers=headers))


def here(statement):
    """The same from the built-in engine."""
    done = subprocess.run([twinscope, "fleet", "sql", "--json", fleet, statement], capture_output=True, text=True, check=True)
    return [list(row.values()) for row in json.loads(done.stdout)]


def same(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-300)
    return a == b


until = time.time() + 180
while True:
    try:
        if not get(f"http://127.0.0.1:{port}/v1/info")["starting"]:
            break
    except OSError:
        pass
    if time.time() > until or not os.path.exists(f"/proc/{server}"):
        raise SystemExit("FAILED: Trino does not start")
    time.sleep(1)

passed = failed = 0


def check(what, there, ours):
    global passed, failed
    if len(there) == len(ours) and all(len(a) == len(b) and all(map(same, a, b)) for a, b in zip(there, ours)):
        passed += 1
    else:
        failed += 1
        print(f"FAILED: {what}: {str(there)[:300]} there, {str(ours)[:300]} here")


trino("CREATE SCHEMA hive.fleet")
for folder in sorted(glob.glob(f"{fleet}/*/")):
    dataset = os.path.basename(folder.rstrip("/"))
    parts = sorted(glob.glob(f"{folder}*.parquet"))
    if not parts:
        continue
    columns = [(field.name, TYPES[str(field.type)]) for field in pyarrow.parquet.read_schema(parts[0])]
    declared = ", ".join(f'"{name}" {kind}' for name, kind in columns)
    trino(f"CREATE TABLE hive.fleet.{dataset} ({declared}) WITH (external_location = 'local://{folder}', format = 'PARQUET')")
    numbers = [name for name, kind in columns if kind != "varchar"]
    # The JSON of `fleet sql` has columns in the order of their names.
    sums = "".join(f', sum(CAST("{name}" AS DOUBLE)) AS c{at:02}' for at, name in enumerate(numbers, 1))
    hosts = ", count(DISTINCT id) AS c99" if "id" in dict(columns) else ""
    of = f"SELECT count(*) AS c00{sums}{hosts} FROM"
    check(dataset, trino(f"{of} hive.fleet.{dataset}"), here(f'{of} "{dataset}"'))
pace = "SELECT host, mean FROM {} WHERE metric = 'work.done' ORDER BY mean, host"
check("hosts by their pace", trino(pace.format("hive.fleet.metric")), here(pace.format("metric")))
print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed > 0)
PY
