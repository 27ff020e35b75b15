import { type NodeError, type PostAnswer, postedNode } from '../api/node-configs-http.ts';
import { KubeError } from '../kube/errors.ts';
import { mapBounded } from '../process/bounded.ts';
import type { Clock } from '../time/clock.ts';
import { DeadlineReached, withDeadline } from '../time/deadline.ts';
import type { Cluster } from './clusters.ts';
import { objectName } from './object-name.ts';
import { beginWrites, type InTime, writeWithinMs } from './write-limit.ts';
import { type WriteOptions, type Written, writeNode } from './write-node.ts';

export interface PostOptions extends WriteOptions {
  readonly clock: Clock;
  readonly parallel: number;
}

/** Writes each posted node by itself: one that cannot be used, or fails, never keeps the others from being written. */
export async function postNodes(
  cluster: Cluster,
  body: readonly unknown[],
  options: PostOptions,
): Promise<PostAnswer> {
  const twice = repeatedNames(body);
  const inTime = beginWrites(options);
  // A cluster that does not answer at all is asked once, not once per node and time limit.
  let silence: NodeError | undefined;
  const written = await mapBounded(body, options.parallel, async (raw) => {
    if (silence) return refused({ ...silence, nodeName: nameOf(raw) });
    const one = await unlessLate(nameOf(raw), () =>
      inTime((limited) => postOne(cluster, raw, twice, { ...options, ...limited })),
    );
    const unreachable = one.kind === 'refused' && one.error.code === 'ClusterUnreachable';
    if (unreachable) silence ??= (await answers(cluster, options, inTime)) ? undefined : one.error;
    return one;
  });
  const results = written.flatMap((one) => (one.kind === 'accepted' ? [one.result] : []));
  const errors = written.flatMap((one) => (one.kind === 'refused' ? [one.error] : []));
  return { applied: results.length, results, errors };
}

/** What became of one node; that the time of the request was over is its error, and its caller's leaving is thrown. */
async function unlessLate(nodeName: string, post: () => Promise<Written>): Promise<Written> {
  try {
    return await post();
  } catch (error) {
    if (!(error instanceof DeadlineReached)) throw error;
    const message = `the cluster took more than ${writeWithinMs / 1000} s for this request; repeat it`;
    return refused({ nodeName, code: 'ClusterUnreachable', field: '', message });
  }
}

/** Long enough for a server that is only busy. */
const versionWithinMs = 5_000;

/** Whether the cluster answers a request that needs none of its nodes: then only that one node is in trouble. */
async function answers(
  { client }: Cluster,
  { clock }: PostOptions,
  inTime: InTime,
): Promise<boolean> {
  try {
    await inTime(({ signal }) =>
      withDeadline({ clock, ms: versionWithinMs, signal }, (limited) =>
        client.version({ signal: limited }),
      ),
    );
    return true;
  } catch (error) {
    if (error instanceof KubeError || error instanceof DeadlineReached) return false;
    throw error;
  }
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
