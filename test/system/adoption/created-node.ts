import { dirname } from 'node:path';
import type { ControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { type Node, type NodeProfile, startNode } from '../../../rig/control-plane/node.ts';
import { type CloudImage, renderedByCloudInit } from '../../fixtures/cloud-init.ts';
import { mtu, type Server } from './servers.ts';

/** Image by network manager, folder of cloud-init's files, and command that loads them. */
const images = {
  netplan: ['ubuntu', '/etc/netplan/', 'netplan generate && networkctl reload'],
  networkd: ['networkd', '/etc/systemd/network/', 'networkctl reload'],
  keyfile: [
    'enterprise-linux-10',
    '/etc/NetworkManager/system-connections/',
    'nmcli connection reload',
  ],
} as const satisfies Record<NodeProfile, readonly [CloudImage, string, string]>;

/** Starts a node with a real kubelet for a server whose data ports cloud-init configured. */
export async function startCreatedNode(
  plane: ControlPlane,
  { id, name, ports }: Server,
  { profile, archive }: { readonly profile: NodeProfile; readonly archive: string },
): Promise<Node> {
  const node = await startNode(plane, name, { kind: 'box', profile, systemUUID: id });
  try {
    await node.importImage(archive);
    const [image, folder, load] = images[profile];
    const files = await renderedByCloudInit(image, networkDataOf(ports));
    for (const [path, text] of Object.entries(files)) {
      if (!path.startsWith(folder)) continue;
      const write = `mkdir -p ${dirname(path)} && cat >${path} && chmod ${profile === 'networkd' ? 644 : 600} ${path}`;
      await node.sh(['sh', '-ec', write], text);
    }
    await node.sh(['sh', '-ec', load]);
    for (const { link, mac } of ports) await node.plug(link, mac);
    return node;
  } catch (cause) {
    await node.down();
    throw cause;
  }
}

/** Nova's metadata for the data ports; the rig configures the node's own NIC. */
function networkDataOf(ports: Server['ports']) {
  return {
    links: ports.map(({ link, mac }) => ({
      id: link,
      type: 'ovs',
      ethernet_mac_address: mac,
      mtu,
      vif_id: link,
    })),
    networks: ports.map(({ link, address }) => ({
      id: `network-${link}`,
      link,
      network_id: link,
      type: 'ipv4',
      ip_address: address,
      netmask: '255.255.255.0',
      routes: [],
    })),
    services: [],
  };
}
