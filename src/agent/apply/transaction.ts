import { entrustedTo } from '../planning/foreign.ts';
import { unaffectedNics } from '../planning/remembered.ts';
import { stateAfter, type Unit } from '../planning/unit.ts';
import type { KernelSnapshot, Snapshot } from '../snapshot.ts';
import type { AgentState } from '../state.ts';
import type { Context } from './context.ts';
import { commitFiles, settleFiles, stageFiles, syncFiles } from './disk.ts';
import { type Changed, changeLinks, verifyLinks } from './links.ts';
import { removeJournal, syncJournals, writeJournal } from './memory.ts';
import { type Failure, UndoableWork } from './rollback.ts';

export interface Outcome {
  readonly state: AgentState;
  /** NICs that are as they were before, or whose message says that they are not; and those that others took meanwhile. */
  readonly failures: ReadonlyMap<Unit, Failure>;
  /** The last look at the kernel, where nothing was changed after it. */
  readonly seen?: KernelSnapshot;
  /** What went wrong without a NIC being any the worse for it. */
  readonly warnings: readonly string[];
}

/**
 * Does each unit as a whole or not at all, all of them side by side: journal, files beside their place, kernel, a look at
 * the kernel, rename, state. A unit that fails anywhere is undone, and the others go on. `before` is the host before.
 */
export async function transact(
  units: readonly Unit[],
  state: AgentState,
  before: Snapshot,
  context: Context,
): Promise<Outcome> {
  const work = new UndoableWork(units, context);
  let next = state;
  await work.each('PersistFailed', (unit) =>
    writeJournal(unit, entrustedTo(unit.nic, before), context),
  );
  await work.together('PersistFailed', () => syncJournals(context));
  await work.each('PersistFailed', (unit) => stageFiles(unit.files, context));
  let changed: Changed = { stopped: new Map(), contested: [] };
  await work.together('ApplyFailed', async () => {
    changed = await changeLinks(work, context.latest ?? before, context);
  });
  let last: KernelSnapshot | undefined;
  await work.together('VerifyFailed', async () => {
    last = await verifyLinks(
      work,
      {
        before: context.start ?? before,
        changed,
        bystanders: unaffectedNics(units, state, before, context.claims),
      },
      context,
    );
  });
  await work.each('PersistFailed', (unit) => commitFiles(unit.files, context));
  await work.together('PersistFailed', () =>
    syncFiles(
      work.going.map((unit) => unit.files),
      context,
    ),
  );
  await work.together('PersistFailed', async () => {
    const after = work.going.reduce(stateAfter, state);
    await context.stateFile.write(after);
    next = after;
  });
  const warnings = await letGo(work.going, context);
  const undone = work.failures.size > 0;
  return {
    state: next,
    failures: work.failures,
    warnings,
    ...(last && !undone ? { seen: last } : {}),
  };
}

/**
 * The change is done; what cannot be cleared away now is cleared when the agent runs next. Resolves to which backups could
 * not be made.
 */
async function letGo(units: readonly Unit[], context: Context): Promise<string[]> {
  try {
    const lost = await Promise.all(units.map((unit) => settleFiles(unit.files, context)));
    await Promise.all(units.map((unit) => removeJournal(unit.index, context)));
    if (units.length > 0) await syncJournals(context);
    return lost.flat();
  } catch (error) {
    context.log.warn({ err: error }, 'journal kept');
    return [];
  }
}
