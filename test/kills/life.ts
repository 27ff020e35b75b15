import { expect, vi } from 'vitest';
import { openstackConfigs } from '../../rig/chain/kinds.ts';
import type { WirePort } from '../../rig/openstack/tenant.ts';
import { findCondition } from '../../src/api/condition.ts';
import { namespaces } from '../../src/api/names.ts';
import type { EndState } from '../beds/end-state.ts';
import { applyConfig } from '../chain/acts.ts';
import { endStateOf, generous, nodeConfigObjectOf, openstackConfigOf } from '../chain/seen.ts';
import type { Worker, World } from '../chain/world.ts';

/** What a life came to: the state with a NIC, the one after all is gone, and how many objects of each kind were made. */
export interface Life {
  readonly configured: EndState;
  readonly gone: EndState;
  readonly created: Readonly<Record<string, number>>;
  /** What our parts wrote in the business cluster, in order, for whoever has to find out why there is more of it. */
  readonly writes: readonly string[];
}

/**
 * The life of one port: it is attached, an OpenstackConfig selects its server, it becomes a NIC, is detached, and the
 * OpenstackConfig is deleted. `expected` is a life to come to the same states as; without one, each state is what the
 * first look finds when the objects say that it is reached.
 */
export async function live(
  world: World,
  worker: Worker,
  port: WirePort,
  expected?: Life,
): Promise<Life> {
  const { tenant, business } = world;
  const { serverId, hypervisor } = worker;
  const before = business.server.audit.length;
  await tenant.attach(serverId, { portId: port.id });
  // An agent that comes before the link is sent again, one whose link goes in mid-work too: both cost objects.
  await until(() => hypervisor.plugged(serverId).length, 1);
  // The port is older than the OpenstackConfig of this life.
  await applyConfig(world, worker, { settings: { portBaseline: 'All' } });
  await until(() => nicsOf(world, worker), ['multinic0 Configured']);
  await until(() => readiness(world, worker), { config: 'True', node: 'True' });
  const configured = await settledState(world, worker, expected?.configured);

  hypervisor.hold('unplug');
  await tenant.detach(serverId, port.id);
  await until(() => nicsOf(world, worker), []);
  await until(() => readiness(world, worker).node, 'True');
  hypervisor.release('unplug');
  await until(() => hypervisor.plugged(serverId), []);
  await forget(world, worker);
  const gone = await settledState(world, worker, expected?.gone);
  const writes = writesSince(world, before);
  return { configured, gone, created: createdSince(world, before), writes };
}

/** Ends a life that went wrong, so that the next one begins from nothing. */
export async function bury(world: World, worker: Worker, port: WirePort): Promise<void> {
  worker.hypervisor.release('unplug');
  const { device_id } = (await world.tenant.port(port.id)) ?? {};
  if (device_id === worker.serverId) await world.tenant.detach(worker.serverId, port.id);
  if (openstackConfigOf(world, worker)) await forget(world, worker);
}

async function forget(world: World, worker: Worker): Promise<void> {
  const ref = { namespace: namespaces.system, name: worker.name };
  await world.management.client.delete(openstackConfigs, ref);
  await until(() => openstackConfigOf(world, worker), undefined);
  await until(() => nodeConfigObjectOf(world, worker), undefined);
}

async function settledState(world: World, worker: Worker, expected?: EndState): Promise<EndState> {
  const look = () => endStateOf(world, worker);
  if (!expected) return look();
  return vi.waitFor(async () => {
    const state = await look();
    expect(state).toEqual(expected);
    return state;
  }, generous);
}

async function until<T>(look: () => T, wanted: T): Promise<void> {
  await vi.waitFor(() => expect(look()).toEqual(wanted), { ...generous, interval: 50 });
}

function nicsOf(world: World, worker: Worker): string[] {
  const { interfaceStatuses = [] } = nodeConfigObjectOf(world, worker)?.status ?? {};
  return interfaceStatuses.map(({ name, status }) => `${name} ${status}`);
}

function readiness(world: World, worker: Worker) {
  return {
    config: readyOf(openstackConfigOf(world, worker)?.status?.conditions),
    node: readyOf(nodeConfigObjectOf(world, worker)?.status?.conditions),
  };
}

function readyOf(conditions: Parameters<typeof findCondition>[0]) {
  return findCondition(conditions, 'Ready')?.status;
}

/** Objects that our parts made, by kind; Events are counted by whoever reads them. */
function createdSince({ business }: World, position: number): Record<string, number> {
  const made = business.server.audit
    .slice(position)
    .filter(({ status, resource }) => status === 201 && counted.has(resource));
  return Object.fromEntries(
    [...counted].map((kind) => [kind, made.filter(({ resource }) => resource === kind).length]),
  );
}

function writesSince({ business }: World, position: number): string[] {
  const reads: readonly string[] = ['get', 'list', 'watch'];
  return business.server.audit
    .slice(position)
    .filter(({ verb, resource }) => !reads.includes(verb) && resource !== 'leases')
    .map(({ verb, resource, subresource = '', name = '', user, status }) =>
      [status, verb, `${resource}/${name}`, subresource, 'by', user].join(' '),
    );
}

const counted = new Set(['multinicnodeconfigs', 'jobs', 'configmaps']);
