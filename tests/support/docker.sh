# shellcheck shell=bash disable=SC2153 # STATE, ROOT and the helpers come from tests/services
#
# Servers from deploy/compose.test.yaml. Sourced by tests/services.

# The client alone is not enough: a machine may have the command and no engine behind it.
docker_answers() {
  if [[ -z ${DOCKER_ANSWERS:-} ]]; then
    DOCKER_ANSWERS=no
    if [[ ${DREAM_TEST_DOCKER:-yes} != no ]] && command -v docker >/dev/null &&
      within 5 docker info --format '{{.ServerVersion}}' >/dev/null 2>&1 &&
      within 5 docker compose version >/dev/null 2>&1; then
      DOCKER_ANSWERS=yes
    fi
  fi
  [[ $DOCKER_ANSWERS == yes ]]
}

project() { echo "dream-tests-$(checksum <<<"$STATE")"; }

compose() {
  docker compose --project-name "$(project)" --env-file "$STATE/compose.env" \
    --file "$ROOT/deploy/compose.test.yaml" "$@"
}

# Published ports are drawn once and written down: Docker itself would draw anew at every start.
docker_write_env() {
  [[ ! -f $STATE/compose.env ]] || return 0
  {
    echo "DREAM_TEST_POSTGRES_PORT=$(pick_port)"
    echo "DREAM_TEST_TEMPORAL_PORT=$(pick_port)"
    echo "DREAM_TEST_TEMPORAL_UI_PORT=$(pick_port)"
    echo "DREAM_TEST_NEO4J_PORT=$(pick_port)"
    echo "DREAM_TEST_PASSWORD=$(<"$STATE/password")"
  } >"$STATE/compose.env"
}

docker_port() { sed -n "s/^DREAM_TEST_$1_PORT=//p" "$STATE/compose.env"; }

docker_start() { # NAME
  docker_write_env
  [[ -f $STATE/$1/address ]] || retry compose pull --quiet "$1" >&2
  compose up --detach --no-recreate --wait --wait-timeout 120 "$1" >&2 || {
    docker_save_log "$1"
    tail -n 20 "$STATE/logs/$1.log" >&2
    die "$1 does not start"
  }
  local_address "$1" "$(docker_port "$(tr '[:lower:]' '[:upper:]' <<<"$1")")" >"$STATE/$1/address"
  [[ $1 != temporal ]] || echo "http://127.0.0.1:$(docker_port TEMPORAL_UI)" >"$STATE/temporal/ui"
}

docker_state() { # NAME
  if [[ -n $(compose ps --quiet --status running "$1" 2>/dev/null) ]]; then echo up
  elif [[ -n $(compose ps --quiet --status paused "$1" 2>/dev/null) ]]; then echo paused
  else echo stopped
  fi
}

docker_save_log() { compose logs --no-color --no-log-prefix "$1" >"$STATE/logs/$1.log" 2>&1 || true; }
docker_kill9() { compose kill --signal KILL "$1" >&2; }
docker_pause() { compose pause "$1" >&2; }
docker_resume() { compose unpause "$1" >&2; }

docker_stop() { # NAME
  [[ $(docker_state "$1") != paused ]] || docker_resume "$1"
  compose stop --timeout 20 "$1" >&2
}

# By label, not by compose file: it works without the state directory too, after a `cargo clean`.
docker_down() { # NAME
  local containers
  [[ $(origin "$1") != docker ]] || docker_save_log "$1"
  containers=$(docker ps --all --quiet --filter "label=com.docker.compose.project=$(project)" \
    --filter "label=com.docker.compose.service=$1")
  # shellcheck disable=SC2086 # a list of ids
  [[ -z $containers ]] || docker rm --force --volumes $containers >/dev/null
}
