import type { Effect } from '../../../../api/effects.ts';
import { annotations, fieldManagers } from '../../../../api/names.ts';
import { HttpProblem } from '../../../../http/problem.ts';
import type { KubeClient } from '../../../../kube/client/client.ts';
import { isForbidden, isNotFound, KubeError } from '../../../../kube/errors.ts';
import { keyOf, type ObjectRef } from '../../../../kube/object.ts';
import type { Perform } from '../../../../process/effects.ts';
import { type Clock, passed } from '../../../../time/clock.ts';
import { openstackConfigs } from '../../../model/openstack-config.ts';

/** Shortest interval (ms) between two writes to an OpenstackConfig. */
const everyMs = 1_000;
/** Most OpenstackConfigs with a write in that interval. */
const most = 100;

/** One write, shared by several calls. */
interface Turn {
  readonly id: string;
  readonly written: PromiseWithResolvers<void>;
}

export interface ReconcileRequestsDeps {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly perform: Perform<Effect>;
  /** Namespaces that the operator syncs; empty: all. */
  readonly allowedNamespaces: readonly string[];
  readonly clock: Clock;
  /** Aborts writes, because a write may serve several callers. */
  readonly lifetime: AbortSignal;
}

/**
 * Requests syncs by annotating OpenstackConfigs; works on every replica, because the leader watches the annotation.
 * Calls share only a write that begins after them: the sync for an earlier write may already be over.
 */
export class ReconcileRequests {
  readonly #deps: ReconcileRequestsDeps;
  /** Pending writes by OpenstackConfig; undefined: a write began within the last second and no write is pending. */
  readonly #waiting = new Map<string, Turn | undefined>();

  constructor(deps: ReconcileRequestsDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Returns the written id: `id`, or the id of a call sharing the write. Throws HttpProblem. */
  async request(ref: ObjectRef, id: string): Promise<string> {
    const { allowedNamespaces } = this.#deps;
    const { namespace = '' } = ref;
    if (allowedNamespaces.length > 0 && !allowedNamespaces.includes(namespace)) {
      const detail = `this operator does not manage OpenstackConfigs in namespace ${namespace}`;
      throw new HttpProblem(403, 'NamespaceDenied', detail);
    }
    const turn = this.#turnOf(ref, id);
    await turn.written.promise;
    return turn.id;
  }

  #turnOf(ref: ObjectRef, id: string): Turn {
    const key = keyOf({ metadata: ref });
    const waiting = this.#waiting.get(key);
    if (waiting) return waiting;
    const turn = { id, written: Promise.withResolvers<void>() };
    if (this.#waiting.has(key)) this.#waiting.set(key, turn);
    else void this.#begin(key, ref, turn);
    return turn;
  }

  /** Writes while calls are pending, the first time at once. */
  async #begin(key: string, ref: ObjectRef, first: Turn): Promise<void> {
    if (this.#waiting.size >= most) {
      const detail = `${most} OpenstackConfigs were requested within a second; send fewer requests at once`;
      first.written.reject(
        new HttpProblem(429, 'TooManyRequests', detail, { retryAfterSeconds: 1 }),
      );
      return;
    }
    const { clock, lifetime } = this.#deps;
    for (let turn: Turn | undefined = first; turn; turn = this.#waiting.get(key)) {
      this.#waiting.set(key, undefined);
      const isOver = passed(clock, everyMs, lifetime);
      await this.#write(ref, turn.id).then(turn.written.resolve, turn.written.reject);
      await isOver;
    }
    this.#waiting.delete(key);
  }

  async #write(ref: ObjectRef, id: string): Promise<void> {
    const { client, perform, lifetime: signal } = this.#deps;
    const patch = { metadata: { annotations: { [annotations.reconcileAt]: id } } };
    try {
      const options = { fieldManager: fieldManagers.trigger, signal };
      await perform('operator.trigger.write', async () =>
        client.patch(openstackConfigs, ref, patch, options),
      );
    } catch (error) {
      throw problemOf(error, ref);
    }
  }
}

function problemOf(error: unknown, { namespace, name }: ObjectRef): unknown {
  if (isNotFound(error)) {
    const detail = `OpenstackConfig ${name} does not exist in namespace ${namespace}`;
    return new HttpProblem(404, 'NoSuchConfig', detail, { cause: error });
  }
  if (isForbidden(error)) {
    const detail = `this operator has no right to patch OpenstackConfigs in namespace ${namespace}; grant it`;
    return new HttpProblem(403, 'NamespaceDenied', detail, { cause: error });
  }
  if (!(error instanceof KubeError)) return error;
  const detail =
    'the API server of the management cluster did not accept the annotation; repeat the request';
  return new HttpProblem(503, 'ClusterUnavailable', detail, { retryAfterSeconds: 5, cause: error });
}
