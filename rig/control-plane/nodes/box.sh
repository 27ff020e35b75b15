# shellcheck shell=bash
# Sourced: a node as a machine of its own, a box in which systemd starts containerd and kubelet.

box() {
  local box_verb=$1
  shift
  "$here/../hosts/box/box" "$box_verb" "$box_name" "$@"
}

box_up() {
  local program binds=() address
  address=$(<"$N/address")
  cat >"$N/seed/etc/netplan/10-primary.yaml" <<YAML
network:
  version: 2
  renderer: networkd
  ethernets:
    eth0:
      dhcp4: false
      addresses: [$address/24]
      routes: [{to: 0.0.0.0/0, via: $host}]
YAML
  [[ -z $pods ]] || binds+=(--bind-ro "$(nftables):/var/lib/node-parts/nftables")
  for program in kubelet kube-proxy containerd ctr containerd-shim-runc-v2 runc; do
    binds+=(--bind-ro "$(realpath "$(binary "$program")"):/var/lib/node-parts/bin/$program")
  done
  # An overlay cannot be the upper layer of another: what containerd and the kubelet store is this machine's file system.
  box up --container-host --seed "$N/seed" --primary "$primary" "${binds[@]}" \
    --bind-ro "$(realpath "$(cni_plugins)"):/var/lib/node-parts/cni" \
    --bind "$N/containerd:/var/lib/containerd" --bind "$N/kubelet:/var/lib/kubelet"
}
