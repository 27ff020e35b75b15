# Sourced by up.sh: MariaDB and the schemas of the services.

# Schemas belong to the versions of the packages, and the catalog in them to the ports.
snapshot_file() {
  local key
  key=$({
    dpkg-query -W -f '${Package} ${Version}\n' mariadb-server python3-{keystone,glance,placement,neutron,nova}
    echo "$KEYSTONE_PORT $DB_PORT $AMQP_PORT $DB_PASSWORD $RABBIT_PASSWORD $ADMIN_PASSWORD"
    cat "$HERE/databases.sh" "$HERE/configuration.sh"
  } | sha256sum | cut -c1-16)
  echo "$CACHE/databases-$key.tar.gz"
}

restore_databases() {
  local snapshot
  snapshot=$(snapshot_file)
  if [ ! -d "$STATE/mysql/mysql" ] && [ -s "$snapshot" ]; then
    say "empty databases from $snapshot"
    tar -C "$STATE" -xzf "$snapshot"
  fi
}

# Nothing in it is worth a flush to the disk: no binary log, no double writes, commits flushed once a second.
start_mariadb() {
  if [ ! -d "$STATE/mysql/mysql" ]; then
    mariadb-install-db --no-defaults --user=root --datadir="$STATE/mysql" --auth-root-authentication-method=normal \
      --skip-test-db >"$STATE/log/mariadb-install.log" 2>&1
  fi
  start mariadb mariadbd --no-defaults --user=root --datadir="$STATE/mysql" --socket="$STATE/mysql.sock" \
    --pid-file="$STATE/mysql.pid" --bind-address="$IP" --port="$DB_PORT" --max-connections=1000 \
    --innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0 --innodb-buffer-pool-size=256M --skip-log-bin \
    --skip-name-resolve --character-set-server=utf8mb3 --performance-schema=off
  wait_for 90 MariaDB sql -e 'select 1'
}

sync_nova() {
  local nova="nova-manage --config-file $STATE/conf/nova/nova.conf"
  $nova api_db sync &&
    $nova cell_v2 map_cell0 --database_connection "$(database_url nova_cell0)" &&
    $nova cell_v2 create_cell --name=cell1 --database_connection "$(database_url nova)" --transport-url "$TRANSPORT" &&
    $nova db sync
}
sync_small_ones() {
  $PYTHON -c 'from glance.cmd.manage import main; main()' --config-file "$STATE/conf/glance/glance-api.conf" db_sync &&
    placement-manage --config-file "$STATE/conf/placement/placement.conf" db sync
}

create_schemas() {
  [ -e "$STATE/mysql/.complete" ] && return
  say "creating the schemas (20 s idle, 1 min busy)"
  local database job jobs=()
  for database in keystone glance placement neutron nova nova_api nova_cell0; do
    sql -e "create database if not exists $database character set utf8mb3;
            grant all on $database.* to openstack@'$IP' identified by '$DB_PASSWORD'"
  done
  local keystone="keystone-manage --config-file $STATE/conf/keystone/keystone.conf"
  $keystone db_sync >"$STATE/log/sync-keystone.log" 2>&1 & jobs+=($!)
  neutron-db-manage --config-file "$STATE/conf/neutron/neutron.conf" --config-file "$STATE/conf/neutron/ml2_conf.ini" \
    upgrade heads >"$STATE/log/sync-neutron.log" 2>&1 & jobs+=($!)
  sync_small_ones >"$STATE/log/sync-glance-placement.log" 2>&1 & jobs+=($!)
  sync_nova >"$STATE/log/sync-nova.log" 2>&1 & jobs+=($!)
  for job in "${jobs[@]}"; do wait "$job" || fail "a schema could not be created; look into $STATE/log/sync-*.log"; done

  local keys
  for keys in fernet credential; do
    mkdir -p -m 700 "$STATE/keystone/$keys-keys"
    $keystone ${keys}_setup --keystone-user root --keystone-group root >"$STATE/log/keystone-keys.log" 2>&1
  done
  $keystone bootstrap --bootstrap-password "$ADMIN_PASSWORD" --bootstrap-region-id RegionOne --bootstrap-public-url "$AUTH_URL" \
    --bootstrap-internal-url "$AUTH_URL" --bootstrap-admin-url "$AUTH_URL" >"$STATE/log/keystone-bootstrap.log" 2>&1
  touch "$STATE/mysql/.complete"
  keep_databases
}

# Only a stopped MariaDB has files that belong together.
keep_databases() {
  local snapshot
  snapshot=$(snapshot_file)
  mkdir -p "$CACHE"
  end 30 "$(pid_of mariadb)"
  rm -f "$CACHE"/databases-*
  tar -C "$STATE" -cf - mysql keystone | gzip -1 >"$snapshot.part"
  mv "$snapshot.part" "$snapshot"
  start_mariadb
}
