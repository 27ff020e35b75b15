import type { Refusal } from '../planning/refuse.ts';
import { advanceFence, type HostState, staleness, withNic, withoutNic } from '../state.ts';
import { bringNic } from './bring.ts';
import { type JournalEntry, removeJournal, syncJournals } from './journal.ts';
import { finishFiles, isCommitted, restoreFiles } from './nic-files.ts';
import type { Workshop } from './workshop.ts';

export interface Recovery {
  readonly state: HostState;
  /** NICs, by MAC, that are neither fully old nor fully new; nothing more may be done to them in this run. */
  readonly stuck: ReadonlyMap<string, Refusal>;
}

/**
 * Ends what an interrupted run left in hand: a NIC whose file was renamed is finished, any other is undone. Doing it
 * again, after being interrupted itself, leads to the same end.
 */
export async function recover(
  journals: readonly JournalEntry[],
  state: HostState,
  workshop: Workshop,
): Promise<Recovery> {
  const stuck = new Map<string, Refusal>();
  let recovered = state;
  for (const entry of journals) {
    const committed = isCommitted(entry.files, workshop.disk);
    const problem = committed ? await finish(entry, workshop) : await undo(entry, workshop);
    workshop.log.info({ mac: entry.mac, step: entry.step, committed, problem }, 'nic recovered');
    if (problem) {
      const message = `an interrupted change is not undone: ${problem}`;
      stuck.set(entry.mac, { reason: 'RollbackFailed', message });
      continue;
    }
    recovered = seen(committed ? outcome(entry, recovered) : recovered, entry);
    await workshop.stateFile.write(recovered);
    await removeJournal(entry.index, workshop.disk);
  }
  if (journals.length > 0) await syncJournals(workshop.disk);
  return { state: recovered, stuck };
}

/** What the kernel lacks is no reason to stop: state.json says from now on what the NIC shall be. */
async function finish(entry: JournalEntry, workshop: Workshop): Promise<undefined> {
  const problem = await bringNic(entry, entry.after, workshop);
  if (problem) workshop.log.warn({ mac: entry.mac, problem }, 'nic differs from its files');
  await finishFiles(entry.files, workshop.disk);
}

async function undo(entry: JournalEntry, workshop: Workshop): Promise<string | undefined> {
  // After a reboot the kernel has what the files say, under names that may be others than before.
  const rebooted = entry.bootId !== workshop.run.bootId;
  const problem = rebooted ? undefined : await bringNic(entry, entry.before, workshop);
  await restoreFiles(entry.files, workshop.disk);
  return problem;
}

function outcome({ record, mac }: JournalEntry, state: HostState): HostState {
  return record ? withNic(state, record) : withoutNic(state, mac);
}

function seen(state: HostState, { fence }: JournalEntry): HostState {
  return staleness(state, fence) === undefined ? advanceFence(state, fence) : state;
}
