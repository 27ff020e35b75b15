import { hash } from 'node:crypto';
import * as z from 'zod';
import { annotations } from '../../api/names.ts';
import { nicReasons } from '../../api/reasons/nic.ts';
import { machineIn, recordOf } from '../jobs/applied.ts';
import type { AgentTask } from '../jobs/runner.ts';
import { isReplaced } from '../objects/machine.ts';
import { type NodeConfig } from '../objects/stores.ts';

/** The origin of an object's content: an OpenstackConfig, a MultiNicBizConfig, or the object itself. */
export interface Source {
  readonly uid: string;
  readonly generation: number;
}

// Any user may write the annotation; a value without a usable uid is ignored.
const sourceSchema = z.object({
  uid: z
    .string()
    .max(64)
    .regex(/^[^\s/]+$/),
  generation: z.int().min(0),
});

/**
 * Returns the object's source. Without a source annotation the object is its own source with generation 0: a spec edit
 * then affects one node only, and only a new agent image makes a new revision.
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

/** Returns the image hash used in a revision: 12 hex digits. */
export function imageHash(image: string): string {
  return hash('sha256', image).slice(0, 12);
}

/** Returns the revision `<source uid>/<source generation>/<hash of the agent image>`. */
export function revisionOf({ uid, generation }: Source, image: string): string {
  return `${uid}/${generation}/${image}`;
}

/**
 * True if the rollout budget counts a run: a record with different content and revision says the node has NICs. First
 * applies, retries and clean-ups are not counted. Records from earlier versions name no revision. A run replaced before
 * its end counts too: the node may still have NICs.
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
  // A record from an earlier version does not list its NICs.
  return macs === undefined || macs.length > 0;
}

interface Ended {
  readonly done?: boolean | undefined;
  readonly reasons?: readonly string[] | undefined;
}

/** True if the agent reported on its NICs, which proves the image on a node in this cluster. */
export function isReported({ done, reasons = [] }: Ended): boolean {
  if (done !== false) return done === true;
  return reasons.length > 0 && reasons.every((reason) => Object.hasOwn(nicReasons, reason));
}
