import type { Effect } from '../api/effects.ts';
import type { MultiNicNodeConfig } from '../api/multinicnodeconfig.ts';
import { fieldManagers } from '../api/names.ts';
import type { NodeError, NodeResult, PostedNode } from '../api/node-configs-http.ts';
import { canonicalJson } from '../api/spec-hash.ts';
import type { KubeClient } from '../kube/client.ts';
import { isConflict } from '../kube/errors.ts';
import { apiVersionOf } from '../kube/resource.ts';
import type { Perform } from '../process/effects.ts';
import { type DesiredNode, desiredNode } from './desired.ts';
import { refusalOf } from './fence.ts';
import { nodeConfigs } from './node-config.ts';
import { isFieldConflict, nodeErrorOf, ownedByDeployedViola } from './node-error.ts';

export interface Target {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly providerId: string;
}

export interface WriteOptions {
  readonly perform: Perform<Effect>;
  readonly acceptUnfenced: boolean;
  readonly signal: AbortSignal;
}

export type Written =
  | { readonly kind: 'accepted'; readonly result: NodeResult }
  | { readonly kind: 'refused'; readonly error: NodeError };

/** How often a write is decided anew because somebody (usually the controller's status) wrote in between. */
const maxTries = 5;

/** Brings one posted node into the business cluster, or says why not; never throws but for an abort. */
export async function writeNode(
  target: Target,
  posted: PostedNode,
  options: WriteOptions,
): Promise<Written> {
  const desired = desiredNode(posted, target.providerId);
  if (desired.kind === 'invalid') return { kind: 'refused', error: desired.error };
  try {
    for (let attempt = 1; ; attempt++) {
      const written = await tryWrite(target, posted, desired.node, options, attempt === maxTries);
      if (written) return written;
    }
  } catch (error) {
    if (options.signal.aborted) throw error;
    return { kind: 'refused', error: nodeErrorOf(posted.nodeName, error) };
  }
}

/** One decision on what is there now; undefined when the object moved while it was made. */
async function tryWrite(
  target: Target,
  posted: PostedNode,
  node: DesiredNode,
  options: WriteOptions,
  lastTry: boolean,
): Promise<Written | undefined> {
  const { client, namespace } = target;
  const { signal } = options;
  const { nodeName, base } = posted;
  const live = await client.find(nodeConfigs, { namespace, name: node.name }, { signal });
  const refusal = refusalOf(live, base, options);
  if (refusal) return { kind: 'refused', error: { nodeName, field: 'base', ...refusal } };
  if (live && holds(live, node)) return accepted(nodeName, 'unchanged', live);
  try {
    const after = await applyNode(target, node, live, options);
    return accepted(nodeName, live ? 'updated' : 'created', after);
  } catch (error) {
    if (lastTry || !isConflict(error) || isFieldConflict(error)) throw error;
    return undefined;
  }
}

/**
 * Server-side apply. The resourceVersion of what was read closes the gap between reading and writing; fields that the
 * deployed Viola set with kubectl are taken over, those of anybody else are a conflict.
 */
async function applyNode(
  { client, namespace }: Target,
  node: DesiredNode,
  live: MultiNicNodeConfig | undefined,
  { perform, signal }: WriteOptions,
): Promise<MultiNicNodeConfig> {
  const { name, labels, annotations, spec } = node;
  const resourceVersion = live?.metadata.resourceVersion;
  const object = {
    apiVersion: apiVersionOf(nodeConfigs),
    kind: nodeConfigs.kind,
    metadata: {
      name,
      namespace,
      labels,
      annotations,
      ...(resourceVersion ? { resourceVersion } : {}),
    },
    spec,
  };
  const apply = (force: boolean) =>
    perform('viola.node-config.apply', () =>
      client.apply(nodeConfigs, object, { fieldManager: fieldManagers.viola, force, signal }),
    );
  try {
    return await apply(false);
  } catch (error) {
    if (!ownedByDeployedViola(error)) throw error;
    return apply(true);
  }
}

/** Whether the object already says what was posted, so that nothing has to be written. */
function holds({ metadata, spec }: MultiNicNodeConfig, node: DesiredNode): boolean {
  return (
    covers(metadata.labels, node.labels) &&
    covers(metadata.annotations, node.annotations) &&
    canonicalJson(spec) === canonicalJson(node.spec)
  );
}

type Texts = Readonly<Record<string, string>>;

function covers(held: Texts = {}, wanted: Texts): boolean {
  return Object.entries(wanted).every(([key, value]) => held[key] === value);
}

function accepted(
  nodeName: string,
  status: NodeResult['status'],
  { metadata: { uid = '', generation = 0 } }: MultiNicNodeConfig,
): Written {
  return { kind: 'accepted', result: { nodeName, status, uid, generation } };
}
