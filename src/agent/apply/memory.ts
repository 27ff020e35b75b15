import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { fence } from '../../api/job.ts';
import { namesIn } from '../observe/host-files.ts';
import { nicState } from '../planning/nic-state.ts';
import { batchLine } from '../planning/operation.ts';
import { rulesFrom } from '../planning/ownership.ts';
import type { Unit } from '../planning/unit.ts';
import type { Route } from '../snapshot.ts';
import {
  type AgentState,
  agentState,
  emptyState,
  nicRecord,
  ownership,
  readableVersions,
} from '../state.ts';
import type { Disk } from './disk.ts';
import { removeFile, replaceWhole, syncPath, textOf, writeWhole } from './whole-file.ts';

/** Agent directory on a host: managed NICs and unfinished changes. */
export const agentDirectory = '/var/lib/multinic';

const statePath = `${agentDirectory}/state.json`;

/** Agent file this version cannot read: a newer agent may own it, so nothing may be touched. */
export class UnknownStateError extends Error {
  override readonly name = 'UnknownStateError';
}

/** Returns the state in state.json; empty on a new host. Throws an UnknownStateError. */
export function readState(hostRoot: string): AgentState {
  const text = textOf(join(hostRoot, statePath));
  return text === null ? emptyState : parseOwn(statePath, text, agentState, readableVersions);
}

/** state.json on disk, written only on changes. */
export class StateFile {
  readonly #disk: Disk;
  #text: string;

  constructor(state: AgentState, disk: Disk) {
    this.#disk = disk;
    this.#text = JSON.stringify(state);
  }

  async write(state: AgentState): Promise<void> {
    const text = JSON.stringify(state);
    if (text === this.#text) return;
    const path = join(this.#disk.hostRoot, statePath);
    // Unknown until the write completes: after a failure either content may be on disk.
    this.#text = '';
    await this.#disk.perform('agent.state.write', async () => {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      await replaceWhole(path, `${JSON.stringify(state, undefined, 2)}\n`, 0o600);
    });
    this.#text = text;
  }
}

const versioned = z.looseObject({ version: z.unknown() });

/** Reads an agent file. Checks the version first, because it decides the format. */
function parseOwn<T>(
  path: string,
  text: string,
  schema: z.ZodType<T>,
  versions: readonly number[],
): T {
  const json = parseJson(path, text);
  const { data } = versioned.safeParse(json);
  if (!versions.some((version) => version === data?.version)) {
    const found = JSON.stringify(data?.version) ?? 'none';
    const known = versions.join(', ').replace(/, (\d+)$/, ' and $1');
    throw new UnknownStateError(`${path} has version ${found}, this agent supports ${known}`);
  }
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue?.path.join('.') ?? '';
  throw new UnknownStateError(`${path} is damaged at ${field}: ${issue?.message}`, {
    cause: result.error,
  });
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UnknownStateError(
      `${path} is not valid JSON; move the file away to start without it`,
      {
        cause: error,
      },
    );
  }
}

/** Readable versions. An agent without such a version would mistake the change for another kind. */
const journalVersions = [1, 2, 3, 4] as const;

function versionOf({ files, nic }: Unit): (typeof journalVersions)[number] {
  const { tables, ips, rules } = nic.belongings;
  // Agents before version 4 treat every such rule as the NIC's own.
  if (rulesFrom(tables, ips).some((key) => !rules.includes(key))) return 4;
  return files.interim || nic.rulesOnly ? 3 : 2;
}

/**
 * Ownership keys in a journal. Up to version 3 the NIC owned all rules from its addresses to its tables, without rules
 * in `except`.
 */
const belongings = ownership
  .extend({
    rules: z.array(z.string()).exactOptional(),
    except: z.array(z.string()).default([]),
  })
  .transform(({ rules, except, ...rest }) => {
    const all = rules ?? rulesFrom(rest.tables, rest.ips);
    return { ...rest, rules: all.filter((key) => !except.includes(key)) };
  });

const fileChange = z.object({
  path: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  /** Version 1 wrote every file with mode 0600. */
  mode: z.int().default(0o600),
  changed: z.boolean(),
  foreign: z.enum(['edit', 'undo']).exactOptional(),
});

