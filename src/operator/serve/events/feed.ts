import { randomUUID } from 'node:crypto';
import { notLeading, refuseStale } from '../../../http/api-callers.ts';
import { HttpProblem } from '../../../http/problem.ts';
import type { Logger } from '../../../process/log.ts';
import { EventStream } from '../../../runtime/events/event-stream.ts';
import { changeText, dataOf } from '../../../runtime/events/event-text.ts';
import { Ring } from '../../../runtime/events/ring.ts';
import { passed, type Random } from '../../../time/clock.ts';
import { listClusters } from '../read-api/clusters.ts';
import type { ReadSources } from '../read-api/read-sources.ts';
import { isVisibleTo } from '../read-api/visible-configs.ts';
import { changesBetween, concerns, type Fleet, type RowChange } from './fleet.ts';
import { FleetReader } from './fleet-reader.ts';
import { RenderedRows } from './rendered-rows.ts';
import { Scope } from './scope.ts';

/** Maximum for open streams; a further stream gets 503. */
export const mostStreams = 100;
/** Pause between two comparisons. */
const compareMs = 1_000;
/** Pause between two reads from Viola: connections to business clusters change without a sync. */
const clustersMs = 10_000;
/** Ring lifetime without readers: an operator without readers compares nothing. */
const idleMs = 15 * 60_000;
/** A stream lives 10 min ± 20 %: simultaneous readers reconnect at different times. */
const shortestStreamMs = 8 * 60_000;
const jitterMs = 4 * 60_000;

export interface FeedOptions {
  readonly sources: ReadSources;
  readonly random: Random;
  readonly log: Logger;
  /** Returns why the rows may be stale; undefined: current. */
  readonly unavailable: () => string | undefined;
}

export interface ReaderRequest {
  /** Business clusters visible to the reader; undefined: all. */
  readonly providers: readonly string[] | undefined;
  readonly lastEventId: string | undefined;
  readonly isAdmitted: () => Promise<boolean>;
}

/** Changed row for a business cluster in a scope. */
interface ClusterChange {
  readonly kind: 'cluster';
  readonly key: string;
  readonly scope: Scope;
}

type Change = RowChange | ClusterChange;
type Stream = EventStream<Change>;

/** A leadership term with readers, until the term ends or no reader came for `idleMs`. */
class Run {
  readonly ring = new Ring<Change>(randomUUID());
  readonly scopes = new Map<string, Scope>();
  readonly reader: FleetReader;
  readonly ends = new AbortController();
  fleet: Fleet;
  rows: RenderedRows;
  clustersAt = Number.NEGATIVE_INFINITY;
  usedAt: number;

  constructor({ sources, log }: FeedOptions) {
    this.reader = new FleetReader(sources, log);
    this.fleet = this.reader.read();
    this.rows = new RenderedRows(this.fleet);
    this.usedAt = sources.deps.clock.monotonicMs();
  }
}

/**
 * Compares the list routes' rows every second while readers exist, and streams the differences. The rows have
 * no second source: polling notices syncs, edits, lost rights and deletions alike.
 */
