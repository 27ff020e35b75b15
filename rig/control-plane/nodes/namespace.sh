# shellcheck shell=bash
# Sourced: a node as a set of namespaces of this machine. It has no reboot: its kernel and files are this machine's.

namespace_cgroups() {
  local hierarchy
  if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
    echo "/sys/fs/cgroup$cgroup_root"
    return
  fi
  for hierarchy in /sys/fs/cgroup/*/; do
    [[ ! -e $hierarchy/cgroup.procs ]] || echo "${hierarchy%/}$cgroup_root"
  done
}

make_namespace_cgroups() {
  local group
  for group in $(namespace_cgroups); do
    mkdir -p "$group"
    if [[ -e $group/cpuset.cpus && $group == */cpuset/* ]]; then # a new cpuset group has no CPUs and no memory nodes
      cat "${group%/*}/cpuset.cpus" >"$group/cpuset.cpus"
      cat "${group%/*}/cpuset.mems" >"$group/cpuset.mems"
    fi
  done
}

namespace_cgroups_gone() {
  local group gone=0
  for group in $(namespace_cgroups); do
    [[ ! -d $group ]] || find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
    [[ ! -d $group ]] || gone=1
  done
  return $gone
}

# The NICs of a namespaced node are made like those of a box; nobody inside gives eth0 its address, so it is done here.
make_namespace_network() {
  local address
  address=$(<"$N/address")
  in_node_network make_fabric
  in_node_network make_nics
  ip -n "$node_netns" link set lo up
  ip -n "$node_netns" addr add "$address/24" dev eth0
  ip -n "$node_netns" link set eth0 up
  ip -n "$node_netns" route add default via "$host"
}

namespace_up() {
  local program parent
  mkdir -p "$N/seed/var/lib/node-parts/bin"
  for program in kubelet kube-proxy containerd ctr containerd-shim-runc-v2 runc; do
    ln -sfn "$(realpath "$(binary "$program")")" "$N/seed/var/lib/node-parts/bin/$program"
  done
  ln -sfn "$(cni_plugins)" "$N/seed/var/lib/node-parts/cni"
  [[ -z $pods ]] || ln -sfn "$(nftables)" "$N/seed/var/lib/node-parts/nftables"
  make_namespace_network
  make_namespace_cgroups
  setsid nsenter --net="/run/netns/$node_netns" unshare --mount --uts --ipc --pid --fork --kill-child \
    "$here/nodes/namespace-init" "$N" >"$N/init.log" 2>&1 </dev/null &
  parent=$!
  remember_process "$N/unshare.pid" $parent
  wait_until 10 pgrep -P "$parent" >/dev/null || die "node $node did not start, see $N/init.log"
  remember_process "$N/init.pid" "$(pgrep -P "$parent")"
}

namespace_sh() {
  local init
  init=$(process_of "$N/init.pid") || die "node $node does not run"
  nsenter -t "$init" --mount --net --pid --uts --ipc -- "$@"
}

# Process 1 starts the next kubelet.
namespace_restart() {
  namespace_sh sh -c 'kill "$(cat /run/kubelet.pid)"'
}

# Everything in the PID namespace dies with its process 1, and that with its parent (unshare --kill-child).
namespace_down() {
  local parent
  parent=$(process_of "$N/unshare.pid") && kill -KILL "$parent"
  wait_until 20 ended "$N/unshare.pid" || die "node $node (pid $parent) does not end"
  wait_until 20 ended "$N/init.pid" || die "process 1 of node $node does not die"
  in_node_network remove_nics
  ip netns del "$node_fabric" 2>/dev/null || true
  wait_until 20 namespace_cgroups_gone || die "processes are left in $(namespace_cgroups | tr '\n' ' ')"
}
