import type { Clock } from '../../../time/clock.ts';
import { DeadlineReached, withDeadline } from '../../../time/deadline.ts';
import { clustersWithinMs, type ReportedCluster } from '../../clusters/deliver/viola-clusters.ts';
import type { Violas } from '../../clusters/deliver/violas.ts';
import type { ViolaEndpoint } from '../../model/resolve/endpoints.ts';
import { callerWaitMs } from './limited-reads.ts';
import { isUnread } from './nodes.ts';

/** A Viola's business clusters, or why Viola could not be read. */
export type ViolaReport =
  | { readonly kind: 'read'; readonly items: readonly ReportedCluster[] }
  | { readonly kind: 'unread'; readonly why: string; readonly isLegacy?: true };

interface Reading {
  /** Monotonic milliseconds of the answer; undefined: the read is under way. */
  at: number | undefined;
  readonly report: Promise<ViolaReport>;
}

/** Answer lifetime: Viola checks every business cluster per answer. */
const lifetimeMs = 10_000;

/** Business clusters per Viola; a report serves all callers for 10 s. */
export class ReportedClusters {
  readonly #violas: Pick<Violas, 'clusters'>;
  readonly #clock: Clock;
  readonly #readings = new Map<string, Reading>();

  constructor({ violas, clock }: { readonly violas: Pick<Violas, 'clusters'>; clock: Clock }) {
    this.#violas = violas;
    this.#clock = clock;
  }

  /** Returns the reports by URL; a failed read is a report, too. */
  async read(
    endpoints: readonly ViolaEndpoint[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, ViolaReport>> {
    const byUrl = new Map(endpoints.map((endpoint) => [endpoint.url, endpoint]));
    this.#forgetOld();
    const reports = [...byUrl].map(
      async ([url, endpoint]) => [url, await this.#reportInTime(endpoint)] as const,
    );
    const all = await Promise.all(reports);
    signal.throwIfAborted();
    return new Map(all);
  }

  /** A slow read goes on, and serves later callers. */
  async #reportInTime(endpoint: ViolaEndpoint): Promise<ViolaReport> {
    const limit = { clock: this.#clock, ms: callerWaitMs };
    try {
      return await withDeadline(limit, () => this.#report(endpoint));
    } catch (error) {
      if (!(error instanceof DeadlineReached)) throw error;
      return { kind: 'unread', why: error.message };
    }
  }

  async #report(endpoint: ViolaEndpoint): Promise<ViolaReport> {
    const known = this.#readings.get(endpoint.url);
    if (known) return known.report;
    const reading: Reading = { at: undefined, report: this.#read(endpoint) };
    this.#readings.set(endpoint.url, reading);
    try {
      return await reading.report;
    } finally {
      reading.at = this.#clock.monotonicMs();
    }
  }

  async #read(endpoint: ViolaEndpoint): Promise<ViolaReport> {
    if (endpoint.compatibility === 'legacy') {
      const why = 'a legacy Viola does not list its business clusters';
      return { kind: 'unread', why, isLegacy: true };
    }
    try {
      // Several callers share a read, so no caller's abort ends the read.
      const limit = { clock: this.#clock, ms: clustersWithinMs };
      const items = await withDeadline(limit, (ends) => this.#violas.clusters(endpoint, ends));
      return { kind: 'read', items };
    } catch (error) {
      if (!isUnread(error)) throw error;
      return { kind: 'unread', why: error.message };
    }
  }

  #forgetOld(): void {
    const oldest = this.#clock.monotonicMs() - lifetimeMs;
    for (const [url, { at = oldest }] of this.#readings) {
      if (at < oldest) this.#readings.delete(url);
    }
  }
}
