#!/bin/bash
# Installs the packages of packages.txt, showing how far it is, and starts none of their services.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../apt.sh"

missing=$(missing_packages)
[ -n "$missing" ] || exit 0
[ "$(id -u)" = 0 ] || fail "packages are missing and only root can install them: $(echo $missing)"
command -v apt-get >/dev/null || fail "this needs the packages of Debian 12, and there is no apt-get here"

mkdir -p "$STATE/log"
log=$STATE/log/apt.log

# Debian's packages start their services on installation, which would take 3306 and 5672; an existing policy stays.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  printf '#!/bin/sh\nexit 101\n' >$policy
  chmod 755 $policy
  trap 'rm -f $policy' EXIT
fi

progress() { # progress WHAT PID: a line whenever the numbers have moved, every 5 s at most
  local before= now
  while kill -0 "$2" 2>/dev/null; do
    sleep 5
    now="fetched $(grep -c '^Get:' "$log" || true), unpacked $(grep -c '^Unpacking' "$log" || true), set up $(grep -c '^Setting up' "$log" || true)"
    [ "$now" = "$before" ] || say "$1: $now"
    before=$now
  done
}
run() { # run WHAT ARGUMENTS...
  local what=$1 pid
  shift
  apt_get "$@" >>"$log" 2>&1 </dev/null &
  pid=$!
  progress "$what" $pid
  wait $pid || { tail -n 15 "$log" >&2; fail "apt-get $1 failed; all of it is in $log"; }
}

say "installing $(echo "$missing" | wc -l) packages and what they need, about 350 in all (75 s on an idle machine, 5 min on a busy one)"
: >"$log"
# Old lists name package versions that the mirror no longer has.
run 'package lists' update
run packages install -y --no-install-recommends $missing
[ -z "$(missing_packages)" ] || fail "still missing: $(missing_packages | tr '\n' ' ')"
say "packages installed in ${SECONDS} s"
