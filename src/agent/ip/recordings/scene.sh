#!/usr/bin/env bash
# scene.sh NAME: makes a network namespace with what the parsers have to tell apart; see README.md.
set -e
ns=$1
ip netns add $ns
i() { ip -n $ns "$@"; }
i link set lo up
i link add eth0 address 02:00:00:00:00:01 type veth peer name far0 address 02:00:00:00:0f:01
i link add multinic0 address 02:00:00:00:01:05 type veth peer name far1 address 02:00:00:00:0f:05
i link add ens6 address 02:00:00:00:01:06 type veth peer name far2 address 02:00:00:00:0f:06
for l in eth0 far0 multinic0 far1 ens6 far2; do i link set $l addrgenmode none; done
i link property add dev multinic0 altname ens5 altname enp0s5
i link add br0 address 02:00:00:00:0b:00 type bridge
i link add link ens6 name mac6 address 02:00:00:00:0c:06 type macvlan
i link set far2 master br0
for l in eth0 far0 multinic0 far1 ens6 far2; do i link set $l up; done
i link set multinic0 mtu 1450
i link set ens6 mtu 1279
i addr add 10.200.0.2/16 broadcast + dev eth0 valid_lft 86400 preferred_lft 86400
i addr add 2001:db8::2/64 dev eth0 nodad
i addr add 10.0.0.11/16 broadcast 10.0.255.255 dev multinic0
i addr add 10.0.0.12/16 dev multinic0 noprefixroute
i addr add 10.9.0.1 peer 10.9.0.2/32 dev ens6
i addr add 10.8.0.1/24 label ens6:one dev ens6
i addr add fe80::5/64 dev multinic0 nodad
i route add default via 10.200.0.254 dev eth0 proto dhcp src 10.200.0.2 metric 100
i -6 route add default via 2001:db8::1 dev eth0 proto ra metric 1024
i route replace 10.0.0.0/16 dev multinic0 src 10.0.0.11 table 100 proto 4 scope 253 metric 100
i route replace 0.0.0.0/0 via 10.0.0.254 dev multinic0 table 100 proto 4 scope 0 metric 100
i route add blackhole 10.246.0.0/24
i route add unreachable 10.247.0.0/24 metric 5
i route add 10.60.0.0/24 nexthop via 10.200.0.253 dev eth0 weight 1 nexthop via 10.0.0.253 dev multinic0 weight 2
i route add 10.61.0.0/24 via 10.200.0.253 dev eth0 mtu 1400
i route add 10.62.0.0/24 via 10.77.0.1 dev eth0 onlink
i route add 10.63.0.0/24 via inet6 2001:db8::1 dev eth0
i route add 10.64.0.0/24 encap ip id 3 dst 10.200.0.9 dev eth0
i rule add from 10.0.0.11/32 table 100 priority 10100 protocol 2
i rule add from 10.0.0.12/32 table 100 priority 10100 protocol 4
i rule add from 10.5.0.0/16 iif ens6 fwmark 7 table 200 priority 50
i rule add to 10.6.0.0/16 prohibit priority 60
i rule add from 10.3.0.1 lookup 103 priority 32000
i neigh add 10.0.0.77 lladdr 02:00:00:00:00:77 nud permanent dev multinic0
i neigh add 10.0.0.78 lladdr 02:00:00:00:00:78 nud permanent dev multinic0 extern_learn
i neigh add 10.0.0.79 lladdr 02:00:00:00:00:79 nud reachable dev multinic0
i neigh add fe80::77 lladdr 02:00:00:00:00:77 nud permanent dev multinic0 router
i neigh add proxy 10.0.0.80 dev multinic0
