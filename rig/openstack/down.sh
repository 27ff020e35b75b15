#!/bin/bash
# Stops what up.sh started, by recorded pid (each leads its own process group). --remove takes the data away, too.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

others=() database=
for file in "$STATE"/pid/*.pid; do
  name=$(basename "$file" .pid)
  pid=$(pid_of "$name" || true)
  [ -n "$pid" ] || continue
  if [ "$name" = mariadb ]; then database=$pid; else others+=("$pid"); fi
done
# MariaDB last: services that lose it on the way out hang in their retries.
[ ${#others[@]} = 0 ] || end 4 "${others[@]}"
[ -z "$database" ] || end 30 "$database"
rm -f "$STATE"/pid/*.pid
if [ "${1:-}" = --remove ]; then rm -rf "$STATE"; fi
say "down"
