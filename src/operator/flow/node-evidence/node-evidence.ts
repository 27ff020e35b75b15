import type { Store as ObjectStore } from '../../../kube/cache/store.ts';
import { keyOf } from '../../../kube/object.ts';
import type { Logger } from '../../../process/log.ts';
import { type Clock, passed } from '../../../time/clock.ts';
import { withDeadline } from '../../../time/deadline.ts';
import type { ClusterFacts } from '../../clusters/deliver/node-facts.ts';
import type { Violas } from '../../clusters/deliver/violas.ts';
import type { ManagementCluster } from '../../management-cluster.ts';
import { clusterKeyOf } from '../../model/cluster-key.ts';
import type { ConfigContext, ConfigMemories } from '../../model/memory/config-memory.ts';
import { latestObject } from '../../model/memory/latest-object.ts';
import {
  type ConfigObject,
  generationOf,
  isOfLegacyViola,
  ownerOf,
} from '../../model/openstack-config.ts';
import { readTimeOf } from '../../model/read-time.ts';
import type { ViolaEndpoint } from '../../model/resolve/endpoints.ts';
import { type Resolution, resolveConfig } from '../../model/resolve/resolve.ts';
import type { OperatorSettings } from '../../model/settings/operator.ts';
import { type ClusterRead, evidenceMemory } from '../../report/status/evidence.ts';
import type { StatusWriter } from '../../report/status/writer.ts';
import type { Inventory } from '../inventory-records/inventory.ts';
import { nodesOfEarlierSync } from './earlier-sync.ts';

export interface NodeEvidenceDeps {
  readonly configs: Pick<ObjectStore<ConfigObject>, 'list' | 'get'>;
  readonly memories: Pick<ConfigMemories, 'of'>;
  readonly settings: OperatorSettings;
  readonly violas: Pick<Violas, 'of'>;
  readonly management: Pick<ManagementCluster, 'owner'>;
  readonly inventory: Pick<Inventory, 'objectsOf'>;
  readonly writer: Pick<StatusWriter, 'refresh'>;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'debug' | 'error'>;
}

/** A business cluster with OpenstackConfigs. */
interface Cluster {
  readonly key: string;
  readonly viola: ViolaEndpoint;
  readonly providerId: string;
  readonly members: readonly ConfigContext[];
}

/** Milliseconds between reads per business cluster. */
const readEveryMs = 60_000;
/** Milliseconds between evidence checks. */
const tickMs = 5_000;
/** Milliseconds for one read. */
const readWithinMs = 45_000;
const readsAtOnce = 8;

/**
 * Reads each business cluster's nodes once a minute, for all OpenstackConfigs, in every trigger mode and while paused.
 * Delivered and NICsReady follow these reads, and become Unknown without recent reads.
 */
export class NodeEvidenceReader {
  readonly #deps: NodeEvidenceDeps;
  /** By object as watched: a thousand objects are resolved once, not every five seconds. */
  readonly #resolved = new WeakMap<ConfigObject, Resolution>();
  readonly #startedAt = new Map<string, number>();
  readonly #running = new Map<string, Promise<void>>();

  constructor(deps: NodeEvidenceDeps) {
    this.#deps = deps;
  }

  /** Reads while `work` runs, at most until `leading` aborts. */
  async during(leading: AbortSignal, work: () => Promise<void>): Promise<void> {
    const over = new AbortController();
    const end = (): void => over.abort(leading.reason);
    leading.addEventListener('abort', end, { once: true });
    if (leading.aborted) end();
    const reads = this.#run(over.signal);
    try {
      await work();
    } finally {
      leading.removeEventListener('abort', end);
      end();
      await reads;
    }
  }

  /** Starts the due reads, and ends conditions without recent evidence; resolves when the reads have ended. */
  async tick(signal: AbortSignal): Promise<void> {
    const live = this.#live();
    const begun = this.#beginDue(live, signal);
    // A new read may still be in time.
    const soon = new Set(begun.flatMap(({ members }) => members.map(({ memory }) => memory)));
    const rest = live.filter((context) => !soon.has(context.memory) && isOld(context));
    await this.#refresh(rest, signal);
    await this.#ended();
  }

