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

# containerd is "network ready", and so the Node Ready, only with a CNI configuration; hostNetwork Pods never use it.
pod_network() {
  cat <<JSON
{"cniVersion": "0.4.0", "name": "test", "plugins": [{"type": "bridge", "bridge": "cni0", "isGateway": true,
  "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.244.${1##*.}.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
JSON
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
    pod_network "$address" >"$seed/etc/cni/net.d/10-test.conflist"
    ln -sfn ../containerd.service ../kubelet.service "$seed/etc/systemd/system/multi-user.target.wants/"
  )
  node_identity "$seed/etc/kubernetes" "$address"
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
