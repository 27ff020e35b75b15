import type { Node, NodeProfile } from '../../../rig/control-plane/node.ts';

/** Foreign state of every kind that has been harmed by tools like ours, on the node before anything of ours is there. */
const plant = `
ip rule show priority 111 | grep -q . || ip rule add from 10.99.0.1 lookup 200 priority 111
ip rule show priority 10050 | grep -q . || ip rule add from 10.99.0.2 lookup 200 priority 10050
ip route replace 10.98.0.0/16 via 198.18.1.1 dev eth0 table 200 onlink
ip route replace blackhole 10.97.0.0/16
ip link show multinic9 >/dev/null 2>&1 || ip link add multinic9 address 02:ff:00:00:00:09 mtu 1350 type bridge
ip addr replace 10.96.0.1/24 dev multinic9
ip link property add dev multinic9 altname handmade9 2>/dev/null || ip link show handmade9 >/dev/null
`;

const files = {
  netplan: [
    '/etc/netplan/50-other.yaml',
    `network:
  version: 2
  ethernets:
    other0:
      match: {macaddress: "02:ff:00:00:00:01"}
      mtu: 1300
`,
  ],
  keyfile: [
    '/etc/NetworkManager/system-connections/other0.nmconnection',
    `[connection]
id=other0
uuid=99999999-9999-4999-8999-999999999999
type=ethernet

[ethernet]
mac-address=02:FF:00:00:00:01
mtu=1300
`,
  ],
} as const satisfies Record<NodeProfile, readonly [path: string, text: string]>;

/** Plants what a reboot does not bring back again. */
export async function plantForeignState(node: Node): Promise<void> {
  await node.sh(['sh', '-ec', plant]);
  const [path, text] = files[node.profile];
  await node.sh(['sh', '-ec', `umask 077; cat >${path}`], text);
}
