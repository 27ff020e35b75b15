import { createHash } from 'node:crypto';
import * as z from 'zod';
import { annotations } from '../../api/names.ts';
import { nicReasons } from '../../api/reasons/nic.ts';
import { machineIn, recordOf } from '../jobs/applied.ts';
import type { AgentTask } from '../jobs/runner.ts';
import { isReplaced } from '../objects/machine.ts';
import { type NodeConfig } from '../objects/stores.ts';

/** What decides the content of an object: an OpenstackConfig, a MultiNicBizConfig, or the object itself. */
export interface Source {
  readonly uid: string;
  readonly generation: number;
}

// Any user may write the annotation: a value without a usable uid counts as none.
const sourceSchema = z.object({
  uid: z
    .string()
    .max(64)
    .regex(/^[^\s/]+$/),
  generation: z.int().min(0),
});

/**
 * Returns the source of an object. An object without one is its own source with generation 0: each edit of its spec is a change
 * of this node alone, and only another agent image makes another revision.
 */
export function sourceOf({ metadata }: Pick<NodeConfig, 'metadata'>): Source {
  const noted = metadata.annotations ?? {};
  const named = readSource(noted[annotations.source]) ?? readSource(noted[annotations.bizSource]);
  return named ?? { uid: metadata.uid ?? '', generation: 0 };
}

function readSource(text: string | undefined): Source | undefined {
  if (text === undefined) return undefined;
  try {
    return sourceSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Hash of an agent image in a revision: 12 hex digits. */
export function imageHash(image: string): string {
  return createHash('sha256').update(image).digest('hex').slice(0, 12);
}

/** Returns the revision `<source uid>/<source generation>/<hash of the agent image>`. */
export function revisionOf({ uid, generation }: Source, image: string): string {
  return `${uid}/${generation}/${image}`;
}

/**
 * Whether a run has something to lose, and counts in the rollout budget: its node has NICs by a record of other content and of
 * another revision. A first apply, a repeated one and a clean-up have nothing to lose. A record of an earlier version names no
 * revision. A run that has begun and was replaced before it ended counts as well: its node may have kept its NICs.
 */
export function isBudgeted(
  config: NodeConfig,
  { action, content, machine }: Pick<AgentTask, 'action' | 'content' | 'machine'>,
  revision: string,
): boolean {
  const record = recordOf(config);
  if (action !== 'apply' || record?.action !== 'apply' || record.undone) return false;
  if (record.content === content || record.revision === revision) return false;
  const { nodeName, macs } = record;
  if (nodeName !== machine.nodeName || isReplaced(machineIn(record), machine)) return false;
  // A record of an earlier version does not name its NICs.
  return macs === undefined || macs.length > 0;
}

interface Ended {
  readonly done?: boolean | undefined;
  readonly reasons?: readonly string[] | undefined;
}

/** Whether the agent of a run has reported on its NICs: its image works on a node of this cluster. */
export function isReported({ done, reasons = [] }: Ended): boolean {
  if (done !== false) return done === true;
  return reasons.length > 0 && reasons.every((reason) => Object.hasOwn(nicReasons, reason));
}
