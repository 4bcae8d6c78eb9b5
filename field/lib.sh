# Functions for the scripts of pairs (field/NAME/pair.toml). The runner sources it before each of them.
#
# Variables: $SIDE (slow or fast) and those of the side's table; $HERE (folder of the pair); $FILES (what `install` put there for this side);
# $RUN (an empty folder of this run, for any user to write into); $PORT to $PORT4 (free TCP ports); $SECONDS_EACH (length of a run).
# In `load` also $SERVER, the process id of `serve`.

# Downloads and build output that sides and pairs share.
: "${FIELD_CACHE:=$FILES/cache}"
export CARGO_HOME="$FIELD_CACHE/cargo" GOMODCACHE="$FIELD_CACHE/go" GOCACHE="$FIELD_CACHE/go-build" GOFLAGS=-modcacherw
export NPM_CONFIG_CACHE="$FIELD_CACHE/npm" PIP_CACHE_DIR="$FIELD_CACHE/pip" PIP_DISABLE_PIP_VERSION_CHECK=1
export NPM_CONFIG_UPDATE_NOTIFIER=false NPM_CONFIG_FUND=false NPM_CONFIG_AUDIT=false

# maven GROUP:ARTIFACT:VERSION…: jars with all that they need, into $FILES/jars. Class path: "$FILES/jars/*"
maven() {
    local one
    {
        echo '<project><modelVersion>4.0.0</modelVersion><groupId>field</groupId><artifactId>pair</artifactId><version>1</version><dependencies>'
        for one in "$@"; do
            local group artifact version classifier
            IFS=: read -r group artifact version classifier <<<"$one"
            echo "<dependency><groupId>$group</groupId><artifactId>$artifact</artifactId><version>$version</version>"
            [[ -z $classifier ]] || echo "<classifier>$classifier</classifier>"
            echo '</dependency>'
        done
        echo '</dependencies></project>'
    } >"$FILES/pom.xml"
    mvn --quiet --batch-mode -Dmaven.repo.local="$FIELD_CACHE/maven" -f "$FILES/pom.xml" \
        dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$FILES/jars"
}

# java_build SOURCE…: compiles with the jars, into $FILES/classes
java_build() { mkdir -p "$FILES/classes" && javac -nowarn -cp "$FILES/jars/*" -d "$FILES/classes" "$@"; }

# java_run [OPTION…] CLASS [ARGUMENT…]: becomes the program
java_run() { exec java -cp "$FILES/classes:$FILES/jars/*" "$@"; }

# npm_install PACKAGE@VERSION…: into $FILES/node_modules. A script that requires them is copied to $FILES.
npm_install() { npm install --silent --no-save --prefix "$FILES" "$@"; }

# pip_install PACKAGE==VERSION…: into a virtual environment, $FILES/venv; run "$FILES/venv/bin/python"
pip_install() {
    local python=/usr/bin/python3
    [[ -x $python ]] || python=python3
    [[ -x $FILES/venv/bin/python ]] || "$python" -m venv "$FILES/venv"
    "$FILES/venv/bin/pip" install --quiet "$@"
}

# cargo_build: builds $HERE/rust (a Cargo project whose manifest names @VERSION@ where the sides differ; it becomes $VERSION) into
# $FILES/target/release
cargo_build() {
    rm -rf "$FILES/rust" && cp -r "$HERE/rust" "$FILES/rust"
    sed -i "s/@VERSION@/${VERSION:-}/g" "$FILES/rust/Cargo.toml"
    (cd "$FILES/rust" && cargo build --release --quiet --target-dir "$FILES/target")
}

# go_build: the same for $HERE/go (go.mod names @VERSION@), into $FILES/program
go_build() {
    rm -rf "$FILES/go" && cp -r "$HERE/go" "$FILES/go"
    sed -i "s/@VERSION@/${VERSION:-}/g" "$FILES/go/go.mod"
    (cd "$FILES/go" && go mod tidy && go build -o "$FILES/program" .)
}

# port_open PORT: whether a server listens there
port_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# unprivileged COMMAND…: becomes COMMAND, as nobody where this is root: servers that refuse to run as root
unprivileged() {
    if [[ $(id -u) -eq 0 ]]; then
        exec setpriv --reuid=65534 --regid=65534 --clear-groups -- env HOME="$RUN" "$@"
    fi
    exec "$@"
}

# postgres_create: a cluster in $RUN/data; postgres_serve [SETTING=VALUE…]: becomes its server, on $PORT and a socket in $RUN;
# `psql`, `pgbench` find it by PGHOST, PGPORT, PGUSER, PGDATABASE.
export PGHOST="${RUN:-}" PGPORT="${PORT:-}" PGUSER=postgres PGDATABASE=postgres
postgres_bin() { find /usr/lib/postgresql -maxdepth 2 -name bin | sort -V | tail -n 1; }
postgres_create() {
    (unprivileged "$(postgres_bin)/initdb" --auth=trust --username=postgres --no-sync -D "$RUN/data" >/dev/null)
}
postgres_serve() {
    local options=() setting
    for setting in "$@"; do options+=(-c "$setting"); done
    unprivileged "$(postgres_bin)/postgres" -D "$RUN/data" -k "$RUN" -p "$PORT" -c listen_addresses=127.0.0.1 -c fsync=on "${options[@]}"
}
postgres_ready() { "$(postgres_bin)/pg_isready" --quiet; }