  /** Begins due reads while slots are free, and returns their clusters: first those whose last read began first. */
  #beginDue(live: readonly ConfigContext[], signal: AbortSignal): readonly Cluster[] {
    const due = this.#clustersOf(live).filter((cluster) => this.#isDue(cluster));
    const begun = due
      .toSorted((one, other) => this.#begunAt(one) - this.#begunAt(other))
      .slice(0, Math.max(0, readsAtOnce - this.#running.size));
    for (const cluster of begun) this.#begin(cluster, signal);
    return begun;
  }

  /** Returns when the last read began; 0: none has begun while this operator leads. */
  #begunAt({ key }: Cluster): number {
    return this.#startedAt.get(key) ?? 0;
  }

  #begin(cluster: Cluster, signal: AbortSignal): void {
    const { key, members } = cluster;
    this.#startedAt.set(key, this.#deps.clock.monotonicMs());
    for (const { memory } of members) evidenceMemory.of(memory.term).noteReadBegun();
    const reading = this.#read(cluster, signal).finally(() => {
      this.#running.delete(key);
      // The next read must not wait for the next tick: a tick has fewer slots than clusters.
      if (!signal.aborted) this.#beginDue(this.#live(), signal);
    });
    this.#running.set(key, reading);
  }

  /** Resolves when no read is running. */
  async #ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  async #run(signal: AbortSignal): Promise<void> {
    this.#startedAt.clear();
    const { clock, log } = this.#deps;
    do {
      // The next tick must not wait for hanging reads.
      this.tick(signal).catch((error: unknown) => log.error({ err: error }, 'nodes not read'));
    } while (await passed(clock, tickMs, signal));
    await this.#ended();
  }

  /** Returns the live OpenstackConfigs with native Violas. */
  #live(): ConfigContext[] {
    const { configs, memories } = this.#deps;
    const live = configs
      .list()
      .filter((one) => one.metadata.deletionTimestamp === undefined && !isOfLegacyViola(one));
    return live.map((object) => ({ object, memory: memories.of(object) }));
  }

  /** Returns the business clusters; an object with unusable fields names no business cluster. */
  #clustersOf(live: readonly ConfigContext[]): Cluster[] {
    const members = live.flatMap((context) => {
      const resolution = this.#resolve(context.object);
      if (resolution.kind === 'refused') return [];
      const { viola, providerId } = resolution.config;
      return [{ key: clusterKeyOf(resolution.config), viola, providerId, context }];
    });
    return [...Map.groupBy(members, ({ key }) => key)].flatMap(([key, all]) => {
      const [first] = all;
      if (!first) return [];
      const { viola, providerId } = first;
      return [{ key, viola, providerId, members: all.map(({ context }) => context) }];
    });
  }

  #resolve(object: ConfigObject): Resolution {
    const resolution = this.#resolved.get(object) ?? resolveConfig(object, this.#deps.settings);
    this.#resolved.set(object, resolution);
    return resolution;
  }

  /** False if syncs have just read the business cluster for all OpenstackConfigs. */
  #isDue({ key, members }: Cluster): boolean {
    if (this.#running.has(key)) return false;
    const before = this.#deps.clock.monotonicMs() - readEveryMs;
    if ((this.#startedAt.get(key) ?? Number.NEGATIVE_INFINITY) > before) return false;
    return members.some(({ memory }) => {
      const { last } = evidenceMemory.of(memory.term);
      return last === undefined || last.read.ms <= before;
    });
  }

  /** Never rejects: without a read the evidence ages. */
  async #read(cluster: Cluster, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    const { key, viola, providerId, members } = cluster;
    const read = readTimeOf(clock);
    try {
      const facts = await withDeadline({ clock, ms: readWithinMs, signal }, async (ends) =>
        this.#factsOf(cluster, ends),
      );
      if (facts === undefined) return;
      for (const context of members)
        await this.#use(context, { key, providerId, facts, read }, signal);
      await this.#refresh(members, signal);
    } catch (error) {
      if (!signal.aborted)
        log.debug({ err: error, endpoint: viola.url, providerId }, 'nodes not read');
    }
  }

  async #factsOf(
    { viola, providerId, members: [first] }: Cluster,
    signal: AbortSignal,
  ): Promise<ClusterFacts | undefined> {
    if (!first) return undefined;
    const { object } = first;
    const owner = { ...ownerOf(object), generation: generationOf(object) };
    return (await this.#deps.violas.of(viola, providerId, owner)).facts(signal);
  }

  async #use(
    context: ConfigContext,
    { providerId, ...of }: ClusterRead & Pick<Cluster, 'providerId'>,
    signal: AbortSignal,
  ): Promise<void> {
    const { key: cluster, facts, read } = of;
    const evidence = evidenceMemory.of(context.memory.term);
    const object = latestObject(context);
    if (evidence.isNew) {
      const { management, inventory } = this.#deps;
      const owner = await management.owner(object, signal);
      const recorded = (await inventory.objectsOf(providerId, ownerOf(object))) ?? [];
      const nodes = nodesOfEarlierSync(object, facts, { owner, recorded });
      const generation = generationOf(object);
      // A sync may have completed meanwhile.
      if (nodes && evidence.isNew)
        evidence.expect({ nodes, undecided: [], generation, cluster, sinceMs: read.ms });
    }
    evidence.noteRead(of);
  }

  /** Writes changed conditions; the next tick repeats a failed write. */
  async #refresh(members: readonly ConfigContext[], signal: AbortSignal): Promise<void> {
    const { configs, writer, log } = this.#deps;
    for (const { object, memory } of members) {
      const present = configs.get(keyOf(object));
      if (present?.metadata.uid !== object.metadata.uid) continue;
      try {
        await writer.refresh({ object: present ?? object, memory }, signal);
      } catch (error) {
        if (signal.aborted) return;
        log.debug({ err: error, config: keyOf(object) }, 'conditions not written, tried again');
      }
    }
  }
}

function isOld({ memory }: ConfigContext): boolean {
  return evidenceMemory.of(memory.term).isOld;
}
