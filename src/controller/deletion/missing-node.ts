import { rfc3339 } from '../../api/condition.ts';
import { endsWaitForNode } from '../../api/delete-consent.ts';
import { annotations } from '../../api/names.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import type { Clock } from '../../time/clock.ts';
import { deletedAt, type NodeConfig, type NodeDirectory } from '../objects/stores.ts';
import { hasDeleteConsent } from '../removals/bases.ts';
import { mayHaveNics } from '../removals/known.ts';
import type { Refuse } from '../scheduling/refuse.ts';
import type { Report } from '../status/report.ts';
import type { MissingTarget } from '../target.ts';
import { isReplacedIn } from './former-node.ts';
import type { IsNodeGone } from './node-gone.ts';
import type { Release } from './release.ts';

/** Time a deleted object waits for a missing Node. */
const waitForNodeMs = 3_600_000;

/**
 * Releases a deleted object without a Node. A missing Node object does not prove a deleted machine: after `kubectl delete
 * node` the kubelet registers the Node again at its next start. A new machine under the Node's name ends the wait. The
 * wait counts from the deletion timestamp, hence a controller restart does not prolong the wait.
 */
type ReleaseWithoutNode = (
  report: Report,
  target: MissingTarget,
  signal: AbortSignal,
) => Promise<Outcome | void>;

interface ReleaseWithoutNodeOptions {
  readonly nodes: NodeDirectory;
  readonly isNodeGone: IsNodeGone;
  readonly refuse: Refuse;
  readonly release: Release;
  readonly clock: Pick<Clock, 'now'>;
}

export function createReleaseWithoutNode(options: ReleaseWithoutNodeOptions): ReleaseWithoutNode {
  const { nodes, isNodeGone, refuse, release, clock } = options;
  return async (report, target, signal) => {
    const { config } = report;
    if (target.reason !== 'NodeNotFound') return refuse(report, target, signal);
    if (!mayHaveNics(config)) return release(report, signal);
    const end = (deletedAt(config)?.getTime() ?? 0) + waitForNodeMs;
    const now = clock.now();
    const leftMs = mayEndWait(config, nodes, now) ? 0 : end - now.getTime();
    if (leftMs <= 0) {
      // Reads the Node from the API server, because the cache may be stale.
      if (!(await isNodeGone(config, signal))) return refuse(report, target, signal);
      const leftovers = `${target.message}; the object is deleted, NICs may remain on the machine`;
      return release(report, signal, leftovers);
    }
    const until = rfc3339(new Date(end));
    const message = `${target.message}; the deletion waits for the Node until ${until}, then completes and NICs may remain; if the server no longer exists, set the annotation ${annotations.deleteConsent}=<RFC 3339 time>!`;
    const { requeueAfterMs } = await refuse(report, { ...target, message }, signal);
    return { requeueAfterMs: Math.min(leftMs, requeueAfterMs) };
  };
}

/** True if the wait for a missing Node may end: a user agreed, or a new machine has taken its name. */
function mayEndWait(config: NodeConfig, nodes: NodeDirectory, now: Date): boolean {
  return isMachineGone(config, now) || isReplacedIn(config, nodes);
}

/** True if a user confirmed that the machine is deleted. */
export function isMachineGone(config: NodeConfig, now: Date): boolean {
  return hasDeleteConsent(config, now) && endsWaitForNode(config.metadata);
}
