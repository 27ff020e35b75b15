import type { Effect } from '../api/effects.ts';
import { type NodeError, type PostAnswer, postedNode } from '../api/node-configs-http.ts';
import { mapBounded } from '../process/bounded.ts';
import type { Perform } from '../process/effects.ts';
import type { Cluster } from './clusters.ts';
import { objectName } from './object-name.ts';
import { type Written, writeNode } from './write-node.ts';

export interface PostOptions {
  readonly perform: Perform<Effect>;
  readonly acceptUnfenced: boolean;
  readonly parallel: number;
  readonly signal: AbortSignal;
}

/** Writes each posted node by itself: one that cannot be used, or fails, never keeps the others from being written. */
export async function postNodes(
  cluster: Cluster,
  body: readonly unknown[],
  options: PostOptions,
): Promise<PostAnswer> {
  const twice = repeatedNames(body);
  // A cluster that does not answer is asked once, not once per node and time limit.
  let silence: NodeError | undefined;
  const written = await mapBounded(body, options.parallel, async (raw) => {
    if (silence) return refused({ ...silence, nodeName: nameOf(raw) });
    const one = await postOne(cluster, raw, twice, options);
    if (one.kind === 'refused' && one.error.code === 'ClusterUnreachable') silence = one.error;
    return one;
  });
  const results = written.flatMap((one) => (one.kind === 'accepted' ? [one.result] : []));
  const errors = written.flatMap((one) => (one.kind === 'refused' ? [one.error] : []));
  return { applied: results.length, results, errors };
}

async function postOne(
  cluster: Cluster,
  raw: unknown,
  twice: ReadonlySet<string>,
  options: PostOptions,
): Promise<Written> {
  const parsed = postedNode.safeParse(raw);
  const nodeName = nameOf(raw);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = (issue?.path ?? []).reduce<string>(appendKey, '');
    const message = issue?.message ?? 'is not a node config';
    return refused({ nodeName, code: 'Invalid', field, message });
  }
  if (twice.has(objectName(nodeName))) {
    const message = 'several entries of this request name the same object';
    return refused({ nodeName, code: 'Invalid', field: 'nodeName', message });
  }
  return writeNode(cluster, parsed.data, options);
}

function refused(error: NodeError): Written {
  return { kind: 'refused', error };
}

/** `interfaces`, 2, `mtu` → `interfaces[2].mtu`. */
function appendKey(path: string, key: PropertyKey): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  return path === '' ? String(key) : `${path}.${String(key)}`;
}

function nameOf(raw: unknown): string {
  const name = (raw as { readonly nodeName?: unknown } | null)?.nodeName;
  return typeof name === 'string' ? name : '';
}

function repeatedNames(body: readonly unknown[]): ReadonlySet<string> {
  const groups = Map.groupBy(body, (raw) => objectName(nameOf(raw)));
  const repeated = [...groups].filter(([name, entries]) => name !== '' && entries.length > 1);
  return new Set(repeated.map(([name]) => name));
}
