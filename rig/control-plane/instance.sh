# shellcheck shell=bash
# Sourced: one instance of a control plane, $name in folder $D: its place on the network and its processes.

select_instance() {
  name=$1
  [[ $name =~ ^[a-z][a-z0-9-]{0,19}$ ]] || bad_usage "NAME '$name' must match [a-z][a-z0-9-]{0,19}"
  D=$STATE/$name
}

load_instance() {
  select_instance "$1"
  [[ -s $D/settings ]] || die "no control plane $name; run: $here/control-plane up $name"
  pods=''
  # shellcheck disable=SC1091
  source "$D/settings"
}

port_is_taken() {
  { : <"/dev/tcp/127.0.0.1/$1"; } 2>/dev/null
}

# An index that no other instance has: it decides about ports and addresses.
choose_index() {
  local used candidate base
  # A `down` may remove an index between the listing and the reading.
  used=" $({ cat "$STATE"/*/index 2>/dev/null || true; } | tr '\n' ' ') "
  for ((candidate = 1; candidate < 250; candidate++)); do
    base=$((22000 + candidate * 10))
    [[ $used != *" $candidate "* && -z $(ip -4 addr show to "198.18.$candidate.0/24") ]] || continue
    if port_is_taken "$base" || port_is_taken $((base + 1)); then continue; fi
    mkdir -p "$D"
    echo "$candidate" >"$D/index"
    return
  done
  die "250 control planes are up; see: $here/control-plane status"
}

# configure PLACE PODS: once per instance. PLACE is loopback or nothing, PODS yes or nothing.
configure() {
  local pods=$2 loopback=$1
  mkdir -p "$STATE"
  local lock
  exec {lock}>"$STATE/.lock"
  flock "$lock" # two `up` at once must not choose the same index
  choose_index
  exec {lock}>&-
  local index base netns='' host=127.0.0.1 port server alternatives=IP:127.0.0.1,IP:10.96.0.1,DNS:localhost
  index=$(<"$D/index")
  base=$((22000 + index * 10))
  port=$base
  alternatives+=,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local
  if [[ -z $loopback ]]; then
    netns=cp-$name
    host=198.18.$index.1 # 198.18.0.0/15 is for tests between networks (RFC 2544)
    port=6443
    alternatives+=,IP:$host
  fi
  server=https://$host:$port
  mkdir -p "$D/pki"
  authority
  service_account_key
  certificate "$D/pki/apiserver" /CN=kube-apiserver serverAuth "$alternatives"
  certificate "$D/pki/apiserver-kubelet" /O=system:masters/CN=kube-apiserver-kubelet-client clientAuth
  identity admin /O=system:masters/CN=admin
  identity kube-controller-manager /CN=system:kube-controller-manager
  identity kube-scheduler /CN=system:kube-scheduler
  if [[ -n $pods ]]; then
    identity kube-proxy /CN=system:kube-proxy
    identity coredns /CN=system:coredns
  fi
  printf 'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n' >"$D/audit-policy.yaml"
  declare -p index base netns host port server pods | sed 's/^declare -- //' >"$D/settings"
}

# identity NAME SUBJECT
identity() {
  certificate "$D/pki/$1" "$2" clientAuth
  kubeconfig "$D/$1.kubeconfig" "$D/pki/$1"
}

# The instance's own network namespace: a bridge for the nodes, and one cable to this machine.
network() {
  [[ -n $netns && ! -e /run/netns/$netns ]] || return 0
  ip netns add "$netns" || die "cannot make a network namespace (no CAP_SYS_ADMIN?): use '$here/control-plane up $name --loopback', which takes no nodes"
  ip -n "$netns" link set lo up
  nsenter "--net=/run/netns/$netns" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward' # between its nodes, and over links
  # A bridge without an address of its own takes the lowest of its ports: after a node's reboot this machine's ARP entry
  # for the API server would be wrong for a minute.
  ip -n "$netns" link add br0 address "$(printf 02:00:5e:00:00:%02x "$index")" type bridge
  ip -n "$netns" addr add "$host/24" dev br0
  ip -n "$netns" link set br0 up
  ip link add "mncp$index" type veth peer name machine netns "$netns"
  ip -n "$netns" link set machine master br0 up
  ip addr add "198.18.$index.254/24" dev "mncp$index"
  ip link set "mncp$index" up
}

# launch PROCESS ARGUMENT...: in the background, in a session of its own; nothing if it runs already.
launch() {
  local process=$1 program
  shift
  ended "$D/$process.pid" || return 0
  program=$(binary "$process")
  local enter=()
  [[ -z $netns ]] || enter=(nsenter "--net=/run/netns/$netns")
  # The collector of Go runs at each doubling of a small heap by default.
  GOGC=400 GOMEMLIMIT=1500MiB setsid "${enter[@]}" "$program" "$@" >>"$D/$process.log" 2>&1 </dev/null &
  remember_process "$D/$process.pid" $!
}

