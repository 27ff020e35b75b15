import { backupAccount, restoreSchemas } from '../../../model/mariadb/login.ts';

/** Exit status for a backup volume without space for a dump, after the removal of older files. */
export const volumeFullStatus = 8;

/**
 * Failure messages, signals, and the connection to the server. Every failure message ends with `state`, the data on the
 * server. Functions under `patiently` run in a subshell: these return a status and never call `fail`.
 */
export const shared = String.raw`set -eu
export LC_ALL=C
folder=/backup
options=/etc/multinic/backup.cnf
scratch=/scratch
live=$DATABASE
loaded=${restoreSchemas.loaded}
former=${restoreSchemas.former}
tick=$(printf '\140')
part=
server=
child=
name=
file=
reason=
lost=
state=
has_copy=

cleanup() {
  [ -z "$part" ] || rm -f "$part"
  [ -z "$child" ] || kill "$child" 2>/dev/null || true
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
}
fail() {
  fail_with 1 "$@"
}
fail_with() {
  status=$1
  shift
  trap '' TERM INT HUP
  text="$(printf '%s' "$*" | tr '\n' ' ' | sed 's/ *$//' | cut -c1-1500)$state"
  printf '%s\n' "$text" >/dev/termination-log
  printf '%s\n' "$text" >&2
  [ -z "$has_copy" ] || remote_sql --execute="SET SESSION lock_wait_timeout = 5; DROP DATABASE IF EXISTS $loaded" >/dev/null 2>&1 || true
  exit "$status"
}
trap cleanup EXIT
trap 'fail "$TASK was stopped early: its time passed, or the Job was deleted"' TERM INT HUP

# Waits so that a signal is handled at once, not after the program.
patiently() {
  "$@" &
  child=$!
  status=0
  wait "$child" || status=$?
  child=
  return "$status"
}
last_error() {
  { grep -i err "$1" || tail -n 1 "$1"; } | tail -n 1
}
remote() {
  program=$1
  shift
  "$program" --defaults-file="$options" --default-character-set=utf8mb4 --protocol=tcp --host="$HOST" --port="$PORT" "$@"
}
remote_sql() {
  remote mariadb --batch --raw --skip-column-names "$@"
}
connect() {
  remote_sql --execute='SELECT VERSION()' >/tmp/version 2>/tmp/error && return
  ! grep -q 'ERROR 1045' /tmp/error ||
    fail "account ${backupAccount} does not exist yet: MariaDB creates it, with the password of Secret mariadb-credentials, when it starts; restart Pod mariadb-0, then try again"
  fail "MariaDB at $HOST:$PORT cannot be reached: $(last_error /tmp/error)"
}
# A number that orders series: 10011 for 10.11.
rank() {
  echo "$1" | sed -n 's/^\([0-9][0-9]*\)\.\([0-9][0-9]*\).*/\1 \2/p' | while read -r major minor; do echo $((major * 1000 + minor)); done
}
series() {
  echo "$1" | cut -d. -f1,2
}
quoted() {
  echo "$tick$1$tick"
}
# The name of the live schema in InnoDB, which encodes special characters as @XXXX.
encoded_schema() {
  echo "$live" | sed -e 's/-/@002d/g' -e 's/[$]/@0024/g'
}
now() {
  date -u +%Y-%m-%dT%H:%M:%SZ
}
bytes_of() {
  wc -c <"$1" | tr -d ' '
}
mebibytes() {
  echo $((($1 + 1048575) / 1048576))
}
# Text of the file .dropped and of backups that fail because of it.
dropped_text() {
  echo "$1 has not ended, but has dropped triggers, views, routines and events of the live schema, and a dump would lack them; run the restore again: append @TEXT to the value of multinic.io/restore"
}

# Names of a schema's tables of these kinds, through remote_sql or local_sql.
tables_in() {
  "$1" --execute="SELECT table_name FROM information_schema.tables WHERE table_schema = '$2' AND table_type $3 ORDER BY 1"
}
with_rows="NOT IN ('VIEW', 'SEQUENCE')"
movable="<> 'VIEW'"
views="= 'VIEW'"

# Lines "rows table" of a schema.
count_rows() {
  tables_in "$1" "$2" "$with_rows" >/tmp/names || return 1
  while read -r one; do
    echo "SELECT CONCAT(COUNT(*), ' $(quoted "$one")') FROM $(quoted "$2").$(quoted "$one");"
  done </tmp/names >/tmp/count.sql
  "$1" </tmp/count.sql >/tmp/counted || return 1
  sort /tmp/counted
}
total() {
  sum=0
  while read -r count _; do sum=$((sum + count)); done <"$1"
  echo "$sum"
}
`;
