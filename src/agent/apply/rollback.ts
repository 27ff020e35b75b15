import type { NicReason } from '../../api/job.ts';
import { linkOf } from '../identity.ts';
import type { Refusal } from '../planning/refusals.ts';
import { inOrder, type Unit } from '../planning/unit.ts';
import type { Context } from './context.ts';
import { restoreFiles } from './disk.ts';
import { removeJournal } from './memory.ts';
import { inReachOf } from './reach.ts';
import { settle } from './settle.ts';

export interface Failure extends Refusal {
  /** Of the link, when the unit was not undone. */
  readonly name?: string;
}

interface Undone {
  /** Why the NIC is not as it was; undefined if it is. */
  readonly problem: string | undefined;
  /** Name of its link now; empty if it has none, or none that is known to be its own. */
  readonly name: string;
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

  /** Undoes a unit and verifies that kernel and files are as they were before it. A NIC that others took meanwhile stays. */
  async fail(unit: Unit, failure: Refusal): Promise<void> {
    this.#going.delete(unit);
    const { problem, name } = await this.#undo(unit);
    const message = problem
      ? `${failure.message}; not undone: ${problem}`
      : `${failure.message}; undone`;
    const reason = problem ? 'RollbackFailed' : failure.reason;
    this.#failures.set(unit, { reason, message, ...(problem ? { name } : {}) });
    this.#context.log.warn({ mac: unit.target.mac, ...failure, problem }, 'nic undone');
  }

  async #undo({ nic, before, files, index }: Unit): Promise<Undone> {
    let name = '';
    try {
      const goal = { nic, want: before };
      const { wrong, seen } = await settle([goal], this.#context);
      name = linkOf(seen, nic.mac)?.name ?? '';
      const reach = inReachOf(files, this.#context.hostRoot);
      const lost = inOrder(files).find((file) => file.before && reach.left.includes(file.path));
      const problem = wrong.get(goal) ?? (lost && `${lost.path}: its folder is missing`);
      await restoreFiles(reach.files, this.#context);
      // The journal stays until the NIC is back: the next run tries again.
      if (!problem) await removeJournal(index, this.#context);
      return { problem, name };
    } catch (error) {
      return { problem: words(error), name };
    }
  }
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
