import type { NodeConfig } from '../../../src/controller/objects/stores.ts';
import type { Books, Consent } from './books.ts';
import type { BudgetLog, PresentNic } from './budget-log.ts';
import { configUidOf } from './cluster.ts';
import type { HostRun } from './hosts.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;
/** Records and Kubernetes store times in whole seconds. */
const secondMs = 1_000;

interface Entry {
  readonly mac: string;
  readonly basis: string;
  readonly counts?: boolean;
  readonly at: string;
  /** Absent: the record's node. */
  readonly node?: string;
}

export interface Judge {
  readonly books: Books;
  readonly budget: BudgetLog;
  readonly isUnplugged: (mac: string) => boolean;
  /** Returns the stored object with this uid. */
  readonly stored: (uid: string) => NodeConfig | undefined;
  readonly now: () => number;
}

/** Returns what is wrong with the removals of a run, at the moment at which the host changes. */
export function judgeRun(judge: Judge, run: HostRun): readonly string[] {
  const { budget } = judge;
  const { request, before, removed } = run;
  const { uid, nodeName } = request;
  const config = judge.stored(uid);
  const found = removed.map((mac) => ({ mac, entry: entryOf(config, mac, nodeName) }));
  const flaws = found.flatMap(({ mac, entry }) => {
    const why = entry
      ? flawOf(judge, run, config, entry)
      : 'has no entry in status.applied.removed';
    const basis = entry
      ? `${entry.basis}${entry.counts ? ', counted' : ''} at ${entry.at}`
      : 'none';
    return why === undefined ? [] : [`${mac} (${basis}): ${why}`];
  });
  const counted = found.flatMap(({ mac, entry }) =>
    entry && isCounted(entry)
      ? [
          {
            uid,
            mac,
            node: nodeName,
            config: configUidOf(config?.metadata.name ?? ''),
            at: Date.parse(entry.at),
          },
        ]
      : [],
  );
  const present = [...before].flatMap(([node, macs]) => macs.map((mac) => nicOn(node, mac)));
  const over = counted.length > 0 ? budget.add(counted, present) : [];
  budget.left(
    removed.map((mac) => nicOn(nodeName, mac)),
    judge.now(),
  );
  const about = `${request.action} of ${config?.metadata.name ?? uid} generation ${request.generation} on ${nodeName}`;
  return [...flaws, ...over].map((flaw) => `${about}: ${flaw}`);
}

function nicOn(node: string, mac: string): PresentNic {
  return { node, mac, config: configUidOf(node) };
}

/** Returns the latest entry for a NIC in the stored record. */
function entryOf(config: NodeConfig | undefined, mac: string, nodeName: string) {
  const { removed = [], nodeName: own } = (config?.status?.applied ?? {}) as {
    readonly nodeName?: string;
    readonly removed?: readonly Entry[];
  };
  const list = removed
    .filter((entry) => entry.mac === mac && (entry.node ?? own) === nodeName)
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return list.at(-1);
}

function isCounted({ basis, counts = false }: Entry): boolean {
  return basis === 'named' || (basis === 'evidence' && counts);
}

function flawOf(
  judge: Judge,
  run: HostRun,
  config: NodeConfig | undefined,
  entry: Entry,
): string | undefined {
  const at = Date.parse(entry.at);
  const startedAt = Date.parse(run.pod?.metadata.creationTimestamp ?? '');
  if (at > startedAt) return `its entry is younger than the Pod (${startedAt})`;
  if (at < startedAt - hourMs - secondMs) return 'its entry is older than an hour';
  switch (entry.basis) {
    case 'consent':
      return consentFlaw(judge, run, config, entry);
    case 'evidence':
      return evidenceFlaw(judge, run, entry);
    case 'named':
      return namedFlaw(judge.books, run, config, entry);
    default:
      return `${entry.basis} is no basis`;
  }
}

function consentFlaw(
  { books, now }: Judge,
  { request: { uid, generation, action } }: HostRun,
  config: NodeConfig | undefined,
  { mac }: Entry,
): string | undefined {
  const queuedAt = books.queuedAt(uid, mac, 'consent') ?? now();
  const spec = books.versionOf(uid, generation)?.hash;
  const deleted = config?.metadata.deletionTimestamp;
  const isFor: Record<Consent['kind'], (consent: Consent) => boolean> = {
    // Consent is for one edit: the same spec in a later generation is another edit.
    edit: (consent) =>
      action === 'apply' &&
      consent.spec === spec &&
      consent.generation === generation &&
      isWithinHour(consent.at, queuedAt),
    held: (consent) => consent.generation === generation && isWithinHour(consent.at, queuedAt),
    deletion: (consent) =>
      deleted !== undefined &&
      consent.at >= Date.parse(deleted) - hourMs - 5 * minuteMs &&
      isWithinHour(consent.at, queuedAt),
  };
  const given = books.consents.filter((consent) => consent.uid === uid);
  const isGiven = given.some(
    (consent) => (consent.macs?.includes(mac) ?? true) && isFor[consent.kind](consent),
  );
  if (isGiven) return undefined;
  const texts = given.map((one) => `${one.kind} at ${new Date(one.at).toISOString()}`);
  return `no user consented to it for ${uid} within an hour before ${new Date(queuedAt).toISOString()} (${texts.join(', ') || 'no consent'})`;
}

function isWithinHour(at: number, queuedAt: number): boolean {
  return queuedAt >= at - 5 * minuteMs && queuedAt <= at + hourMs + secondMs;
}

function evidenceFlaw(
  { books, isUnplugged }: Judge,
  { request: { uid, generation } }: HostRun,
  { mac, counts }: Entry,
): string | undefined {
  if (!counts && !isUnplugged(mac)) return 'its link is present';
  const spec = books.versionOf(uid, generation)?.hash;
  const isProven = books.evidence.some(
    (one) => one.uid === uid && one.spec === spec && (one.macs?.includes(mac) ?? true),
  );
  return isProven ? undefined : `nothing proves for ${uid} that it is gone`;
}

function namedFlaw(
  books: Books,
  { request: { uid, generation, action, nodeName } }: HostRun,
  config: NodeConfig | undefined,
  { mac }: Entry,
): string | undefined {
  if (!books.hasRequested(uid, nodeName, mac)) return `no run for ${uid} requested it on this node`;
  if (action === 'cleanup') {
    return config?.metadata.deletionTimestamp === undefined
      ? 'no user deleted the object'
      : undefined;
  }
  const listed = books.versionOf(uid, generation)?.macs.includes(mac) ?? false;
  return listed ? 'the spec lists it' : undefined;
}
