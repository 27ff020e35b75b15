import type { Store as ObjectStore } from '../../../kube/cache/store.ts';
import { keyOf } from '../../../kube/object.ts';
import { isOfName, isOwn } from '../../../plan/ownership.ts';
import type { PlanInput } from '../../../plan/plan.ts';
import type { Clock } from '../../../time/clock.ts';
import type { ObservedContext } from '../../cloud/observe/observe.ts';
import type { ConfigMemories } from '../../model/memory/config-memory.ts';
import { type ConfigObject, handOverToOf, takeOverFromOf } from '../../model/openstack-config.ts';
import type { OperatorSettings } from '../../model/settings/operator.ts';
import { budgetsOf, deliveredBy, type NicsAndNodes, othersIn } from '../../removals/budgets.ts';
import { consentOf, consentRefusalOf } from '../../removals/consent.ts';
import { storedHoldOf } from '../../removals/held-set.ts';
import { waitsForConsent } from '../../removals/hold.ts';
import { recordsOf } from '../../removals/records.ts';
import { removalMemory } from '../../removals/removal-memory.ts';

export interface PlanInputDeps {
  readonly configs: Pick<ObjectStore<ConfigObject>, 'get' | 'list'>;
  readonly memories: Pick<ConfigMemories, 'find'>;
  readonly settings: Pick<
    OperatorSettings,
    'watchNamespace' | 'defaultK8sProviderId' | 'legacyTakeOver' | 'formerClusters'
  >;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Builds a plan's input without evidence: only here the operator's types are converted to the planner's
 * types.
 */
export function planInput(
  context: ObservedContext,
  known: Pick<PlanInput, 'recorded'>,
  deps: PlanInputDeps,
): PlanInput {
  const { object, config, source, scope, isForced, observed } = context;
  const { servers, subnets, cloud, held, clusterNetworks } = observed;
  return {
    owner: { ...source, formerClusters: deps.settings.formerClusters },
    providerId: config.providerId,
    takeOverFrom: permittedTakeOver(object, deps),
    leftSources: leftSources(context, deps),
    takesUnowned: takesUnowned(object, deps.settings),
    ...(observed.storesIdentity ? { storesIdentity: true } : {}),
    selection: {
      serverIds: servers.ids,
      serversComplete: servers.complete,
      subnetIds: subnets.ids,
      subnetsComplete: subnets.found.length === subnets.ids.length,
      pinned: { servers: servers.pinned, subnets: config.subnets.kind === 'ids' },
      statuses: config.statuses,
      createdAfter: config.createdAfter,
      maxInterfaces: config.maxInterfaces,
      addressFamilies: config.addressFamilies,
      routing: config.routing,
      nodeNameKey: config.nodeNameKey,
    },
    scope: scope.servers,
    observation: cloud.observation,
    held,
    evidence: [],
    serverEvidence: [],
    ...known,
    ...removalsOf(context, deps),
    ...(clusterNetworks ? { clusterNetworks } : {}),
    ...(config.viola.compatibility === 'legacy' ? { keepsNodes: true } : {}),
    ...(config.viola.observes ? { observes: true } : {}),
    ...adoptionIn(context),
    force: isForced,
  };
}

/** A legacy Viola drops the consent: the operator's default is then no consent. */
function adoptionIn({ config: { viola }, observed }: ObservedContext): Pick<PlanInput, 'adoption'> {
  if (!viola.adopts || viola.compatibility === 'legacy') return {};
  const { supportsAdoption } = observed;
  if (supportsAdoption === undefined) return { adoption: 'unknown' };
  return supportsAdoption ? { adoption: 'consented' } : {};
}

/**
 * Returns the OpenstackConfig to take nodes over from; '': none. A config outside the watched namespace may
 * still exist.
 */
function permittedTakeOver(
  object: ConfigObject,
  { configs, settings }: Pick<PlanInputDeps, 'configs' | 'settings'>,
): string {
  const from = takeOverFromOf(object);
  const { watchNamespace, formerClusters } = settings;
  const [cluster = '', ...local] = from.split('/');
  const isElsewhere = local.length === 2 && !formerClusters.includes(cluster);
  // An OpenstackConfig of another management cluster cannot be read from here: the person who names it decides.
  if (isElsewhere) return from;
  const name = local.length === 2 ? local.join('/') : from;
  const other = configs.get(name);
  if (other) return handOverToOf(other) === keyOf(object) ? from : '';
  return watchNamespace === undefined || name.startsWith(`${watchNamespace}/`) ? from : '';
}

/** Returns the source uids without a live OpenstackConfig. Only the watched namespace is known. */
function leftSources(
  { source, observed }: ObservedContext,
  { configs, settings: { watchNamespace } }: PlanInputDeps,
): readonly string[] {
  const others = observed.held.flatMap((node) => node.source ?? []);
  const byUid = new Map(others.map((other) => [other.uid, other]));
  const left = [...byUid.values()].filter((other) => {
    const present = configs.get(`${other.namespace}/${other.name}`);
    if (present) return present.metadata.deletionTimestamp !== undefined;
    return watchNamespace === undefined || other.namespace === watchNamespace;
  });
  return left
    .filter((other) => !isOfName(other, source))
    .map(({ uid }) => uid)
    .toSorted();
}

/** True if LEGACY_TAKE_OVER names the OpenstackConfig or its namespace. */
function takesUnowned(
  object: ConfigObject,
  { legacyTakeOver }: Pick<OperatorSettings, 'legacyTakeOver'>,
): boolean {
  const { namespace = '' } = object.metadata;
  return ['*', namespace, keyOf(object)].some((name) => legacyTakeOver.includes(name));
}

/** Counts the OpenstackConfig's NICs in the business cluster; a partial sync reads some nodes only. */
function ownNics(
  { object, scope, source, observed }: ObservedContext,
  { formerClusters }: PlanInputDeps['settings'],
): NicsAndNodes {
  if (scope.servers !== 'all') return deliveredBy(object);
  const owner = { ...source, formerClusters };
  const own = observed.held.filter((node) => isOwn(node, owner));
  const counts = own.map(({ spec }) => spec.interfaces?.length ?? 0);
  return {
    nics: counts.reduce((sum, count) => sum + count, 0),
    nodes: counts.filter((count) => count > 0).length,
  };
}

/** Returns the budgets, and whether an earlier decision holds removals. */
function removalsOf(
  context: ObservedContext,
  deps: PlanInputDeps,
): Pick<
  PlanInput,
  'budgets' | 'recordedNics' | 'removals' | 'storedHold' | 'sentReleases' | 'consent' | 'refusal'
> {
  const { object, config } = context;
  const now = deps.clock.now();
  const others = othersIn(config.providerId, object, deps.configs.list(), deps.settings);
  const earlierHold = waitsForConsent(object) ? 'held' : 'guarded';
  return {
    budgets: budgetsOf({ object, own: ownNics(context, deps.settings), others, now }),
    ...rememberedRemovals(object, deps),
    removals: recordsOf(object) === undefined ? 'unreadable' : earlierHold,
    storedHold: storedHoldOf(object),
    ...consentFor(context, now),
  };
}

/** Returns this process's knowledge about unfinished removals and sent releases. */
function rememberedRemovals(object: ConfigObject, { memories }: PlanInputDeps) {
  const memory = memories.find(keyOf(object));
  if (!memory || memory.uid !== object.metadata.uid) return { recordedNics: [], sentReleases: [] };
  const { recordedNics, sentReleases } = removalMemory.of(memory);
  return { recordedNics, sentReleases };
}

/** A partial sync does not see all waiting removals, so only a sync of all servers counts them. */
function consentFor(
  { object, scope }: ObservedContext,
  now: Date,
): Pick<PlanInput, 'consent' | 'refusal'> {
  const refusal = consentRefusalOf(object, now);
  const consent = consentOf(object, now);
  if (refusal !== undefined) return { refusal };
  return consent && (scope.servers === 'all' || consent.isStored) ? { consent } : {};
}
