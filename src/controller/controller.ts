import { isConflict } from '../kube/errors.ts';
import { refOf } from '../kube/object.ts';
import type { Outcome } from '../kube/reconcile/controller.ts';
import { type AcceptedSpec, acceptEntries, acceptSpec } from './accept.ts';
import { type Cleanup, isHeld } from './cleanup.ts';
import type { NodeConfig } from './node-config.ts';
import { obstacleTo } from './obstacle.ts';
import type { Progress, Pursue } from './pursue.ts';
import type { News, Reporter } from './report.ts';
import { nothing } from './request.ts';
import { rivalsOf } from './rivals.ts';
import type { Failure } from './runner.ts';
import type { OtherController } from './stand-back.ts';
import { findTarget } from './target.ts';
import type { World } from './world.ts';

export interface ReconcilerOptions {
  readonly world: World;
  readonly otherController: OtherController;
  readonly cleanup: Cleanup;
  readonly pursue: Pursue;
  readonly reporter: Reporter;
}

/** For a store that lags behind the server; the change that it lacks brings the object back too. */
const lagPauseMs = 1_000;

/**
 * The way of a MultiNicNodeConfig: hold it, accept its entries, find its node, send an agent, report; or, when it is being
 * deleted, have its node cleaned and let it go.
 */
export function createReconciler(options: ReconcilerOptions) {
  const { world, otherController, cleanup, pursue, reporter } = options;

  async function reconcile(key: string, signal: AbortSignal): Promise<Outcome | void> {
    const config = world.configs.get(key);
    try {
      await cleanup.collect(refOf(key), config?.metadata.uid, signal);
      return config && (await proceed(config, signal));
    } catch (error) {
      if (!isConflict(error)) throw error;
      return { requeueAfterMs: lagPauseMs };
    }
  }

  async function proceed(config: NodeConfig, signal: AbortSignal): Promise<Outcome | void> {
    if (otherController.owns(config)) return reporter.standBack(config, signal);
    if (config.metadata.deletionTimestamp !== undefined) {
      // Others may hold it still; nothing of ours is left then.
      return isHeld(config) ? letGo(config, signal) : undefined;
    }
    if (isHeld(config)) return apply(config, signal);
    // Before anything is done on a node. The stored object changes by this and comes back here.
    world.configs.upsert(await cleanup.hold(config, signal));
  }

  async function apply(config: NodeConfig, signal: AbortSignal): Promise<Outcome | void> {
    const spec = acceptSpec(config);
    const target = findTarget(config, world.nodeDirectory);
    if (target.kind === 'none') return refuse(config, spec, target, signal);
    const { node } = target;
    const rivals = rivalsOf(config, node, world);
    const obstacle = obstacleTo({ spec, nodeName: node.metadata.name, rivals });
    if (obstacle) return refuse(config, spec, obstacle, signal);
    const errand = { config, node, action: 'apply', contents: spec } as const;
    const progress = await pursue(errand, signal);
    return tell(config, { spec, name: target.name }, progress, signal);
  }

  async function letGo(config: NodeConfig, signal: AbortSignal): Promise<Outcome | void> {
    const spec = acceptEntries([]);
    const target = findTarget(config, world.nodeDirectory);
    if (target.kind === 'none') {
      const gone = target.reason === 'NodeNotFound' && (await cleanup.nodeIsGone(config, signal));
      if (gone) return cleanup.release(config, signal);
      await refuse(config, spec, target, signal);
      return { requeueAfterMs: lagPauseMs };
    }
    // The first run for an object that takes the node over removes what this one leaves.
    if (rivalsOf(config, target.node, world).length > 0) return cleanup.release(config, signal);
    const errand = { config, node: target.node, action: 'cleanup', contents: nothing } as const;
    const progress = await pursue(errand, signal);
    if (progress.done) return cleanup.release(config, signal);
    return tell(config, { spec, name: target.name }, progress, signal);
  }

  async function refuse(
    config: NodeConfig,
    spec: AcceptedSpec,
    { reason, message }: Failure,
    signal: AbortSignal,
  ): Promise<void> {
    const situation = { kind: 'refused', reason, message } as const;
    await reporter.report(config, { spec, name: undefined, situation }, signal);
  }

  async function tell(
    config: NodeConfig,
    known: Omit<News, 'situation'>,
    { situation, requeueAfterMs }: Progress,
    signal: AbortSignal,
  ): Promise<Outcome | void> {
    await reporter.report(config, { ...known, situation }, signal);
    return requeueAfterMs === undefined ? undefined : { requeueAfterMs };
  }

  return reconcile;
}
