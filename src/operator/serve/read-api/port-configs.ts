import { findCondition, rfc3339 } from '../../../api/condition.ts';
import { annotations } from '../../../api/names.ts';
import { pauseOf } from '../../../api/pause.ts';
import type { PortView } from '../../../api/read-http.ts';
import { isPinned } from '../../cloud/observe/servers.ts';
import { statusOf } from '../../model/openstack-config.ts';
import type { ResolvedConfig } from '../../model/resolve/resolve.ts';
import { optional } from './optional.ts';
import type { VisibleConfig } from './visible-configs.ts';

type PortConfig = PortView['configs'][number];

/** Port with cloud and project. */
export interface PlacedPort {
  readonly deviceId: string;
  readonly subnetIds: readonly string[];
  readonly projectId: string;
  readonly cloudName: string;
}

/**
 * Returns the OpenstackConfigs in the port's project with the server or the subnet in their (possible) selection. An
 * administrator's account may select a server of another project.
 */
export function configsOf(
  port: PlacedPort,
  configs: readonly VisibleConfig[],
  trigger: string,
): PortConfig[] {
  return configs.flatMap((config) => {
    const selection = selectionOf(port, config);
    return selection === undefined ? [] : [{ ...selection, ...stateOf(config, trigger) }];
  });
}

type Selects = Pick<PortConfig, 'selectsServer' | 'selectsSubnet'>;

/** Returns whether server and subnet are selected; undefined: neither. */
function selectionOf(port: PlacedPort, { reads, resolved }: VisibleConfig): Selects | undefined {
  if (reads?.cloud === undefined) return resolved && selectionInSpec(port, resolved);
  const { name, projectId, selection } = reads.cloud;
  const { serverIds, serversComplete, subnetIds, subnetsComplete } = selection;
  const isNear = projectId === port.projectId || serverIds.includes(port.deviceId);
  if (name !== port.cloudName || !isNear) return undefined;
  const server = isChosen([port.deviceId], serverIds, serversComplete);
  const subnet = isChosen(port.subnetIds, subnetIds, subnetsComplete);
  return server === false && subnet === false ? undefined : selects(server, subnet);
}

/** Without a sync only the spec's ids are known. The cloud is unknown, but no id is in two clouds. */
function selectionInSpec(
  { deviceId, subnetIds }: PlacedPort,
  { servers, subnets }: ResolvedConfig,
): Selects | undefined {
  const server = isChosen([deviceId], servers.ids, isPinned(servers));
  const subnet = subnets.kind === 'ids' ? isChosen(subnetIds, subnets.ids, true) : undefined;
  return server === true || subnet === true ? selects(server, subnet) : undefined;
}

/** Returns whether any id is chosen; undefined: unknown. */
function isChosen(
  ids: readonly string[],
  chosen: readonly string[],
  isComplete: boolean,
): boolean | undefined {
  if (ids.some((id) => id !== '' && chosen.includes(id))) return true;
  return isComplete ? false : undefined;
}

function selects(server: boolean | undefined, subnet: boolean | undefined): Selects {
  return optional({ selectsServer: server, selectsSubnet: subnet });
}

/** Returns an OpenstackConfig's row without its selection. */
export function stateOf(config: VisibleConfig, trigger: string): Omit<PortConfig, keyof Selects> {
  const { key, object, reads } = config;
  const { conditions, lastSyncedAt } = statusOf(object);
  const ready = findCondition(conditions, 'Ready');
  const { status = 'Unknown', reason = '', message = '' } = ready ?? {};
  const lastSyncAt = reads?.decidedAt ?? lastSyncedAt;
  const schedule = optional({ lastSyncAt, ...pauseOrNext(config) });
  return { config: key, trigger, ready: status, reason, message, ...schedule };
}

/** Returns the pause, or the next sync. */
function pauseOrNext({
  object,
  nextSyncAt,
}: VisibleConfig): Pick<PortConfig, 'paused' | 'nextSyncAt'> {
  if (pauseOf(object).isPaused)
    return { paused: object.metadata.annotations?.[annotations.paused] };
  return { nextSyncAt: nextSyncAt && rfc3339(nextSyncAt) };
}
