import type { NicReason } from '../../api/job.ts';
import type { Coded } from '../../api/nic-codes.ts';
import { linkOf } from '../identity.ts';
import type { Refusal } from '../planning/refusals.ts';
import { inOrder, type Unit } from '../planning/unit.ts';
import type { Context } from './context.ts';
import { restoreFiles } from './disk.ts';
import { removeJournal } from './memory.ts';
import { inReachOf } from './reach.ts';
import { settle } from './settle.ts';

export interface Failure extends Refusal, Partial<Coded> {
  /** Link name; set unless the transaction was rolled back. */
  readonly name?: string;
}

interface Undone {
  /** Why the rollback failed; undefined if successful. */
  readonly problem: string | undefined;
  /** Current link name; empty without a link, or with twins. */
  readonly name: string;
}

/** NIC transactions in progress: a failed transaction is rolled back at once and skips the remaining steps. */
export class TransactionBatch {
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

  /** Runs a step for each transaction in progress. */
  async each(reason: NicReason, step: (unit: Unit) => Promise<void>): Promise<void> {
    const units = this.going;
    const results = await Promise.allSettled(units.map((unit) => step(unit)));
    // Latest first, because names and files may depend on earlier transactions.
    for (const [at, result] of [...results.entries()].toReversed()) {
      const unit = units[at];
      if (unit && result.status === 'rejected')
        await this.fail(unit, { reason, message: words(result.reason) });
    }
  }

  /** Runs a common step for all transactions in progress; skipped if none is left. */
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
   * Records a problem with a correct NIC: foreign software uses the NIC by now, and a rollback would disrupt it. The
   * NIC stays managed, so the next run knows the managed part.
   */
  report(unit: Unit, failure: Refusal): void {
    this.#failures.set(unit, { ...failure, name: unit.after.link?.name ?? '' });
    this.#context.log.warn({ mac: unit.target.mac, ...failure }, 'NIC in use by foreign software');
  }

  /**
   * Rolls back a transaction and verifies kernel and files. A NIC taken by foreign software meanwhile stays unchanged.
   */
  async fail(unit: Unit, failure: Refusal & Partial<Coded>): Promise<void> {
    this.#going.delete(unit);
    const { problem, name } = await this.#rollBack(unit);
    const message = problem
      ? `${failure.message}; rollback failed: ${problem}`
      : `${failure.message}; rolled back`;
    const reason = problem ? 'RollbackFailed' : failure.reason;
    const { code, args } = failure;
    const coded = code && args !== undefined && !problem ? { code, args } : {};
    this.#failures.set(unit, { reason, message, ...coded, ...(problem ? { name } : {}) });
    this.#context.log.warn({ mac: unit.target.mac, ...failure, problem }, 'NIC change failed');
  }

  async #rollBack({ nic, before, files, index }: Unit): Promise<Undone> {
    let name = '';
    try {
      const goal = { nic, want: before };
      const { wrong, seen } = await settle([goal], this.#context);
      name = linkOf(seen, nic.mac)?.name ?? '';
      const reach = inReachOf(files, this.#context.hostRoot);
      const lost = inOrder(files).find((file) => file.before && reach.left.includes(file.path));
      const problem = wrong.get(goal) ?? (lost && `${lost.path}: the folder is missing`);
      await restoreFiles(reach.files, this.#context);
      // The journal stays until the rollback succeeds: the next run retries.
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
