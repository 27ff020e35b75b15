import { type FaultKind, faultKinds } from './plan.ts';
import type { PlanResult } from './run-plan.ts';

/** What many plans have shown together. */
export class Totals {
  readonly failures: string[] = [];
  readonly #plansThatMet = new Map<FaultKind, number>();
  readonly #sums = { plans: 0, changes: 0, faults: 0, jobs: 0, 'false Ready': 0, 'Job storms': 0 };
  #burst = 0;
  #healedMs = 0;
  #hours = 0;

  add(result: PlanResult): void {
    this.#sums.plans += 1;
    this.#sums.changes += result.changes;
    this.#sums.jobs += result.jobs;
    this.#sums['false Ready'] += result.flaws.filter((flaw) => flaw.includes('false Ready')).length;
    this.#sums['Job storms'] += result.flaws.filter((flaw) => flaw.includes('Job storm')).length;
    for (const [kind, times] of result.met) {
      this.#sums.faults += times;
      this.#plansThatMet.set(kind, 1 + (this.#plansThatMet.get(kind) ?? 0));
    }
    this.#burst = Math.max(this.#burst, result.burst);
    this.#healedMs = Math.max(this.#healedMs, result.healedMs);
    this.#hours += result.lastedMs / 3_600_000;
  }

  fail(text: string): void {
    this.failures.push(text);
  }

  /** Fault kinds that no plan has met. */
  get unmet(): readonly FaultKind[] {
    return faultKinds.filter((kind) => !this.#plansThatMet.has(kind));
  }

  get good(): boolean {
    return this.failures.length === 0 && this.unmet.length === 0;
  }

  table(): string {
    const rows: readonly (readonly [string, string | number])[] = [
      ...Object.entries(this.#sums),
      ['plans that failed', this.failures.length],
      ['most Jobs of a node in a minute', this.#burst],
      ['longest way to the end state', `${Math.round(this.#healedMs / 1000)} s`],
      ['time that passed in all', `${Math.round(this.#hours)} h`],
      ...faultKinds.map(
        (kind) => [`plans that met ${kind}`, this.#plansThatMet.get(kind) ?? 0] as const,
      ),
    ];
    return [
      '| fault plans | |',
      '| --- | --- |',
      ...rows.map(([name, n]) => `| ${name} | ${n} |`),
    ].join('\n');
  }
}
