import type { Effect } from '../../../api/effects.ts';
import { annotations, fieldManagers } from '../../../api/names.ts';
import { HttpProblem } from '../../../http/problem.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { isForbidden, isNotFound, KubeError } from '../../../kube/errors.ts';
import { keyOf, type ObjectRef } from '../../../kube/object.ts';
import type { Perform } from '../../../process/effects.ts';
import type { Clock } from '../../../time/clock.ts';
import { openstackConfigs } from '../../openstack-config.ts';

/** Calls for one OpenstackConfig within this time are one. */
const togetherMs = 1_000;
/** OpenstackConfigs that may be asked for within that time. */
const most = 100;

interface Request {
  readonly id: string;
  readonly at: number;
  readonly written: Promise<void>;
}

export interface ReconcileRequestsDeps {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
  /** Ends writes that several callers may be waiting for. */
  readonly lifetime: AbortSignal;
}

/** Asks for looks at OpenstackConfigs by their annotation, from whichever replica: the one that leads sees it. */
export class ReconcileRequests {
  readonly #deps: ReconcileRequestsDeps;
  /** What was written within the last second, and what failed to be. */
  readonly #recent = new Map<string, Request>();

  constructor(deps: ReconcileRequestsDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#recent.size;
  }

  /** Answers the id that holds for the call: `id`, or that of a call just before. Throws HttpProblem. */
  async ask(ref: ObjectRef, id: string): Promise<string> {
    const now = this.#deps.clock.monotonicMs();
    for (const [key, { at }] of this.#recent) {
      if (now - at < togetherMs) break;
      this.#recent.delete(key);
    }
    const key = keyOf({ metadata: ref });
    const request = this.#recent.get(key) ?? this.#begin(key, ref, id);
    await request.written;
    return request.id;
  }

  #begin(key: string, ref: ObjectRef, id: string): Request {
    if (this.#recent.size >= most) {
      const detail = `${most} OpenstackConfigs were asked for within a second; send fewer at once`;
      throw new HttpProblem(429, 'TooManyRequests', detail, { retryAfterSeconds: 1 });
    }
    const at = this.#deps.clock.monotonicMs();
    const request = { id, at, written: this.#write(ref, id) };
    this.#recent.set(key, request);
    return request;
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
    const detail = `there is no OpenstackConfig ${name} in namespace ${namespace}`;
    return new HttpProblem(404, 'NoSuchConfig', detail, { cause: error });
  }
  if (isForbidden(error)) {
    const detail = `this operator may not write OpenstackConfigs of namespace ${namespace}`;
    return new HttpProblem(403, 'NamespaceDenied', detail, { cause: error });
  }
  if (!(error instanceof KubeError)) return error;
  const detail = 'the API server of the management cluster took no annotation; repeat it';
  return new HttpProblem(503, 'ClusterUnavailable', detail, { retryAfterSeconds: 5, cause: error });
}
