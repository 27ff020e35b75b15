import { annotations } from '../../../../src/api/names.ts';
import { hashOf, idOf } from '../cluster.ts';
import type { Life } from '../life.ts';
import { type Act, fewOf, pick } from './act.ts';

const minuteMs = 60_000;

const deleteSome: Act = async (life, act) => {
  for (const host of fewOf(act)) await life.cluster.delete(life.cluster.nameFor(host));
};

const deleteAll: Act = async (life) => {
  for (const host of life.names) await life.cluster.delete(life.cluster.nameFor(host));
};

/** Sets delete-consent; `minutes`: age of its time. */
export async function consentToDeletion(life: Life, name: string, minutes = 0): Promise<void> {
  const uid = life.cluster.find(name)?.metadata.uid;
  if (uid === undefined) return;
  const at = life.cluster.now - minutes * minuteMs;
  life.books.consents.push({ kind: 'deletion', uid, macs: undefined, at });
  const time = new Date(at).toISOString();
  await life.cluster.annotate(name, {
    [annotations.deleteConsent]: time,
    [annotations.removalConsent]: null,
  });
}

/** Consents with a time of now, last week, next month or in two hours, and deletes; or deletes and then consents. */
export const deleteWithConsent: Act = async (life, act) => {
  const { cluster } = life;
  const minutes = pick([0, 0, 7 * 24 * 60, -30 * 24 * 60, -120], act.variant);
  const isLater = act.amount > 0.5;
  for (const host of fewOf(act)) {
    const name = cluster.nameFor(host);
    if (!isLater) await consentToDeletion(life, name, minutes);
    await cluster.delete(name);
  }
  if (!isLater) return;
  await life.pass(40);
  for (const host of fewOf(act)) await consentToDeletion(life, cluster.nameFor(host), minutes);
};

/** Stamps both annotations as Viola does for `DELETE …?basis=evidence`. */
async function proveDeletion(life: Life, name: string, proven: readonly string[]): Promise<void> {
  const { cluster, books } = life;
  const uid = cluster.find(name)?.metadata.uid ?? '';
  const spec = hashOf(name, cluster.wantedOf(name));
  const time = new Date(cluster.now).toISOString();
  books.evidence.push({ uid, macs: proven, spec });
  const proof = { uid, spec, at: time, proven, consented: [] };
  await cluster.annotate(name, {
    [annotations.deleteConsent]: time,
    [annotations.removalConsent]: JSON.stringify(proof),
  });
}

/** Deletes with evidence for all NICs or the first of each host; some links are present. */
const deleteWithEvidence: Act = async (life, act) => {
  const { cluster, hosts } = life;
  for (const [at, host] of act.hosts.entries()) {
    const config = cluster.liveFor(host);
    if (!config) continue;
    const { name } = config.metadata;
    const macs = hosts.macsOn(host);
    if (act.variant * act.hosts.length > at) for (const mac of macs) hosts.unplugged.add(mac);
    await proveDeletion(life, name, act.amount < 0.3 ? macs.slice(0, 1) : macs);
    await cluster.delete(name);
  }
};

/** Deletes an object whose host gets another object, with all NICs, some of them, or none. */
const successor: Act = async (life, { hosts: [host = ''], variant, amount }) => {
  const { cluster } = life;
  if (cluster.nameFor(host) !== host || !cluster.find(host)) return;
  const { interfaces } = cluster.wantedOf(host);
  const count = pick([interfaces.length, interfaces.length, 1, 0], variant);
  const make = async () =>
    cluster.write(`${host}-new`, {
      instanceId: idOf(host),
      interfaces: interfaces.slice(0, count),
    });
  if (amount < 0.5) await make();
  await cluster.delete(host);
  if (amount >= 0.5) await make();
};

/** Deletes with evidence against present links, where successors list all NICs except the last of each host. */
const successorWithEvidence: Act = async (life, { hosts, variant }) => {
  const { cluster } = life;
  for (const host of variant < 0.5 ? life.names : hosts) {
    if (cluster.nameFor(host) !== host || !cluster.liveFor(host)) continue;
    const { interfaces } = cluster.wantedOf(host);
    await proveDeletion(life, host, life.hosts.macsOn(host));
    const successorOf = { instanceId: idOf(host), interfaces: interfaces.slice(0, -1) };
    await cluster.write(`${host}-new`, successorOf);
    await cluster.delete(host);
  }
};

/** Deletions; the number is the relative frequency. */
export const deletions = {
  deleteSome: [deleteSome, 4],
  deleteAll: [deleteAll, 2],
  deleteWithConsent: [deleteWithConsent, 3],
  deleteWithEvidence: [deleteWithEvidence, 3],
  successor: [successor, 2],
  successorWithEvidence: [successorWithEvidence, 2],
} as const satisfies Record<string, readonly [Act, number]>;
