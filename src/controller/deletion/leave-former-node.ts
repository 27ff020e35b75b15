import type { Node } from '../../kube/core-resources.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import type { Random } from '../../time/clock.ts';
import { nothing } from '../jobs/request.ts';
import type { RemovalCause } from '../removals/bases.ts';
import { fallbackRequeueMs } from '../scheduling/requeue.ts';
import type { Report } from '../status/report.ts';
import type { Clean } from './clean.ts';
import type { FindFormerNode } from './former-node.ts';
import { reportFormerNode } from './former-node-report.ts';

/**
 * Cleans the node that was changed for the object before. `now`: node of the object; undefined: none. Returns when to
 * continue, or undefined if no former node needs a clean-up.
 */
export type LeaveFormerNode = (
  report: Report,
  now: Node | undefined,
  cause: Exclude<RemovalCause, 'edit'>,
  signal: AbortSignal,
) => Promise<Outcome | undefined>;

interface LeaveFormerNodeOptions {
  readonly findFormerNode: FindFormerNode;
  readonly clean: Clean;
  readonly random: Random;
}

export function createLeaveFormerNode(options: LeaveFormerNodeOptions): LeaveFormerNode {
  const { findFormerNode, clean, random } = options;
  return async (report, now, cause, signal) => {
    const former = await findFormerNode(report.config, now, signal);
    // A successor's first run changes no unlisted NIC on the former node, and reports all NICs.
    if (!former || former.successor) return undefined;
    const { node } = former;
    const runReport = reportFormerNode(report, node);
    const outcome = await clean({ report, runReport, node, contents: nothing, cause }, signal);
    if (outcome === 'clean') return { requeueAfterMs: 0 };
    // No watch event for the former node wakes this object.
    return { requeueAfterMs: outcome.requeueAfterMs ?? fallbackRequeueMs(random) };
  };
}
