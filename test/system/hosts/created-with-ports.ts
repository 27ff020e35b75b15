import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Box, BoxKind } from '../../../rig/hosts/box/box.ts';

const cloudInit = join(import.meta.dirname, '../../../rig/cloud-init/cloud-init');
const seeds = '/var/lib/cloud/seed';

/** Port of a server: `address` without DHCP. */
interface ServerPort {
  readonly name: string;
  readonly mac: string;
  readonly mtu: number;
  readonly address?: string;
  readonly gateway?: string;
}

type DataSource = 'OpenStack' | 'NoCloud';

export interface CreatedServer {
  readonly suite: BoxKind['suite'];
  readonly renderer: 'netplan' | 'networkd';
  readonly source: DataSource;
  readonly ports: readonly ServerPort[];
}

/** Makes cloud-init configure the box's NICs at the next boot, as on a server created with its ports. */
export async function createWithPorts(box: Box, server: CreatedServer): Promise<void> {
  const root = await box.root();
  await promisify(execFile)(cloudInit, ['enable', root, server.renderer]);
  // The image has no network files of its own.
  await box.sh(['sh', '-c', 'rm -f /etc/netplan/* /etc/systemd/network/*']);
  for (const port of server.ports) await writeFile(join(root, slotPath(port)), slotNames(port));
  await newInstance(box, server, 'first');
}

/** Stands for systemd's `99-default.link`, as a veth has no slot: udev keeps the slot's name as alternative name. */
function slotNames({ name, mac }: ServerPort): string {
  return `[Match]\nMACAddress=${mac}\n\n[Link]\nAlternativeName=${name}\nAlternativeName=enp0s${name.slice(3)}\n`;
}

const slotPath = ({ name }: ServerPort) => `/usr/lib/systemd/network/99-a-${name}.link`;

/** Gives the server another instance id, as after a rebuild from a snapshot: cloud-init renders at the next boot. */
export async function newInstance(
  box: Box,
  { source, ports }: CreatedServer,
  id: string,
): Promise<void> {
  const root = await box.root();
  const files = source === 'OpenStack' ? configDrive(ports, id) : noCloud(ports, id);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, seeds, path)), { recursive: true });
    await writeFile(join(root, seeds, path), text);
  }
  await rm(join(root, 'var/lib/cloud/instance'), { force: true });
}

type Files = Readonly<Record<string, string>>;

const netmask = '255.255.0.0';
const nameServer = '10.200.0.53';

/** Nova's metadata on a config drive. */
function configDrive(ports: readonly ServerPort[], id: string): Files {
  const folder = 'config_drive/openstack/latest';
  const links = ports.map(({ name, mac, mtu }) => ({
    id: `tap-${name}`,
    type: 'ovs',
    ethernet_mac_address: mac,
    mtu,
    vif_id: name,
  }));
  const networks = ports.map(({ name, address, gateway }) => ({
    id: `network-${name}`,
    link: `tap-${name}`,
    network_id: name,
    type: address ? 'ipv4' : 'ipv4_dhcp',
    ...(address ? { ip_address: address, netmask } : {}),
    routes: gateway ? [{ network: '0.0.0.0', netmask: '0.0.0.0', gateway }] : [],
  }));
  const services = [{ type: 'dns', address: nameServer }];
  return {
    [`${folder}/meta_data.json`]: JSON.stringify({ uuid: id, hostname: 'server' }),
    [`${folder}/network_data.json`]: JSON.stringify({ links, networks, services }),
  };
}

/** Data of Rancher or Harvester, with names for NICs. */
function noCloud(ports: readonly ServerPort[], id: string): Files {
  const config = ports.map(({ name, mac, mtu, address, gateway }) => ({
    type: 'physical',
    name,
    mac_address: mac,
    mtu,
    subnets: [
      address
        ? {
            type: 'static',
            address,
            netmask,
            ...(gateway ? { gateway, dns_nameservers: [nameServer] } : {}),
          }
        : { type: 'dhcp4' },
    ],
  }));
  return {
    'nocloud/meta-data': `instance-id: ${id}\n`,
    'nocloud/user-data': '#cloud-config\n',
    'nocloud/network-config': JSON.stringify({ version: 1, config }),
  };
}
