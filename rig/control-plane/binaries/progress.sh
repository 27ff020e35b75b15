# shellcheck shell=bash
# Sourced: long work says how far it is.

# with_progress LABEL STATE COMMAND...: runs COMMAND with its output in $CACHE/LABEL.log and says every 30 s what STATE, called
# with the log, prints.
with_progress() {
  local label=$1 state=$2 log=$CACHE/$1.log started=$SECONDS failed beat
  shift 2
  # The beat ends when its input is closed, also by the death of this script.
  exec {beat}> >(beat "$label" "$state" "$log" "$started")
  # Not `"$@" || failed=...`: bash ignores errexit in all of a command that is tested so.
  set +e
  (
    set -e
    "$@"
  ) >"$log" 2>&1 {beat}>&-
  failed=$?
  set -e
  exec {beat}>&-
  if ((failed)); then
    tail -n 20 "$log" >&2
    die "$label failed; all of its output: $log"
  fi
  say "$label: done after $((SECONDS - started)) s"
}

beat() {
  local status
  while :; do
    status=0
    read -rt 30 || status=$?
    ((status > 128)) || return 0 # above 128: 30 s went by
    say "$1: $((SECONDS - $4)) s, $("$2" "$3")"
  done
}

# keep KEY COMMAND...: runs COMMAND with an empty folder as its last argument; it becomes $STORE/KEY only when COMMAND succeeded.
keep() {
  local key=$1
  shift
  rm -rf "$STORE/$key.part"
  mkdir -p "$STORE/$key.part"
  "$@" "$STORE/$key.part"
  mv "$STORE/$key.part" "$STORE/$key"
}

machine() {
  case $(uname -m) in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    *) die "no binaries for a $(uname -m) machine: put them on PATH or set KUBEBUILDER_ASSETS" ;;
  esac
}
