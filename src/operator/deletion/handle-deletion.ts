import { findCondition } from '../../api/condition.ts';
import type { Effect } from '../../api/effects.ts';
import { finalizers } from '../../api/names.ts';
import type { ExistingNodeConfig } from '../../api/node-configs-http.ts';
import { type OpenstackConfigSpec, openstackConfigSpec } from '../../api/openstackconfig.ts';
import type { OperatorReason } from '../../api/reasons.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import type { Perform } from '../../process/effects.ts';
import type { Logger } from '../../process/log.ts';
import { removalUnsupported } from '../deliver/unsupported.ts';
import type { Violas } from '../deliver/violas.ts';
import type { Inventory } from '../inventory-records/inventory.ts';
import type { ConfigContext } from '../memory/config-memory.ts';
import {
  type ConfigObject,
  generationOf,
  hasFinalizer,
  hasRemovalApproval,
  isOfLegacyViola,
  isRetained,
  ownerOf,
  removeFinalizer,
  statusOf,
} from '../openstack-config.ts';
import { businessClusterOf } from '../resolve/credentials.ts';
import { resolveViola } from '../resolve/endpoints.ts';
import { Fields } from '../resolve/fields.ts';
import { type OperatorSettings, pollingOf } from '../settings.ts';
import { attempt, StepFailure } from '../status/step-failure.ts';
import type { StatusWriter } from '../status/writer.ts';
import { occupiedBy } from './former-clusters.ts';
import type { DeletionGuard } from './guard.ts';
import { withdraw } from './withdraw.ts';

export interface DeletionDeps {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly settings: OperatorSettings;
  readonly violas: Violas;
  readonly guard: DeletionGuard;
  readonly inventory: Inventory;
  readonly perform: Perform<Effect>;
  readonly writer: StatusWriter;
  readonly log: Logger;
}

/**
 * Removes a deleted object's finalizer when no node carries its NICs any more. Until then the status names the unclean
 * nodes or the required approval. Returns when to requeue; undefined: nothing is left to do.
 */
export async function handleDeletion(
  context: ConfigContext,
  deps: DeletionDeps,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const { settings, log, writer } = deps;
  const { object, memory } = context;
  const { pollInterval } = memory;
  if (!hasFinalizer(object)) return undefined;
  if (isOfLegacyViola(object)) return handleLegacyDeletion(context, deps, signal);
  const left = await attempt(async () => withdrawInTime(context, deps, signal), log, signal);
  if (left instanceof StepFailure) {
    await writer.write(context, { kind: 'deleting', problems: [left], waiting: [] }, signal);
    return { requeueAfterMs: pollInterval.afterFailure(pollingOf(settings), left.retryAfterMs) };
  }
  if ('earlyMs' in left) return { requeueAfterMs: left.earlyMs };
  const { nodes, open } = left;
  const unclean = nodes.map(({ nodeName }) => nodeName).join(', ');
  const waiting = [
    ...(unclean === '' ? [] : [`cleanup on ${unclean}`]),
    ...open.map(
      ({ providerId }) =>
        `unanswered POSTs to business cluster "${providerId}", which may still arrive`,
    ),
  ];
  if (waiting.length > 0) {
    await writer.write(context, { kind: 'deleting', problems: [], waiting }, signal);
    const requeueAfterMs =
      nodes.length > 0 ? pollInterval.afterCleanup() : Math.max(...open.map(({ ms }) => ms));
    return { requeueAfterMs };
  }
  return release(object, deps, signal);
}

async function release(object: ConfigObject, deps: DeletionDeps, signal: AbortSignal) {
  await deps.inventory.forget(ownerOf(object));
  await removeFinalizer(object, deps, signal);
  return undefined;
}

/** Removes the finalizer after status, Event and log have named the remaining nodes: a legacy Viola deletes nothing. */
async function handleLegacyDeletion(
  context: ConfigContext,
  deps: DeletionDeps,
  signal: AbortSignal,
) {
  const { object } = context;
  const owner = ownerOf(object);
  const clusters = await occupiedBy(owner, statusOf(object).deliveredTo, deps.inventory);
  if (clusters.size === 0 || isReported(object)) return release(object, deps, signal);
  const problems = [...clusters].map(([providerId, nodes]) => {
    const problem = removalUnsupported(nodes, providerId);
    // The message names only some nodes, and the inventory deletes all their records.
    deps.log.warn({ config: owner, providerId, nodes }, problem.message);
    return problem;
  });
  await deps.writer.write(context, { kind: 'deleting', problems, waiting: [] }, signal);
  // The finalizer patch needs the resourceVersion after this status write.
  return { requeueAfterMs: afterReportMs };
}

const afterReportMs = 1_000;

