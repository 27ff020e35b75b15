import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, vi } from 'vitest';
import type { Attachment } from '../../../rig/openstack/tenant.ts';
import type { OpenstackConfigSpec } from '../../../src/api/openstackconfig.ts';
import { type Ground, namespace, provider, subnet, subnet6 } from './ground.ts';
import { leftoversOf } from './kernel-state.ts';
import { nicStates, nodeConfigOf } from './observed.ts';

const run = promisify(execFile);
export const generous = { timeout: 120_000, interval: 300 };

/** What an OpenstackConfig asks for; the project is the tenant's unless it says another. */
interface Wanted {
  readonly projectID?: string;
  readonly settings?: OpenstackConfigSpec['settings'];
}

function openstackConfig(
  { contrabass, data, tenant }: Ground,
  vmNames: readonly string[],
  { projectID = tenant.projectId, settings }: Wanted,
): object {
  return {
    apiVersion: 'multinic.example.com/v1alpha1',
    kind: 'OpenstackConfig',
    metadata: { name: 'e2e', namespace },
    spec: {
      subnetIDs: [data.subnetId],
      vmNames,
      credentials: {
        openstackProviderID: contrabass.providerId,
        k8sProviderID: provider,
        projectID,
      },
      settings,
    },
  };
}

export async function applyConfig(
  world: Ground,
  vmNames: readonly string[],
  wanted: Wanted = {},
): Promise<void> {
  const object = JSON.stringify(openstackConfig(world, vmNames, wanted));
  await world.management.kubectl(['apply', '--server-side', '-f', '-'], object);
}

/** Changes annotations of the OpenstackConfig, written as `kubectl annotate` takes them. */
export async function annotate(world: Ground, ...annotations: readonly string[]): Promise<void> {
  const object = ['osc', 'e2e', '-n', namespace];
  await world.management.kubectl(['annotate', ...object, '--overwrite', ...annotations]);
}

export const attach = ({ tenant, server, data }: Ground) =>
  tenant.attach(server.id, { networkId: data.networkId });

/** Address of an attachment in the data subnet. */
export function addressOf({ fixed_ips }: Attachment): string {
  return fixed_ips.find(({ ip_address }) => ip_address.includes('.'))?.ip_address ?? '';
}

/** Its address in the IPv6 subnet. */
export function address6Of({ fixed_ips }: Attachment): string {
  return fixed_ips.find(({ ip_address }) => ip_address.includes(':'))?.ip_address ?? '';
}

export async function untilConfigured(world: Ground, ...names: readonly string[]): Promise<void> {
  const wanted = Object.fromEntries(names.map((name) => [name, 'Configured']));
  await vi.waitFor(async () => expect(await nicStates(world)).toEqual(wanted), generous);
}

export async function expectReach({ node }: Ground, from: string): Promise<void> {
  const ping = ['ping', '-c1', '-W2', '-I', from, subnet.gateway];
  expect(await node.sh(ping)).toContain('1 received');
}

/**
 * The gateway knows the MAC of an address, as behind port security: Linux answers ARP on every NIC of a subnet
 * (arp_ignore 0), and the gateway would go on for some seconds with the MAC of another NIC that was just unplugged.
 */
export async function acquaint({ node }: Ground, attachment: Attachment): Promise<void> {
  const neighbour = ['neigh', 'replace', addressOf(attachment), 'lladdr', attachment.mac_addr];
  await run('ip', ['-n', node.fabric, ...neighbour, 'dev', 'br0', 'nud', 'permanent']);
}

/** Gives the data network a subnet of IPv6, whose gateway is in the fabric behind every node; returns its id. */
export async function makeSubnet6({ tenant, data, workers }: Ground): Promise<string> {
  const { networkId } = data;
  const { cidr, gateway } = subnet6;
  const { id } = await tenant.createSubnet({ networkId, cidr, gatewayIp: gateway });
  const address = ['addr', 'add', `${gateway}/64`, 'dev', 'br0', 'nodad'];
  for (const { node } of workers) await run('ip', ['-n', node.fabric, ...address]);
  return id;
}

/** What ping says of five packets a second from a NIC, meanwhile. */
export async function trafficDuring(
  { node }: Ground,
  from: string,
  meanwhile: () => Promise<void>,
): Promise<string> {
  const ping = `echo $$ >/run/traffic.pid; exec ping -q -i 0.2 -I ${from} ${subnet.gateway}`;
  const report = node.sh(['timeout', '--foreground', '240', 'sh', '-c', ping]);
  await meanwhile();
  await node.sh(['sh', '-c', 'kill -INT $(cat /run/traffic.pid)']);
  return report;
}

/** No link, rule, route or file of a NIC is left on the node. */
export async function expectGone({ node }: Ground, name: string): Promise<void> {
  await vi.waitFor(async () => expect(await leftoversOf(node, name)).toEqual([]), generous);
}

/** The link of an attachment has left the node. */
export async function untilUnplugged({ node }: Ground, { mac_addr }: Attachment): Promise<void> {
  await vi.waitFor(
    async () => expect(await node.sh(['ip', '-j', 'link'])).not.toContain(mac_addr),
    generous,
  );
}

/** The status was written from what an agent saw on the node as it runs now. */
export async function untilJudgedSinceBoot(world: Ground): Promise<void> {
  const bootId = (await world.node.sh(['cat', '/proc/sys/kernel/random/boot_id'])).trim();
  await vi.waitFor(
    async () =>
      expect((await nodeConfigOf(world))?.status?.applied).toMatchObject({ bootId, done: true }),
    generous,
  );
}
