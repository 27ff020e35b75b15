import { isConflict } from '../../kube/errors.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import { hasFinalizer } from '../deletion/finalizer.ts';
import { recordOf } from '../jobs/applied.ts';
import { acceptSpec, contentHash } from '../jobs/request.ts';
import { machineOf } from '../objects/machine.ts';
import { type NodeConfig, type Stores } from '../objects/stores.ts';
import { isAbout } from '../scheduling/schedule.ts';
import { pausedIn } from '../status/paused.ts';
import type { Reporter } from '../status/report.ts';
import { targetOf } from '../target.ts';
import type { OtherController } from '../watch/legacy-controller.ts';
import type { Check } from './check-task.ts';
import type { Turns } from './turns.ts';

export interface DriftReconcilerOptions {
  readonly stores: Stores;
  readonly otherController: Pick<OtherController, 'owns'>;
  readonly reporter: Pick<Reporter, 'open'>;
  readonly check: Pick<Check, 'look'>;
  /** Shared with the reconciler of changes: both write one status. */
  readonly turns: Turns;
  /** Asks the reconciler of changes for an object whose node has to be changed. */
  readonly change: (key: string) => void;
}

/** For a store that lags behind the server. */
const lagPauseMs = 1_000;

/**
 * Compares the nodes of objects that are in force with what was applied to them. It is asked for an object by the reconciler of
 * changes when there is nothing to change, and asks for it in turn when a check finds that there is.
 */
export function createDriftReconciler(options: DriftReconcilerOptions) {
  const { stores, otherController, reporter, check, turns, change } = options;

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
    if (pausedIn(config)) return false;
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
      const record = recordOf(report.config);
      return record?.done === true && isAbout(record, wanted);
    };
    if (!isInForce()) return;
    report.about(spec, name);
    const task = { report, node, action: 'apply', contents: spec } as const;
    let outcome: Outcome;
    try {
      outcome = await check.look(task, signal);
    } finally {
      await report.write(signal);
    }
    if (isInForce()) return outcome;
    change(key);
  }

  return reconcile;
}
