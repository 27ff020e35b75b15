import type { NicReason } from '../../api/job.ts';
import type { Refusal } from '../planning/refuse/refusal.ts';
import type { Unit } from '../planning/unit.ts';
import { bringNic } from './bring.ts';
import { removeJournal } from './journal.ts';
import { restoreFiles } from './nic-files.ts';
import type { Workshop } from './workshop.ts';

/** Units on their way: what fails at a step is undone at once and takes no part in the next ones. */
export class UndoableWork {
  readonly #workshop: Workshop;
  readonly #going: Set<Unit>;
  readonly #failures = new Map<Unit, Refusal>();

  constructor(units: readonly Unit[], workshop: Workshop) {
    this.#workshop = workshop;
    this.#going = new Set(units);
  }

  get going(): readonly Unit[] {
    return [...this.#going];
  }

  get failures(): ReadonlyMap<Unit, Refusal> {
    return this.#failures;
  }

  /** Takes a step with each unit that is still on its way. */
  async each(reason: NicReason, step: (unit: Unit) => Promise<void>): Promise<void> {
    const units = this.going;
    const results = await Promise.allSettled(units.map((unit) => step(unit)));
    // Latest first, as their names and files may stand on one another.
    for (const [at, result] of [...results.entries()].toReversed()) {
      const unit = units[at];
      if (unit && result.status === 'rejected')
        await this.fail(unit, { reason, message: words(result.reason) });
    }
  }

  /** Takes one step for all units that are still on their way; none is taken when there are none. */
  async together(reason: NicReason, step: () => Promise<void>): Promise<void> {
    if (this.#going.size === 0) return;
    try {
      await step();
    } catch (error) {
      for (const unit of this.going.toReversed())
        await this.fail(unit, { reason, message: words(error) });
    }
  }

  /** Undoes a unit: kernel and files are as they were before it, which is looked at. */
  async fail(unit: Unit, failure: Refusal): Promise<void> {
    this.#going.delete(unit);
    const problem = await this.#undo(unit);
    const message = problem
      ? `${failure.message}; not undone: ${problem}`
      : `${failure.message}; undone`;
    this.#failures.set(unit, { reason: problem ? 'RollbackFailed' : failure.reason, message });
    this.#workshop.log.warn({ mac: unit.target.mac, ...failure, problem }, 'nic undone');
  }

  async #undo(unit: Unit): Promise<string | undefined> {
    const { disk } = this.#workshop;
    try {
      const problem = await bringNic(unit.nic, unit.before, this.#workshop);
      await restoreFiles(unit.files, disk);
      // The journal stays until the NIC is back: the next run tries again.
      if (!problem) await removeJournal(unit.index, disk);
      return problem;
    } catch (error) {
      return words(error);
    }
  }
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
