/**
 * Script for backups and restores (POSIX sh, Debian or busybox programs). Environment: TASK (backup or restore), HOST,
 * PORT, DATABASE, RETENTION (files), SUFFIX (of the file name), FILE (restore: a file name or `latest`). Writes one
 * line of JSON to the termination log, or one line with the failure reason.
 *
 * A dump becomes a file only after two checks: its last line is complete, and a restore into an empty server in this
 * Pod has equal row counts. Rows are counted under the dump's own table locks, hence concurrent writers do not change
 * the counts.
 */
export const backupScript = String.raw`set -eu
export LC_ALL=C
folder=/backup
options=/etc/multinic/client.cnf
scratch=/scratch
part=
server=
child=

cleanup() {
  [ -z "$part" ] || rm -f "$part"
  [ -z "$child" ] || kill "$child" 2>/dev/null || true
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
}
fail() {
  echo "$*" | cut -c1-1000 >/dev/termination-log
  echo "$*" >&2
  exit 1
}
trap cleanup EXIT
trap 'fail "$TASK was stopped early: one hour passed, or the Job was deleted"' TERM INT HUP

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
  "$program" --defaults-file="$options" --protocol=tcp --host="$HOST" --port="$PORT" "$@"
}
local_sql() {
  mariadb --no-defaults --socket=$scratch/sock --batch --skip-column-names "$@"
}

is_complete() {
  case $(tail -n 1 "$1") in '-- Dump completed'*) return 0 ;; esac
  return 1
}
tables_of() {
  sed -n 's/^CREATE TABLE \(${'`'}.*${'`'}\) ($/\1/p' "$1"
}
# Rows of a dump with one INSERT a row, as "table count".
rows_written() {
  tables_of "$1" | while read -r table; do
    echo "$table $(grep -c "^INSERT INTO $table VALUES" "$1" || true)"
  done
}
# The dump with a count of each table's rows before its lock is released.
counting() {
  sed -e '/^LOCK TABLES ${'`'}.*${'`'} WRITE;$/h' \
    -e '/^UNLOCK TABLES;$/{x;s/^LOCK TABLES \(${'`'}.*${'`'}\) WRITE;$/SELECT "\1", COUNT(*) FROM \1;/;p;x;}' "$1"
}
total() {
  sum=0
  while read -r _ count; do sum=$((sum + count)); done <"$1"
  echo "$sum"
}

start_scratch() {
  mkdir -p $scratch/data
  mariadbd --no-defaults --datadir=$scratch/data --socket=$scratch/sock --pid-file=$scratch/pid --tmpdir=/tmp \
    --skip-networking --skip-grant-tables --skip-log-bin --character-set-server=utf8mb4 \
    --innodb-buffer-pool-size=16M --innodb-log-file-size=10M --innodb-flush-log-at-trx-commit=0 >/tmp/scratch.log 2>&1 &
  server=$!
  until mariadb-admin --no-defaults --socket=$scratch/sock ping >/dev/null 2>&1; do
    kill -0 "$server" 2>/dev/null || fail "the temporary server that verifies dumps does not start: $(grep ERROR /tmp/scratch.log | head -n 2 | tr '\n' ' ')"
    sleep 0.2
  done
}
# Restores a dump into an empty database of this Pod; writes "table count" to the file $2.
load_scratch() {
  local_sql --execute='DROP DATABASE IF EXISTS verify; CREATE DATABASE verify CHARACTER SET utf8mb4' 2>/tmp/error || return 1
  counting "$1" | local_sql verify >/tmp/counted 2>/tmp/error || return 1
  tr '\t' ' ' </tmp/counted | sort >"$2"
}

make_dump() {
  until name=multinic-$(date -u +%Y%m%dT%H%M%SZ)$1.sql && [ ! -e "$folder/$name" ]; do sleep 1; done
  part=$folder/$name.part
  patiently remote mariadb-dump --default-character-set=utf8mb4 --single-transaction --quick --skip-extended-insert \
    --no-autocommit --no-tablespaces "$DATABASE" >"$part" 2>/tmp/error ||
    fail "the dump failed: $(last_error /tmp/error)$(volume_hint)"
  sync
  is_complete "$part" || fail "the dump is truncated: its last line is not 'Dump completed'$(volume_hint)"
  rows_written "$part" | sort >/tmp/written
  patiently load_scratch "$part" /tmp/restored || fail "the dump cannot be restored: $(last_error /tmp/error)"
  [ "$(cat /tmp/written)" = "$(cat /tmp/restored)" ] || fail "row counts of the dump and of its restored copy differ: $(tr '\n' ' ' </tmp/written)/ $(tr '\n' ' ' </tmp/restored)"
  mv "$part" "$folder/$name"
  part=
  sync
}
volume_hint() {
  free=$(df -P -k $folder | tail -n 1 | sed 's/  */ /g' | cut -d' ' -f4)
  [ "$free" -ge 1024 ] || echo "; the backup volume is full: enlarge spec.database.storageSize or lower spec.database.backup.retention"
}
# Removes the oldest files of one kind beyond the retention, never the one just made.
prune() {
  ls $folder | grep "$1" | sort -r | tail -n "+$((RETENTION + 1))" | while read -r old; do
    [ "$old" = "$name" ] || rm -f "$folder/$old"
  done
}
bytes_of() {
  wc -c <"$1" | tr -d ' '
}
finish() {
  echo "{\"file\": \"$1\", \"bytes\": $(bytes_of "$folder/$1"), \"at\": \"$(date -u +%Y-%m-%dT%H:%M:%SZ)\", \"verified\": true, \"rows\": $(total "$2")}" >/dev/termination-log
}

regular='^multinic-[0-9]*T[0-9]*Z\(-before-upgrade\)*\.sql$'
safety='^multinic-[0-9]*T[0-9]*Z-before-restore\.sql$'

backup() {
  start_scratch
  make_dump "$SUFFIX"
  finish "$name" /tmp/restored
  prune "$regular"
}

choose() {
  if [ "$FILE" = latest ]; then
    file=$(ls $folder | grep "$regular" | sort | tail -n 1)
    [ -n "$file" ] || fail "there is no backup to restore: the volume holds no file multinic-TIME.sql"
  else
    file=$FILE
    [ -f "$folder/$file" ] || fail "there is no file $file on the backup volume; it holds: $(ls $folder | grep '\.sql$' | sort -r | head -n 10 | tr '\n' ' ')"
  fi
}
drop_tables() {
  echo 'SET FOREIGN_KEY_CHECKS=0;'
  while read -r table _; do echo 'DROP TABLE IF EXISTS ${'`'}'"$table"'${'`'};'; done </tmp/present
}
restore_live() {
  { drop_tables; counting "$folder/$file"; } | remote mariadb --batch --skip-column-names "$DATABASE" >/tmp/counted 2>/tmp/error
}
restore() {
  choose
  is_complete "$folder/$file" || fail "$file is not a complete dump of mariadb-dump: its last line is not 'Dump completed'; nothing was changed"
  start_scratch
  patiently load_scratch "$folder/$file" /tmp/wanted || fail "$file cannot be restored, and nothing was changed: $(last_error /tmp/error)"
  [ "$(wc -l </tmp/wanted)" -eq "$(tables_of "$folder/$file" | wc -l)" ] || fail "$file was dumped without table locks (--skip-add-locks), so its rows cannot be counted; nothing was changed"
  make_dump -before-restore
  remote mariadb --batch --skip-column-names --execute="SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'" "$DATABASE" >/tmp/present 2>/tmp/error ||
    fail "the tables cannot be listed, and nothing was changed: $(last_error /tmp/error)"
  patiently restore_live || fail "only a part of $file was restored: $(last_error /tmp/error); the previous data is in $name: restore that file"
  tr '\t' ' ' </tmp/counted | sort >/tmp/found
  [ "$(cat /tmp/found)" = "$(cat /tmp/wanted)" ] || fail "$file was restored with unexpected row counts; the previous data is in $name: restore that file"
  finish "$file" /tmp/found
  prune "$safety"
}

touch $folder/.lock 2>/dev/null || fail "the backup volume cannot be written$(volume_hint)"
exec 9<$folder/.lock
! command -v flock >/dev/null 2>&1 || flock 9
rm -f $folder/*.part
$TASK
`;
