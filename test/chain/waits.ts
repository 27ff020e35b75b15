import { expect, vi } from 'vitest';
import * as z from 'zod';
import { findCondition } from '../../src/api/condition.ts';
import {
  type InterfaceSpec,
  type MultiNicNodeConfig,
  nodeConfigSpec,
  nodeConfigStatus,
} from '../../src/api/multinicnodeconfig.ts';
import { namespaces } from '../../src/api/names.ts';
import { type OpenstackConfig, openstackConfigStatus } from '../../src/api/openstackconfig.ts';
import type { Reason } from '../../src/api/reasons.ts';
import { type EndState, endState, type Places } from '../fixtures/end-state.ts';
import { type HostState, stateOf, without } from '../host/host-state.ts';
import { scaled } from '../speed.ts';
import type { Cluster, Worker, World } from './world.ts';

/** How long anything may take on a busy machine, and how often it is looked at. */
export const generous = { timeout: scaled(90_000), interval: 200 };

const nodeConfig = z.object({ spec: nodeConfigSpec, status: nodeConfigStatus.default({}) });
const openstackConfig = z.object({
  metadata: z.object({ generation: z.int() }),
  status: openstackConfigStatus.default({}),
});

// From the storage: a server that fails on purpose is looked into all the same.
function stored({ server }: Cluster, resource: string, name: string): unknown {
  const objects = server.objects(resource, namespaces.system);
  return objects.find(({ metadata }) => metadata.name === name);
}

/** The worker's OpenstackConfig as it is stored, if there is one. */
export function openstackConfigOf({ management }: World, { name }: Worker) {
  const object = stored(management, 'openstackconfigs.multinic.example.com', name);
  return object as OpenstackConfig | undefined;
}

/** The worker's MultiNicNodeConfig as it is stored, if there is one. */
export function nodeConfigObjectOf({ business }: World, { name }: Worker) {
  const object = stored(business, 'multinicnodeconfigs.multinic.io', name);
  return object as MultiNicNodeConfig | undefined;
}

/** The worker's MultiNicNodeConfig, if there is one. */
export function nodeConfigOf({ business }: World, { name }: Worker) {
  return nodeConfig.optional().parse(stored(business, 'multinicnodeconfigs.multinic.io', name));
}

/** The status of the worker's OpenstackConfig, which has to be about its spec as it is. */
export function configStatusOf({ management }: World, { name }: Worker) {
  const object = stored(management, 'openstackconfigs.multinic.example.com', name);
  const { metadata, status } = openstackConfig.parse(object);
  expect(status.observedGeneration).toBe(metadata.generation);
  return status;
}

/** Where what there is to know of the worker is: both objects, the inventory and the host itself. */
export function placesOf(world: World, worker: Worker): Places {
  return {
    openstackConfig: async () => openstackConfigOf(world, worker)?.status,
    nodeConfig: async () => nodeConfigObjectOf(world, worker),
    inventory: async () => {
      const path = `/v1/inventory/node-configs?nodeName=${worker.name}`;
      return (await fetch(`${world.inventoryUrl}${path}`)).json();
    },
    host: () => stateOf(worker.host),
  };
}

export function endStateOf(world: World, worker: Worker): Promise<EndState> {
  return endState(placesOf(world, worker));
}

/** Waits until the worker has these NICs and no others, all of them Configured. */
export async function untilConfigured(
  world: World,
  worker: Worker,
  ...names: readonly string[]
): Promise<void> {
  await vi.waitFor(() => {
    const { spec, status } = nodeConfigOf(world, worker) ?? {};
    expect(spec?.interfaces?.map(({ name }) => name).toSorted()).toEqual(names);
    const states = status?.interfaceStatuses?.map((nic) => `${nic.name} ${nic.status}`);
    expect(states?.toSorted()).toEqual(names.map((name) => `${name} Configured`));
    expect(findCondition(status?.conditions, 'Ready')?.status).toBe('True');
  }, generous);
}

/** Waits until the worker's OpenstackConfig gives this reason in these words. */
export async function untilConfigReason(
  world: World,
  worker: Worker,
  reason: Reason,
  ...words: readonly string[]
): Promise<void> {
  await vi.waitFor(() => {
    const { conditions, lastError } = configStatusOf(world, worker);
    const ready = findCondition(conditions, 'Ready');
    expect(ready).toMatchObject({ status: 'False', reason });
    for (const word of words) expect(ready?.message).toContain(word);
    expect(lastError).toBe(ready?.message);
  }, generous);
}

/** Waits until all is well with the worker's OpenstackConfig. */
export async function untilConfigIsReady(world: World, worker: Worker): Promise<void> {
  await vi.waitFor(() => {
    const { conditions, lastError } = configStatusOf(world, worker);
    expect(findCondition(conditions, 'Ready')).toMatchObject({ status: 'True' });
    expect(lastError).toBe('');
  }, generous);
}

/** Waits until the operator has let go of the worker's OpenstackConfig. */
export async function untilPaused(world: World, worker: Worker): Promise<void> {
  await vi.waitFor(() => {
    const { conditions } = configStatusOf(world, worker);
    expect(findCondition(conditions, 'Paused')).toMatchObject({ status: 'True' });
  }, generous);
}

/** Waits until the worker's MultiNicNodeConfig gives this reason for one of its NICs, and as a whole. */
export async function untilNicReason(
  world: World,
  worker: Worker,
  portId: string,
  reason: Reason,
): Promise<void> {
  await vi.waitFor(() => {
    const { interfaceStatuses, conditions } = nodeConfigOf(world, worker)?.status ?? {};
    expect(interfaceStatuses?.find((nic) => nic.portId === portId)).toMatchObject({ reason });
    expect(findCondition(conditions, 'Ready')).toMatchObject({ status: 'False', reason });
  }, generous);
}

/** What must outlast every trouble of a worker: what was delivered, and its host but for NICs that are only plugged. */
export interface Standing extends HostState {
  readonly interfaces: readonly InterfaceSpec[];
}

export async function standingOf(world: World, worker: Worker): Promise<Standing> {
  const interfaces = nodeConfigOf(world, worker)?.spec.interfaces ?? [];
  return { interfaces, ...without(await stateOf(worker.host), '"ens') };
}

/** Nothing of what stood has gone; more may have come. */
export function expectUnchanged(now: Standing, before: Standing): void {
  for (const part of ['interfaces', 'links', 'routes', 'rules'] as const) {
    expect(now[part]).toEqual(expect.arrayContaining([...before[part]]));
  }
  expect(now.files).toMatchObject(before.files);
}
