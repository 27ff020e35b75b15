import * as z from 'zod';
import { rfc3339 } from '../api/condition.ts';
import { type Fence, fence, type Protocol, protocols } from '../api/job.ts';
import type { NodeConfigStatus } from '../api/multinicnodeconfig.ts';
import { type Reason, reasons } from '../api/reasons.ts';
import type { Machine } from './machine.ts';
import { outcomeOf } from './results/outcome.ts';
import type { Order, Verdict } from './runner.ts';

const recordSchema = z.object({
  action: z.enum(['apply', 'cleanup']),
  content: z.string(),
  nodeName: z.string().min(1),
  nodeUid: z.string(),
  machineId: z.string().optional(),
  bootId: z.string().optional(),
  job: z.string().min(1),
  attempt: z.int(),
  protocol: z.union(protocols.map((version) => z.literal(version))),
  at: z.iso.datetime({ offset: true }),
  done: z.boolean().optional(),
  reasons: z.array(z.enum(Object.keys(reasons) as [Reason])).optional(),
  hostFence: fence.optional(),
});

/**
 * What was done last, and for what. It is written before an agent can begin, without `done`, and again when its end was
 * seen: so what stands here is never older than what may have happened on the node. Times are this controller's.
 */
export type Applied = z.infer<typeof recordSchema>;

/**
 * The record in a status. One of a form that is not known counts as none, and so does one in a status that another
 * controller has written since: what it did on the node nobody told us.
 */
export function appliedIn(status: NodeConfigStatus | undefined): Applied | undefined {
  if (!status || isWrittenByOther(status)) return undefined;
  return recordSchema.safeParse(status.applied).data;
}

/**
 * Whether the deployed controller wrote into this status. Type, status and reason are all that its conditions have; and
 * when it is started it looks at every node, before it works on any, and writes what we never do: when, and what it saw.
 */
export function isWrittenByOther(status: NodeConfigStatus): boolean {
  const { conditions = [], nodeReady, lastInterfaceCheck } = status;
  if (nodeReady !== undefined || lastInterfaceCheck !== undefined) return true;
  return conditions.some(({ lastTransitionTime }) => lastTransitionTime === undefined);
}

/** How an agent is asked. */
export interface Terms {
  readonly protocol: Protocol;
  /** What the host has seen and the request takes precedence over. */
  readonly hostFence?: Fence | undefined;
}

/** The record of a run that is about to begin. */
export function begun(order: Order, job: string, terms: Terms, now: Date): Applied {
  const { action, content, attempt, machine } = order;
  const { nodeName, nodeUid, machineId, bootId } = machine;
  return {
    action,
    content,
    nodeName,
    nodeUid,
    ...(machineId ? { machineId } : {}),
    ...(bootId ? { bootId } : {}),
    job,
    attempt,
    protocol: terms.protocol,
    ...(terms.hostFence ? { hostFence: terms.hostFence } : {}),
    at: rfc3339(now),
  };
}

/** The record of a run whose end was seen now. */
export function ended(applied: Applied, verdict: Verdict, now: Date): Applied {
  const { done, reasons: left } = outcomeOf(verdict);
  const hostFence = verdict.kind === 'failure' ? verdict.fence : undefined;
  const { hostFence: _, ...before } = applied;
  return {
    ...before,
    at: rfc3339(now),
    done,
    ...(left.length > 0 ? { reasons: [...new Set(left)].slice(0, 20) } : {}),
    ...(hostFence ? { hostFence } : {}),
  };
}

export function machineIn({ nodeName, nodeUid, machineId, bootId }: Applied): Machine {
  return { nodeName, nodeUid, machineId, bootId };
}