export class Feed {
  readonly #options: FeedOptions;
  readonly #streams = new Set<Stream>();
  #opening = 0;
  #run: Run | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Opens a stream. Throws 503 if too many are open. */
  async open(request: ReaderRequest): Promise<Stream> {
    refuseStale(this.#options.unavailable());
    if (this.#streams.size + this.#opening >= mostStreams) {
      const detail = `${mostStreams} streams are open; poll the lists, and retry later`;
      throw new HttpProblem(503, 'TooManyStreams', detail, { retryAfterSeconds: 30 });
    }
    this.#opening += 1;
    try {
      const run = this.#run ?? this.#start();
      const scope = scopeIn(run, request.providers);
      // The reader lists next; changes after the list must follow in the stream.
      if (!scope.hasRows) await this.#readClusters(run, scope);
      run.ends.signal.throwIfAborted();
      return this.#stream(run, scope, request);
    } finally {
      this.#opening -= 1;
    }
  }

  /** Ends all streams and drops the ring: the Lease is lost, or the server closes. */
  end(): void {
    const { unavailable } = this.#options;
    const why = unavailable() ?? 'this replica is stopping';
    this.#run?.ends.abort(notLeading(why));
    this.#run = undefined;
    for (const stream of this.#streams) stream.end();
  }

  #start(): Run {
    const run = new Run(this.#options);
    this.#run = run;
    void this.#compareRegularly(run);
    return run;
  }

  #stream(run: Run, scope: Scope, { lastEventId, isAdmitted }: ReaderRequest): Stream {
    const { random, sources } = this.#options;
    const now = sources.deps.clock.monotonicMs();
    const stream: Stream = new EventStream<Change>({
      ring: run.ring,
      lastEventId,
      now,
      endsAt: now + shortestStreamMs + random() * jitterMs,
      textOf: (change, number) => textOf(run, scope, [change, number]),
      isAdmitted,
    });
    this.#streams.add(stream);
    stream.once('close', () => this.#streams.delete(stream));
    return stream;
  }

  async #compareRegularly(run: Run): Promise<void> {
    const { sources, log, unavailable } = this.#options;
    const { clock } = sources.deps;
    try {
      while (await passed(clock, compareMs, run.ends.signal)) {
        if (unavailable() !== undefined) this.end();
        else await this.#compare(run, clock.monotonicMs());
      }
    } catch (err) {
      log.error({ err }, 'event streams ended: the rows cannot be compared');
      this.end();
    }
  }

  async #compare(run: Run, now: number): Promise<void> {
    const fleet = run.reader.read();
    const changes = await changesBetween(run.fleet, fleet);
    if (run.ends.signal.aborted) return;
    run.fleet = fleet;
    run.rows = new RenderedRows(fleet);
    this.#add(run, changes);
    if (changes.length > 0 || now - run.clustersAt >= clustersMs) {
      run.clustersAt = now;
      for (const scope of run.scopes.values()) void this.#refreshClusters(run, scope);
    }
    for (const stream of this.#streams) stream.tick(now);
    if (this.#streams.size + this.#opening > 0) run.usedAt = now;
    else if (now - run.usedAt >= idleMs) this.end();
  }

  #add(run: Run, changes: Iterable<Change>): void {
    for (const change of changes) run.ring.add(change);
    for (const stream of this.#streams) stream.flush();
  }

  async #refreshClusters(run: Run, scope: Scope): Promise<void> {
    try {
      await this.#readClusters(run, scope);
    } catch (err) {
      if (!run.ends.signal.aborted) this.#options.log.error({ err }, 'business clusters not read');
    }
  }

  async #readClusters(run: Run, scope: Scope): Promise<void> {
    const { usual, reported, deps } = this.#options.sources;
    const { providers } = scope;
    const configs = [...run.fleet.values()]
      .filter(({ clusters }) => isVisibleTo(providers, clusters))
      .map(({ config }) => config);
    const clusters = { configs, usual, reported, settings: deps.settings, providers };
    const all = { limit: Number.POSITIVE_INFINITY };
    const { items } = await listClusters(clusters, all, run.ends.signal);
    run.ends.signal.throwIfAborted();
    this.#add(
      run,
      scope.take(items).map((key) => ({ kind: 'cluster', key, scope })),
    );
  }
}

function scopeIn({ scopes }: Run, providers: readonly string[] | undefined): Scope {
  const key = JSON.stringify(providers?.toSorted() ?? null);
  const scope = scopes.get(key) ?? new Scope(providers);
  scopes.set(key, scope);
  return scope;
}

/** Returns the event for a change; undefined: the reader's lists never had the row. */
function textOf(
  { ring, rows }: Run,
  scope: Scope,
  [change, number]: readonly [Change, number],
): string | undefined {
  const id = ring.idOf(number);
  if (change.kind !== 'cluster') {
    const { providers } = scope;
    return concerns(providers, change) ? changeText(id, rows.dataOf(change, providers)) : undefined;
  }
  if (change.scope !== scope) return undefined;
  const { kind, key } = change;
  return changeText(id, dataOf({ kind, key, row: scope.row(key) ?? null }));
}
