import { type NodeError, type PostAnswer, postedNode } from '../../api/node-configs-http.ts';
import { objectName } from '../../api/object-name.ts';
import { KubeError } from '../../kube/errors.ts';
import { mapBounded } from '../../process/bounded.ts';
import type { Clock } from '../../time/clock.ts';
import { DeadlineReached, withDeadline } from '../../time/deadline.ts';
import type { Cluster } from '../clusters/clusters.ts';
import { PostOrder } from './post-order.ts';
import { type ReadAhead, readAhead } from './read-ahead.ts';
import { beginWrites, type InTime, writeWithinMs } from './write-limit.ts';
import { type WriteOptions, type Written, writeNode } from './write-node.ts';

export interface PostOptions extends WriteOptions {
  readonly clock: Clock;
  readonly parallel: number;
}

/** Writes each posted node separately: an invalid or failing node never blocks the others. */
export async function postNodes(
  cluster: Cluster,
  body: readonly unknown[],
  options: PostOptions,
): Promise<PostAnswer> {
  const twice = repeatedNames(body);
  const inTime = beginWrites(options);
  const order = new PostOrder(cluster, body.map(nameOf));
  const late: number[] = [];
  const ahead = await readAheadInTime(cluster, body, twice, options, inTime);
  // An unreachable cluster is tried once, not once per node and time limit.
  let clusterFailure: NodeError | undefined;
  async function post(at: number, place: number): Promise<Written> {
    const raw = body[at];
    if (clusterFailure) {
      late.push(place);
      return refused({ ...clusterFailure, nodeName: nameOf(raw) });
    }
    const one = await unlessLate(
      nameOf(raw),
      () => inTime((limited) => postOne(cluster, raw, twice, { ...options, ...limited, ahead })),
      () => late.push(place),
    );
    const unreachable = one.kind === 'refused' && one.error.code === 'ClusterUnreachable';
    if (unreachable)
      clusterFailure ??= (await answers(cluster, options, inTime)) ? undefined : one.error;
    return one;
  }
  const inOrder = await mapBounded(
    [...order.positions.entries()],
    options.parallel,
    ([place, at]) => post(at, place),
  );
  order.end(late);
  const written = asPosted(inOrder, order);
  const results = written.flatMap((one) => (one.kind === 'accepted' ? [one.result] : []));
  const errors = written.flatMap((one) => (one.kind === 'refused' ? [one.error] : []));
  return { applied: results.length, results, errors };
}

function asPosted(inOrder: readonly Written[], { positions }: PostOrder): Written[] {
  const written: Written[] = [];
  for (const [place, one] of inOrder.entries()) written[positions[place] ?? place] = one;
  return written;
}

/** Reads ahead within the time limit; undefined on timeout, and each node then reports its own timeout. */
async function readAheadInTime(
  cluster: Cluster,
  body: readonly unknown[],
  twice: ReadonlySet<string>,
  options: PostOptions,
  inTime: InTime,
): Promise<ReadAhead | undefined> {
  const usable = body.flatMap((raw) => {
    const parsed = postedNode.safeParse(raw);
    return parsed.success && !twice.has(objectName(parsed.data.nodeName)) ? [parsed.data] : [];
  });
  try {
    return await inTime((limited) => readAhead(cluster, usable, { ...options, ...limited }));
  } catch (error) {
    if (!(error instanceof DeadlineReached)) throw error;
    return undefined;
  }
}

/** Returns one node's result. A timeout becomes the node's error; a caller's disconnect is thrown. */
async function unlessLate(
  nodeName: string,
  post: () => Promise<Written>,
  onLate: () => void,
): Promise<Written> {
  try {
    return await post();
  } catch (error) {
    if (!(error instanceof DeadlineReached)) throw error;
    onLate();
    const message = `the business cluster did not finish this request within ${writeWithinMs / 1000} s; repeat it`;
    return refused({ nodeName, code: 'ClusterUnreachable', field: '', message });
  }
}

/** Sufficient for a busy server (5 s). */
const versionWithinMs = 5_000;

/** True if the cluster answers a version request: the failure then concerns a single node. */
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
  { ahead, ...options }: PostOptions & { readonly ahead: ReadAhead | undefined },
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
    const message =
      'several entries of this request have the same object name; send each node once';
    return refused({ nodeName, code: 'Invalid', field: 'nodeName', message });
  }
  const name = objectName(nodeName);
  return writeNode(cluster, parsed.data, { ...options, known: ahead?.(name) });
}

function refused(error: NodeError): Written {
  return { kind: 'refused', error };
}

/** Appends a key to a path: `interfaces`, 2, `mtu` → `interfaces[2].mtu`. */
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
