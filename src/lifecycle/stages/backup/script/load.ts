import { formerTables } from '../../../../api/inventory-tables.ts';
import { restoreSchemas } from '../../../model/mariadb/login.ts';

/**
 * Loads a file into a schema beside the live schema. Only the temporary server runs the file itself: a file from
 * `mariadb-dump --databases` has a USE statement, and its events and triggers would run. The live server gets the
 * tables from the temporary server. Triggers, views, routines and events wait on the backup volume, because tables with
 * triggers (error 1435) and views (error 1450) cannot change their schema.
 *
 * The loaded copy is complete when `.restore.json` exists.
 */
export const load = String.raw`
# The dump of the data before the last exchange. Newer dumps may be of restores that failed, or of the same data.
undone() {
  if [ -e $folder/.undo ]; then
    file=$(cat $folder/.undo)
    [ -n "$file" ] || fail "the last restore made no dump of the data before it, so before-restore cannot undo it; restore a file by its name: $(newest_names)"
    [ -f "$folder/$file" ] || fail "$file, the dump of the data before the last restore, is gone from the backup volume; restore another file by its name: $(newest_names)"
  else
    file=$(listing "$safety" | tail -n 1 | cut -d' ' -f3)
    [ -n "$file" ] || fail "there is no dump of the data before a restore; the newest files are: $(newest_names)"
  fi
}
choose() {
  if [ "$FILE" = before-restore ]; then
    undone
  elif [ "$FILE" = latest ]; then
    # An emptied database may have made newer files without rows.
    file=$(newest_with_rows "$regular")
    [ -n "$file" ] || file=$(listing "$regular" | tail -n 1 | cut -d' ' -f3)
    [ -n "$file" ] || fail "there is no backup to restore: the volume holds no file multinic-TIME.sql"
  else
    file=$FILE
    [ -f "$folder/$file" ] || fail "there is no file $file on the backup volume; the newest files are: $(newest_names)"
  fi
  path=$folder/$file
  bytes=$(bytes_of "$path")
}
# Checks that need no server.
check_text() {
  [ "$bytes" -gt 0 ] || fail "$file is empty; restore another file: $(newest_names)"
  [ "$(head -c 2 "$path" | tr '\037\213' 'gz')" != gz ] || fail "$file is compressed with gzip; unpack it first: gunzip $file"
  ! head -c 4096 "$path" | head -n 5 | grep -q "$(printf '\r')\$" ||
    fail "$file has line ends of Windows (CR LF), which change the data; restore the original file, as mariadb-dump wrote it"
  is_complete "$path" || fail "$file is not a complete dump: its last line is not '-- Dump completed', so it was cut, or is no file of mariadb-dump; restore another file: $(newest_names)"
}
check_series() {
  have=$(cat /tmp/version)
  [ "$(rank "$have")" -ge 10006 ] ||
    fail "MariaDB $(series "$have") cannot exchange all tables in one atomic statement, as 10.6 and later can; set spec.database.image to 10.6 or later first, or stop the operator and load $file by hand as root: mariadb $live <$file"
  from=$(header_of "$path" | cut -d' ' -f3)
  [ -n "$from" ] || from=$(head -n 20 "$path" | sed -n 's/^-- Server version[^0-9]*\([0-9][0-9.]*\).*/\1/p')
  [ -z "$from" ] || [ "$(rank "$from")" -le "$(rank "$have")" ] ||
    fail "$file is of MariaDB $(series "$from"), newer than the server's $(series "$have"), which may not read it; set spec.database.image to $(series "$from") or later, or restore another file"
}
check_size() {
  [ -n "$CAPACITY" ] || return 0
  used=$(remote_sql --execute="SELECT COALESCE(SUM(data_length + index_length), 0) FROM information_schema.tables WHERE table_schema IN ('$live', '$former')")
  wanted=$(((used + bytes) * 13 / 10))
  [ "$wanted" -le $((CAPACITY / 10 * 9)) ] ||
    fail "the data volume is too small for a second copy of the data: the tables have $(mebibytes "$used") MiB and $file $(mebibytes "$bytes") MiB, which needs $(mebibytes $((wanted / 9 * 10))) MiB, and the volume has $(mebibytes "$CAPACITY") MiB; set spec.database.storageSize to at least $(quantity "$(mebibytes $((wanted / 9 * 10)))")"
}
# Foreign keys in other schemas would follow the former tables.
check_references() {
  encoded=$(encoded_schema)
  remote_sql --execute="SELECT for_name, ref_name FROM information_schema.innodb_sys_foreign WHERE ref_name LIKE '$(echo "$encoded" | sed 's/_/\\_/g')/%' AND for_name NOT LIKE '$(echo "$encoded" | sed 's/_/\\_/g')/%' AND for_name NOT LIKE '${restoreSchemas.former.replaceAll('_', '\\_')}/%'" >/tmp/references 2>/tmp/error ||
    fail "the foreign keys cannot be listed: $(last_error /tmp/error)"
  [ ! -s /tmp/references ] || fail "a table of another schema has a foreign key to a table of $live, and would refer to the former data after a restore: $(head -n 3 /tmp/references | sed -e 's/\t/ to /' -e 's/\//./g' | tr '\n' ';') drop this foreign key first"
}
# Loads the file into the temporary server, and checks the result.
try_file() {
  rows_written "$path" >/tmp/written
  patiently load_scratch "$path" || fail "$file cannot be restored by MariaDB $(series "$have"): $(load_error)"
  tables_in local_sql "$live" "$with_rows" >/tmp/tables
  grep -qx node_config /tmp/tables || {
    for one in ${formerTables.join(' ')}; do
      grep -qx $one /tmp/tables || fail "$file holds no MultiNIC database: it has neither table node_config nor the tables of the former operator, only: $(head -n 5 /tmp/tables | tr '\n' ' '); restore another file: $(newest_names)"
    done
  }
  count_rows local_sql "$live" >/tmp/wanted 2>/tmp/error || fail "the rows of $file cannot be counted: $(last_error /tmp/error)"
  check_rows
}
# Files without a header may have many rows in one INSERT.
check_rows() {
  recorded=$(header_of "$path" | cut -d' ' -f2)
  if [ -n "$recorded" ]; then
    [ "$recorded" -eq "$(total /tmp/wanted)" ] && [ "$(cat /tmp/written)" = "$(grep -v '^0 ' /tmp/wanted)" ] ||
      fail "$file was changed after it was written: it should have $recorded rows, and has $(total /tmp/wanted); restore another file: $(newest_names)"
    return
  fi
  while read -r count table; do
    found=$(grep -Fx "$count $table" /tmp/wanted | head -n 1 | cut -d' ' -f1)
    [ -n "$found" ] || found=$(sed -n "s/^\([0-9]*\) $table\$/\1/p" /tmp/wanted)
    [ "$found" -ge "$count" ] || fail "$file has $count INSERT statements for table $table, of which only $found became rows; restore another file: $(newest_names)"
  done </tmp/written
}
dump_safety() {
  [ "$SAFETY" = yes ] || return 0
  make_room
  dump_part -before-restore || {
    ! is_full || reason=$(full_text)
    fail "the present data cannot be dumped before the restore: $reason; set multinic.io/restore: $FILE! to restore without this dump"
  }
}
verify_safety() {
  [ "$SAFETY" = yes ] || return 0
  verify_part || fail "the dump of the present data cannot be verified: $reason; set multinic.io/restore: $FILE! to restore without this dump"
}

copy_tables() {
  set --
  while read -r one; do set -- "$@" "$one"; done </tmp/tables
  rm -f /tmp/copy.failed
  {
    local_program mariadb-dump --single-transaction --quick --no-autocommit --no-tablespaces --skip-triggers "$live" "$@" 2>/tmp/copy.error ||
      echo yes >/tmp/copy.failed
  } | remote_sql "$loaded" 2>/tmp/error || return 1
  [ ! -e /tmp/copy.failed ] || {
    mv /tmp/copy.error /tmp/error
    return 1
  }
}
copy_to_server() {
  tables_in local_sql "$live" "$movable" >/tmp/tables
  has_copy=yes
  remote_sql --execute="DROP DATABASE IF EXISTS $loaded; CREATE DATABASE $loaded CHARACTER SET utf8mb4" 2>/tmp/error ||
    fail "schema $loaded cannot be created: $(last_error /tmp/error)"
  patiently copy_tables || fail "the tables of $file cannot be loaded into schema $loaded: $(last_error /tmp/error)"
  patiently check_copy || fail "the copy in schema $loaded is not complete: $(last_error /tmp/error)"
}
check_copy() {
  count_rows remote_sql "$loaded" >/tmp/found 2>/tmp/error || return 1
  [ "$(cat /tmp/found)" = "$(cat /tmp/wanted)" ] || {
    echo "error: unexpected row counts: $(tr '\n' ' ' </tmp/found)" >/tmp/error
    return 1
  }
  tables_in remote_sql "$loaded" "$with_rows" >/tmp/names || return 1
  while read -r one; do echo "CHECK TABLE $(quoted "$one");"; done </tmp/names >/tmp/check.sql
  remote_sql "$loaded" </tmp/check.sql >/tmp/checked 2>/tmp/error || return 1
  ! grep -i "$(printf '\t')check$(printf '\t')error" /tmp/checked >/tmp/error
}

# Writes the triggers, views, routines and events of the temporary server's schema.
dump_programs() {
  local_program mariadb-dump --no-data --no-create-info --triggers --add-drop-trigger --routines --events "$live" || return 1
  tables_in local_sql "$live" "$views" >/tmp/views || return 1
  set --
  while read -r one; do set -- "$@" "$one"; done </tmp/views
  [ $# -eq 0 ] || local_program mariadb-dump --skip-triggers "$live" "$@"
}
# Accounts may differ from the server that wrote the file: without its DEFINER no view can be read.
prepare_programs() {
  dump_programs >/tmp/programs.sql 2>/tmp/error || fail "the triggers, views, routines and events of $file cannot be read: $(last_error /tmp/error)"
  missing_definers /tmp/programs.sql remote_sql >/tmp/replaced 2>/tmp/error ||
    fail "the accounts of the server cannot be listed: $(last_error /tmp/error)"
  replace_definers /tmp/programs.sql /tmp/replaced >/tmp/programs
  definers=$(sed -e "s/$tick//g" -e 's/["\\]/\\&/g' -e 's/.*/"&"/' /tmp/replaced | tr '\n' ',' | sed -e 's/,$//' -e 's/","/", "/g')
}
# The last file makes the loaded copy complete. A dump after an earlier restore dropped triggers, views, routines and
# events lacks them, hence it undoes nothing.
publish_copy() {
  number=$(header_of "$path" | cut -d' ' -f1)
  rows=$(total /tmp/wanted)
  cat /tmp/programs >$folder/.restore-programs.sql &&
    cat /tmp/wanted >$folder/.restore-rows &&
    cat /tmp/tables >$folder/.restore-tables &&
    { [ -e $folder/.dropped ] || echo "$saved" >$folder/.restore-safety; } &&
    echo "{\"file\": \"$file\", \"bytes\": $bytes, \"rows\": $rows, \"n\": $(or_null "$number" '')}" >$folder/.restore.json.part || {
    rm -f $folder/.restore*
    need=1
    fail "the files of the restore cannot be written; $(full_text)"
  }
  sync
  mv $folder/.restore.json.part $folder/.restore.json
  sync
  has_copy=
}
or_null() {
  if [ -n "$1" ]; then echo "$2$1$2"; else echo null; fi
}

load() {
  state='; nothing was changed'
  connect
  note_exchanged
  choose
  check_text
  check_series
  check_references
  take_back
  check_size
  rm -f $folder/.restore*
  start_scratch
  try_file
  dump_safety
  saved=$name
  copy_to_server
  prepare_programs
  verify_safety
  [ -z "$part" ] || publish_part
  publish_copy
  printf '%s\n' "{\"file\": \"$file\", \"bytes\": $bytes, \"at\": \"$(now)\", \"verified\": true, \"rows\": $(total /tmp/wanted), \"safety\": $(or_null "$saved" '"'), \"definers\": [$definers]}" >/dev/termination-log
  prune "$safety"
}
`;
