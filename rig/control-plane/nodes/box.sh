# shellcheck shell=bash
# Sourced: a node as a machine of its own, a box in which systemd starts containerd and kubelet.

box() {
  local box_verb=$1
  shift
  "$here/../hosts/box/box" "$box_verb" "$box_name" "$@"
}

# The primary NIC, by the files of who manages it.
primary_of_netplan() {
  cat >"$N/seed/etc/netplan/10-primary.yaml" <<YAML
network:
  version: 2
  renderer: networkd
  ethernets:
    eth0:
      dhcp4: false
      addresses: [$1/24]
      routes: [{to: 0.0.0.0/0, via: $host}]
YAML
}

primary_of_networkd() {
  mkdir -p "$N/seed/etc/systemd/network"
  cat >"$N/seed/etc/systemd/network/10-primary.network" <<INI
[Match]
Name=eth0

[Network]
DHCP=no
IPv6AcceptRA=no
Address=$1/24
Gateway=$host
INI
  # networkd has a user of its own.
  chmod -R go+rX "$N/seed/etc/systemd/network"
}

primary_of_keyfile() {
  mkdir -p "$N/seed/etc/NetworkManager/system-connections"
  cat >"$N/seed/etc/NetworkManager/system-connections/eth0.nmconnection" <<INI
[connection]
id=eth0
uuid=$(uuid_from_name)
type=ethernet
interface-name=eth0

[ipv4]
method=manual
address1=$1/24,$host

[ipv6]
method=link-local
INI
}

box_up() {
  local profile=$1 program binds=()
  "primary_of_$profile" "$(<"$N/address")"
  [[ -z $pods ]] || binds+=(--bind-ro "$(nftables):/var/lib/node-parts/nftables")
  for program in kubelet kube-proxy containerd ctr containerd-shim-runc-v2 runc; do
    binds+=(--bind-ro "$(realpath "$(binary "$program")"):/var/lib/node-parts/bin/$program")
  done
  # An overlay cannot be the upper layer of another: what containerd and the kubelet store is this machine's file system.
  box up --profile "$profile" --container-host --seed "$N/seed" --primary "$primary" "${binds[@]}" \
    --bind-ro "$(realpath "$(cni_plugins)"):/var/lib/node-parts/cni" \
    --bind "$N/containerd:/var/lib/containerd" --bind "$N/kubelet:/var/lib/kubelet"
}
