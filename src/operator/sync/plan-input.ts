import type { ExistingNodeConfig } from '../../api/node-configs-http.ts';
import type { Store as ObjectStore } from '../../kube/cache/store.ts';
import { keyOf } from '../../kube/object.ts';
import type { PlanInput } from '../../plan/plan.ts';
import type { CloudViews } from '../observe/cloud-view.ts';
import type { ObservedContext } from '../observe/observe.ts';
import {
  type ConfigObject,
  handOverToOf,
  hasRemovalApproval,
  statusOf,
  takeOverFromOf,
} from '../openstack-config.ts';
import type { OperatorSettings } from '../settings.ts';

export interface PlanInputDeps {
  readonly configs: Pick<ObjectStore<ConfigObject>, 'get'>;
  readonly views: Pick<CloudViews, 'readersOf'>;
  readonly settings: Pick<OperatorSettings, 'watchNamespace'>;
}

/**
 * Builds a plan's input without evidence: only here the operator's types are converted to the planner's
 * types.
 */
export function planInput(
  context: ObservedContext,
  known: Pick<PlanInput, 'recorded' | 'recentRemovals'>,
  deps: PlanInputDeps,
): PlanInput {
  const { object, config, source, scope, isForced, observed } = context;
  const { servers, subnets, cloud, held } = observed;
  return {
    owner: source,
    takeOverFrom: permittedTakeOver(object, deps),
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
    cloudInterfaces: cloudNics(context, deps),
    ...known,
    removals: hasRemovalApproval(object) ? 'allowed' : 'guarded',
    ...(config.viola.compatibility === 'legacy' ? { keepsNodes: true } : {}),
    force: isForced,
  };
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
  const other = configs.get(from);
  if (other) return handOverToOf(other) === keyOf(object) ? from : '';
  const { watchNamespace } = settings;
  return watchNamespace === undefined || from.startsWith(`${watchNamespace}/`) ? from : '';
}

/** Counts all NICs in the cloud: from existing nodes after a full read, otherwise from the statuses. */
function cloudNics(
  { object, scope, connections, observed }: ObservedContext,
  { views, configs }: Pick<PlanInputDeps, 'views' | 'configs'>,
): number {
  const key = keyOf(object);
  const readers = [...views.readersOf(connections.view.cloud.name)];
  const others = readers
    .filter((reader) => reader !== key)
    .reduce((sum, other) => sum + reportedNics(configs.get(other)), 0);
  return (
    others + (scope.servers === 'all' ? existingNics(observed.held, key) : reportedNics(object))
  );
}

function existingNics(held: readonly ExistingNodeConfig[], key: string): number {
  const own = held.filter(({ source }) => source && keyOf(source) === key);
  return own.reduce((sum, { spec }) => sum + (spec.interfaces?.length ?? 0), 0);
}

function reportedNics(object: ConfigObject | undefined): number {
  return (object && statusOf(object).summary?.interfaces) ?? 0;
}
