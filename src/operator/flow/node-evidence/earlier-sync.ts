import { findCondition } from '../../../api/condition.ts';
import { isOwn } from '../../../plan/ownership.ts';
import type { Owner } from '../../../plan/plan.ts';
import type { RecordedObject } from '../../../store/recording.ts';
import type { ClusterFacts } from '../../clusters/deliver/node-facts.ts';
import { type ConfigObject, generationOf, statusOf } from '../../model/openstack-config.ts';
import { firstIndexes, type PlannedNode } from '../../report/status/configured-nics.ts';

/**
 * Returns the nodes after an earlier leader's last sync; undefined: unknown. No plan survives a restart: the present
 * MultiNicNodeConfigs count as planned if Delivered was not False, the inventory has recorded the same objects, and the
 * NIC count is unchanged.
 */
export function nodesOfEarlierSync(
  object: ConfigObject,
  facts: ClusterFacts,
  { owner, recorded }: { readonly owner: Owner; readonly recorded: readonly RecordedObject[] },
): readonly PlannedNode[] | undefined {
  const { conditions, summary } = statusOf(object);
  const isOfPresent =
    findCondition(conditions, 'NICsReady')?.observedGeneration === generationOf(object);
  const planned = Number(summary?.nics?.split('/')[1] ?? Number.NaN);
  if (!isOfPresent || findCondition(conditions, 'Delivered')?.status === 'False') return undefined;
  const own = [...facts.values()].filter(
    (node) => !node.isLeaving && node.configured.length > 0 && isOwn(node, owner),
  );
  const records = new Map(recorded.map((node) => [node.nodeName, node]));
  const isRecorded = own.every(({ nodeName, uid, generation }) => {
    const record = records.get(nodeName);
    return record?.uid === uid && record.generation === generation;
  });
  const nics = own.reduce((sum, { configured }) => sum + configured.length, 0);
  return isRecorded && nics === planned
    ? own.map((node) => ({
        nodeName: node.nodeName,
        planned: node.configured.length,
        uid: node.uid,
        generation: node.generation,
        entries: firstIndexes(node.configured.length),
      }))
    : undefined;
}
