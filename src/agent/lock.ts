import { closeSync, constants, mkdirSync, openSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../time/clock.ts';
import { agentDirectory } from './apply/memory.ts';

const pauseMs = 200;
/** A run takes less than a second; one that takes longer is stuck and ends with its Job. */
const patienceMs = 60_000;
/** What SQLite answers while another process holds the lock (sqlite.org/rescode.html). */
const sqliteBusy = 5;
/** What it answers of a file that is not empty: SQLITE_CORRUPT of half a database, SQLITE_NOTADB of none. */
const unusable = new Set([11, 26]);

/** Another run did not end in time. */
export class HostBusyError extends Error {
  override readonly name = 'HostBusyError';
}

export interface LockDeps {
  readonly hostRoot: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Does the work while no other run on this host does; rejects when another one does not end. */
export async function underLock<T>(
  { hostRoot, clock, signal }: LockDeps,
  work: () => Promise<T>,
): Promise<T> {
  const path = join(hostRoot, agentDirectory, 'lock');
  const end = clock.monotonicMs() + patienceMs;
  // Without a journal nothing is changed, so a run that cannot write one is in nobody's way.
  if (!isWritable(path)) return work();
  for (;;) {
    using lock = tryLock(path);
    if (lock) return await work();
    if (clock.monotonicMs() >= end)
      throw new HostBusyError('another run of the agent holds this host');
    await clock.sleep(pauseMs, signal);
  }
}

/** A disk that takes no file: a journal needs one more than the lock. */
const noRoom = new Set(['EROFS', 'ENOSPC', 'EDQUOT']);

/** Never through a link that somebody put there: what it leads to would be made, and emptied as a broken lock. */
const lockFlags =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/** Makes the file, for root alone: whoever can open it can hold the lock. */
function isWritable(path: string): boolean {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, lockFlags, 0o600));
    return true;
  } catch (error) {
    if (noRoom.has((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/**
 * The kernel lets go of the lock when its process ends in whatever way; a file with a process id could not tell a dead run
 * from a live one, as every container counts its processes from 1. Node.js has no fcntl(2), but SQLite locks by it; the
 * database stays empty.
 * Its journal would be a second file.
 */
function tryLock(path: string): Disposable | undefined {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    const { errcode = 0 } = error as { errcode?: number };
    // Nobody can hold such a file. Emptied, not replaced: two runs that both find it so still meet at one inode.
    if (unusable.has(errcode)) truncateSync(path);
    else if (errcode !== sqliteBusy) throw error;
    return undefined;
  }
  return { [Symbol.dispose]: () => database.close() };
}
