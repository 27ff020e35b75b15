import { keyOf } from '../../kube/object.ts';
import type { Clock, Random } from '../../time/clock.ts';
import { UnansweredPosts } from '../deliver/unanswered-posts.ts';
import type { DeliveredCounts } from '../metrics/delivered-nodes.ts';
import type { ConfigObject } from '../openstack-config.ts';
import type { ConfigReads } from '../read-api/config-reads.ts';
import { DeliveredBases } from '../removals/delivered-bases.ts';
import { RemovalMemory } from '../removals/removal-memory.ts';
import { PollInterval } from '../schedule/poll-interval.ts';
import { PendingScope } from '../schedule/sync-scope.ts';
import { UnconfirmedRemovals } from '../schedule/unconfirmed-removals.ts';
import { FlapDamping } from '../status/flap-damping.ts';
import type { StoredPlan } from '../what-if/stored-plan.ts';

/** This process's last status write: the watch may not have returned the status yet. */
interface StatusWrite {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly status: unknown;
}

/** Memory for one leadership term: another replica may have worked since the previous term. */
interface TermMemory {
  readonly unansweredPosts: UnansweredPosts;
  /** For the change log. */
  readonly deliveredBases: DeliveredBases;
  /** Next time in the trigger schedule; undefined: not calculated yet. */
  nextScheduledAt: Date | undefined;
  /** Reasons why the OpenstackConfig is not Ready; empty: Ready, or not synced in this term. */
  notReadyReasons: ReadonlySet<string>;
  /** For metrics; undefined: no sync of all servers has completed in this term. */
  delivered: DeliveredCounts | undefined;
  /** For the read API; undefined: no full sync has completed in this term. */
  reads: ConfigReads | undefined;
  /** Start time (monotonic ms) for the last sync with a decision about all nodes; undefined: none in this term. */
  decidedSinceMs: number | undefined;
  /** Next sync; undefined: unknown, or only a trigger starts a sync. */
  nextSyncAt: Date | undefined;
  /** For GET /v1/plan; undefined: no full sync has planned in this term. */
  lastPlan: StoredPlan | undefined;
  /** Failed attempts to pass on the request in multinic.io/check-nodes. */
  failedChecks: { readonly id: string; readonly count: number };
}

/**
 * In-memory state per OpenstackConfig uid. A restart loses this state and only costs polls: durable state is
 * in the status or in the inventory.
 */
export interface ConfigMemory {
  readonly uid: string;
  readonly pollInterval: PollInterval;
  readonly pendingScope: PendingScope;
  readonly unconfirmedRemovals: UnconfirmedRemovals;
  readonly flapDamping: FlapDamping;
  readonly removals: RemovalMemory;
  lastStatusWrite: StatusWrite | undefined;
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

  /** Ends a leadership term: the next leader serves the read API. */
  endTerm(): void {
    for (const { term } of this.#memories.values()) term.reads = undefined;
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
    return {
      uid,
      pollInterval: new PollInterval({ clock, random }),
      pendingScope: new PendingScope(clock),
      unconfirmedRemovals: new UnconfirmedRemovals(clock),
      flapDamping: new FlapDamping(clock),
      removals: new RemovalMemory(clock),
      lastStatusWrite: undefined,
      term: this.#term(),
    };
  }

  #term(): TermMemory {
    return {
      unansweredPosts: new UnansweredPosts(this.#options.clock, this.#ledSince),
      deliveredBases: new DeliveredBases(),
      nextScheduledAt: undefined,
      notReadyReasons: new Set(),
      delivered: undefined,
      reads: undefined,
      decidedSinceMs: undefined,
      nextSyncAt: undefined,
      lastPlan: undefined,
      failedChecks: { id: '', count: 0 },
    };
  }
}
