import { nodeConfigs, openstackConfigs } from '../../../rig/chain/kinds.ts';
import { annotations, namespaces } from '../../../src/api/names.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import type { Random } from '../../../src/time/clock.ts';
import { applyConfig, attach, detach, type Edit } from '../acts.ts';
import type { Worker, World } from '../world.ts';
import type { Observer } from './observer.ts';

/** The world of a life: who does what in it, and what is there. */
export interface Life {
  readonly world: World;
  readonly observer: Observer;
  readonly random: Random;
  /** Ports that are attached, MAC by port id, for each worker by its name. */
  readonly ports: Map<string, Map<string, string>>;
  /** What the OpenstackConfig of a worker says otherwise. */
  readonly edits: Map<string, Edit>;
}

/** Something that happens in a life; `permit` is called for what may leave by it. */
export type Act = (life: Life, worker: Worker) => Promise<void>;

const most = 3;
const ref = ({ name }: Worker) => ({ namespace: namespaces.system, name });

function macsOf({ ports }: Life, { name }: Worker): string[] {
  return [...(ports.get(name)?.values() ?? [])];
}

async function apply(life: Life, worker: Worker, marks: Readonly<Record<string, string>> = {}) {
  const { settings, ...others } = life.edits.get(worker.name) ?? {};
  const all = { portBaseline: 'All', openstackNodeNameMetadataKey: 'node', ...settings };
  await applyConfig(life.world, worker, { ...others, settings: all }, marks);
}

async function edit(life: Life, worker: Worker, change: Edit): Promise<void> {
  life.edits.set(worker.name, { ...life.edits.get(worker.name), ...change });
  await apply(life, worker);
}

