import { isFree } from './claims.ts';
import type { PlanInput, Question } from './plan.ts';

/**
 * The delivered ports that were not seen at their servers: what to read by id before a plan is made, so that it need not
 * be made twice.
 */
export function missingPorts(input: Omit<PlanInput, 'evidence'>): Question[] {
  const { owner, selection, scope, observation, held } = input;
  const inScope = new Set(scope === 'all' ? selection.serverIds : scope);
  const servers = new Set(selection.serverIds.filter((id) => inScope.has(id)));
  const places = new Map(observation.ports.map(({ id, deviceId }) => [id, deviceId]));
  const [anySubnet] = selection.subnetIds;
  return held.flatMap((node) => {
    const { instanceId: serverId = '', interfaces = [] } = node.spec;
    if (!servers.has(serverId) || !isFree(node, owner)) return [];
    return interfaces.flatMap(({ portId, subnetId = anySubnet }) =>
      portId && places.get(portId) !== serverId ? [{ portId, serverId, subnetId }] : [],
    );
  });
}
