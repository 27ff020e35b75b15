import { labelValue } from '../../api/label-value.ts';
import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import { annotations, fieldManagers } from '../../api/names.ts';
import { sourceIn } from '../../biz-config/ownership.ts';
import { nodeConfigs, nodeNameOf } from '../../viola/node-config.ts';
import { ownershipOf } from './ownership.ts';
import type { PlannedNode } from './plan.ts';
import { endReadOnly, makeReadOnly } from './read-only.ts';
import { eachInOrder, type Run } from './run.ts';
import { migrationStart, type Source } from './source.ts';
import { writeLabel } from './write-object.ts';

/** Nodes that `back` changed, and nodes that it leaves. */
export interface Reverted {
  readonly restored: readonly string[];
  /** Nodes that another writer has written since, with that writer. */
  readonly left: readonly { readonly node: string; readonly writer: string }[];
  /** Whether the controller has confirmed that it follows the source again. */
  readonly isFollowed: boolean;
}

/**
 * Whether there is a migration to go back from: annotations of the source, or objects without their label. A writer that
 * replaces the source drops its annotations, and a source that is created again has none.
 */
export async function isStarted(run: Run, source: Source): Promise<boolean> {
  const mode = source.config.metadata.annotations?.[annotations.bizConfigMode];
  if (migrationStart(source) !== undefined || mode !== undefined) return true;
  return (await madeFrom(run, source)).some((object) => isUnlabelled(object, source));
}

/** Nodes that the controller changes as soon as it follows the source again, such as those of an edit that it did not follow. */
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
 * Restores the label of each object that no other writer has written since, then the mode. In this order: a controller that
 * follows the source takes an object without its label for that of another writer, and judges removals of an edit by the few
 * labels that it sees. So labels return only while the source is read-only.
 */
export async function revert(run: Run, source: Source, timeoutMs: number): Promise<Reverted> {
  const label = labelValue(source.config.metadata.name);
  const restored: string[] = [];
  const made = await madeFrom(run, source);
  if (made.some((object) => isUnlabelled(object, source))) {
    await makeReadOnly(run, source, timeoutMs);
  }
  await eachInOrder(run, 'restored labels', made, async (object) => {
    if (await writeLabel(run, object, label, (now) => isUnlabelled(now, source))) {
      restored.push(nodeNameOf(object));
    }
  });
  // Read again: Viola may write while the labels are restored.
  const left = (await madeFrom(run, source)).flatMap((object) => {
    const { isExpansions, isLabelled, writers } = ownershipOf(object, source);
    if (isExpansions || isLabelled) return [];
    return [{ node: nodeNameOf(object), writer: writers.join(', ') || 'another writer' }];
  });
  return { restored, left, isFollowed: await endReadOnly(run, source, timeoutMs) };
}

/** Objects whose annotation names the source, of any writer. */
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
