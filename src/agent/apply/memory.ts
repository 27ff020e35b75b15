import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { fence } from '../../api/job.ts';
import { namesIn } from '../observe/host.ts';
import type { Entrusted } from '../planning/foreign.ts';
import { nicState } from '../planning/nic-state.ts';
import { batchLine } from '../planning/operation.ts';
import { rulesFrom } from '../planning/ownership.ts';
import type { Unit } from '../planning/unit.ts';
import { neighbourFlags } from '../snapshot.ts';
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

/** Everything of the agent on a host: what it owns, and what it has in hand. */
export const agentDirectory = '/var/lib/multinic';

const statePath = `${agentDirectory}/state.json`;

/** A file of the agent that this version cannot read: it may belong to a newer one, so nothing may be touched. */
export class UnknownStateError extends Error {
  override readonly name = 'UnknownStateError';
}

/** What the host remembers; empty on a host that was never seen. Throws an UnknownStateError. */
export function readState(hostRoot: string): AgentState {
  const text = textOf(join(hostRoot, statePath));
  return text === null ? emptyState : parseOwn(statePath, text, agentState, readableVersions);
}

/** The state on the disk, which is written only when it is another one. */
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
    // Not known until it is written: what it was before may not come back either.
    this.#text = '';
    await this.#disk.perform('agent.state.write', async () => {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      await replaceWhole(path, `${JSON.stringify(state, undefined, 2)}\n`, 0o600);
    });
    this.#text = text;
  }
}

const versioned = z.looseObject({ version: z.unknown() });

/** Reads a file of the agent's own; the version comes first, as it decides what the rest means. */
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
    throw new UnknownStateError(`${path} has version ${found}, this agent knows ${known}`);
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
    throw new UnknownStateError(`${path} is not JSON; move it away to start anew`, {
      cause: error,
    });
  }
}

/** Agents that do not know the version would take such a change for another one. */
const journalVersions = [1, 2, 3, 4] as const;

function versionOf({ files, nic }: Unit): (typeof journalVersions)[number] {
  const { tables, ips, rules } = nic.belongings;
  // Agents before version 4 take each of these for the NIC's own.
  if (rulesFrom(tables, ips).some((key) => !rules.includes(key))) return 4;
  return files.interim || nic.rulesOnly ? 3 : 2;
}

/** What is written of a NIC; up to version 3 all rules from its addresses to its tables were its own but those of `except`. */
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
  /** Version 1 knew no other. */
  mode: z.int().default(0o600),
  changed: z.boolean(),
});

const fileChanges = z.object({
  interim: z.array(fileChange).exactOptional(),
  companions: z.array(fileChange),
  commit: fileChange,
  obsolete: z.array(fileChange),
});

/** Version 1: a NIC had one file. */
const formerFileChanges = z
  .tuple([fileChange])
  .rest(fileChange)
  .transform(([commit, ...obsolete]) => ({ companions: [], commit, obsolete }));

/** As `Address`, `Route` and `Neighbour` of a snapshot: nothing else reads them. */
const family = z.literal([4, 6]);
const entrusted = z.object({
  addresses: z.array(
    z.object({
      link: z.string(),
      family,
      cidr: z.string(),
      scope: z.int(),
      broadcast: z.string().exactOptional(),
      noPrefixRoute: z.boolean(),
      temporary: z.literal(true).exactOptional(),
      opaque: z.boolean(),
    }),
  ),
  routes: z.array(
    z.object({
      family,
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
    }),
  ),
  /** Earlier agents did not say. */
  neighbours: z
    .array(
      z.object({
        link: z.string(),
        ip: z.string(),
        mac: z.string(),
        protocol: z.int(),
        flags: z.array(z.enum(neighbourFlags)),
        opaque: z.boolean(),
      }),
    )
    .default([]),
});

/** So much of what others have is remembered of each NIC: who has thousands of routes there sets them again. */
const maxEntrusted = 256;

/** `/var/lib/multinic/journal/N.json`: a NIC in hand, with all that finishing or undoing it takes. */
const journalEntry = z.object({
  version: z.literal(journalVersions),
  fence,
  /** A reboot has undone what was in the kernel only. */
  bootId: z.string(),
  step: z.enum(['apply', 'remove']),
  index: z.int(),
  mac: z.string(),
  belongings,
  rulesOnly: z.literal(true).exactOptional(),
  before: nicState,
  after: nicState,
  /** For people who read it after a crash. */
  ops: z.array(z.string()),
  files: z.union([fileChanges, formerFileChanges]),
  record: nicRecord.exactOptional(),
  /** What others had on it; earlier agents did not say. */
  others: entrusted.exactOptional(),
});

export type JournalEntry = z.infer<typeof journalEntry>;

const directory = `${agentDirectory}/journal`;

export interface Run {
  readonly fence: z.infer<typeof fence>;
  readonly bootId: string;
}

/** Writes what is about to happen to a NIC; nothing of it may happen before `syncJournals`. */
export async function writeJournal(
  unit: Unit,
  { addresses, routes, neighbours }: Entrusted,
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
    others: {
      addresses: addresses.slice(0, maxEntrusted),
      routes: routes.slice(0, maxEntrusted),
      neighbours: neighbours.slice(0, maxEntrusted),
    },
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
    return parseOwn(path, text, journalEntry, journalVersions);
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
