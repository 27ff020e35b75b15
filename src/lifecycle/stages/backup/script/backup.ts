import { inventoryTables } from '../../../../api/inventory-tables.ts';

const tablesByMigration = Object.entries(inventoryTables)
  .map(([migration, tables]) => `${migration}) printf '%s\\n' ${tables.join(' ')} ;;`)
  .join('\n      ');

/**
 * A dump becomes a file after four checks: complete last line, load into the temporary server, equal row counts, all
 * expected tables. The script writes the first line last and in place: a second copy would need the space for another
 * dump.
 */
export const backup = String.raw`
# Tables that a dump must have. MariaDB does not list a table that has lost its .frm file, but InnoDB does. Names with
# characters that InnoDB encodes, and tables of full-text indexes, are not compared.
expected_tables() {
  encoded=$(encoded_schema | sed 's/_/\\_/g')
  remote_sql --execute="SELECT SUBSTRING_INDEX(name, '/', -1) FROM information_schema.innodb_sys_tables WHERE name LIKE '$encoded/%' AND SUBSTRING_INDEX(name, '/', -1) NOT REGEXP '[@#]|^FTS_'" || return 1
  { remote_sql "$live" --execute="SELECT name FROM migrations" 2>/dev/null || true; } | while read -r one; do
    case $one in
      ${tablesByMigration}
    esac
  done
}
# On failure "reason" names the expected tables that the file $1 lacks.
expect_all() {
  lost=$(without /tmp/expected "$1" | sort -u | tr '\n' ' ')
  [ -z "$lost" ] || {
    reason="the dump would lack tables of the inventory or of InnoDB: $lost(a table was dropped, or its .frm file was lost, and MariaDB does not list it)"
    return 1
  }
}
is_complete() {
  case $(tail -n 1 "$1") in '-- Dump completed'*) return 0 ;; esac
  return 1
}
dump_live() {
  remote mariadb-dump --single-transaction --quick --skip-extended-insert --no-autocommit --no-tablespaces \
    --triggers --routines --events "$live" >>"$part" 2>/tmp/error
}
# Writes a part; on failure "reason" says why.
dump_part() {
  until name=multinic-$(date -u +%Y%m%dT%H%M%SZ)$1.sql && [ ! -e "$folder/$name" ]; do sleep 1; done
  part=$folder/$name.part
  expected_tables >/tmp/expected 2>/tmp/error && tables_in remote_sql "$live" "$movable" >/tmp/listed 2>/tmp/error || {
    reason="the tables cannot be listed: $(last_error /tmp/error)"
    return 1
  }
  expect_all /tmp/listed || return 1
  printf '%-160s\n' '-- multinic' 2>/tmp/error >"$part" || {
    reason="the dump cannot be written: $(last_error /tmp/error)"
    return 1
  }
  patiently dump_live || {
    reason="the dump failed: $(last_error /tmp/error)"
    return 1
  }
  sync
  is_complete "$part" || {
    reason="the dump is truncated: its last line is not 'Dump completed'"
    return 1
  }
  ! grep -q '^-- insufficient privileges' "$part" || {
    reason="the dump lacks routines, which account multinic_backup may not read"
    return 1
  }
}
verify_part() {
  rows_written "$part" >/tmp/written
  patiently load_scratch "$part" || {
    reason="the dump cannot be restored: $(load_error)"
    return 1
  }
  count_rows local_sql "$live" >/tmp/found 2>/tmp/error || {
    reason="the rows of the dump cannot be counted: $(last_error /tmp/error)"
    return 1
  }
  [ "$(cat /tmp/written)" = "$(grep -v '^0 ' /tmp/found)" ] || {
    reason="row counts of the dump and of its restored copy differ: $(tr '\n' ' ' </tmp/written)/ $(tr '\n' ' ' </tmp/found)"
    return 1
  }
  tables_in local_sql "$live" "$movable" >/tmp/copied
  expect_all /tmp/copied || return 1
  product=$(grep -cxE '${Object.values(inventoryTables).flat().join('|')}' /tmp/copied || true)
}
# Gives the part its first line and its name.
publish_part() {
  n=$(next_number)
  rows=$(total /tmp/found)
  at=$(now)
  header=$(printf '%-160s' "-- multinic {\"n\": $n, \"rows\": $rows, \"series\": \"$(series "$(cat /tmp/version)")\", \"at\": \"$at\"}")
  echo "$header" | dd of="$part" conv=notrunc 2>/dev/null
  mv "$part" "$folder/$name"
  part=
  sync
}
# The former tables of the last restore, and only behind a backup with rows that follows it.
drop_former() {
  [ "$RETENTION" -gt 0 ] && [ "$rows" -gt 0 ] && [ ! -e $folder/.restore.json ] || return 0
  remote_sql --execute="SET FOREIGN_KEY_CHECKS=0; DROP DATABASE IF EXISTS $former" 2>&1 || true
}

# Earlier releases wrote the file without text. An accepted empty volume has nothing of the dropped objects.
refuse_dropped() {
  [ -z "$EMPTY" ] || rm -f $folder/.dropped
  [ -e $folder/.dropped ] || return 0
  if [ -s $folder/.dropped ]; then fail "$(cat $folder/.dropped)"; fi
  fail "$(dropped_text 'a restore')"
}
advice() {
  [ -z "$lost" ] || echo "; restore a backup without a dump of the present data: set multinic.io/restore: latest!"
}
backup() {
  connect
  refuse_dropped
  make_room
  dump_part "$SUFFIX" || {
    fail_if_full
    fail "$reason$(advice)"
  }
  start_scratch
  verify_part || fail "$reason$(advice)"
  publish_part
  drop_former
  echo "{\"file\": \"$name\", \"bytes\": $(bytes_of "$folder/$name"), \"at\": \"$at\", \"verified\": true, \"rows\": $rows, \"tables\": $product, \"n\": $n}" >/dev/termination-log
  prune "$daily"
  prune "$upgrade"
}
`;
