import { jsonIn } from '../../api/json.ts';
import type { KnownNic } from '../../api/known-nics.ts';
import { annotations } from '../../api/names.ts';
import { consentLifetimeMs, countsInBudget } from '../../api/removals.ts';
import { type Applied, recordOf } from '../jobs/applied.ts';
import { isObserved } from '../jobs/permission.ts';
import { acceptSpec, type Contents, contentHashOn, nothing } from '../jobs/request.ts';
import { type Act, isCounted } from '../jobs/run-basis.ts';
import { deletedAt, type NodeConfig } from '../objects/stores.ts';
import { type Removal, removalsOf } from './bases.ts';
import { knownOf } from './known.ts';
import { lostNics } from './losses.ts';
import { type MacGroup, macGroups, nicsIn } from './mac-groups.ts';

/** An object's part in the totals. */
export interface Weight {
  /** OpenstackConfig uid; '': none. */
  readonly config: string;
  /** Number of known NICs. */
  readonly nics: number;
}

/** Contribution from an object. Most objects only have NICs. */
export interface Share extends Weight {
  readonly node: string;
  readonly active?: ActiveShare;
}

/** Counted removals from an object. */
export interface ActiveShare {
  readonly node: string;
  /** NICs on the node dropped by spec or deletion; each counts from `from` (ms), the end of a consent. */
  readonly pending: readonly { readonly mac: string; readonly from: number }[];
  /** Removals started at `at` (ms); `isGone`: the node no longer has the NIC. */
  readonly started: readonly {
    readonly mac: string;
    readonly at: number;
    readonly isGone: boolean;
    /** Node that lost the NIC, if not the share's node. */
    readonly node?: string | undefined;
  }[];
}

/** Returns what an object contributes; `now` decides whether a consent is still open. */
export function shareOf(config: NodeConfig, now: Date): Share {
  const known = knownOf(config);
  const nics = known.kind === 'read' ? known.nics : [];
  const weight = { config: configUidOf(config), nics: nics.length };
  const isComplete = nics.length === 0 || listsAll(config, nics);
  if (isComplete && hasPlainRecord(config)) return { ...weight, node: config.metadata.name };
  const record = recordOf(config);
  const started = startedIn(record, new Set(nics.map(({ mac }) => mac)));
  const pending = isComplete ? [] : openLosses(config, now);
  const isActive = started.length + pending.length > 0;
  const node = record?.nodeName ?? config.metadata.name;
  return { ...weight, node, ...(isActive ? { active: { node, pending, started } } : {}) };
}

/** True if the stored record, valid or not, lists no removal and names no other node: most records need no parsing. */
function hasPlainRecord({ metadata: { name }, status }: NodeConfig): boolean {
  const { removed, nodeName = name } = status?.applied ?? {};
  return nodeName === name && (removed === undefined || removed.length === 0);
}

type PackedShare = readonly [
  node: string,
  pending: readonly MacGroup<ActiveShare['pending'][number]>[],
  started: readonly MacGroup<ActiveShare['started'][number]>[],
];

/** Returns a short text: NICs of an act mostly have the same time. */
export function packed({ node, pending, started }: ActiveShare): string {
  return JSON.stringify([node, macGroups(pending), macGroups(started)] satisfies PackedShare);
}

export function unpacked(text: string): ActiveShare {
  const [node, pending, started] = JSON.parse(text) as PackedShare;
  return { node, pending: pending.flatMap(nicsIn), started: started.flatMap(nicsIn) };
}

function startedIn(
  record: Applied | undefined,
  onNode: ReadonlySet<string>,
): ActiveShare['started'] {
  return (record?.removed ?? []).filter(isCounted).map(({ mac, at, node }) => ({
    mac,
    at: Date.parse(at),
    isGone: node !== undefined || !onNode.has(mac),
    ...(node === undefined ? {} : { node }),
  }));
}

/** True if a live object's spec names every known MAC: nothing is lost then, and no entry needs validation. */
function listsAll({ metadata, spec }: NodeConfig, nics: readonly KnownNic[]): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const entries = spec?.interfaces ?? [];
  return nics.every(({ mac }) => entries.some((entry) => macIn(entry) === mac));
}

function macIn(entry: unknown): string {
  const { macAddress } = (entry ?? {}) as { readonly macAddress?: unknown };
  return typeof macAddress === 'string' ? macAddress.toLowerCase() : '';
}

/** Returns lost NICs that count in the budget, now or once their consent ends. */
export function openLosses(config: NodeConfig, now: Date, stays = nothing): ActiveShare['pending'] {
  if (isObserved(config)) return [];
  const isLeaving = deletedAt(config) !== undefined;
  const spec = isLeaving ? { ...stays, blocked: undefined } : acceptSpec(config);
  if (spec.blocked !== undefined) return [];
  const lost = lostNics(config, spec) ?? [];
  if (lost.length === 0) return [];
  const task = taskOf(config, spec);
  const cause = isLeaving ? 'deletion' : 'edit';
  return removalsOf({ config, lost, cause, task, now }).flatMap(countedFrom);
}

function taskOf(config: NodeConfig, contents: Contents): Act {
  return {
    action: deletedAt(config) ? 'cleanup' : 'apply',
    content: contentHashOn(recordOf(config)?.nodeName ?? config.metadata.name, contents),
    generation: config.metadata.generation ?? 0,
  };
}

/** Returns from when (ms) a removal counts. Never: evidence that the node confirms, and consent with a queued run. */
function countedFrom(removal: Removal): ActiveShare['pending'] {
  const { mac, consentedAt } = removal;
  if (countsInBudget(removal)) return [{ mac, from: 0 }];
  return consentedAt === undefined ? [] : [{ mac, from: consentedAt + consentLifetimeMs }];
}

/** Returns the uid of the object's OpenstackConfig; '': none. */
export function configUidOf({ metadata }: Pick<NodeConfig, 'metadata'>): string {
  const text = metadata.annotations?.[annotations.source];
  if (text === undefined) return '';
  const { uid } = (jsonIn(text) ?? {}) as { readonly uid?: unknown };
  return typeof uid === 'string' ? uid : '';
}
