import { createFakeClock, type FakeClock } from '../../../src/time/fake-clock.ts';
import { bootstrap } from '../bootstrap.ts';
import { type Cluster, createCluster, type Target } from '../cluster.ts';
import type { JsonObject } from '../objects/json.ts';
import type { KubeObject, Meta } from '../objects/object.ts';
import { apiVersionOf } from '../resources/resource-type.ts';
import { create } from '../verbs/create.ts';
import { type DeleteOptions, remove } from '../verbs/delete.ts';
import { update } from '../verbs/update.ts';
import { type ClusterController, runController } from './loop.ts';

/** A cluster without HTTP whose time stands still, with some of its controllers running. */
export interface TestCluster extends Disposable {
  readonly cluster: Cluster;
  readonly clock: FakeClock;
  create(resource: string, metadata: Partial<Meta>, fields?: JsonObject): KubeObject;
  get(resource: string, name: string): KubeObject | undefined;
  list(resource: string): readonly KubeObject[];
  change(resource: string, name: string, fields: JsonObject, subresource?: 'status'): void;
  remove(resource: string, name: string, options?: DeleteOptions): void;
  /** Lets the controllers do all that is due now, or after this time. */
  settle(ms?: number): Promise<void>;
}

/** Everything lives in the namespace "default"; resources are named as in storage ("jobs.batch"). */
export function testCluster(
  ...controllers: readonly ((cluster: Cluster) => ClusterController)[]
): TestCluster {
  const clock = createFakeClock();
  let state = 7;
  const random = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const cluster = createCluster({ clock, random, watchHistory: 1000 });
  const stop = new AbortController();
  for (const controller of controllers) runController(cluster, controller(cluster), stop.signal);
  bootstrap(cluster, []);

  function target(resource: string, name: string): Target {
    const type = cluster.types.ofResource(resource);
    if (!type) throw new Error(`no such resource: ${resource}`);
    return { type, namespace: type.namespaced ? 'default' : undefined, name };
  }
  return {
    cluster,
    clock,
    create(resource, metadata, fields = {}) {
      const { type, namespace } = target(resource, '');
      const head = { apiVersion: apiVersionOf(type), kind: type.kind };
      const body = { ...head, metadata: { name: '', ...metadata }, ...fields };
      return create(cluster, { type, namespace }, body, { manager: 'test' });
    },
    get(resource, name) {
      const { namespace } = target(resource, name);
      return cluster.storage.get(resource, namespace ? `${namespace}/${name}` : name);
    },
    list: (resource) => cluster.storage.list(resource),
    change(resource, name, fields, subresource) {
      const merged = (live: KubeObject): KubeObject => ({ ...live, ...fields });
      update(cluster, target(resource, name), merged, { manager: 'test', subresource });
    },
    remove: (resource, name, options = {}) => void remove(cluster, target(resource, name), options),
    settle: (ms = 0) => clock.advance(ms),
    [Symbol.dispose]: () => stop.abort(new Error('the test is over')),
  };
}