/** What is not there cannot be edited. */
async function unlessGone(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

async function attachPort({ world, ports }: Life, worker: Worker): Promise<void> {
  const own = ports.get(worker.name) ?? new Map<string, string>();
  ports.set(worker.name, own);
  if (own.size >= most) return;
  const { port_id: portId, mac_addr: mac } = await attach(world, worker);
  own.set(portId, mac);
}

async function detachPort({ world, ports, observer }: Life, worker: Worker): Promise<void> {
  const [first] = ports.get(worker.name) ?? [];
  if (!first) return;
  const [portId, mac] = first;
  observer.permit(mac);
  ports.get(worker.name)?.delete(portId);
  await detach(world, worker, portId);
}

/** Names of servers, and the metadata that name nodes, are swapped. */
async function renameServers({ world, random }: Life): Promise<void> {
  const names = world.workers.map(({ name }) => name);
  const [first = '', ...others] = names;
  for (const [at, { serverId }] of world.workers.entries()) {
    const node = [...others, first][at] ?? '';
    await world.tenant.changeServer(serverId, { metadata: random() < 0.5 ? { node } : {} });
    if (random() < 0.3) await world.tenant.changeServer(serverId, { name: `renamed-${at}` });
  }
}

async function toOtherCluster(life: Life, worker: Worker): Promise<void> {
  await edit(life, worker, { credentials: { k8sProviderID: 'second' } });
}

async function deselect(life: Life, worker: Worker): Promise<void> {
  life.observer.permit(...macsOf(life, worker));
  await edit(life, worker, { vmNames: [] });
}

async function consent(life: Life, worker: Worker): Promise<void> {
  life.observer.permit(...macsOf(life, worker));
  await apply(life, worker, { [annotations.allowRemovals]: String(life.random()) });
}

/** As after a disaster: the object is lost without its finalizer, and made again from git. */
async function restore(life: Life, worker: Worker): Promise<void> {
  const { client } = life.world.management;
  const lose = { metadata: { finalizers: null, annotations: { [annotations.paused]: 'true' } } };
  await unlessGone(client.patch(openstackConfigs, ref(worker), lose));
  await unlessGone(client.delete(openstackConfigs, ref(worker)));
  await apply(life, worker);
}

/** Somebody else names the worker's OpenstackConfig as the one whose nodes it takes over. */
async function steal(life: Life, worker: Worker): Promise<void> {
  const { management } = life.world;
  const { spec } = await management.client.get(openstackConfigs, ref(worker));
  const metadata = {
    name: `thief-of-${worker.name}`,
    namespace: namespaces.system,
    annotations: { [annotations.takeOverFrom]: `${namespaces.system}/${worker.name}` },
  };
  const author = { fieldManager: 'people', force: true };
  const thief = { metadata, spec: { ...spec, vmNames: [worker.serverId] } };
  await management.client.apply(openstackConfigs, thief, author);
}

/** Somebody else with Viola's rights writes the object; fields of any other writer would be a conflict until he undoes it. */
async function overwrite({ world }: Life, worker: Worker, change: object): Promise<void> {
  const { client } = world.business;
  const found = await client.find(nodeConfigs, ref(worker));
  if (!found || found.metadata.deletionTimestamp) return;
  const { annotations: noted = {}, labels: marks = {} } = found.metadata;
  const metadata = { ...ref(worker), annotations: noted, labels: marks };
  const spec = { ...found.spec, ...change };
  await client.apply(nodeConfigs, { metadata, spec }, { fieldManager: 'viola', force: true });
}

/** The instance id of another server is written into the object. */
async function shiftIds(life: Life, worker: Worker): Promise<void> {
  const other = life.world.workers.find(({ name }) => name !== worker.name);
  await overwrite(life, worker, { instanceId: other?.serverId ?? '' });
}

async function emptyByHand(life: Life, worker: Worker): Promise<void> {
  life.observer.permit(...macsOf(life, worker));
  await overwrite(life, worker, { interfaces: [] });
}

async function deleteByHand(life: Life, worker: Worker): Promise<void> {
  life.observer.permit(...macsOf(life, worker));
  await unlessGone(life.world.business.client.delete(nodeConfigs, ref(worker)));
}

/** Conditions are one list to a patch, so that whoever edits one writes all of them. */
async function spoilStatus({ world, random }: Life, worker: Worker): Promise<void> {
  const { client } = world.business;
  const { conditions = [] } = (await client.find(nodeConfigs, ref(worker)))?.status ?? {};
  const others = conditions.filter(({ type }) => type !== 'Ready');
  const ready = { type: 'Ready', status: 'False', reason: 'ByHand', message: '' };
  const status = random() < 0.5 ? { state: 'Failed' } : { conditions: [...others, ready] };
  await unlessGone(client.patchStatus(nodeConfigs, ref(worker), { status }));
}

async function killPart({ world, random }: Life): Promise<void> {
  const parts = ['operator', 'viola', 'controller'] as const;
  const part = parts[Math.floor(random() * parts.length)] ?? 'operator';
  await world.parts.kill(part);
  await world.parts.restart(part);
}

async function failCloud({ world, random }: Life): Promise<void> {
  const { controls } = world.cloud;
  const kinds = [
    { service: 'neutron', kind: 'empty', times: 3 },
    { service: 'nova', kind: 'status', status: 404, times: 3 },
    { service: 'neutron', kind: 'status', status: 503, times: 3 },
  ] as const;
  const failure = kinds[Math.floor(random() * kinds.length)];
  if (failure) controls.fail(failure);
  // The operator meets it at its polls, and nobody else in this life.
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  controls.heal({});
}

async function failBusinessCluster({ world, random }: Life): Promise<void> {
  const { faults } = world.business.server;
  if (random() < 0.5) return void faults.dropWatches();
  faults.lose({ when: 'after', times: 3 });
  // Only the parts write meanwhile: an act of the test that loses its answer would fail.
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  faults.clear();
}

/** A port that names the server and that Nova did not plug. */
async function nameAsDevice({ world }: Life, { serverId }: Worker): Promise<void> {
  const { tenant, data } = world;
  const { id } = await tenant.createPort({ networkId: data.networkId, name: 'vip' });
  await tenant.updatePort(id, { device_id: serverId });
}

/** By their names in the log of a life; the first two happen most. */
export const acts: Readonly<Record<string, Act>> = {
  attachPort,
  detachPort,
  renameServers,
  toOtherCluster,
  deselect,
  consent,
  restore,
  steal,
  shiftIds,
  emptyByHand,
  deleteByHand,
  spoilStatus,
  killPart,
  failCloud,
  failBusinessCluster,
  nameAsDevice,
};

/** What people take back and what is mended: afterwards all attached ports are to be NICs of their servers. */
export async function mend(life: Life): Promise<void> {
  const { world } = life;
  world.cloud.controls.heal({});
  world.business.server.faults.clear();
  for (const worker of world.workers) {
    await world.tenant.changeServer(worker.serverId, { name: worker.name, metadata: {} });
    const name = `thief-of-${worker.name}`;
    const thief = { namespace: namespaces.system, name };
    await unlessGone(world.management.client.delete(openstackConfigs, thief));
    life.edits.delete(worker.name);
    await apply(life, worker, { [annotations.reconcileAt]: String(life.random()) });
  }
}
