import { keyOf } from '../../kube/object.ts';
import type { Clock, Random } from '../../time/clock.ts';
import { UnansweredPosts } from '../deliver/unanswered-posts.ts';
import type { DeliveredCounts } from '../metrics/delivered-nodes.ts';
import type { ConfigObject } from '../openstack-config.ts';
import { PollInterval } from '../schedule/poll-interval.ts';
import { PendingScope } from '../schedule/sync-scope.ts';
import { UnconfirmedRemovals } from '../schedule/unconfirmed-removals.ts';
import { FlapDamping } from '../status/flap-damping.ts';

/** The status that this process wrote last: the watch may not have returned it yet. */
interface StatusWrite {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly status: unknown;
}

/** The part of a memory that counts for one term of leadership: another replica may have worked in between. */
interface TermMemory {
  readonly unansweredPosts: UnansweredPosts;
  /** Next time of the trigger schedule; undefined: not calculated yet. */
  nextScheduledAt: Date | undefined;
  /** Why the OpenstackConfig is not Ready; empty: Ready, or not synced in this term. */
  notReadyReasons: ReadonlySet<string>;
  /** For metrics; undefined: no sync of all servers has completed in this term. */
  delivered: DeliveredCounts | undefined;
}

/**
 * What this process remembers of one OpenstackConfig, by uid. A restart loses it, which costs polls and nothing else: state
 * that must survive a restart is in the status or in the inventory.
 */
export interface ConfigMemory {
  readonly uid: string;
  readonly pollInterval: PollInterval;
  readonly pendingScope: PendingScope;
  readonly unconfirmedRemovals: UnconfirmedRemovals;
  readonly flapDamping: FlapDamping;
  lastStatusWrite: StatusWrite | undefined;
  term: TermMemory;
}

/** An OpenstackConfig in a reconcile: the object with the last status of this process, and the memory of it. */
export interface ConfigContext {
  readonly object: ConfigObject;
  readonly memory: ConfigMemory;
}

/** State that OpenstackConfigs (`namespace/name`) share. */
interface Shared {
  leave(member: string): void;
}

interface ConfigMemoriesOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** State of clouds and brokers: an OpenstackConfig leaves it as soon as it reads no cloud any more. */
  readonly clouds: readonly Shared[];
  /** Other shared state: an OpenstackConfig leaves it when it is gone. */
  readonly others: readonly Shared[];
}

/** The memories of all OpenstackConfigs by `namespace/name`, and the only place that drops them. */
export class ConfigMemories implements Iterable<readonly [string, ConfigMemory]> {
  readonly #options: ConfigMemoriesOptions;
  readonly #memories = new Map<string, ConfigMemory>();
  /** Monotonic milliseconds. */
  #ledSince: number;

  constructor(options: ConfigMemoriesOptions) {
    this.#options = options;
    this.#ledSince = options.clock.monotonicMs();
  }

  /** Returns the memory of the object; an object with another uid under the same name gets a new one. */
  of(object: ConfigObject): ConfigMemory {
    const key = keyOf(object);
    const { uid = '' } = object.metadata;
    const present = this.#memories.get(key);
    if (present?.uid === uid) return present;
    const memory = this.#create(uid);
    this.#memories.set(key, memory);
    return memory;
  }

  /** Returns the memory of an OpenstackConfig that was reconciled before; undefined: none was. */
  find(key: string): ConfigMemory | undefined {
    return this.#memories.get(key);
  }

  [Symbol.iterator](): IterableIterator<readonly [string, ConfigMemory]> {
    return this.#memories.entries();
  }

  /** Starts a term of leadership. */
  startTerm(): void {
    this.#ledSince = this.#options.clock.monotonicMs();
    for (const memory of this.#memories.values()) memory.term = this.#term();
  }

  /** Takes an OpenstackConfig that reads no cloud any more out of what clouds share. */
  leaveClouds(key: string): void {
    for (const shared of this.#options.clouds) shared.leave(key);
  }

  /** Drops everything about an OpenstackConfig that is gone. */
  drop(key: string): void {
    this.#memories.delete(key);
    this.leaveClouds(key);
    for (const shared of this.#options.others) shared.leave(key);
  }

  #create(uid: string): ConfigMemory {
    const { clock, random } = this.#options;
    return {
      uid,
      pollInterval: new PollInterval({ clock, random }),
      pendingScope: new PendingScope(clock),
      unconfirmedRemovals: new UnconfirmedRemovals(clock),
      flapDamping: new FlapDamping(clock),
      lastStatusWrite: undefined,
      term: this.#term(),
    };
  }

  #term(): TermMemory {
    return {
      unansweredPosts: new UnansweredPosts(this.#options.clock, this.#ledSince),
      nextScheduledAt: undefined,
      notReadyReasons: new Set(),
      delivered: undefined,
    };
  }
}
