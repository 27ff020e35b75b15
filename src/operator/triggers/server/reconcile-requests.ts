import type { Effect } from '../../../api/effects.ts';
import { annotations, fieldManagers } from '../../../api/names.ts';
import { HttpProblem } from '../../../http/problem.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { isForbidden, isNotFound, KubeError } from '../../../kube/errors.ts';
import { keyOf, type ObjectRef } from '../../../kube/object.ts';
import type { Perform } from '../../../process/effects.ts';
import { type Clock, passed } from '../../../time/clock.ts';
import { openstackConfigs } from '../../openstack-config.ts';

/** An OpenstackConfig is written once in this time at most. */
const everyMs = 1_000;
/** OpenstackConfigs that may be asked for within that time. */
const most = 100;

/** One write, and the calls that it answers. */
interface Turn {
  readonly id: string;
  readonly written: PromiseWithResolvers<void>;
}

export interface ReconcileRequestsDeps {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly perform: Perform<Effect>;
  /** Of which OpenstackConfigs are looked at; none = of all. */
  readonly allowedNamespaces: readonly string[];
  readonly clock: Clock;
  /** Ends writes that several callers may be waiting for. */
  readonly lifetime: AbortSignal;
}

/**
 * Asks for looks at OpenstackConfigs by their annotation, from whichever replica: the one that leads sees it. Calls share a
 * write that none of them is later than: the look that a write before had asked for may have been over.
 */
export class ReconcileRequests {
  readonly #deps: ReconcileRequestsDeps;
  /** The writes that are still to come, by OpenstackConfig; undefined = the last one has begun within the second. */
  readonly #waiting = new Map<string, Turn | undefined>();

  constructor(deps: ReconcileRequestsDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Answers the id that holds for the call when it is written: `id`, or that of a call it shares the write with. Throws HttpProblem. */
  async ask(ref: ObjectRef, id: string): Promise<string> {
    const { allowedNamespaces } = this.#deps;
    const { namespace = '' } = ref;
    if (allowedNamespaces.length > 0 && !allowedNamespaces.includes(namespace)) {
      const detail = `this operator looks at no OpenstackConfigs of namespace ${namespace}`;
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

  /** Writes for as long as somebody asks, the first time at once. */
  async #begin(key: string, ref: ObjectRef, first: Turn): Promise<void> {
    if (this.#waiting.size >= most) {
      const detail = `${most} OpenstackConfigs were asked for within a second; send fewer at once`;
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
