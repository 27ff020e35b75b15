import type { Store as ObjectStore } from '../kube/cache/store.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { refOf } from '../kube/object.ts';
import type { Outcome } from '../kube/reconcile/controller.ts';
import { leave } from './leave.ts';
import { type ConfigObject, generationOf, isPaused, statusOf } from './openstack-config.ts';
import type { Pace } from './pace.ts';
import { pausedConditions } from './status/conditions.ts';
import { type VisitDeps, visit } from './visit.ts';

export interface ReconcilerDeps extends VisitDeps {
  readonly client: Pick<KubeClient, 'find' | 'patch'>;
  readonly configs: Pick<ObjectStore<ConfigObject>, 'get' | 'list'>;
  readonly pace: Pace;
}

/**
 * Makes the reconcile function of OpenstackConfigs. A paused one is left alone; a deleted one is taken back from the
 * nodes; any other is resolved, looked up in its cloud, planned, delivered and recorded (visit.ts, look.ts, sync.ts).
 */
export function createReconciler(deps: ReconcilerDeps) {
  const { configs, reporter, pace, views, inventory, clock } = deps;

  return async function reconcile(key: string, signal: AbortSignal): Promise<Outcome | undefined> {
    const cached = configs.get(key);
    if (!cached) {
      for (const each of [pace, reporter]) each.forget(key);
      views.leave(key);
      const { namespace = '', name } = refOf(key);
      await inventory.forget({ namespace, name });
      return undefined;
    }
    const object = reporter.latest(cached);
    if (isPaused(object)) return pause(object, signal);
    pace.begin(object);
    if (object.metadata.deletionTimestamp === undefined) return visit(object, deps, signal);
    views.leave(key);
    return leave(object, deps, signal);
  };

  async function pause(object: ConfigObject, signal: AbortSignal): Promise<undefined> {
    const previous = statusOf(object);
    const at = { now: clock.now(), generation: generationOf(object) };
    const conditions = pausedConditions(previous.conditions ?? [], at);
    await reporter.report(object, { ...previous, conditions }, signal);
  }
}
