import { findCondition } from '../../api/condition.ts';
import {
  type MultiNicNodeConfig,
  type NodeConfigStatus,
  nodeConfigStatus,
} from '../../api/multinicnodeconfig.ts';
import { labels } from '../../api/names.ts';
import { Refusal } from '../refusal.ts';
import { ownershipOf } from './ownership.ts';
import type { PlannedNode } from './plan.ts';
import { migrationStart, type Source, sourceText } from './source.ts';

/** Verification result for one node. */
export interface Verified {
  readonly node: string;
  readonly object: string;
  readonly holds: boolean;
  /** The object's spec field managers. */
  readonly writer: string;
  /** The problem and the next step; '' if verified. */
  readonly message: string;
}

/** Verifies a migrated source node by node. Pure; throws a Refusal if no migration was started. */
export function verify(source: Source, plan: readonly PlannedNode[]): readonly Verified[] {
  const start = migrationStart(source);
  if (start === undefined) {
    throw new Refusal(`${sourceText(source)} is not migrated`, 'run apply first');
  }
  const until = lastOwnWrite(source, start);
  return plan.map(({ row, live, ...rest }) => {
    const message = problemOf({ row, live, ...rest }, source, { start: Date.parse(start), until });
    const { node, object, writer } = row;
    return { node, object, writer, holds: message === undefined, message: message ?? '' };
  });
}

interface Times {
  /** Start time in milliseconds. */
  readonly start: number;
  /** End of the expansion's agent Jobs, in milliseconds. */
  readonly until: number;
}

/**
 * Returns the time until which Jobs belong to the expansion: the controller applied entries until it confirmed the
 * read-only mode. Its clock may also be ahead of the clock behind the start time.
 */
function lastOwnWrite({ config }: Source, start: string): number {
  const condition = findCondition(config.status?.conditions, 'ReadOnly');
  const confirmed = condition?.status === 'True' ? condition.lastTransitionTime : undefined;
  return Math.max(Date.parse(start), confirmed === undefined ? 0 : Date.parse(confirmed));
}

function problemOf({ row, live }: PlannedNode, source: Source, times: Times): string | undefined {
  if (row.state === 'refused') return `the entry is refused: ${row.field}: ${row.message}`;
  if (!live) return 'there is no object: run apply again';
  const { isLabelled, isExpansions } = ownershipOf(live, source);
  if (isLabelled) return `the object still has label ${labels.bizConfig}: run apply again`;
  // Another writer that took over the object also owns its spec and Jobs.
  const problem = isExpansions ? unchangedProblem(row, live, times) : undefined;
  return problem ?? (row.state === 'noNode' ? row.message : undefined) ?? readyProblem(live);
}

function unchangedProblem(
  { state, message }: PlannedNode['row'],
  live: MultiNicNodeConfig,
  { start, until }: Times,
): string | undefined {
  if (state === 'differs' || state === 'conflict') return message;
  const isCreated = Date.parse(live.metadata.creationTimestamp ?? '') >= start;
  const { applied } = statusOf(live);
  // A record without a readable time proves nothing.
  const isOlder = applied?.at === undefined || Date.parse(applied.at) <= until;
  if (isCreated || isOlder) return undefined;
  return `agent Job ${applied.job ?? ''} of ${applied.at} is newer than the migration: find out what changed the node, then run back and apply again`;
}

function readyProblem(live: MultiNicNodeConfig): string | undefined {
  const { conditions, observedGeneration } = statusOf(live);
  const ready = findCondition(conditions, 'Ready');
  if (observedGeneration !== live.metadata.generation) {
    return 'the controller has not processed the object yet: try again';
  }
  if (ready?.status === 'True') return undefined;
  return `Ready is ${ready?.status ?? 'missing'} (${ready?.reason ?? 'no reason'}): ${ready?.message ?? ''}`;
}

function statusOf({ status }: MultiNicNodeConfig): NodeConfigStatus {
  return nodeConfigStatus.safeParse(status).data ?? {};
}
