import type { NicReason } from '../../api/job.ts';
import type { Refusal } from '../planning/refusals.ts';
import type { Unit } from '../planning/unit.ts';
import type { Context } from './context.ts';
import { restoreFiles } from './disk.ts';
import { removeJournal } from './memory.ts';
import { bringNic } from './settle.ts';

export interface Failure extends Refusal {
  /** Of the link, when the unit was not undone. */
  readonly name?: string;
}

/** Units on their way: what fails at a step is undone at once and takes no part in the next ones. */
export class UndoableWork {
  readonly #context: Context;
  readonly #going: Set<Unit>;
  readonly #failures = new Map<Unit, Failure>();

  constructor(units: readonly Unit[], context: Context) {
    this.#context = context;
    this.#going = new Set(units);
  }

  get going(): readonly Unit[] {
    return [...this.#going];
  }

  get failures(): ReadonlyMap<Unit, Failure> {
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

  /**
   * What is wrong with a NIC though it is as it shall be: others took it meanwhile, and undoing it would be felt by them. It is
   * ours from now on, so that the next run knows which part of it is.
   */
  tell(unit: Unit, failure: Refusal): void {
    this.#failures.set(unit, { ...failure, name: unit.after.link?.name ?? '' });
    this.#context.log.warn({ mac: unit.target.mac, ...failure }, 'nic taken by others');
  }

  /** Undoes a unit: kernel and files are as they were before it, which is looked at. */
  async fail(unit: Unit, failure: Refusal): Promise<void> {
    this.#going.delete(unit);
    const problem = await this.#undo(unit);
    const message = problem
      ? `${failure.message}; not undone: ${problem}`
      : `${failure.message}; undone`;
    this.#failures.set(unit, { reason: problem ? 'RollbackFailed' : failure.reason, message });
    this.#context.log.warn({ mac: unit.target.mac, ...failure, problem }, 'nic undone');
  }

  async #undo(unit: Unit): Promise<string | undefined> {
    try {
      const problem = await bringNic(unit.nic, unit.before, this.#context);
      await restoreFiles(unit.files, this.#context);
      // The journal stays until the NIC is back: the next run tries again.
      if (!problem) await removeJournal(unit.index, this.#context);
      return problem;
    } catch (error) {
      return words(error);
    }
  }
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