launch_etcd() {
  # No fsync: the data of a test need not survive a power cut of this machine, and writes are several times faster.
  launch etcd --name "$name" --data-dir "$D/etcd" --unsafe-no-fsync --log-level warn \
    --listen-client-urls "http://127.0.0.1:$((base + 1))" --advertise-client-urls "http://127.0.0.1:$((base + 1))" \
    --listen-peer-urls "http://127.0.0.1:$((base + 2))" --initial-advertise-peer-urls "http://127.0.0.1:$((base + 2))" \
    --initial-cluster "$name=http://127.0.0.1:$((base + 2))"
}

launch_apiserver() {
  local bind=127.0.0.1 reconciler=none # an endpoint of a Service may not be on loopback
  if [[ -n $netns ]]; then
    bind=0.0.0.0 # everything, but only inside the instance's own network namespace
    reconciler=lease
  fi
  launch kube-apiserver --etcd-servers="http://127.0.0.1:$((base + 1))" \
    --bind-address="$bind" --secure-port="$port" --advertise-address="$host" --endpoint-reconciler-type=$reconciler \
    --cert-dir="$D/pki" --tls-cert-file="$D/pki/apiserver.crt" --tls-private-key-file="$D/pki/apiserver.key" \
    --client-ca-file="$D/pki/ca.crt" \
    --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --allow-privileged=true \
    --service-cluster-ip-range=10.96.0.0/16 --enable-aggregator-routing=true --service-account-issuer=https://kubernetes.default.svc \
    --service-account-signing-key-file="$D/pki/sa.key" --service-account-key-file="$D/pki/sa.pub" \
    --kubelet-client-certificate="$D/pki/apiserver-kubelet.crt" --kubelet-client-key="$D/pki/apiserver-kubelet.key" \
    --kubelet-certificate-authority="$D/pki/ca.crt" --kubelet-preferred-address-types=InternalIP \
    --audit-policy-file="$D/audit-policy.yaml" --audit-log-path="$D/audit.log" --audit-log-maxsize=10000
}

launch_controller_manager() {
  local as=$D/kube-controller-manager.kubeconfig
  # Upstream's default of 20 requests a second allows 3 Jobs a second; 200 allows 34.
  launch kube-controller-manager --kubeconfig="$as" --authentication-kubeconfig="$as" --authorization-kubeconfig="$as" \
    --bind-address=127.0.0.1 --secure-port=$((base + 3)) --leader-elect=false --use-service-account-credentials=true \
    --kube-api-qps=200 --kube-api-burst=300 --root-ca-file="$D/pki/ca.crt" \
    --service-account-private-key-file="$D/pki/sa.key" \
    --cluster-signing-cert-file="$D/pki/ca.crt" --cluster-signing-key-file="$D/pki/ca.key"
}

launch_scheduler() {
  local as=$D/kube-scheduler.kubeconfig
  launch kube-scheduler --kubeconfig="$as" --authentication-kubeconfig="$as" --authorization-kubeconfig="$as" \
    --bind-address=127.0.0.1 --secure-port=$((base + 4)) --leader-elect=false
}

# fetch PATH: what the API server answers the administrator; fails unless 2xx.
fetch() {
  curl -sf -m 5 --cacert "$D/pki/ca.crt" --cert "$D/pki/admin.crt" --key "$D/pki/admin.key" "$server$1"
}

# answers PATH: does the API server answer 2xx there?
answers() {
  fetch "$1" >/dev/null
}

# answers_or_gone PROCESS PATH
answers_or_gone() {
  ended "$D/$1.pid" || answers "$2"
}

# ready PROCESS PATH: waits; fails at once when the process is gone.
ready() {
  if ! wait_until 120 answers_or_gone "$1" "$2" || ended "$D/$1.pid"; then
    tail -n 5 "$D/$1.log" >&2
    die "$1 of $name did not become ready, see $D/$1.log"
  fi
}

start_processes() {
  local started
  started=$(now_ms)
  network
  launch_etcd
  launch_apiserver
  ready kube-apiserver /readyz
  launch_controller_manager
  launch_scheduler
  [[ -z $pods ]] || start_for_pods
  # A Pod can be created only once the controller manager has made the default ServiceAccount.
  ready kube-controller-manager /api/v1/namespaces/default/serviceaccounts/default
  say "control plane $name ready at $server after $(($(now_ms) - started)) ms"
}

kill_process() {
  local pid
  pid=$(process_of "$D/$1.pid") || return 0
  kill -KILL "$pid" 2>/dev/null || true
  wait_until 20 ended "$D/$1.pid" || die "$1 (pid $pid) of $name does not die"
}
