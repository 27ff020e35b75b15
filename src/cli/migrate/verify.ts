import { findCondition } from '../../api/condition.ts';
import {
  type MultiNicNodeConfig,
  type NodeConfigStatus,
  nodeConfigStatus,
} from '../../api/multinicnodeconfig.ts';
import { Refusal } from '../refusal.ts';
import { ownershipOf } from './ownership.ts';
import type { PlannedNode } from './plan.ts';
import { migrationStart, type Source, sourceText } from './source.ts';

/** Result for one node. */
export interface Verified {
  readonly node: string;
  readonly object: string;
  readonly holds: boolean;
  /** Field managers of the object's spec. */
  readonly writer: string;
  /** What does not hold, and what to do; '' when all holds. */
  readonly message: string;
}

/** Checks a migrated source node by node. Pure; throws a Refusal when the migration was not started. */
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
  /** Milliseconds of the start. */
  readonly start: number;
  /** Milliseconds until which agent Jobs are those of the expansion. */
  readonly until: number;
}

/**
 * Until the controller confirmed the read-only mode, it applied entries: Jobs of that time are not the migration's. Its
 * clock may also be ahead of the clock that wrote the start.
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
  if (isLabelled) return 'the object has its label still: run apply again';
  // The spec of an object that another writer has taken over is that writer's, and so are its Jobs.
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
  // A record without a time that can be read proves nothing.
  const isOlder = applied?.at === undefined || Date.parse(applied.at) <= until;
  if (isCreated || isOlder) return undefined;
  return `agent Job ${applied.job ?? ''} of ${applied.at} is newer than the migration: find out what changed the node; back and apply again set a new start`;
}

function readyProblem(live: MultiNicNodeConfig): string | undefined {
  const { conditions, observedGeneration } = statusOf(live);
  const ready = findCondition(conditions, 'Ready');
  if (observedGeneration !== live.metadata.generation) {
    return 'the controller has not handled the object yet: try again';
  }
  if (ready?.status === 'True') return undefined;
  return `Ready is ${ready?.status ?? 'missing'} (${ready?.reason ?? 'no reason'}): ${ready?.message ?? ''}`;
}

function statusOf({ status }: MultiNicNodeConfig): NodeConfigStatus {
  return nodeConfigStatus.safeParse(status).data ?? {};
}
