import { volumeFullStatus } from './shared.ts';

/**
 * Files on the backup volume: order and retention. A file's first line has its number, because clocks run ahead and
 * names follow the clock. Files without a first line are older than numbered files.
 */
export const files = String.raw`
daily='^multinic-[0-9]*T[0-9]*Z\.sql$'
upgrade='^multinic-[0-9]*T[0-9]*Z-before-upgrade\.sql$'
regular='^multinic-[0-9]*T[0-9]*Z\(-before-upgrade\)*\.sql$'
safety='^multinic-[0-9]*T[0-9]*Z-before-restore\.sql$'
any='^multinic-[0-9]*T[0-9]*Z\(-before-upgrade\|-before-restore\)*\.sql$'

# "n rows series" of a file.
header_of() {
  head -c 300 "$1" | head -n 1 | sed -n 's/^-- multinic {"n": \([0-9][0-9]*\), "rows": \([0-9][0-9]*\), "series": "\([0-9.]*\)".*/\1 \2 \3/p'
}
# Lines "n rows name", oldest first; rows are unknown (-) in files without a header.
listing() {
  ls $folder | grep "$1" | while read -r one; do
    header=$(header_of "$folder/$one" | cut -d' ' -f1,2)
    [ -n "$header" ] || header='0 -'
    echo "$header $one"
  done | sort -k1,1n -k3,3
}
next_number() {
  listing "$any" | { last=0; while read -r n _; do last=$n; done; echo $((last + 1)); }
}
newest_names() {
  listing '\.sql$' | sort -k1,1nr -k3,3r | head -n 10 | cut -d' ' -f3 | tr '\n' ' '
}
# The newest file with rows of a kind.
newest_with_rows() {
  listing "$1" | grep -v '^[0-9]* 0 ' | tail -n 1 | cut -d' ' -f3
}
is_kept() {
  [ "$1" = "$name" ] || [ "$1" = "$file" ] || [ "$1" = "$precious" ] || [ "$1" = "$(cat $folder/.undo 2>/dev/null)" ]
}
# Removes the oldest files of a kind beyond the retention, never its newest file with rows.
prune() {
  [ "$RETENTION" -gt 0 ] || return 0
  precious=$(newest_with_rows "$1")
  listing "$1" | sort -k1,1nr -k3,3r | tail -n "+$((RETENTION + 1))" | while read -r _ _ old; do
    is_kept "$old" || rm -f "$folder/$old"
  done
}

# Size (2), use (3) or free space (4) of the volume in KiB.
volume() {
  df -P -k $folder | tail -n 1 | sed 's/  */ /g' | cut -d' ' -f"$1"
}
# KiB that the next dump needs: as much as the newest with rows, otherwise as much as the tables.
expected_dump() {
  newest=$(newest_with_rows "$any")
  if [ -n "$newest" ]; then
    echo $(($(bytes_of "$folder/$newest") / 1000 + 1))
  else
    remote_sql --execute="SELECT COALESCE(SUM(data_length), 0) DIV 1000 + 1 FROM information_schema.tables WHERE table_schema = '$live'" 2>/dev/null || echo 1
  fi
}
# A volume may share its disk with other data: what fills the disk is then not here, and three dumps have room.
is_crowded() {
  used=$(volume 3)
  free=$(volume 4)
  [ $((used * 100)) -gt $(((used + free) * 70)) ] && [ "$free" -lt $((need * 3)) ]
}
# Removes the oldest files of all kinds while the volume is above 70 %, never the newest backup with rows.
make_room() {
  need=$(expected_dump)
  [ "$RETENTION" -gt 0 ] || return 0
  precious=$(newest_with_rows "$regular")
  [ -n "$precious" ] || precious=$(newest_with_rows "$any")
  listing "$any" >/tmp/files
  while read -r _ _ old; do
    is_crowded || break
    is_kept "$old" || rm -f "$folder/$old"
  done </tmp/files
}
is_full() {
  grep -q 'errno 28\|errno: 28\|No space left\|errno 122\|quota' /tmp/error || [ "$(volume 4)" -lt 64 ]
}
# A quantity of at least so many MiB.
quantity() {
  if [ "$1" -lt 1024 ]; then echo "$1Mi"; else echo "$((($1 + 1023) / 1024))Gi"; fi
}
full_text() {
  size=$(volume 2)
  used=$(volume 3)
  written=0
  [ ! -f "$part" ] || written=$(($(bytes_of "$part") / 1024))
  used=$((used - written))
  [ "$need" -gt $((written * 3 / 2)) ] || need=$((written * 3 / 2 + 1))
  enough=$((used + need * 3))
  [ "$enough" -gt $((size + need)) ] || enough=$((size + need))
  echo "the backup volume is full: $((used / 1024)) of $((size / 1024)) MiB used, a dump needs about $((need / 1024 + 1)) MiB: set spec.database.backup.storageSize to at least $(quantity $((enough / 1024 + 1)))"
}
fail_if_full() {
  ! is_full || fail_with ${volumeFullStatus} "$(full_text)"
}
`;
