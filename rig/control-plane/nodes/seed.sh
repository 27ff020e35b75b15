# shellcheck shell=bash
# Sourced: who a node is, and its files. $node is its name, $N its folder; $name, $D, $index, $netns are the control plane's.

valid_uuid() {
  [[ $1 =~ ^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$ ]]
}

# A constant UUID of its own for each node that was not given one.
uuid_from_name() {
  printf '%s' "$name/$node" | md5sum | sed -E 's/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/\1-\2-4\3-a\4-\5/'
}

# An address on the control plane's bridge that no other node has. Two nodes may come up at once.
choose_address() {
  local lock
  exec {lock}>"$D/.lock"
  flock "$lock"
  free_address >"$N/address"
  exec {lock}>&-
}

free_address() {
  local last used
  used=" $(find "$D/nodes" -maxdepth 2 -name address -exec cat {} + | tr '\n' ' ') "
  for ((last = 10; last < 250; last++)); do
    [[ $used != *" 198.18.$index.$last "* ]] || continue
    echo "198.18.$index.$last"
    return
  done
  die "$name has 240 nodes"
}

# The kubelet's identity, as Node authorization and NodeRestriction want it, and its serving certificate (logs, exec).
node_identity() {
  local kubernetes=$1 address=$2
  cp "$D/pki/ca.crt" "$kubernetes/ca.crt"
  cp "$(user "system:node:$node" system:nodes)" "$kubernetes/kubeconfig"
  certificate "$kubernetes/kubelet" "/O=system:nodes/CN=system:node:$node" serverAuth "IP:$address,DNS:$node"
}

pod_network() {
  echo "10.244.$(cut -d. -f4 "$N/address").0/24"
}

# containerd is "network ready", and so the Node Ready, only with a CNI configuration; hostNetwork Pods never use it.
# ptp and not bridge: what goes from Pod to Pod over a bridge escapes kube-proxy's translation, unless the machine has br_netfilter.
cni_configuration() {
  cat <<JSON
{"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "ptp", "ipam": {"type": "host-local",
  "ranges": [[{"subnet": "$(pod_network)"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
JSON
}

# The control plane's network carries what goes from node to node, and its API server speaks to Pods.
route_to_pods() {
  [[ -z $pods ]] || ip -n "$netns" route "$1" "$(pod_network)" via "$(<"$N/address")"
}

# make_seed UUID CGROUP_ROOT: the files that make a machine this node.
make_seed() {
  local seed=$N/seed address
  address=$(<"$N/address")
  (
    umask 022
    mkdir -p "$seed"
    cp -r "$here/nodes/seed/." "$seed/"
    chmod 755 "$seed"/var/lib/node-parts/*
    mkdir -p "$seed"/etc/{netplan,kubernetes/manifests,cni/net.d,systemd/system/multi-user.target.wants}
    echo "$node" >"$seed/etc/hostname"
    printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$node" >"$seed/etc/hosts"
    tr -d - <<<"${1,,}" >"$seed/etc/machine-id"
    echo "$1" >"$seed/etc/kubernetes/system-uuid"
    printf 'NODE_NAME=%s\nNODE_ADDRESS=%s\nCGROUP_ROOT=%s\n' "$node" "$address" "$2" >"$seed/etc/kubernetes/node.env"
    cni_configuration >"$seed/etc/cni/net.d/10-pods.conflist"
    ln -sfn ../containerd.service ../kubelet.service "$seed/etc/systemd/system/multi-user.target.wants/"
    if [[ -n $pods ]]; then
      cp "$D/kube-proxy.kubeconfig" "$seed/etc/kubernetes/"
      ln -sfn ../kube-proxy.service "$seed/etc/systemd/system/multi-user.target.wants/"
    fi
  )
  node_identity "$seed/etc/kubernetes" "$address"
}

# The folder of nft and its libraries. Only our own runtime brings them; the nft of a PATH would find none in a box.
nftables() {
  local runtime
  runtime=$(source_of runtime) || die "no container runtime; run: $here/control-plane install"
  [[ -x $runtime/nftables/nft ]] || die "no nftables/nft in $runtime: Pods with addresses of their own need the runtime that $here/control-plane install unpacks, and no other containerd on PATH"
  echo "$runtime/nftables"
}

# The folder of the CNI plugins that belong to the container runtime in use.
cni_plugins() {
  local runtime folder
  runtime=$(source_of runtime) || die "no container runtime; run: $here/control-plane install"
  for folder in "$runtime/cni" /usr/lib/cni /opt/cni/bin; do
    [[ ! -x $folder/bridge ]] || { echo "$folder"; return; }
  done
  die "no CNI plugins; run: apt-get install containernetworking-plugins"
}
