import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { nodeConfigs, openstackConfigs } from '../../../rig/chain/kinds.ts';
import type { Node } from '../../../rig/control-plane/node.ts';
import { ip } from '../../../rig/hosts/namespace/command.ts';
import { labels, namespaces } from '../../../src/api/names.ts';
import type { OpenstackConfigSpec } from '../../../src/api/openstackconfig.ts';
import { pods } from '../../../src/kube/core-resources.ts';
import { KernelEvents } from '../../fixtures/kernel-events.ts';
import type { Server } from './servers.ts';
import { type Fleet, openFleet, provider, size } from './world.ts';

const namespace = namespaces.system;
const config = { namespace, name: 'storage' };
const examination = z.object({
  findings: z.array(
    z.object({
      severity: z.string(),
      subject: z.string(),
      reason: z.string(),
      message: z.string(),
      commands: z.array(z.string()),
      affected: z.array(z.object({ node: z.string(), nic: z.string() })).default([]),
    }),
  ),
});

let fleet: Fleet;

beforeAll(async () => {
  fleet = await openFleet();
});

afterAll(() => fleet?.[Symbol.asyncDispose]());

/** Creates the OpenstackConfig as the guide does. */
async function observeFleet(): Promise<void> {
  const { subnetIds, servers, tenant, cloud } = fleet;
  const spec: OpenstackConfigSpec = {
    subnetIDs: [...subnetIds],
    vmNames: servers.map(({ id }) => id),
    credentials: {
      openstackProviderID: cloud.providerId,
      k8sProviderID: provider,
      projectID: tenant.projectId,
    },
    settings: { portBaseline: 'All', mode: 'Observe' },
  };
  const kind = { apiVersion: 'multinic.example.com/v1alpha1', kind: 'OpenstackConfig' };
  const manifest = JSON.stringify({ ...kind, metadata: config, spec });
  expect(await fleet.paste(`kubectl apply -f - <<'END'\n${manifest}\nEND`)).toMatchObject({
    status: 0,
  });
}

/** Returns doctor's findings about the business cluster. */
async function findings() {
  const { out, err } = await fleet.multinic('doctor', '-o', 'json');
  expect(err).toBe('');
  const all = examination.parse(JSON.parse(out)).findings;
  return all.filter(({ subject }) => subject !== 'multinic-system/storage');
}

async function statuses() {
  const { items } = await fleet.client.list(nodeConfigs, { namespace });
  return items.map(({ status }) => status ?? {});
}

/** Returns each NIC's status without the values of its node. */
async function nicStatuses(node: string) {
  const { status } = await fleet.client.get(nodeConfigs, { namespace, name: node });
  return (status?.interfaceStatuses ?? []).map(({ status: state, reason, code, found = {} }) => {
    const { addresses: _, ...rest } = found;
    return { state, reason, code, ...rest };
  });
}

/** Returns start and end of each apply, oldest first. */
async function applies() {
  const labelSelector = `${labels.action}=apply`;
  const { items } = await fleet.client.list(pods, { namespace: namespaces.agents, labelSelector });
  return items
    .map(({ metadata, status }) => ({
      start: metadata.creationTimestamp ?? '',
      end: status?.containerStatuses?.[0]?.state?.terminated?.finishedAt ?? '',
    }))
    .toSorted((a, b) => a.start.localeCompare(b.start));
}

/** Returns runs with a start before the end of these runs. */
function early(runs: Awaited<ReturnType<typeof applies>>, before: typeof runs) {
  return runs.filter(({ start }) => before.some(({ end }) => start < end));
}

/** Waits until a check has refused every NIC. */
async function untilRefused(): Promise<void> {
  await expect
    .poll(async () => {
      const nics = (await statuses()).flatMap(({ interfaceStatuses = [] }) => interfaceStatuses);
      return nics.filter(({ reason }) => reason === 'NICInUse');
    })
    .toHaveLength(2 * size);
}

/** Waits until all nodes are Configured; returns the states until then. */
async function untilConfigured() {
  const states = new Set<string | undefined>();
  await expect
    .poll(async () => {
      const all = (await statuses()).map(({ state }) => state);
      for (const state of all) states.add(state);
      return all;
    })
    .toEqual(fleet.servers.map(() => 'Configured'));
  return states;
}

/** Expects the finding's command to work for a user with the ClusterRole edit, and its patch by server-side apply. */
async function consent(command: string): Promise<void> {
  expect(await fleet.paste(command)).toMatchObject({ status: 0 });
  const [, patch = ''] = / -p '(.*)'$/.exec(command) ?? [];
  const { spec } = JSON.parse(patch) as { spec: OpenstackConfigSpec };
  const object = { metadata: config, spec };
  const { metadata } = await fleet.editor.apply(openstackConfigs, object, { fieldManager: 'jane' });
  expect(metadata.generation).toBe(2);
}

async function expectAddresses(box: Node, { ports }: Server): Promise<void> {
  const text = await ip(['-n', box.netns, '-br', '-4', 'addr']);
  for (const [index, { address }] of ports.entries())
    expect(text).toMatch(new RegExp(`^multinic${index}\\S* +UP +${address}/24 *$`, 'm'));
}

it('doctor has a finding for 20 nodes, and its patch adopts 1 node, 2 nodes and 17 nodes', async () => {
  const { servers, boxes } = fleet;
  await observeFleet();
  await untilRefused();
  expect(await nicStatuses('worker-04')).toEqual(await nicStatuses('worker-01'));
  const affected = async () => (await findings()).flatMap((finding) => finding.affected);
  await expect.poll(affected).toHaveLength(2 * size);
  const [finding, ...further] = await findings();
  expect(further).toEqual([]);
  expect(finding).toMatchObject({ severity: 'warning', subject: provider, reason: 'NICInUse' });
  expect(finding?.message).toMatch(/^20 nodes: .*50-cloud-init\.yaml.* configure 40 NICs: /);
  expect(finding?.commands).toHaveLength(1);

  using events = new KernelEvents(boxes.map((host) => ({ name: host.name, host })));
  await events.untilSilent();
  const silent = events.lines.length;
  await consent(finding?.commands.join('') ?? '');
  expect(await untilConfigured()).not.toContain('Failed');
  const runs = await applies();
  expect(runs).toHaveLength(size);
  const [first, wave, rest] = [runs.slice(0, 1), runs.slice(1, 3), runs.slice(3)];
  expect([...early(wave, first), ...early(rest, wave)]).toEqual([]);

  await events.untilSilent();
  expect(events.lines.slice(silent).filter((line) => line.includes('eth0'))).toEqual([]);
  for (const [at, box] of boxes.entries()) {
    await expectAddresses(box, servers[at] ?? { id: '', name: '', ports: [] });
  }
  await expect.poll(findings).toEqual([]);
});
