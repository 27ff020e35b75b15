import { readFile } from 'node:fs/promises';
import { expect, vi } from 'vitest';
import { findCondition } from '../../../src/api/condition.ts';
import { type EndState, endState } from '../../fixtures/end-state.ts';
import type { Request, Site } from './site.ts';

/** What a life came to: the state with a NIC, the one after all is gone, and how many objects of each kind were made. */
export interface Life {
  readonly configured: EndState;
  readonly gone: EndState;
  readonly created: Readonly<Record<string, number>>;
  /** What our parts wrote in the business cluster, in order, for whoever has to find out why there is more of it. */
  readonly writes: readonly string[];
}

/**
 * The life of one port: it is attached, an OpenstackConfig selects its server, it becomes a NIC, a look is asked for, it is
 * detached, and the OpenstackConfig is deleted. `expected` is a life to come to the same states as; without one, each state is what the
 * first look finds when the objects say that it is reached.
 */
export async function runLife(site: Site, expected?: Life): Promise<Life> {
  const before = (await site.audit()).length;
  try {
    return await liveFrom(before, site, expected);
  } catch (error) {
    const lines = [...(await stateOf(site)), ...writesIn((await site.audit()).slice(before))];
    throw new Error(['The life did not end.', ...lines].join('\n'), { cause: error });
  }
}

/** Objects, and the ends of the logs, of a life that did not end. */
async function stateOf({ places, parts }: Site): Promise<string[]> {
  const { conditions } = (await places.openstackConfig()) ?? {};
  const { status } = (await places.nodeConfig()) ?? {};
  const logs = ['operator', 'viola', 'controller'].map(async (part) => {
    const lines = (await readFile(parts.logOf(part), 'utf8')).trim().split('\n');
    const worst = lines.filter((line) => /"level":"(error|fatal)"/.test(line)).slice(-3);
    return [`${part}:`, ...worst, ...lines.slice(-3)].map((line) => line.slice(0, 600));
  });
  return [JSON.stringify({ conditions, status }), ...(await Promise.all(logs)).flat()];
}

async function liveFrom(before: number, site: Site, expected?: Life): Promise<Life> {
  const { tenant, hypervisor, serverId, port } = site;
  await tenant.attach(serverId, { portId: port.id });
  // An agent that comes before the link is sent again, one whose link goes in mid-work too: both cost objects.
  await until(site, async () => hypervisor.plugged(serverId).length, 1);
  // The port is older than the OpenstackConfig of this life.
  await site.applyConfig();
  await until(site, () => nicsOf(site), ['multinic0 Configured']);
  await until(site, () => readiness(site), { config: 'True', node: 'True' });
  if (site.askForLook) await until(site, () => handledAsk(site), await site.askForLook());
  const configured = await settledState(site, expected?.configured);

  hypervisor.hold('unplug');
  await tenant.detach(serverId, port.id);
  await until(site, () => nicsOf(site), []);
  await until(site, async () => (await readiness(site)).node, 'True');
  hypervisor.release('unplug');
  await until(site, async () => hypervisor.plugged(serverId), []);
  await forget(site);
  const gone = await settledState(site, expected?.gone);
  const asked = (await site.audit()).slice(before);
  return { configured, gone, created: createdIn(asked), writes: writesIn(asked) };
}

/** Ends a life that went wrong, so that the next one begins from nothing. */
export async function cleanUpLife(site: Site): Promise<void> {
  const { tenant, hypervisor, serverId, port, places } = site;
  hypervisor.release('unplug');
  const { device_id } = (await tenant.port(port.id)) ?? {};
  if (device_id === serverId) await tenant.detach(serverId, port.id);
  if (await places.openstackConfig()) await forget(site);
}

async function forget(site: Site): Promise<void> {
  await site.deleteConfig();
  await until(site, () => site.places.openstackConfig(), undefined);
  await until(site, () => site.places.nodeConfig(), undefined);
}

async function settledState({ places, patience }: Site, expected?: EndState): Promise<EndState> {
  if (!expected) return endState(places);
  return vi.waitFor(async () => {
    const state = await endState(places);
    expect(state).toEqual(expected);
    return state;
  }, patience);
}

async function until<T>({ patience }: Site, look: () => Promise<T>, wanted: T): Promise<void> {
  await vi.waitFor(async () => expect(await look()).toEqual(wanted), patience);
}

async function nicsOf({ places }: Site): Promise<string[]> {
  const { interfaceStatuses = [] } = (await places.nodeConfig())?.status ?? {};
  return interfaceStatuses.map(({ name, status }) => `${name} ${status}`);
}

async function readiness({ places }: Site) {
  return {
    config: readyOf((await places.openstackConfig())?.conditions),
    node: readyOf((await places.nodeConfig())?.status?.conditions),
  };
}

async function handledAsk({ places }: Site): Promise<string | undefined> {
  return (await places.openstackConfig())?.lastHandledReconcileAt;
}

function readyOf(conditions: Parameters<typeof findCondition>[0]) {
  return findCondition(conditions, 'Ready')?.status;
}

/** Objects that our parts made, by kind; Events are counted by whoever reads them. */
function createdIn(asked: readonly Request[]): Record<string, number> {
  const made = asked.filter(({ status }) => status === 201);
  return Object.fromEntries(
    countedKinds.map((kind) => [kind, made.filter(({ resource }) => resource === kind).length]),
  );
}

function writesIn(asked: readonly Request[]): string[] {
  return asked
    .filter(({ verb, resource }) => !reads.includes(verb) && !unsaid.includes(resource))
    .map(({ verb, resource, subresource = '', name = '', user, status }) =>
      [status, verb, `${resource}/${name}`, subresource, 'by', user].join(' '),
    );
}

const countedKinds = ['multinicnodeconfigs', 'jobs', 'configmaps'];
const reads: readonly string[] = ['get', 'list', 'watch'];
/** Renewed all the time, and questions that change nothing. */
const unsaid: readonly string[] = ['leases', 'selfsubjectaccessreviews'];
