import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { fence } from '../../api/job.ts';
import { namesIn } from '../observe/files.ts';
import { nicState } from '../planning/nic-state.ts';
import { batchLine } from '../planning/operation.ts';
import type { Unit } from '../planning/unit.ts';
import { nicRecord } from '../state.ts';
import { removeFile, syncPath, writeWhole } from './disk.ts';
import type { Disk } from './nic-files.ts';
import { agentDirectory, parseOwn } from './state-file.ts';

const journalVersion = 1;

const fileChange = z.object({
  path: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  changed: z.boolean(),
});

/** `/var/lib/multinic/journal/N.json`: a NIC in hand, with all that finishing or undoing it takes. */
const journalEntry = z.object({
  version: z.literal(journalVersion),
  fence,
  /** A reboot has undone what was in the kernel only. */
  bootId: z.string(),
  step: z.enum(['apply', 'remove']),
  index: z.int(),
  mac: z.string(),
  belongings: z.object({ tables: z.array(z.int()), ips: z.array(z.string()) }),
  before: nicState,
  after: nicState,
  /** For people who read it after a crash. */
  ops: z.array(z.string()),
  files: z.tuple([fileChange]).rest(fileChange),
  record: nicRecord.exactOptional(),
});

export type JournalEntry = z.infer<typeof journalEntry>;

const directory = `${agentDirectory}/journal`;

export interface Run {
  readonly fence: z.infer<typeof fence>;
  readonly bootId: string;
}

/** Writes what is about to happen to a NIC; nothing of it may happen before `syncJournals`. */
export async function writeJournal(unit: Unit, run: Run, disk: Disk): Promise<void> {
  const { action, index, nic, before, after, change, files, record } = unit;
  const { eviction, operations } = change;
  const entry = {
    version: journalVersion,
    fence: run.fence,
    bootId: run.bootId,
    step: action,
    index,
    ...nic,
    before,
    after,
    ops: [...(eviction ? [eviction] : []), ...operations].map(batchLine),
    files,
    ...(record ? { record } : {}),
  };
  const path = pathOf(index, disk);
  await disk.perform('agent.journal.write', async () => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    await writeWhole(path, `${JSON.stringify(entry)}\n`, 0o600);
  });
}

/** The NICs that a run left in hand, in order of index. Throws an UnknownStateError. */
export function readJournals(hostRoot: string): JournalEntry[] {
  return journalNames(hostRoot).map((name) => {
    const path = `${directory}/${name}`;
    const text = readFileSync(join(hostRoot, path), 'utf8');
    return parseOwn(path, text, journalEntry, [journalVersion]);
  });
}

function journalNames(hostRoot: string): string[] {
  return namesIn(join(hostRoot, directory))
    .filter((name) => /^\d\.json$/.test(name))
    .toSorted();
}

/** The NIC is no longer in hand. */
export async function removeJournal(index: number, disk: Disk): Promise<void> {
  await disk.perform('agent.journal.remove', async () => removeFile(pathOf(index, disk)));
}

/** Makes sure that the journals written and removed so far are so after a power cut too. */
export async function syncJournals({ hostRoot }: Disk): Promise<void> {
  await syncPath(join(hostRoot, directory));
}

function pathOf(index: number, { hostRoot }: Disk): string {
  return join(hostRoot, directory, `${index}.json`);
}
