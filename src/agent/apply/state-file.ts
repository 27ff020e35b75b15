import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { emptyState, type HostState, hostState, knownVersions } from '../state.ts';
import { syncPath, textOf, writeWhole } from './disk.ts';
import type { Disk } from './nic-files.ts';

/** Everything of the agent on a host: what it owns, and what it has in hand. */
export const agentDirectory = '/var/lib/multinic';

const statePath = `${agentDirectory}/state.json`;

/** A file of the agent that this version cannot read: it may belong to a newer one, so nothing may be touched. */
export class UnknownStateError extends Error {
  override readonly name = 'UnknownStateError';
}

/** What the host remembers; empty on a host that was never seen. Throws an UnknownStateError. */
export function readState(hostRoot: string): HostState {
  const text = textOf(join(hostRoot, statePath));
  return text === null ? emptyState : parseOwn(statePath, text, hostState, knownVersions);
}

/** The state on the disk, which is written only when it is another one. */
export class StateFile {
  readonly #disk: Disk;
  #text: string;

  constructor(state: HostState, disk: Disk) {
    this.#disk = disk;
    this.#text = JSON.stringify(state);
  }

  async write(state: HostState): Promise<void> {
    const text = JSON.stringify(state);
    if (text === this.#text) return;
    const path = join(this.#disk.hostRoot, statePath);
    // Not known until it is written: a write may fail behind its rename.
    this.#text = '';
    await this.#disk.perform('agent.state.write', async () => {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      await writeWhole(path, `${JSON.stringify(state, undefined, 2)}\n`, 0o600);
      await syncPath(dirname(path));
    });
    this.#text = text;
  }
}

const versioned = z.looseObject({ version: z.unknown() });

/** Reads a file of the agent's own; the version comes first, as it decides what the rest means. */
export function parseOwn<T>(
  path: string,
  text: string,
  schema: z.ZodType<T>,
  versions: readonly number[],
): T {
  const json = parseJson(path, text);
  const { data } = versioned.safeParse(json);
  if (!versions.some((version) => version === data?.version)) {
    const found = JSON.stringify(data?.version) ?? 'none';
    const known = versions.join(' and ');
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
