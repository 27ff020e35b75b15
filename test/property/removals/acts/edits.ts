import { idOf, macsOf, nicOf } from '../cluster.ts';
import type { Life } from '../life.ts';
import { type Act, fewOf, forLive } from './act.ts';

const dropOne: Act = async (life, act) =>
  forLive(life, fewOf(act), async (name) => {
    const { interfaces } = life.cluster.wantedOf(name);
    const at = Math.floor(act.variant * interfaces.length);
    await life.cluster.write(name, { interfaces: interfaces.toSpliced(at, 1) });
  });

const empty: Act = async (life, act) =>
  forLive(life, fewOf(act), (name) => life.cluster.write(name, { interfaces: [] }));

export const emptyAll: Act = async (life) =>
  forLive(life, life.names, (name) => life.cluster.write(name, { interfaces: [] }));

/** Empties specs one after another, with time between them. */
const emptySlowly: Act = async (life, { hosts, amount }) =>
  forLive(life, hosts, async (name) => {
    await life.cluster.write(name, { interfaces: [] });
    await life.pass(Math.floor(50 * amount));
  });

const dropAndAdd: Act = async (life, act) =>
  forLive(life, fewOf(act), async (name) => {
    const { interfaces } = life.cluster.wantedOf(name);
    await life.cluster.write(name, { interfaces: interfaces.slice(1) });
    await life.pass(Math.floor(60 * act.variant));
    await life.cluster.write(name, { interfaces });
  });

const maxNics = 6;

const addNic: Act = async (life, act) =>
  forLive(life, fewOf(act), async (name, _, host) => {
    const { interfaces } = life.cluster.wantedOf(name);
    const macs = macsOf(interfaces);
    const free = Array.from({ length: maxNics }, (__, index) => nicOf(host, index)).find(
      ({ macAddress }) => !macs.includes(macAddress),
    );
    if (free) await life.cluster.write(name, { interfaces: [...interfaces, free] });
  });

/** Applies the original spec, also where no object is left. */
const undo: Act = async (life, { hosts }) => {
  for (const host of hosts) await undoOn(life, host);
};

export async function undoOn(life: Life, host: string): Promise<void> {
  const interfaces = Array.from({ length: life.nics.get(host) ?? 1 }, (_, n) => nicOf(host, n));
  const name = life.cluster.nameFor(host);
  await life.cluster.write(name, { instanceId: idOf(host), interfaces });
}

/** Gives each object the instance id of the next host, as a user's mistake. */
const shift: Act = async (life, { hosts }) =>
  forLive(life, hosts, async (name, _, host) => {
    const next = hosts[(hosts.indexOf(host) + 1) % hosts.length] ?? host;
    await life.cluster.write(name, { instanceId: idOf(next) });
  });

/** Exchanges instance ids and NICs of two objects. */
const swap: Act = async (life, { hosts: [first = '', second = ''] }) => {
  const { cluster } = life;
  const names = [first, second].flatMap((host) => cluster.liveFor(host)?.metadata.name ?? []);
  const [one, other] = names;
  if (one === undefined || other === undefined) return;
  const [ofOne, ofOther] = [cluster.wantedOf(one), cluster.wantedOf(other)];
  await cluster.write(one, ofOther);
  await cluster.write(other, ofOne);
};

/** Empties specs, and gives the objects the instance ids of each other when their NICs have left. */
const emptyAndShift: Act = async (life, act) => {
  const hosts = act.hosts.slice(0, 3);
  await forLive(life, hosts, (name) => life.cluster.write(name, { interfaces: [] }));
  await life.pass(60);
  await shift(life, { ...act, hosts });
};

/** Edits by users, GitOps and tools; the number is the relative frequency. */
export const edits = {
  dropOne: [dropOne, 6],
  empty: [empty, 6],
  emptyAll: [emptyAll, 3],
  emptySlowly: [emptySlowly, 3],
  dropAndAdd: [dropAndAdd, 3],
  addNic: [addNic, 4],
  undo: [undo, 6],
  shift: [shift, 2],
  swap: [swap, 1],
  emptyAndShift: [emptyAndShift, 2],
} as const satisfies Record<string, readonly [Act, number]>;
