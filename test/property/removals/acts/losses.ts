import type { NodeConfig } from '../../../../src/controller/objects/stores.ts';
import { configMaps } from '../../../../src/kube/core-resources.ts';
import { isNotFound } from '../../../../src/kube/errors.ts';
import { nicOf, system, type Wanted } from '../cluster.ts';
import type { Life } from '../life.ts';
import { type Act, forLive, pick } from './act.ts';

const ledger = { namespace: system, name: 'multinic-removals' };

/** Removes status.applied or the whole status, while the controller is stopped; then edits or deletes some objects. */
const loseRecord: Act = async (life, { hosts, variant, amount }) => {
  const { cluster } = life;
  await life.stop();
  const lost = new Set<string>();
  for (const host of hosts) {
    const name = cluster.nameFor(host);
    const { uid = '' } = cluster.find(name)?.metadata ?? {};
    if (uid === '') continue;
    lost.add(uid);
    await cluster.setStatus(name, variant < 0.5 ? { applied: null } : null);
    const next = pick(['none', 'empty', 'delete'], amount);
    if (next === 'empty') await cluster.write(name, { interfaces: [] });
    if (next === 'delete') await cluster.delete(name);
  }
  life.budget.forget((uid) => lost.has(uid));
  life.fixture.run();
};

/** Restores objects under new uids, while the controller is stopped. */
const restore: Act = async (life, { hosts, variant, amount }) => {
  const { cluster } = life;
  await life.stop();
  const lost = new Set<string>();
  for (const host of hosts) {
    const name = cluster.nameFor(host);
    lost.add(cluster.find(name)?.metadata.uid ?? '');
    const copies = (life.backups.get(name) ?? []).filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    );
    const copy = copies[Math.floor(variant * copies.length)];
    if (!copy) continue;
    await cluster.lose(name);
    await cluster.write(name, specFrom(copy, host, amount), copy.metadata.annotations ?? {});
    if (amount < 0.7) await cluster.setStatus(name, copy.status ?? null);
  }
  life.budget.forget((uid) => lost.has(uid));
  life.fixture.run();
};

/** Returns the spec of a copy, sometimes with another NIC instead of its first. */
function specFrom({ spec }: NodeConfig, host: string, amount: number): Wanted {
  const { instanceId = '', interfaces = [] } = spec as Partial<Wanted>;
  const isNewer = amount > 0.3 && amount < 0.5;
  return {
    instanceId,
    interfaces: isNewer ? [nicOf(host, 5), ...interfaces.slice(1)] : interfaces,
  };
}

/** Makes the ledger unreadable for the next controller process. */
const breakLedger: Act = async (life) => {
  await life.stop();
  await writeLedger(life, 'not a list');
  life.fixture.run();
};

async function writeLedger(life: Life, text: string | null): Promise<void> {
  const { admin } = life.fixture;
  try {
    await admin.patch(configMaps, ledger, { data: { broken: text } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const data = text === null ? {} : { broken: text };
    await admin.create(configMaps, { metadata: ledger, data });
  }
}

export async function repairLedger(life: Life): Promise<void> {
  await writeLedger(life, null);
}

/** Deletes the ledger: removals from deleted objects count no more, except in this process. */
const deleteLedger: Act = async (life) => {
  await life.stop();
  try {
    await life.fixture.admin.delete(configMaps, ledger);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  life.budget.forget((uid) => life.cluster.byUid(uid) === undefined);
  life.fixture.run();
};

/** Empties specs of nodes whose agents are of an earlier version and whose records are lost. */
const loseRecordOfOldAgent: Act = async (life, act) => {
  for (const host of act.hosts) life.hosts.old.add(host);
  await loseRecord(life, { ...act, amount: 0 });
  await life.pass(Math.floor(30 * act.amount));
  await forLive(life, act.hosts, (name) => life.cluster.write(name, { interfaces: [] }));
};

/** Index that no other act uses. */
const addedIndex = 7;

/** Adds a NIC where agents are of an earlier version and their results get lost, and undoes the edit. */
const undoLostEdit: Act = async (life, { hosts, amount }) => {
  const { cluster } = life;
  const before = new Map(hosts.map((host) => [host, cluster.wantedOf(cluster.nameFor(host))]));
  await forLive(life, hosts, async (name, _, host) => {
    life.hosts.old.add(host);
    life.hosts.losing.add(host);
    const { interfaces = [] } = before.get(host) ?? {};
    await cluster.write(name, { interfaces: [...interfaces, nicOf(host, addedIndex)] });
  });
  await life.pass(10 + Math.floor(30 * amount));
  await forLive(life, hosts, (name, _, host) => cluster.write(name, before.get(host) ?? {}));
};

/** Losses of records, and restores; the number is the relative frequency. */
export const losses = {
  loseRecord: [loseRecord, 4],
  loseRecordOfOldAgent: [loseRecordOfOldAgent, 2],
  undoLostEdit: [undoLostEdit, 2],
  restore: [restore, 5],
  breakLedger: [breakLedger, 1],
  repairLedger: [repairLedger, 2],
  deleteLedger: [deleteLedger, 1],
} as const satisfies Record<string, readonly [Act, number]>;
