import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { nodeConfigs, openstackConfigs } from '../../rig/chain/kinds.ts';
import { annotations, namespaces } from '../../src/api/names.ts';
import { nodeConfigsPath, providerHeader } from '../../src/api/node-configs-http.ts';
import { applyConfig, attach, detach, type Edit } from '../fixtures/chain/acts.ts';
import {
  configStatusOf,
  generous,
  nodeConfigOf,
  openstackConfigOf,
  untilConfigIsReady,
  untilConfigReason,
  untilConfigured,
} from '../fixtures/chain/waits.ts';
import { openWorld, provider, type Worker, type World } from '../fixtures/chain/world.ts';
import { stateOf, without } from '../host/host-state.ts';

const legacy: Edit = { settings: { violaCompatibility: 'legacy' } };

let world: World;
let worker: Worker;

beforeAll(async () => {
  const env = { LEGACY_VIOLA_PROVIDERS: provider };
  world = await openWorld(['worker-1'], { isViolaLegacy: true, env });
  [worker] = world.workers as [Worker];
});

afterAll(() => world?.[Symbol.asyncDispose]());

/** Returns answered POSTs as `provider status node:interfaces…`. */
async function posts(): Promise<string[]> {
  const log = await readFile(world.parts.logOf('viola'), 'utf8');
  return [...log.matchAll(/^POST \S+ (.+)$/gm)].map(([, post = '']) => post);
}

/** Returns names of the node configs in the management cluster. */
function astray(): string[] {
  const resource = 'multinicnodeconfigs.multinic.io';
  const objects = world.management.server.objects(resource, namespaces.system);
  return objects.map(({ metadata }) => metadata.name);
}

/** Returns the host's links managed by MultiNIC, with addresses. */
async function linksOf(): Promise<string[]> {
  const { links } = await stateOf(worker.host);
  return links.filter((link) => link.includes('multinic'));
}

it('a legacy Viola delivers attach, change and detach to the host, and no POST has a node without NICs', async () => {
  await applyConfig(world, worker, legacy);
  await untilConfigIsReady(world, worker);
  const before = without(await stateOf(worker.host), '"ens');

  const first = await attach(world, worker);
  await untilConfigured(world, worker, 'multinic0');
  const second = await attach(world, worker);
  await untilConfigured(world, worker, 'multinic0', 'multinic1');
  expect(configStatusOf(world, worker).conditions).toContainEqual(
    expect.objectContaining({ type: 'NICsReady', status: 'Unknown', reason: 'StatusUnsupported' }),
  );

  const fixed = [{ subnet_id: world.data.subnetId, ip_address: '10.0.0.200' }];
  await world.tenant.updatePort(second.port_id, { fixed_ips: fixed });
  await vi.waitFor(async () => {
    expect((await linksOf()).join()).toContain('10.0.0.200');
  }, generous);

  // After this restart only the inventory still has the remaining NIC's name.
  await world.parts.stop('operator');
  await detach(world, worker, first.port_id);
  await world.parts.restart('operator');
  await untilConfigured(world, worker, 'multinic1');
  await untilConfigIsReady(world, worker);
  expect(nodeConfigOf(world, worker)?.spec.interfaces).toMatchObject([
    { id: 1, name: 'multinic1', macAddress: second.mac_addr, address: '10.0.0.200' },
  ]);

  await detach(world, worker, second.port_id);
  await untilConfigReason(world, worker, 'RemovalUnsupported', 'node worker-1', 'multinic1');
  const posted = await posts();
  expect(nodeConfigOf(world, worker)?.spec.interfaces).toHaveLength(1);

  // Follows the status message: the user deletes the object, then sets the annotation.
  const ref = { name: worker.name, namespace: namespaces.system };
  await world.business.client.delete(nodeConfigs, ref);
  await vi.waitFor(() => expect(nodeConfigOf(world, worker)).toBeUndefined(), generous);
  await applyConfig(world, worker, legacy, { [annotations.allowRemovals]: 'done' });
  await untilConfigIsReady(world, worker);
  expect(without(await stateOf(worker.host), '"ens')).toEqual(before);
  expect(await posts()).toEqual(posted);
  for (const post of posted) expect(post).toMatch(/^business 200( worker-1:[12])$/);
});

it('a legacy Viola gets no POST for an unconfirmed provider, because it writes to its own cluster', async () => {
  const posted = await posts();
  const credentials = { k8sProviderID: 'nowhere' };
  await applyConfig(world, worker, { ...legacy, credentials });
  await untilConfigReason(world, worker, 'ConfigError', '"nowhere"', 'LEGACY_VIOLA_PROVIDERS');
  const { port_id: portId } = await attach(world, worker);
  await applyConfig(world, worker, legacy);
  await untilConfigured(world, worker, 'multinic0');
  expect(astray()).toEqual([]);
  expect((await posts()).slice(posted.length)).toEqual(['business 200 worker-1:1']);

  // Deleting the OpenstackConfig completes, and the NIC stays.
  const ref = { name: worker.name, namespace: namespaces.system };
  await world.management.client.delete(openstackConfigs, ref);
  await vi.waitFor(() => expect(openstackConfigOf(world, worker)).toBeUndefined(), generous);
  await untilConfigured(world, worker, 'multinic0');
  await detach(world, worker, portId);

  // A POST without the refusal lands in Viola's own cluster.
  const answer = await fetch(`${world.violaUrl}${nodeConfigsPath}`, {
    method: 'POST',
    headers: { [providerHeader]: 'nowhere' },
    body: JSON.stringify([
      {
        nodeName: 'worker-1',
        interfaces: [{ name: 'multinic0', macAddress: 'fa:16:3e:00:00:01' }],
      },
    ]),
  });
  expect([answer.status, astray()]).toEqual([200, ['worker-1']]);
});
