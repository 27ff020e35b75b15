import type { Effect } from '../api/effects.ts';
import type { MultiNicNodeConfig } from '../api/multinicnodeconfig.ts';
import { fieldManagers } from '../api/names.ts';
import type { NodeError, NodeResult, PostedNode } from '../api/node-configs-http.ts';
import { canonicalJson } from '../api/spec-hash.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { apiVersionOf } from '../kube/resource.ts';
import type { Perform } from '../process/effects.ts';
import { type DesiredNode, desiredNode } from './desired.ts';
import { refusalOf } from './fence.ts';
import { nodeConfigs } from './node-config.ts';
import { isFieldConflict, isMoved, nodeErrorOf } from './node-error.ts';
import { mayTakeOver } from './takeover.ts';

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
  const ref = { namespace, name: node.name };
  const live = await client.find(nodeConfigs, ref, { signal });
  const refusal = refusalOf(live, base, options);
  if (live && holds(live, node, refusal !== undefined))
    return accepted(nodeName, 'unchanged', live);
  if (refusal) return { kind: 'refused', error: { nodeName, field: 'base', ...refusal } };
  const stranger = live && strangerIn(live, node);
  if (stranger) return { kind: 'refused', error: { nodeName, ...stranger } };
  try {
    const after = await applyNode(target, node, live, options);
    return accepted(nodeName, live ? 'updated' : 'created', after);
  } catch (error) {
    if (lastTry || !(await hasMoved(error))) throw error;
    return undefined;
  }

  /** The API server compares owners of fields before versions: behind a conflict of fields another object may stand. */
  async function hasMoved(error: unknown): Promise<boolean> {
    if (!isFieldConflict(error)) return isMoved(error);
    const now = await client.find(nodeConfigs, ref, { signal });
    return now?.metadata.resourceVersion !== live?.metadata.resourceVersion;
  }
}

/**
 * Server-side apply onto exactly what was read: no object ever has the version 1, so that "there is none" holds too, and
 * the uid keeps an object that was deleted meanwhile from being created again. Fields that the deployed Viola set with
 * kubectl are taken over, those of anybody else are a conflict.
 */
async function applyNode(
  { client, namespace }: Target,
  node: DesiredNode,
  live: MultiNicNodeConfig | undefined,
  { perform, signal }: WriteOptions,
): Promise<MultiNicNodeConfig> {
  const { name, labels, annotations, spec } = node;
  const { uid, resourceVersion = '1' } = live?.metadata ?? {};
  const object = {
    apiVersion: apiVersionOf(nodeConfigs),
    kind: nodeConfigs.kind,
    metadata: { name, namespace, labels, annotations, resourceVersion, ...(uid ? { uid } : {}) },
    spec,
  };
  const apply = (force: boolean) =>
    perform('viola.node-config.apply', () =>
      client.apply(nodeConfigs, object, { fieldManager: fieldManagers.viola, force, signal }),
    );
  try {
    return await apply(false);
  } catch (error) {
    if (!mayTakeOver(error, live)) throw error;
    return apply(true);
  }
}

/**
 * Whether nothing has to be written: the object says what was posted. A caller that may not write is content with equal
 * content; its provenance is then not the object's.
 */
function holds(live: MultiNicNodeConfig, node: DesiredNode, mayNotWrite: boolean): boolean {
  const { metadata, spec } = live;
  if (metadata.deletionTimestamp || canonicalJson(spec) !== canonicalJson(node.spec)) return false;
  const { labels, annotations } = node;
  return (
    mayNotWrite || (covers(metadata.labels, labels) && covers(metadata.annotations, annotations))
  );
}

/** Two node names can come to one object name; the second must not take the first one's NICs. */
function strangerIn({ metadata, spec }: MultiNicNodeConfig, node: DesiredNode) {
  const { nodeName, instanceId } = node.spec;
  const sameName = spec.nodeName === nodeName;
  const sameInstance = instanceId !== undefined && spec.instanceId === instanceId;
  if (sameName || sameInstance) return undefined;
  const message = `the object ${metadata.name} belongs to node "${spec.nodeName}"; rename one of them`;
  return { code: 'Invalid', field: 'nodeName', message } as const;
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
