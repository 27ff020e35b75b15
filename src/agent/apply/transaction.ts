import { foreignOnNic } from '../planning/foreign-on-nic.ts';
import { unaffectedNics } from '../planning/remembered.ts';
import { changesKernel, stateAfter, type Unit } from '../planning/unit.ts';
import type { KernelSnapshot, Snapshot } from '../snapshot.ts';
import type { AgentState } from '../state.ts';
import type { Context } from './context.ts';
import { commitFiles, settleFiles, stageFiles, syncFiles } from './disk.ts';
import { generated, handBack, handOver } from './handover.ts';
import { type Changed, changeLinks, verifyLinks } from './links.ts';
import { removeJournal, syncJournals, writeJournal } from './memory.ts';
import { type Failure, TransactionBatch } from './rollback.ts';

export interface Outcome {
  readonly state: AgentState;
  /** Failed transactions: rolled back, or not rolled back according to the message, or taken by foreign software. */
  readonly failures: ReadonlyMap<Unit, Failure>;
  /** Last kernel snapshot; absent if anything changed afterwards. */
  readonly seen?: KernelSnapshot;
  /** Problems without effect on a NIC. */
  readonly warnings: readonly string[];
}

/**
 * Runs NIC transactions side by side, each completely or not at all: journal, staged files, kernel, verification,
 * connectivity, rename, state. A failed transaction is rolled back, and the rest continues. `before` is the host before any change.
 */
export async function transact(
  units: readonly Unit[],
  state: AgentState,
  before: Snapshot,
  context: Context,
): Promise<Outcome> {
  const work = new TransactionBatch(units, context);
  let next = state;
  await work.each('PersistFailed', (unit) =>
    writeJournal(unit, foreignOnNic(unit.nic, before).routes, context),
  );
  await work.together('PersistFailed', () => syncJournals(context));
  await work.each('PersistFailed', (unit) => stageFiles(unit.files, context));
  let changed: Changed = { stopped: new Map(), contested: [] };
  await work.together('ApplyFailed', async () => {
    changed = await changeLinks(work, context.latest ?? before, context);
  });
  changed = await handOver(work, changed, context);
  let last: KernelSnapshot | undefined;
  await work.together('VerifyFailed', async () => {
    last = await verifyLinks(
      work,
      {
        before: context.start ?? before,
        changed,
        unaffected: unaffectedNics(units, state, before, context),
      },
      context,
    );
  });
  await undoIfCutOff(work, context);
  await work.each('PersistFailed', (unit) => commitFiles(unit.files, context));
  await work.together('PersistFailed', () =>
    syncFiles(
      work.going.map((unit) => unit.files),
      context,
    ),
  );
  await refuseInvalid(work, context);
  await work.together('PersistFailed', async () => {
    const after = work.going.reduce(stateAfter, state);
    await context.stateFile.write(after);
    next = after;
  });
  const warnings = await cleanUp(work.going, context);
  await handBack(
    units.filter((unit) => isWithForeign(unit, work)),
    context,
  );
  const undone = work.failures.size > 0;
  return {
    state: next,
    failures: work.failures,
    warnings,
    ...(last && !undone ? { seen: last } : {}),
  };
}

/**
 * Rolls the NICs with kernel changes back if the node lost a connection that worked before the change. A NIC that other
 * software uses by now stays: a rollback would disrupt this software.
 */
async function undoIfCutOff(work: TransactionBatch, { connectivity }: Context): Promise<void> {
  if (!connectivity || !work.going.some(changesKernel)) return;
  const lost = await connectivity();
  if (!lost) return;
  const causes = work.going.filter((unit) => changesKernel(unit) && !work.failures.has(unit));
  for (const unit of causes.toReversed()) await work.fail(unit, lost);
}

/** True if the foreign configuration is to act again: after a removal, or a failed apply. */
function isWithForeign(unit: Unit, { going }: TransactionBatch): boolean {
  return (unit.action === 'remove') === going.includes(unit);
}

/** Rolls back all transactions with adopted files if netplan refuses the host's files. */
async function refuseInvalid(work: TransactionBatch, context: Context): Promise<void> {
  const message = await generated(work.going, context);
  if (message === undefined) return;
  const adopting = work.going.filter(
    ({ action, desired }) => action === 'apply' && desired?.adopted,
  );
  for (const unit of adopting.toReversed())
    await work.fail(unit, { reason: 'PersistFailed', message });
}

/** Cleans up after the change; leftovers are removed by the next run. Returns failed backups. */
async function cleanUp(units: readonly Unit[], context: Context): Promise<string[]> {
  try {
    const lost = await Promise.all(units.map((unit) => settleFiles(unit.files, context)));
    await Promise.all(units.map((unit) => removeJournal(unit.index, context)));
    if (units.length > 0) await syncJournals(context);
    return lost.flat();
  } catch (error) {
    context.log.warn({ err: error }, 'journal cleanup failed');
    return [];
  }
}
