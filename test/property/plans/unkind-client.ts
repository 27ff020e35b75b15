import type {
  KubeClient,
  ListOptions,
  ListPage,
  WatchEvent,
} from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/errors.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import type { Resource } from '../../../src/kube/resource.ts';
import type { Clock } from '../../../src/time/clock.ts';
import { eventFaults, type Fault, requestFaults } from './plan.ts';

type RequestFault = (typeof requestFaults)[number];
type EventFault = (typeof eventFaults)[number];
type Counted = Extract<Fault, { readonly plural: string | undefined }>;

/** A kind as far as faults look at it. */
type Kind = Pick<Resource<KubeObject>, 'plural'>;

interface Armed {
  readonly fault: Counted;
  left: number;
}

/** How long what is late takes; less than the 30 s after which a client gives up. */
const lateMs = 4_000;
/** States of a collection that are remembered, to be listed when they are old. */
const remembered = 4;

/** What stands between a controller and its server in a plan, and fails as it is told. */
export class Connection {
  readonly #clock: Clock;
  readonly #met: (kind: Fault['kind']) => void;
  #armed: Armed[] = [];
  readonly #pages = new Map<string, ListPage<KubeObject>[]>();
  readonly #again = new Map<string, () => Promise<ListPage<KubeObject>>>();
  /** Collections that are listed as they were, and watches that are told 410. */
  readonly #stale = new Set<string>();
  readonly #expired = new Set<string>();
  #busy = 0;

  /** `met` is told of every fault that has met something. */
  constructor(clock: Clock, met: (kind: Fault['kind']) => void) {
    this.#clock = clock;
    this.#met = met;
  }

  /** Requests that the server has not answered; what waits for its fault to pass is none. */
  get busy(): number {
    return this.#busy;
  }

  arm(fault: Counted): void {
    this.#armed.push({ fault, left: fault.times });
  }

  /** Remembers what the collections hold now. */
  async remember(): Promise<void> {
    for (const [key, list] of this.#again) this.#keep(key, await list());
  }

  /** The next watch of each collection is told 410; with `stale` it lists an earlier state then. */
  expire(stale: boolean): void {
    for (const key of this.#again.keys()) {
      this.#expired.add(key);
      if (stale) this.#stale.add(key);
    }
  }

  clear(): void {
    this.#armed = [];
    this.#stale.clear();
    this.#expired.clear();
  }

  /** A client whose requests go through here. */
  through(inner: KubeClient): KubeClient {
    return {
      ...inner,
      get: (r, ref, o) => this.#call(r, () => inner.get(r, ref, o)),
      find: (r, ref, o) => this.#call(r, () => inner.find(r, ref, o)),
      listAll: (r, o) => this.#call(r, () => inner.listAll(r, o)),
      create: (r, object, o) => this.#call(r, () => inner.create(r, object, o)),
      apply: (r, object, o) => this.#call(r, () => inner.apply(r, object, o)),
      applyStatus: (r, object, o) => this.#call(r, () => inner.applyStatus(r, object, o)),
      patch: (r, ref, change, o) => this.#call(r, () => inner.patch(r, ref, change, o)),
      patchStatus: (r, ref, change, o) => this.#call(r, () => inner.patchStatus(r, ref, change, o)),
      delete: (r, ref, o) => this.#call(r, () => inner.delete(r, ref, o)),
      list: (resource, options) => this.#list(inner, resource, options),
      watch: (resource, options) => this.#watch(inner, resource, options),
    };
  }

  async #call<T>({ plural }: Kind, send: () => Promise<T>): Promise<T> {
    const kind = this.#take(requestFaults, plural);
    switch (kind) {
      case '429':
        throw new KubeError({
          status: 429,
          reason: 'TooManyRequests',
          message: 'too many requests',
        });
      case '503':
        throw new KubeError({ status: 503, reason: 'ServiceUnavailable', message: 'unavailable' });
      case 'lost-request':
        throw lost();
      case 'lost-answer':
        await this.#count(send);
        throw lost();
      case 'late-answer': {
        const answer = await this.#count(send);
        await this.#clock.sleep(lateMs);
        return answer;
      }
      case undefined:
        return this.#count(send);
      default:
        return kind satisfies never;
    }
  }

  async #count<T>(send: () => Promise<T>): Promise<T> {
    this.#busy += 1;
    try {
      return await send();
    } finally {
      this.#busy -= 1;
    }
  }

  async #list<T extends KubeObject>(
    inner: KubeClient,
    resource: Resource<T>,
    options: ListOptions = {},
  ): Promise<ListPage<T>> {
    const key = keyOf(resource, options);
    const { signal: _, ...selection } = options;
    this.#again.set(key, () => inner.list(resource, selection));
    const [oldest] = this.#pages.get(key) ?? [];
    if (this.#stale.delete(key) && oldest) {
      this.#met('stale-list');
      return oldest as ListPage<T>;
    }
    const page = await this.#call(resource, () => inner.list(resource, options));
    this.#keep(key, page);
    return page;
  }

  #keep(key: string, page: ListPage<KubeObject>): void {
    this.#pages.set(key, [...(this.#pages.get(key) ?? []), page].slice(-remembered));
  }

  async *#watch<T extends KubeObject>(
    inner: KubeClient,
    resource: Resource<T>,
    options: Parameters<KubeClient['watch']>[1],
  ): AsyncGenerator<WatchEvent<T>> {
    if (this.#expired.delete(keyOf(resource, options))) {
      this.#met('relist');
      throw new KubeError({ status: 410, reason: 'Expired', message: 'too old resource version' });
    }
    let behind: WatchEvent<T> | undefined;
    for await (const event of inner.watch(resource, options)) {
      if (behind) {
        yield event;
        yield behind;
        behind = undefined;
        continue;
      }
      const kind = event.type === 'BOOKMARK' ? undefined : this.#take(eventFaults, resource.plural);
      if (kind === 'swap') behind = event;
      else yield* this.#deliver(kind, event, options.signal);
    }
    if (behind) yield behind;
  }

  async *#deliver<T>(kind: EventFault | undefined, event: T, signal: AbortSignal | undefined) {
    if (kind === 'drop') return;
    if (kind === 'delay') await this.#clock.sleep(lateMs, signal);
    yield event;
    if (kind === 'twice') yield event;
  }

  #take<K extends RequestFault | EventFault>(kinds: readonly K[], plural: string): K | undefined {
    const found = this.#armed.find(
      ({ fault, left }) =>
        left > 0 &&
        (kinds as readonly string[]).includes(fault.kind) &&
        (fault.plural === undefined || fault.plural === plural),
    );
    if (!found) return undefined;
    found.left -= 1;
    this.#met(found.fault.kind);
    return found.fault.kind as K;
  }
}

function keyOf({ plural }: Kind, options: ListOptions): string {
  return [plural, options.namespace, options.labelSelector].join('|');
}

function lost(): KubeError {
  return new KubeError({ status: 0, reason: 'Unreachable', message: 'the connection was lost' });
}
