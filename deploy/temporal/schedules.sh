#!/usr/bin/env bash
# Creates the schedules of Dream Worker, or brings them up to date. Give it again at any time.
#
#   export TEMPORAL_ADDRESS=… TEMPORAL_NAMESPACE=…     # as for every Temporal client
#   deploy/temporal/schedules.sh                       # all namespaces every night
#   deploy/temporal/schedules.sh 6f0c1d9e-…            # one schedule for each namespace that is named
#
# Either way the dreams of spaces that are due every hour, retention every day, and the graph mirror every five minutes.
#
# What may be changed here: MODE (default dry-run), AT (cron, default every night at three), ZONE, STORE, QUEUE.
set -euo pipefail

MODE=${MODE:-dry-run}
AT=${AT:-0 3 * * *}
ZONE=${ZONE:-UTC}
STORE=${STORE:-default}
QUEUE=${DREAM_TASK_QUEUE:-dream}

# schedule ID TYPE CRON JITTER INPUT NOTE: without an input where that is empty
schedule() {
  local verb=create paused=() input=() known
  [[ -z $5 ]] || input=(--input "$5")
  if known=$(temporal schedule describe --schedule-id "$1" --output json 2>/dev/null); then
    verb=update
    # An update replaces everything; one that somebody paused stays paused.
    if grep -q '"paused": true' <<<"$known"; then paused=(--paused); fi
  fi
  # Without a catch-up window the server makes up for every night of the last year after an outage.
  # Skip: a start that finds the last one still at work is left out. The lease in the store excludes two runs in any case.
  temporal schedule "$verb" --schedule-id "$1" --type "$2" --task-queue "$QUEUE" --workflow-id "$1" \
    --cron "$3" --time-zone "$ZONE" --jitter "$4" \
    --catchup-window 1h --overlap-policy Skip \
    --notes "$6" ${input[@]+"${input[@]}"} ${paused[@]+"${paused[@]}"}
  echo "$verb: $1"
}

if [[ $# -eq 0 ]]; then
  schedule dream-all DreamAll "$AT" 10m "{\"store\": \"$STORE\", \"mode\": \"$MODE\"}" \
    "dreams over every namespace of store $STORE"
fi
for namespace in "$@"; do
  schedule "dream-$namespace" StartDream "$AT" 10m \
    "{\"store\": \"$STORE\", \"namespace\": \"$namespace\", \"mode\": \"$MODE\"}" \
    "dreams over one namespace of store $STORE"
done
# The spaces' own clocks say when they dream; what matters is that it comes every hour. Without spaces it ends at once.
schedule dream-due DueDreams "0 * * * *" 0s "{\"store\": \"$STORE\"}" "starts the dreams of spaces of store $STORE that are due"
schedule dream-sweep SweepRetention "0 5 * * *" 30m "{\"store\": \"$STORE\"}" "deletes runs of store $STORE that are too old or too many"
# It takes no input: whatever any store of the workers owes its graph database. Without one it has nothing to do, and ends at once.
schedule dream-reconcile ReconcileMirror "*/5 * * * *" 0s "" "tells graph databases what they were not told yet"
