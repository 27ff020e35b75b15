import { isConflict } from '../../kube/errors.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import { hasFinalizer } from '../deletion/finalizer.ts';
import { recordOf } from '../jobs/applied.ts';
import { isObserved, prohibitionOf } from '../jobs/permission.ts';
import { acceptSpec, contentHash } from '../jobs/request.ts';
import { machineOf } from '../objects/machine.ts';
import { type NodeConfig, type Stores } from '../objects/stores.ts';
import type { UnreadyNodes } from '../objects/unready-nodes.ts';
import { lagPauseMs } from '../scheduling/requeue.ts';
import { isAbout } from '../scheduling/schedule.ts';
import type { Reporter } from '../status/report.ts';
import { targetOf } from '../target.ts';
import type { OtherController } from '../watch/legacy-controller.ts';
import type { Check } from './check-task.ts';
import type { Turns } from './turns.ts';

interface DriftReconcilerOptions {
  readonly stores: Stores;
  readonly otherController: Pick<OtherController, 'owns'>;
  readonly unready: UnreadyNodes;
  readonly reporter: Pick<Reporter, 'open'>;
  readonly check: Pick<Check, 'checkNode'>;
  /** Shared with the main reconciler: both write the same status. */
  readonly turns: Turns;
  /** Enqueues an object in the main controller when its node must be changed. */
  readonly change: (key: string) => void;
}

/**
 * Checks nodes of fully applied and of observed objects. The main reconciler enqueues an object here when nothing is
 * left to apply, and gets the object back when a check finds drift.
 */
export function createDriftReconciler(options: DriftReconcilerOptions) {
  const { stores, otherController, unready, reporter, check, turns, change } = options;

  async function reconcile(key: string, signal: AbortSignal): Promise<Outcome | void> {
    try {
      return await turns.take(key, async () => {
        const config = stores.configs.get(key);
        return config && isOurs(config) ? compare(key, config, signal) : undefined;
      });
    } catch (error) {
      if (!isConflict(error)) throw error;
      return { requeueAfterMs: lagPauseMs };
    }
  }

  function isOurs(config: NodeConfig): boolean {
    const isLeaving = config.metadata.deletionTimestamp !== undefined;
    if (prohibitionOf(config, 'check')) return false;
    return !isLeaving && hasFinalizer(config) && otherController.owns(config) === undefined;
  }

  async function compare(
    key: string,
    config: NodeConfig,
    signal: AbortSignal,
  ): Promise<Outcome | void> {
    const report = reporter.open(config);
    const spec = acceptSpec(config);
    const target = targetOf(config, spec, stores);
    if (target.kind === 'none') return;
    const { node, name } = target;
    const wanted = {
      action: 'apply',
      content: contentHash(node, spec),
      machine: machineOf(node),
    } as const;
    const isInForce = (): boolean => {
      if (isObserved(report.config)) return true;
      const record = recordOf(report.config);
      return record?.done === true && isAbout(record, wanted);
    };
    if (!isInForce()) return;
    report.about(spec, name);
    report.unready(unready.of(config, node)?.message);
    const task = { report, node, action: 'apply', contents: spec } as const;
    let outcome: Outcome;
    try {
      outcome = await check.checkNode(task, signal);
    } finally {
      await report.write(signal);
    }
    if (isInForce()) return outcome;
    change(key);
  }

  return reconcile;
}
