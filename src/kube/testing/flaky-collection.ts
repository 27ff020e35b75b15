import type { FakeClock } from '../../time/fake-clock.ts';
import type { KubeClient, ListOptions, ListPage, WatchOptions } from '../client/client.ts';
import { KubeError } from '../errors.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';

/** A fault in a single list or watch. */
export type Fault =
  | 'none'
  | 'refuse'
  | 'gone'
  | 'goneInside'
  | 'drop'
  | 'end'
  | 'replay'
  | 'omit'
  | 'silence';

interface Entry {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
}

const unavailable = new KubeError({ status: 503, reason: 'Busy', message: 'busy' });
const gone = new KubeError({ status: 410, reason: 'Expired', message: 'too old' });

const lost = new KubeError({ status: 0, reason: 'Unreachable', message: 'lost' });

/**
 * A test collection with the API server's rules and faults: the first list or watch meets the first fault, and so on.
 */
export class FlakyCollection {
  readonly #clock: FakeClock;
  readonly #faults: Fault[];
  readonly #objects = new Map<string, KubeObject>();
  readonly #log: Entry[] = [];
  readonly #secondPages = new Map<string, ListPage<KubeObject>>();
  #version = 100;
  #uid = 0;

  constructor(clock: FakeClock, faults: readonly Fault[]) {
    this.#clock = clock;
    this.#faults = [...faults];
  }

  get state(): ReadonlyMap<string, string | undefined> {
    return new Map(
      [...this.#objects].map(([name, { metadata }]) => [name, metadata.resourceVersion]),
    );
  }

  put(name: string): void {
    const known = this.#objects.get(name)?.metadata.uid;
    const resourceVersion = String(++this.#version);
    const object = { metadata: { name, uid: known ?? `uid-${++this.#uid}`, resourceVersion } };
    this.#objects.set(name, object);
    this.#log.push({ version: this.#version, type: known ? 'MODIFIED' : 'ADDED', object });
  }

  remove(name: string): void {
    const object = this.#objects.get(name);
    if (!object) return;
    this.#objects.delete(name);
    const metadata = { ...object.metadata, resourceVersion: String(++this.#version) };
    this.#log.push({ version: this.#version, type: 'DELETED', object: { metadata } });
  }

  /** Takes a backup and returns its restore function. A restore reuses later versions. */
  backup(): () => void {
    const [version, objects, logLength] = [this.#version, new Map(this.#objects), this.#log.length];
    return () => {
      this.#version = version;
      this.#log.length = logLength;
      this.#objects.clear();
      for (const [name, object] of objects) this.#objects.set(name, object);
    };
  }

  /** Removes all remaining faults. */
  heal(): void {
    this.#faults.length = 0;
  }

  client(): Pick<KubeClient, 'list' | 'watch'> {
    return {
      list: (resource, options) => this.#page(resource, options),
      watch: (resource, options) => this.#watch(resource, options),
    };
  }

  /** Returns a list in two pages with one version, with time for changes in between. */
  async #page<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}) {
    await this.#clock.sleep(5);
    const half =
      options.continue === undefined ? undefined : this.#secondPages.get(options.continue);
    if (half) return { ...half, items: half.items.map((object) => readAs(resource, object)) };
    const fault = this.#faults.shift();
    if (fault === 'refuse') throw unavailable;
    if (fault === 'gone') throw gone;
    const objects = [...this.#objects.values()];
    const resourceVersion = String(this.#version);
    const token = `token-${this.#secondPages.size}`;
    const middle = Math.ceil(objects.length / 2);
    this.#secondPages.set(token, { items: objects.slice(middle), resourceVersion });
    const items = objects.slice(0, middle).map((object) => readAs(resource, object));
    return { items, resourceVersion, continue: token };
  }

  async *#watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions) {
    const { timeoutSeconds = 0, signal } = options;
    const fault = this.#faults.shift() ?? 'none';
    await this.#open(fault, options);
    const from = Number(options.resourceVersion);
    let reached = fault === 'replay' ? from - 5 : from;
    let sent = 0;
    const end = this.#clock.monotonicMs() + timeoutSeconds * 1_000;
    while (this.#clock.monotonicMs() < end) {
      for (const { version, type, object } of this.#after(reached)) {
        reached = version;
        if (fault !== 'omit' || sent > 0) yield { type, object: readAs(resource, object) };
        if (++sent === 2 && this.#endsAfterTwo(fault)) return;
      }
      await this.#clock.sleep(500, signal);
    }
    const resourceVersion = String(Math.max(reached, from));
    yield { type: 'BOOKMARK' as const, resourceVersion };
  }

  #after(reached: number): readonly Entry[] {
    return this.#log.filter(({ version }) => version > reached);
  }

  async #open(fault: Fault, { idleMs = 0, signal }: WatchOptions): Promise<void> {
    if (fault === 'refuse') throw unavailable;
    if (fault === 'gone') throw gone;
    if (fault !== 'silence') return;
    await this.#clock.sleep(idleMs, signal);
    throw new KubeError({ status: 0, reason: 'Timeout', message: 'silent' });
  }

  #endsAfterTwo(fault: Fault): boolean {
    if (fault === 'drop') throw lost;
    if (fault === 'goneInside') throw gone;
    return fault === 'end';
  }
}

function readAs<T extends KubeObject>({ parse }: Resource<T>, object: KubeObject): T {
  return parse ? parse(object) : (object as T);
}
