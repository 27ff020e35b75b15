# shellcheck shell=bash
# Sourced: the NICs of box $name in folder $D. $netns is the box's network namespace, made anew at every boot, as a machine's
# kernel is; $fabric is the network behind the NICs (bridge br0), which stays. The file nics lists "NIC MAC", one a line.

make_fabric() {
  ip netns add "$fabric"
  # A MAC of its own: else a bridge takes the lowest of its ports, and who knew it as a gateway is cut off at every unplug.
  ip -n "$fabric" link add br0 address 02:00:00:00:00:fe type bridge
  ip -n "$fabric" link set br0 mtu 9000 up
  ip -n "$fabric" link set lo up
  : >"$D/nics"
}

# cable NIC MAC: one end in the box, the other, of the same name, on the fabric's bridge.
cable() {
  ip -n "$fabric" link add "$1" type veth peer name "$1" address "$2" netns "$netns"
  ip -n "$fabric" link set "$1" master br0 mtu 9000 up
}

# The primary NIC eth0 on the bridge of another network namespace (--primary), else on the fabric.
cable_primary() {
  local elsewhere bridge port mac
  if [[ -z $primary ]]; then
    cable eth0 02:00:00:00:00:01
    return
  fi
  IFS=, read -r elsewhere bridge port mac <<<"$primary"
  ip -n "$elsewhere" link del "$port" 2>/dev/null || true
  ip -n "$elsewhere" link add "$port" type veth peer name eth0 address "$mac" netns "$netns"
  ip -n "$elsewhere" link set "$port" master "$bridge" up
}

make_nics() {
  local nic mac
  ip netns add "$netns"
  cable_primary
  while read -r nic mac; do
    cable "$nic" "$mac"
  done <"$D/nics"
}

# NICs first: a mount namespace elsewhere may keep a deleted network namespace, and with it its veth names, alive.
remove_nics() {
  local nic
  for nic in $(ip -n "$netns" -o link show type veth 2>/dev/null | sed -E 's/^[0-9]+: ([^:@]+).*/\1/'); do
    ip -n "$netns" link del "$nic" 2>/dev/null || true
  done
  ip netns del "$netns" 2>/dev/null || true
}

plug() {
  local nic=${1:-} mac=${2:-}
  [[ $nic =~ ^[a-z][a-z0-9._-]{0,14}$ && $nic != eth0 && $nic != br0 ]] || bad_usage "NIC '$nic' must match [a-z][a-z0-9._-]{0,14} and not be eth0 or br0"
  [[ $mac =~ ^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$ ]] || bad_usage "MAC '$mac' must be six pairs of hexadecimal digits"
  cable "$nic" "$mac"
  echo "$nic $mac" >>"$D/nics"
}

# The cable is pulled at its outer end, whatever the NIC is called inside by now.
unplug() {
  ip -n "$fabric" link del "${1:-}"
  sed -i "/^$1 /d" "$D/nics"
}
