import type { OperatorMetrics } from './metrics.ts';

/** Shows how many OpenstackConfigs are not Ready, for each reason that one has. */
export class NotReady {
  readonly #metrics: Pick<OperatorMetrics, 'set'>;
  readonly #reasons = new Map<string, ReadonlySet<string>>();
  readonly #counts = new Map<string, number>();

  constructor(metrics: Pick<OperatorMetrics, 'set'>) {
    this.#metrics = metrics;
  }

  /** What the last look at an OpenstackConfig found; nothing: it is Ready. */
  note(key: string, reasons: readonly string[]): void {
    for (const reason of this.#reasons.get(key) ?? []) this.#count(reason, -1);
    const found = new Set(reasons);
    for (const reason of found) this.#count(reason, 1);
    if (found.size > 0) this.#reasons.set(key, found);
    else this.#reasons.delete(key);
  }

  /** What the last look at it found. */
  reasonsOf(key: string): ReadonlySet<string> {
    return this.#reasons.get(key) ?? new Set();
  }

  /** What was found holds no more: another process may have led since. */
  clear(): void {
    for (const key of this.#reasons.keys()) this.note(key, []);
  }

  #count(reason: string, by: number): void {
    const count = (this.#counts.get(reason) ?? 0) + by;
    this.#counts.set(reason, count);
    this.#metrics.set('multinic_openstack_configs_not_ready', { reason }, count);
  }
}
