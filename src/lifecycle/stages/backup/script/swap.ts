/**
 * Exchanges the live tables for the loaded copy. After a kill in any step, the next run ends forward: before the
 * exchange the loaded schema has tables, afterwards none. One statement moves all tables, and MariaDB 10.6 and later
 * undo this statement after a crash. `.restore-exchange` protects the schema with the former tables, and `.dropped`, if
 * the live schema had triggers, views, routines or events, prevents backups without them.
 */
export const swap = String.raw`
tables_before_exchange() {
  tables_in remote_sql "$loaded" "$movable" >/tmp/loaded 2>/tmp/error &&
    tables_in remote_sql "$live" "$movable" >/tmp/live 2>>/tmp/error &&
    tables_in remote_sql "$former" "$movable" >/tmp/former 2>>/tmp/error ||
    fail "the tables cannot be listed: $(last_error /tmp/error)"
}
# Lines of the file $1 that are not in the file $2, and lines in both. Without any pattern, grep of busybox finds all.
patterns() {
  { cat "$1"; echo; } >/tmp/patterns
}
without() {
  patterns "$2"
  grep -Fxv -f /tmp/patterns "$1" || true
}
common() {
  patterns "$2"
  grep -Fx -f /tmp/patterns "$1" || true
}
moves() {
  while read -r one; do echo "$(quoted "$1").$(quoted "$one") TO $(quoted "$2").$(quoted "$one")"; done
}
rename_all() {
  [ -s /tmp/moves ] || return 0
  { echo 'SET SESSION lock_wait_timeout = 120; RENAME TABLE'; sed '$!s/$/,/' /tmp/moves; } >/tmp/rename.sql
  remote_sql </tmp/rename.sql 2>/tmp/error
}
# Moves all tables back that an interrupted exchange has moved. MariaDB undoes a RENAME after a crash, but not after an
# error of the storage engine.
take_back() {
  [ -e $folder/.restore-exchange ] || return 0
  tables_before_exchange
  [ -s /tmp/loaded ] || return 0
  without $folder/.restore-tables /tmp/loaded >/tmp/moved
  { common /tmp/moved /tmp/live | moves "$live" "$loaded"; common $folder/.restore-exchange /tmp/former | moves "$former" "$live"; } >/tmp/moves
  rename_all || fail "the tables of an interrupted restore cannot be moved back from schema $former: $(last_error /tmp/error)"
}

# Tables that the server cannot open: they cannot be renamed, and neither can their triggers be dropped.
drop_damaged() {
  remote_sql --execute="CREATE DATABASE IF NOT EXISTS $(quoted "$live") CHARACTER SET utf8mb4" 2>/tmp/error || return 1
  tables_in remote_sql "$live" "$movable" >/tmp/present 2>/tmp/error || return 1
  while read -r one; do
    ! remote_sql "$live" --execute="SELECT 1 FROM $(quoted "$one") LIMIT 0" 2>/tmp/error || continue
    remote_sql "$live" --execute="CHECK TABLE $(quoted "$one")" | grep -qi 'corrupt' || continue
    note_change
    remote_sql "$live" --execute="SET FOREIGN_KEY_CHECKS=0; DROP TABLE IF EXISTS $(quoted "$one")" 2>/tmp/error || return 1
    echo "table $one is damaged and was dropped"
  done </tmp/present
}
# Foreign keys to a lost table would join the former tables to the restored ones.
drop_dangling_keys() {
  remote_sql --execute="SELECT CONCAT('ALTER TABLE $tick', table_name, '$tick DROP FOREIGN KEY $tick', constraint_name, '$tick;')
    FROM information_schema.referential_constraints
    WHERE constraint_schema = '$live' AND unique_constraint_schema = '$live' AND referenced_table_name NOT IN
    (SELECT table_name FROM information_schema.tables WHERE table_schema = '$live')" >/tmp/keys.sql 2>/tmp/error || return 1
  [ -s /tmp/keys.sql ] || return 0
  note_change
  remote_sql "$live" </tmp/keys.sql 2>/tmp/error
}
drop_programs() {
  remote_sql --execute="SELECT CONCAT('DROP TRIGGER IF EXISTS $tick', trigger_name, '$tick;') FROM information_schema.triggers WHERE trigger_schema = '$live'
    UNION ALL SELECT CONCAT('DROP VIEW IF EXISTS $tick', table_name, '$tick;') FROM information_schema.views WHERE table_schema = '$live'
    UNION ALL SELECT CONCAT('DROP ', routine_type, ' IF EXISTS $tick', routine_name, '$tick;') FROM information_schema.routines WHERE routine_schema = '$live'
    UNION ALL SELECT CONCAT('DROP EVENT IF EXISTS $tick', event_name, '$tick;') FROM information_schema.events WHERE event_schema = '$live'" >/tmp/drop.sql 2>/tmp/error || return 1
  [ -s /tmp/drop.sql ] || return 0
  note_change
  mark_dropped || return 1
  remote_sql "$live" </tmp/drop.sql 2>/tmp/error
}
# InnoDB may still hold a table that has lost its .frm file, and would then refuse the name.
free_names() {
  without /tmp/loaded /tmp/live | while read -r one; do
    echo "SET FOREIGN_KEY_CHECKS=0; DROP TABLE IF EXISTS $(quoted "$one");"
  done >/tmp/free.sql
  remote_sql "$live" </tmp/free.sql 2>/tmp/error
}
create_schemas() {
  [ -e $folder/.restore-exchange ] || remote_sql --execute="SET FOREIGN_KEY_CHECKS=0; DROP DATABASE IF EXISTS $former" 2>/tmp/error || return 1
  remote_sql --execute="CREATE DATABASE IF NOT EXISTS $former CHARACTER SET utf8mb4" 2>/tmp/error || return 1
  [ ! -e $folder/.restore-exchange ] || return 0
  cat /tmp/live >$folder/.restore-exchange.part 2>/tmp/error || return 1
  sync
  mv $folder/.restore-exchange.part $folder/.restore-exchange
  sync
}
exchange_tables() {
  tables_before_exchange
  without $folder/.restore-exchange /tmp/former >/tmp/pending
  { common /tmp/pending /tmp/live | moves "$live" "$former"; moves "$loaded" "$live" </tmp/loaded; } >/tmp/moves
  rename_all && return
  text=$(last_error /tmp/error)
  take_back
  fail "the tables cannot be exchanged: $text"
}
# Which dump undoes this restore; empty: none.
note_undo() {
  [ ! -e $folder/.restore-safety ] || mv $folder/.restore-safety $folder/.undo
}
restored_file() {
  sed -n 's/^{"file": "\([^"]*\)".*/\1/p' $folder/.restore.json
}
# Before the first change of the live schema: the dump of a restore that fails afterwards undoes this restore. An undo
# that fails stays possible.
note_change() {
  [ "$(restored_file)" = "$(cat $folder/.undo 2>/dev/null)" ] || note_undo
}
mark_dropped() {
  [ ! -e $folder/.dropped ] || return 0
  dropped_text "the restore of $(restored_file)" 2>/tmp/error >$folder/.dropped.part || return 1
  mv $folder/.dropped.part $folder/.dropped
  sync
}
# For a restore that never ended, although its tables are live.
note_exchanged() {
  [ -e $folder/.restore-exchange ] || return 0
  tables_before_exchange
  [ -s /tmp/loaded ] || note_undo
}
# Before the programs exist, because a trigger or an event may write rows.
count_live() {
  [ ! -e $folder/.restore-counted ] || return 0
  count_rows remote_sql "$live" >/tmp/found 2>/tmp/error || fail "the rows of the restored tables cannot be counted: $(last_error /tmp/error)"
  [ "$(cat /tmp/found)" = "$(cat $folder/.restore-rows)" ] || fail "the live schema has other rows than the loaded copy: $(tr '\n' ' ' </tmp/found)instead of $(tr '\n' ' ' <$folder/.restore-rows)"
  echo counted >$folder/.restore-counted
}
create_programs() {
  remote_sql "$live" <$folder/.restore-programs.sql 2>/tmp/error || fail "not all triggers, views, routines and events could be created: $(last_error /tmp/error)"
}
forget_copy() {
  sed "s/\"rows\": \([0-9]*\).*/\"at\": \"$(now)\", \"verified\": true, \"rows\": \1}/" $folder/.restore.json >$folder/.restored.json.part
  mv $folder/.restored.json.part $folder/.restored.json
  remote_sql --execute="DROP DATABASE IF EXISTS $loaded" 2>/tmp/error || fail "schema $loaded cannot be dropped: $(last_error /tmp/error)"
  rm -f $folder/.restore.json
  rm -f $folder/.restore-* $folder/.dropped
  sync
}
# A run after the end answers with the former result.
finished_before() {
  [ -e $folder/.restored.json ] || fail "there is no loaded copy to exchange for the live tables: run the restore again"
  rm -f $folder/.restore-* $folder/.dropped
  cat $folder/.restored.json >/dev/termination-log
}

swap() {
  state='; nothing was changed'
  connect
  [ -e $folder/.restore.json ] || {
    finished_before
    return
  }
  tables_before_exchange
  if [ -s /tmp/loaded ]; then
    cat /tmp/loaded /tmp/live >/tmp/all
    [ -e $folder/.restore-exchange ] || cat /tmp/loaded >/tmp/all
    expect_tables /tmp/all "schema $loaded has not all tables of the loaded copy: run the restore again"
    state='; the former tables are live, but some triggers, views, routines or events may be missing; the loaded copy is complete: run this again'
    drop_damaged || fail "a damaged table cannot be dropped: $(last_error /tmp/error)"
    drop_dangling_keys || fail "foreign keys to lost tables cannot be dropped: $(last_error /tmp/error)"
    drop_programs || fail "the triggers, views, routines and events cannot be dropped: $(last_error /tmp/error)"
    tables_before_exchange
    free_names || fail "the names of the tables are taken: $(last_error /tmp/error)"
    create_schemas || fail "schema $former cannot be created: $(last_error /tmp/error)"
    exchange_tables
  else
    expect_tables /tmp/live "neither schema $loaded nor the live schema has the tables of the loaded copy: run the restore again"
  fi
  state='; the restored tables are live, and the former ones are in schema '$former'; run this again'
  note_undo
  count_live
  create_programs
  forget_copy
  cat $folder/.restored.json >/dev/termination-log
}
expect_tables() {
  [ -z "$(without $folder/.restore-tables "$1")" ] || fail "$2"
}
`;
