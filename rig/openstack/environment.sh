# Sourced by every script here: settings (each may be set from outside), and the processes of the stack.

# Nothing of the caller's PATH or language environment may leak in: a pyenv or conda python3, a tool in /usr/local or a
# stray OS_*, RABBITMQ_* or ERL_* variable would start the services with the wrong interpreter or the wrong settings.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 PYTHONNOUSERSITE=1 PYTHONWARNINGS=ignore
unset PYTHONHOME PYTHONSTARTUP PYTHONDONTWRITEBYTECODE PYTHONOPTIMIZE VIRTUAL_ENV PYENV_VERSION ERL_LIBS ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
for name in $(compgen -e | grep -E '^(OS_|RABBITMQ_|MYSQL_|MARIADB_|UWSGI_)' || true); do unset "$name"; done
unset name

: "${MULTINIC_OPENSTACK_STATE:=/tmp/multinic-openstack}"   # configuration, databases, logs, pids
CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/multinic/openstack" # what makes the next cold start shorter
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
STATE=$MULTINIC_OPENSTACK_STATE
IP=127.0.0.1

# Ports of our own, outside the kernel's ephemeral range, so that another OpenStack, MariaDB or RabbitMQ may run beside.
: "${KEYSTONE_PORT:=25000}" "${GLANCE_PORT:=29292}" "${PLACEMENT_PORT:=28778}" "${NEUTRON_PORT:=29696}" "${NOVA_PORT:=28774}"
: "${DB_PORT:=23306}" "${AMQP_PORT:=25671}" "${AMQP_DIST_PORT:=25673}" "${EPMD_PORT:=24369}"
: "${ADMIN_PASSWORD:=admin}" "${SERVICE_PASSWORD:=service}" "${DB_PASSWORD:=dbpass}" "${RABBIT_PASSWORD:=rabbit}"
: "${API_WORKERS:=2}"              # processes per API service
: "${COMPUTE_HOSTS:=compute1 compute2}" # one nova-compute with the fake driver per name, each in an availability zone of its name;
                                   # servers are on the first unless they ask for another zone
: "${TOKEN_EXPIRATION:=3600}"      # seconds

PYTHON=/usr/bin/python3
RABBIT_USER=openstack
TRANSPORT="rabbit://$RABBIT_USER:$RABBIT_PASSWORD@$IP:$AMQP_PORT/"
AUTH_URL="http://$IP:$KEYSTONE_PORT/v3"
export no_proxy=$IP,localhost PYTHONPATH="$STATE/plugins"

# RabbitMQ and its Erlang port mapper, on loopback and with a node name of their own.
export RABBITMQ_NODENAME=multinic@localhost RABBITMQ_NODE_IP_ADDRESS=$IP RABBITMQ_NODE_PORT=$AMQP_PORT RABBITMQ_DIST_PORT=$AMQP_DIST_PORT
export RABBITMQ_MNESIA_BASE=$STATE/rabbit/mnesia RABBITMQ_LOG_BASE=$STATE/log RABBITMQ_PID_FILE=$STATE/rabbit/erlang.pid
export RABBITMQ_CONFIG_FILE=$STATE/conf/rabbitmq/rabbitmq RABBITMQ_ENABLED_PLUGINS_FILE=$STATE/conf/rabbitmq/enabled_plugins
export RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1}"
export ERL_EPMD_ADDRESS=$IP ERL_EPMD_PORT=$EPMD_PORT

say() { printf '%s openstack: %s\n' "$(date +%T)" "$*" >&2; }
fail() { say "$*"; exit 1; }

# The processes in the order of their start: name and port.
services() {
  echo "epmd $EPMD_PORT"
  echo "rabbit $AMQP_PORT"
  echo "mariadb $DB_PORT"
  echo "keystone $KEYSTONE_PORT"
  echo "neutron-server $NEUTRON_PORT"
  echo "placement $PLACEMENT_PORT"
  echo "glance $GLANCE_PORT"
  echo "nova-conductor"
  echo "nova-scheduler"
  echo "nova-api $NOVA_PORT"
  local host
  for host in $COMPUTE_HOSTS; do echo "nova-compute-$host"; done
}

# A pid file holds "pid start-time": after a reboot or a crash the same number may belong to somebody else, and then it
# is neither reported as running nor signalled.
start_time() {
  local stat
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  # The command's name is in brackets and may hold spaces; start time is field 22, 20th behind it.
  set -- ${stat##*) }
  echo "${20}"
}
pid_of() { # pid_of NAME: its pid if that process is still the one that was started
  local pid= time=
  [ -s "$STATE/pid/$1.pid" ] && read -r pid time <"$STATE/pid/$1.pid"
  [ -n "$pid" ] && [ "$(start_time "$pid")" = "$time" ] && echo "$pid"
}
alive() { [ -n "$(pid_of "$1")" ]; }
start() { # start NAME COMMAND...: in a session of its own, so that its whole group can be ended; running ones stay
  local name=$1
  shift
  alive "$name" && return
  setsid nohup "$@" >>"$STATE/log/$name.out" 2>&1 </dev/null &
  echo "$! $(start_time $!)" >"$STATE/pid/$name.pid"
}
end() { # end SECONDS PID...: TERM, patience, then KILL for what is left of each process group
  local limit=$1 pid tenth left
  shift
  for pid in "$@"; do kill -TERM "$pid" 2>/dev/null || true; done
  for ((tenth = 0; tenth < limit * 10; tenth++)); do
    left=
    for pid in "$@"; do kill -0 "$pid" 2>/dev/null && left=1; done
    [ -z "$left" ] && break
    sleep 0.1
  done
  for pid in "$@"; do kill -KILL -- "-$pid" 2>/dev/null || true; done
}
wait_for() { # wait_for SECONDS WHAT COMMAND...
  local limit=$1 what=$2 tries
  shift 2
  for ((tries = 0; tries < limit * 5; tries++)); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.2
  done
  fail "$what did not become ready within $limit s; look into $STATE/log"
}

sql() { mariadb --no-defaults --socket="$STATE/mysql.sock" -uroot "$@"; }
rabbitctl() { HOME=$STATE/rabbit /usr/lib/rabbitmq/bin/rabbitmqctl "$@"; }
answers() { curl -s -o /dev/null --max-time 5 "http://$IP:$1/"; }
database_url() { echo "mysql+pymysql://openstack:$DB_PASSWORD@$IP:$DB_PORT/$1?charset=utf8"; }
listens() { [ -n "$(ss -Hltn "sport = :$1")" ]; }
wanted_packages() { sed 's/#.*//; /^ *$/d' "$HERE/packages.txt"; }
missing_packages() {
  local package
  for package in $(wanted_packages); do
    [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null)" = 'ii ' ] || echo "$package"
  done
}
