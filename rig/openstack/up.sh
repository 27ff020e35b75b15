#!/bin/bash
# Starts the stack, or what is missing of it, and returns when servers can be booted.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
. "$HERE/configuration.sh"
. "$HERE/databases.sh"

[ "$(id -u)" = 0 ] || fail "the stack runs as root"
missing=$(missing_packages)
[ -z "$missing" ] || fail "packages are missing, run: $HERE/openstack install ($(echo $missing))"

mkdir -p "$STATE"/{conf,log,pid,lock,rabbit,plugins,keystone,glance/images,nova/instances,neutron}
mkdir -p "$STATE"/conf/{keystone,glance,placement,neutron,nova,rabbitmq}

refuse_taken_ports() {
  local name port
  while read -r name port; do
    if [ -n "$port" ] && ! alive "$name" && listens "$port"; then
      fail "port $port ($name) belongs to another process: $(ss -Hltnp "sport = :$port" | sed 's/.*users://'); set another one, see environment.sh"
    fi
  done < <(services)
}

start_rabbit() {
  # epmd first, and bound to loopback: RabbitMQ would start one that nobody stops and that listens everywhere.
  start epmd epmd -address "$IP" -port "$EPMD_PORT"
  start rabbit env HOME="$STATE/rabbit" /usr/lib/rabbitmq/bin/rabbitmq-server
}
prepare_rabbit() {
  wait_for 90 RabbitMQ rabbitctl await_startup
  rabbitctl list_users 2>/dev/null | grep -q "^$RABBIT_USER\b" && return
  {
    rabbitctl add_user "$RABBIT_USER" "$RABBIT_PASSWORD"
    rabbitctl set_permissions "$RABBIT_USER" '.*' '.*' '.*'
    # The services declare notifications.* themselves and nobody reads them here: they would grow for ever.
    rabbitctl set_policy bounded '^(versioned_)?notifications\.' '{"max-length":5000,"message-ttl":3600000}' --apply-to queues
  } >>"$STATE/log/rabbitctl.log" 2>&1
}

# uWSGI's own HTTP router stands in front of the workers (--http). With --http-socket a worker reads the request itself
# and is lost for 4 s while an eventlet client holds an idle connection. "Connection: close" because the router closes
# after each answer anyway: unsaid, keep-alive clients get "connection reset".
start_uwsgi() { # start_uwsgi NAME PORT PROCESSES THREADS VARIABLE=VALUE ARGUMENTS...
  local name=$1 port=$2 processes=$3 threads=$4 variable=$5
  shift 5
  start "$name" env "$variable" uwsgi_python3 --plugin http --master --lazy-apps --enable-threads --thunder-lock \
    --die-on-term --no-orphans --buffer-size 65535 --http-buffer-size 65535 --http-timeout 180 --listen 100 --disable-logging \
    --add-header 'Connection: close' --http "$IP:$port" --processes "$processes" --threads "$threads" "$@"
}

# The service packages of Debian add init scripts only, and nova-compute's would bring libvirt, qemu and systemd: the
# programs that are missing that way are one line of Python each.
start_services() {
  local nova="--config-file $STATE/conf/nova/nova.conf" host
  start_uwsgi keystone "$KEYSTONE_PORT" "$API_WORKERS" 4 "OS_KEYSTONE_CONFIG_DIR=$STATE/conf/keystone" --wsgi-file /usr/bin/keystone-wsgi-public
  wait_for 90 Keystone answers "$KEYSTONE_PORT"
  # Slowest to start, so first; until accounts.py has made its user it only logs refused logins.
  start neutron-server neutron-server --config-file "$STATE/conf/neutron/neutron.conf" --config-file "$STATE/conf/neutron/ml2_conf.ini"
  start_uwsgi placement "$PLACEMENT_PORT" 1 4 "OS_PLACEMENT_CONFIG_DIR=$STATE/conf/placement" --wsgi-file /usr/bin/placement-api
  start_uwsgi glance "$GLANCE_PORT" 1 4 "OS_GLANCE_CONFIG_DIR=$STATE/conf/glance" --module 'glance.common.wsgi_app:init_app()'
  $PYTHON -B "$HERE/accounts.py" "$AUTH_URL" "$ADMIN_PASSWORD" "$SERVICE_PASSWORD" \
    "image=http://$IP:$GLANCE_PORT" "placement=http://$IP:$PLACEMENT_PORT" "network=http://$IP:$NEUTRON_PORT" "compute=http://$IP:$NOVA_PORT/v2.1"
  start nova-conductor $PYTHON -c 'from nova.cmd.conductor import main; main()' $nova --log-file "$STATE/log/nova-conductor.log"
  start nova-scheduler $PYTHON -c 'from nova.cmd.scheduler import main; main()' $nova --log-file "$STATE/log/nova-scheduler.log"
  start_uwsgi nova-api "$NOVA_PORT" "$API_WORKERS" 1 "OS_NOVA_CONFIG_DIR=$STATE/conf/nova" --wsgi-file /usr/bin/nova-api-wsgi --logto "$STATE/log/nova-api.log"
  wait_for 90 Placement answers "$PLACEMENT_PORT"
  wait_for 90 Glance answers "$GLANCE_PORT"
  for host in $COMPUTE_HOSTS; do
    # Nova looks for compute_driver under nova.virt only.
    start "nova-compute-$host" $PYTHON -c 'import os, nova.virt
from nova.cmd.compute import main
nova.virt.__path__.append(os.environ["PYTHONPATH"])
main()' --config-file "$STATE/conf/nova/compute-$host.conf" --log-file "$STATE/log/nova-compute-$host.log"
  done
}

# A database that is older than this start has records of computes that look alive and are not: a boot that trusts them
# ends with NoValidHost. So a compute counts when it has reported within the last seconds.
computes_report() {
  local reporting
  reporting=$(sql -N nova -e "select count(*) from services s join compute_nodes c on c.host = s.host and c.deleted = 0
    where s.binary = 'nova-compute' and s.deleted = 0 and coalesce(s.updated_at, s.created_at) > utc_timestamp() - interval 8 second")
  [ "$reporting" -ge "$(wc -w <<<"$COMPUTE_HOSTS")" ]
}
wait_until_bootable() {
  wait_for 120 Neutron answers "$NEUTRON_PORT"
  wait_for 90 'the API of Nova' answers "$NOVA_PORT"
  wait_for 120 nova-compute computes_report
  if [ "$(sql -N nova_api -e 'select count(*) from host_mappings')" -lt "$(wc -w <<<"$COMPUTE_HOSTS")" ]; then
    nova-manage --config-file "$STATE/conf/nova/nova.conf" cell_v2 discover_hosts --by-service >"$STATE/log/discover-hosts.log" 2>&1
  fi
  $PYTHON -B "$HERE/bootable.py" "$AUTH_URL" "$ADMIN_PASSWORD" $COMPUTE_HOSTS
}

write_configuration
refuse_taken_ports
say "starting in $STATE (about 1 min on an idle machine, 3 min on a busy one)"
start_rabbit
restore_databases
start_mariadb
create_schemas
say "databases ready after $SECONDS s"
prepare_rabbit
start_services
say "services started after $SECONDS s"
wait_until_bootable
say "up after $SECONDS s: Keystone is $AUTH_URL, and . $STATE/openrc makes you its administrator"
