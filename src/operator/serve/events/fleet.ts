import { shortMessage } from '../../../api/condition.ts';
import type { ConfigRow } from '../../../api/events-http.ts';
import { nextTurn } from '../../../process/slices.ts';
import type { ConfigReads, NodeRow } from '../read-api/config-reads.ts';
import { unpackNode } from '../read-api/packed-node.ts';
import { stateOf } from '../read-api/port-configs.ts';
import { clustersBehind, isVisibleTo, type VisibleConfig } from '../read-api/visible-configs.ts';

/** An OpenstackConfig's rows, as in the list routes. */
export interface FleetConfig {
  /** With the objects' data if no sync is recent. */
  readonly config: VisibleConfig;
  /** Business clusters required to read the rows. */
  readonly clusters: readonly string[];
  readonly row: ConfigRow;
}

/** Rows by OpenstackConfig (`namespace/name`). */
export type Fleet = ReadonlyMap<string, FleetConfig>;

/** Changed row. `clusters`: business clusters behind the row before and after; readers with either set get the change. */
export interface RowChange {
  readonly kind: 'node' | 'config';
  readonly key: string;
  readonly clusters: readonly (readonly string[])[];
}

/** Nodes compared per event-loop turn: each takes up to 100 µs. */
const turnSize = 50;

/** Returns an OpenstackConfig's rows; `reads`: newer data from the objects. */
export function fleetConfig(
  config: VisibleConfig,
  reads: ConfigReads | undefined,
  trigger: string,
): FleetConfig {
  const filled = reads === config.reads ? config : { ...config, reads };
  const row = stateOf(filled, trigger);
  return {
    config: filled,
    clusters: clustersBehind(config),
    row: { ...row, message: shortMessage(row.message) },
  };
}

/** Returns a node's key, unique in the node list. */
export function nodeKey({ providerId, config }: ConfigReads, nodeName: string): string {
  return `${providerId}/${nodeName}/${config}`;
}

/** Returns the changed rows between two fleets. New sync dates alone are no change. */
export async function changesBetween(before: Fleet, after: Fleet): Promise<RowChange[]> {
  const changes: RowChange[] = [];
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(key), after.get(key)];
    const clusters = clustersOf(old, now);
    const isMoved = clusters.length > 1 || old === undefined || now === undefined;
    if (isMoved || undatedRow(old.row) !== undatedRow(now.row)) {
      changes.push({ kind: 'config', key, clusters });
    }
    const reads = [old?.config.reads, now?.config.reads] as const;
    for (const node of isMoved ? allNodes(reads) : await changedNodes(reads)) {
      changes.push({ kind: 'node', key: node, clusters });
    }
  }
  return changes;
}

/** Returns whether a reader may know about a changed row. */
export function concerns(providers: readonly string[] | undefined, change: RowChange): boolean {
  return change.clusters.some((clusters) => isVisibleTo(providers, clusters));
}

function clustersOf(...configs: readonly (FleetConfig | undefined)[]): string[][] {
  const all = configs.flatMap((one) => (one ? [[...one.clusters]] : []));
  return [...new Map(all.map((clusters) => [JSON.stringify(clusters), clusters])).values()];
}

function undatedRow(row: ConfigRow): string {
  return JSON.stringify({ ...row, lastSyncAt: '', nextSyncAt: '' });
}

type Pair = readonly [before: ConfigReads | undefined, after: ConfigReads | undefined];

function allNodes(reads: Pair): Iterable<string> {
  return new Set(reads.flatMap((one) => one?.rows.map((row) => nodeKey(one, row.nodeName)) ?? []));
}

async function changedNodes([before, after]: Pair): Promise<Iterable<string>> {
  if (before?.rows === after?.rows) return [];
  if (!before || before.providerId !== after?.providerId) return allNodes([before, after]);
  return changedRows(before, after);
}

async function changedRows(before: ConfigReads, after: ConfigReads): Promise<string[]> {
  const old = new Map(before.rows.map((row) => [row.nodeName, row]));
  const changed: string[] = [];
  for (const [at, row] of after.rows.entries()) {
    if (at > 0 && at % turnSize === 0) await nextTurn();
    const last = old.get(row.nodeName);
    old.delete(row.nodeName);
    if (!last || !isSame([before, last], [after, row])) changed.push(nodeKey(after, row.nodeName));
  }
  return [...changed, ...[...old.keys()].map((nodeName) => nodeKey(before, nodeName))];
}

type PlacedRow = readonly [ConfigReads, NodeRow];

/** Packed rows contain numbers for texts: only rows with the same SharedTexts compare packed. */
function isSame([before, old]: PlacedRow, [after, now]: PlacedRow): boolean {
  if (old.state !== now.state || old.reason !== now.reason) return false;
  if (before.texts === after.texts) return old.packed === now.packed;
  const [a, b] = [unpackNode(old.packed, before.texts), unpackNode(now.packed, after.texts)];
  return JSON.stringify(a) === JSON.stringify(b);
}
