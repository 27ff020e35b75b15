import { annotations } from '../../../../src/api/names.ts';
import type { RemovalConsent } from '../../../../src/api/removal-consent.ts';
import { hashOf, macsOf } from '../cluster.ts';
import type { Life } from '../life.ts';
import { type Act, fewOf, forLive, pick } from './act.ts';

const minuteMs = 60_000;

/** Changes of the annotation that make it a consent to something else. */
const variants = ['same', 'same', 'late', 'otherUid', 'otherSpec', 'otherMac'] as const;
type Variant = (typeof variants)[number];

/** Drops NICs with the annotation that Viola writes for a POST; the variant makes it late, or for something else. */
export async function drop(
  life: Life,
  name: string,
  basis: 'proven' | 'consented',
  { variant, amount }: { readonly variant: Variant; readonly amount: number },
): Promise<void> {
  const { cluster } = life;
  const before = cluster.wantedOf(name);
  const kept = before.interfaces.slice(0, Math.floor(amount * before.interfaces.length));
  const wanted = { ...before, interfaces: kept };
  const lost = macsOf(before.interfaces.slice(kept.length));
  const uid = cluster.find(name)?.metadata.uid ?? '';
  const at = cluster.now - (variant === 'late' ? 61 + 100 * amount : 0) * minuteMs;
  const consent: RemovalConsent = {
    uid: variant === 'otherUid' ? 'uid-of-another-object' : uid,
    spec: variant === 'otherSpec' ? hashOf(name, before) : hashOf(name, wanted),
    at: new Date(at).toISOString(),
    proven: [],
    consented: [],
    [basis]: variant === 'otherMac' ? ['fa:16:3e:00:09:09'] : lost,
  };
  await cluster.write(name, wanted, { [annotations.removalConsent]: JSON.stringify(consent) });
  // No agent works before time passes: the entry is early enough.
  enter(life, consent, cluster.find(name)?.metadata.generation ?? 0);
}

/** Enters a consent in the books, as the user gave it for the edit of this generation. */
function enter(
  life: Life,
  { uid, spec, at, proven, consented }: RemovalConsent,
  generation: number,
): void {
  const given = { uid, spec, macs: consented, generation, at: Date.parse(at) };
  life.books.evidence.push({ uid, spec, macs: proven });
  life.books.consents.push({ kind: 'edit', ...given });
}

export const dropWithConsent: Act = async (life, act) =>
  forLive(life, act.amount < 0.5 ? fewOf(act) : act.hosts, (name) =>
    drop(life, name, 'consented', { variant: pick(variants, act.variant), amount: act.amount }),
  );

/** Drops NICs with evidence, with and without links on the hosts. */
const dropWithEvidence: Act = async (life, act) =>
  forLive(life, act.hosts, async (name, _, host) => {
    if (act.amount < 0.6) for (const mac of life.hosts.macsOn(host)) life.hosts.unplugged.add(mac);
    await drop(life, name, 'proven', { variant: pick(variants, act.variant), amount: act.amount });
  });

/** Copies the removal-consent of an object to all objects, as a tool does. */
const copyConsent: Act = async (life, { hosts: [host = ''] }) => {
  const text = life.cluster.liveFor(host)?.metadata.annotations?.[annotations.removalConsent];
  if (text === undefined) return;
  await forLive(life, life.names, (name) =>
    life.cluster.annotate(name, { [annotations.removalConsent]: text }),
  );
};

/** Sets allow-removals to a new value, or to the value that all objects got before. */
const allow: Act = async (life, act) => {
  const value = act.variant < 0.7 ? `at-${life.cluster.now}` : 'yes';
  for (const host of act.hosts) await allowOn(life, life.cluster.nameFor(host), value);
};

async function allowOn(life: Life, name: string, value: string): Promise<void> {
  const config = life.cluster.find(name);
  if (!config) return;
  const { uid = '', generation = 0, annotations: noted } = config.metadata;
  const { heldRemovals } = config.status ?? {};
  const isAnswer = heldRemovals?.generation === generation && value !== heldRemovals.allowRemovals;
  // An unchanged value is no act of a user.
  if (isAnswer && noted?.[annotations.allowRemovals] !== value) {
    const { macs } = heldRemovals;
    life.books.consents.push({ kind: 'held', uid, macs, generation, at: life.cluster.now });
  }
  await life.cluster.annotate(name, { [annotations.allowRemovals]: value });
}

/** Empties specs, waits for the hold, and allows some of the removals. */
const holdAndAllow: Act = async (life, act) => {
  await forLive(life, life.names, (name) => life.cluster.write(name, { interfaces: [] }));
  await life.pass(60);
  await allow(life, act);
};

/** Consent and evidence from users and the operator; the number is the relative frequency. */
export const consents = {
  dropWithConsent: [dropWithConsent, 6],
  dropWithEvidence: [dropWithEvidence, 4],
  copyConsent: [copyConsent, 2],
  allow: [allow, 4],
  holdAndAllow: [holdAndAllow, 2],
} as const satisfies Record<string, readonly [Act, number]>;
