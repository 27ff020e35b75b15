import { keyOf } from '../../../kube/object.ts';
import type { Clock, Random } from '../../../time/clock.ts';
import type { ConfigObject } from '../openstack-config.ts';

/** Owner of the slots for one leadership term: another replica may have worked since the previous term. */
export interface TermMemory {
  readonly clock: Clock;
  /** Monotonic milliseconds at which this process became the only sender. */
  readonly ledSince: number;
}

/**
 * Owner of the slots per OpenstackConfig uid. A restart loses all slots and only costs polls: durable state is in the
 * status or in the inventory.
 */
export interface ConfigMemory {
  readonly uid: string;
  readonly clock: Clock;
  readonly random: Random;
  term: TermMemory;
}

/** An OpenstackConfig during a reconcile: the object with this process's last status, and its memory. */
export interface ConfigContext {
  readonly object: ConfigObject;
  readonly memory: ConfigMemory;
}

/** State shared by several OpenstackConfigs (`namespace/name`). */
interface Shared {
  leave(member: string): void;
}

interface ConfigMemoriesOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Cloud and broker state: released as soon as an OpenstackConfig reads no cloud any more. */
  readonly clouds: readonly Shared[];
  /** Remaining shared state: released when an OpenstackConfig is deleted. */
  readonly others: readonly Shared[];
}

/** The memories per `namespace/name`; only this class drops memories. */
export class ConfigMemories implements Iterable<readonly [string, ConfigMemory]> {
  readonly #options: ConfigMemoriesOptions;
  readonly #memories = new Map<string, ConfigMemory>();
  /** Monotonic milliseconds. */
  #ledSince: number;

  constructor(options: ConfigMemoriesOptions) {
    this.#options = options;
    this.#ledSince = options.clock.monotonicMs();
  }

  /** Returns the object's memory; an object with a new uid under the same name gets a new memory. */
  of(object: ConfigObject): ConfigMemory {
    const key = keyOf(object);
    const { uid = '' } = object.metadata;
    const present = this.#memories.get(key);
    if (present?.uid === uid) return present;
    const memory = this.#create(uid);
    this.#memories.set(key, memory);
    return memory;
  }

  /** Returns the memory after a first reconcile; undefined: not reconciled yet. */
  find(key: string): ConfigMemory | undefined {
    return this.#memories.get(key);
  }

  [Symbol.iterator](): IterableIterator<readonly [string, ConfigMemory]> {
    return this.#memories.entries();
  }

  /** Starts a leadership term. */
  startTerm(): void {
    this.#ledSince = this.#options.clock.monotonicMs();
    for (const memory of this.#memories.values()) memory.term = this.#term();
  }

  /** Releases shared cloud state when an OpenstackConfig reads no cloud any more. */
  leaveClouds(key: string): void {
    for (const shared of this.#options.clouds) shared.leave(key);
  }

  /** Drops all memory and shared state when an OpenstackConfig is deleted. */
  drop(key: string): void {
    this.#memories.delete(key);
    this.leaveClouds(key);
    for (const shared of this.#options.others) shared.leave(key);
  }

  #create(uid: string): ConfigMemory {
    const { clock, random } = this.#options;
    return { uid, clock, random, term: this.#term() };
  }

  #term(): TermMemory {
    return { clock: this.#options.clock, ledSince: this.#ledSince };
  }
}