/** Returns whether the status names the remaining nodes. Only a live object's status has Delivered. */
function isReported(object: ConfigObject): boolean {
  const { conditions } = statusOf(object);
  const reason = findCondition(conditions, 'Ready')?.reason;
  const isLive = findCondition(conditions, 'Delivered') !== undefined;
  return reason === ('RemovalUnsupported' satisfies OperatorReason) && !isLive;
}

async function withdrawInTime(
  context: ConfigContext,
  deps: DeletionDeps,
  signal: AbortSignal,
): Promise<Left | { readonly earlyMs: number }> {
  const earlyMs = await deps.guard.waitMs(context.object, signal);
  return earlyMs > 0 ? { earlyMs } : withdrawAll(context, deps, signal);
}

/** Nodes and POSTs that delay an object's deletion. */
interface Left {
  readonly nodes: readonly ExistingNodeConfig[];
  /** Business clusters that a POST may still reach, with the remaining milliseconds. */
  readonly open: readonly { readonly providerId: string; readonly ms: number }[];
}

/**
 * Removes a deleted OpenstackConfig's nodes from its business clusters; returns the nodes and POSTs that delay the
 * deletion. OpenStack is not needed, because each node's source names its OpenstackConfig. Throws StepFailure.
 */
async function withdrawAll(
  { object, memory }: ConfigContext,
  { settings, violas, inventory, perform }: DeletionDeps,
  signal: AbortSignal,
): Promise<Left> {
  if (isRetained(object)) return { nodes: [], open: [] };
  const spec = openstackConfigSpec.safeParse(object.spec).data;
  const owner = ownerOf(object);
  const source = { ...owner, generation: generationOf(object) };
  const clusters = await occupiedBy(owner, statusOf(object).deliveredTo, inventory);
  const { endpoint, providers } = endpointAndClusters(spec, clusters, settings);
  const nodes: ExistingNodeConfig[] = [];
  const blocked: ExistingNodeConfig[] = [];
  // Before the lists, which miss any POST that arrives later.
  const open = [...providers]
    .map((providerId) => ({ providerId, ms: memory.term.unansweredPosts.openForMs(providerId) }))
    .filter(({ ms }) => ms > 0);
  for (const provider of providers) {
    const viola = await violas.of(endpoint, provider, source);
    const blockedIn = (own: readonly ExistingNodeConfig[]) => namesakes(own, object);
    const known = clusters.get(provider) ?? [];
    const left = await withdraw({ viola, owner, known, blockedIn, perform }, signal);
    nodes.push(...left.leaving);
    blocked.push(...left.blocked);
  }
  if (nodes.length === 0 && blocked.length > 0) throw blockedNodes(blocked, object);
  return { nodes, open };
}

/** Returns nodes delivered by an earlier OpenstackConfig with this name and never written by this object. */
function namesakes(own: readonly ExistingNodeConfig[], object: ConfigObject): ReadonlySet<string> {
  if (hasRemovalApproval(object)) return new Set();
  const { uid } = ownerOf(object);
  return new Set(own.filter(({ source }) => source?.uid !== uid).map(({ nodeName }) => nodeName));
}

function blockedNodes(
  blocked: readonly ExistingNodeConfig[],
  { metadata }: ConfigObject,
): StepFailure {
  const names = blocked.map(({ nodeName }) => nodeName).join(', ');
  const message = `${names}: delivered by an earlier OpenstackConfig ${metadata.namespace}/${metadata.name}, perhaps in another management cluster, and not by this one; to remove their NICs, set the annotation multinic.io/allow-removals to a new value; to keep them, remove the finalizer ${finalizers.openstackConfig}`;
  // Not RemovalHeld: the deletion guard reads RemovalHeld in the status as its own decision.
  return new StepFailure({ reason: 'NameConflict', message });
}

const cannotFind =
  'the delivered nodes cannot be found without spec.settings.violaEndpoint and spec.credentials.k8sProviderID; set them again';

/**
 * Returns Viola's endpoint, and the business clusters in spec, status and inventory. Throws StepFailure without them.
 */
function endpointAndClusters(
  spec: OpenstackConfigSpec | undefined,
  clusters: ReadonlyMap<string, readonly string[]>,
  settings: OperatorSettings,
) {
  const fields = new Fields();
  const endpoint = spec && resolveViola(spec, settings, fields);
  const [denied] = fields.problems.filter(({ reason }) => reason === 'PolicyDenied');
  if (denied) throw new StepFailure(denied);
  const own = businessClusterOf(spec?.credentials, settings);
  const providers = new Set([...clusters.keys(), ...(own === undefined ? [] : [own])]);
  if (!endpoint?.url || providers.size === 0) {
    throw new StepFailure({ reason: 'ConfigError', message: cannotFind });
  }
  return { endpoint, providers };
}
