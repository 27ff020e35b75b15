import { labelValue } from '../../api/label-value.ts';
import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import { annotations, fieldManagers } from '../../api/names.ts';
import { sourceIn } from '../../biz-config/ownership.ts';
import { nodeConfigs, nodeNameOf } from '../../viola/node-configs/node-config.ts';
import { ownershipOf } from './ownership.ts';
import type { PlannedNode } from './plan.ts';
import { endReadOnly, makeReadOnly } from './read-only.ts';
import { eachInOrder, type Run } from './run.ts';
import { migrationStart, type Source } from './source.ts';
import { writeLabel } from './write-object.ts';

/** Nodes restored by `back`, and nodes left unchanged. */
export interface Reverted {
  readonly restored: readonly string[];
  /** Nodes another writer changed in the meantime, with the writer's name. */
  readonly left: readonly { readonly node: string; readonly writer: string }[];
  /** True if the controller confirmed following the source again. */
  readonly isFollowed: boolean;
}

/**
 * Returns true if a migration can be reverted: the source has annotations, or objects lack their label. A writer
 * replacing the source drops its annotations, and a recreated source has none.
 */
export async function isStarted(run: Run, source: Source): Promise<boolean> {
  const mode = source.config.metadata.annotations?.[annotations.bizConfigMode];
  if (migrationStart(source) !== undefined || mode !== undefined) return true;
  return (await madeFrom(run, source)).some((object) => isUnlabelled(object, source));
}

/** Returns nodes the controller will change when following the source again, for example after an unfollowed edit. */
export function changedByRevert(
  { config }: Source,
  plan: readonly PlannedNode[],
): readonly string[] {
  if (config.spec === undefined) return [];
  return plan.filter(differsAsOwn).map(({ row }) => row.node);
}

function differsAsOwn({ row, live }: PlannedNode): boolean {
  const isOwn = row.writer === fieldManagers.bizConfig && !live?.metadata.deletionTimestamp;
  return isOwn && row.state === 'differs';
}

/**
 * Restores labels on objects without another writer, then the mode. The order matters: a controller following the
 * source treats unlabelled objects as foreign, and counts an edit's removals only over labelled objects. Hence labels
 * return while the source is read-only.
 */
export async function revert(run: Run, source: Source, timeoutMs: number): Promise<Reverted> {
  const label = labelValue(source.config.metadata.name);
  const restored: string[] = [];
  const made = await madeFrom(run, source);
  if (made.some((object) => isUnlabelled(object, source))) {
    await makeReadOnly(run, source, timeoutMs);
  }
  await eachInOrder(run, 'restored labels', made, async (object) => {
    if (await writeLabel(run, object, label, (current) => isUnlabelled(current, source))) {
      restored.push(nodeNameOf(object));
    }
  });
  // A second read: Viola may write while labels are restored.
  const left = (await madeFrom(run, source)).flatMap((object) => {
    const { isExpansions, isLabelled, writers } = ownershipOf(object, source);
    if (isExpansions || isLabelled) return [];
    return [{ node: nodeNameOf(object), writer: writers.join(', ') || 'another writer' }];
  });
  return { restored, left, isFollowed: await endReadOnly(run, source, timeoutMs) };
}

/** Returns objects whose annotation names the source, from any writer. */
async function madeFrom(
  { client, signal }: Run,
  { group, config }: Source,
): Promise<readonly MultiNicNodeConfig[]> {
  const { namespace, name } = config.metadata;
  const { items } = await client.listAll(nodeConfigs, { namespace, signal });
  return items.filter(({ metadata }) => {
    const made = sourceIn(metadata);
    return made?.group === group && made.name === name;
  });
}

function isUnlabelled(object: MultiNicNodeConfig, source: Source): boolean {
  const { isExpansions, isLabelled } = ownershipOf(object, source);
  return isExpansions && !isLabelled && !object.metadata.deletionTimestamp;
}