const fileChanges = z.object({
  interim: z.array(fileChange).exactOptional(),
  companions: z.array(fileChange),
  commit: fileChange,
  obsolete: z.array(fileChange),
});

/** Version 1: a NIC had a single file. */
const formerFileChanges = z
  .tuple([fileChange])
  .rest(fileChange)
  .transform(([commit, ...obsolete]) => ({ companions: [], commit, obsolete }));

/** Mirrors `Route` in a snapshot, for journals only. */
const route = z.object({
  family: z.literal([4, 6]),
  type: z.int(),
  to: z.string(),
  via: z.string().exactOptional(),
  links: z.array(z.string()),
  anyLink: z.literal(true).exactOptional(),
  table: z.int(),
  protocol: z.int(),
  scope: z.int(),
  src: z.string().exactOptional(),
  metric: z.int(),
  opaque: z.boolean(),
});

/** Limit per NIC: software with thousands of routes sets all routes again itself. */
const maxRoutes = 256;

/** `/var/lib/multinic/journal/N.json`: a NIC's unfinished change, with all data for finishing or rolling back. */
const journalEntry = z.object({
  version: z.literal(journalVersions),
  fence,
  /** A reboot discards kernel-only state. */
  bootId: z.string(),
  step: z.enum(['apply', 'remove']),
  index: z.int(),
  mac: z.string(),
  belongings,
  rulesOnly: z.literal(true).exactOptional(),
  before: nicState,
  after: nicState,
  /** For people reading the journal after a crash. */
  ops: z.array(z.string()),
  files: z.union([fileChanges, formerFileChanges]),
  record: nicRecord.exactOptional(),
  /** Foreign routes on the NIC's link; absent in journals by earlier agents. */
  others: z.object({ routes: z.array(route) }).exactOptional(),
});

export type JournalEntry = z.infer<typeof journalEntry>;

const directory = `${agentDirectory}/journal`;

export interface Run {
  readonly fence: z.infer<typeof fence>;
  readonly bootId: string;
}

/** Writes the journal for a NIC's change; no part may happen before `syncJournals`. */
export async function writeJournal(
  unit: Unit,
  routes: readonly Route[],
  disk: Disk & { readonly run: Run },
): Promise<void> {
  const { action, index, nic, before, after, change, files, record } = unit;
  const { eviction, operations } = change;
  const entry = {
    version: versionOf(unit),
    ...disk.run,
    step: action,
    index,
    ...nic,
    before,
    after,
    ops: [...(eviction ? [eviction] : []), ...operations].map(batchLine),
    files,
    ...(record ? { record } : {}),
    // Earlier agents require `addresses`.
    others: { addresses: [], routes: routes.slice(0, maxRoutes) },
  };
  const path = pathOf(index, disk);
  await disk.perform('agent.journal.write', async () => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    await writeWhole(path, `${JSON.stringify(entry)}\n`, 0o600);
  });
}

/** Returns unfinished changes in index order. Throws an UnknownStateError. */
export function readJournals(hostRoot: string): JournalEntry[] {
  return journalNames(hostRoot).map((name) => {
    const path = `${directory}/${name}`;
    const text = readFileSync(join(hostRoot, path), 'utf8');
    return parseOwn(path, text, journalEntry, journalVersions);
  });
}

function journalNames(hostRoot: string): string[] {
  return namesIn(join(hostRoot, directory))
    .filter((name) => /^\d\.json$/.test(name))
    .toSorted();
}

/** Removes the journal: the NIC's change is finished. */
export async function removeJournal(index: number, disk: Disk): Promise<void> {
  await disk.perform('agent.journal.remove', async () => removeFile(pathOf(index, disk)));
}

/** Makes journals written and removed so far durable across a power cut. */
export async function syncJournals({ hostRoot }: Disk): Promise<void> {
  await syncPath(join(hostRoot, directory));
}

function pathOf(index: number, { hostRoot }: Disk): string {
  return join(hostRoot, directory, `${index}.json`);
}
