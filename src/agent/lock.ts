import { closeSync, constants, lstatSync, mkdirSync, openSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../time/clock.ts';
import { agentDirectory } from './apply/memory.ts';

const pauseMs = 200;
/** Time limit in ms: a run takes less than a second; a longer run is stuck and ends with its Job. */
const patienceMs = 60_000;
/** SQLite's result code while another process holds the lock (sqlite.org/rescode.html). */
const sqliteBusy = 5;
/** SQLite's result codes for a non-empty file: SQLITE_CORRUPT for half a database, SQLITE_NOTADB for other content. */
const unusable = new Set([11, 26]);

/** Another run did not end in time. */
export class HostBusyError extends Error {
  override readonly name = 'HostBusyError';
}

export interface LockDeps {
  readonly hostRoot: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** True for a read-only run: creates no lock file. */
  readonly readOnly?: boolean;
}

/** Runs `work` while no other run on this host does; rejects if another run does not end. */
export async function underLock<T>(
  { hostRoot, clock, signal, readOnly }: LockDeps,
  work: () => Promise<T>,
): Promise<T> {
  const path = join(hostRoot, agentDirectory, 'lock');
  const end = clock.monotonicMs() + patienceMs;
  // Without a lock file no run has changed this host: a check has nothing to wait for.
  if (readOnly && !isThere(path)) return work();
  // Without a journal nothing is changed, so a run unable to write a journal needs no lock.
  if (!isWritable(path)) return work();
  for (;;) {
    using lock = tryLock(path);
    if (lock) return await work();
    if (clock.monotonicMs() >= end)
      throw new HostBusyError('another agent run on this host holds the lock');
    await clock.sleep(pauseMs, signal);
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Errors from a disk without room for files: a journal needs a second file besides the lock. */
const noRoom = new Set(['EROFS', 'ENOSPC', 'EDQUOT']);

/** Never follow a link: its target would be created, or emptied as a broken lock. */
const lockFlags =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/** Creates the file for root alone: any user able to open it could hold the lock. */
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
 * The kernel releases the lock when its process ends in whatever way. A file with a process id could not tell a dead
 * run from a live run, as every container counts processes from 1. Node.js has no fcntl(2), but SQLite locks with it;
 * the database stays empty. A SQLite journal on disk would be a second file.
 */
function tryLock(path: string): Disposable | undefined {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    const { errcode = 0 } = error as { errcode?: number };
    // No process can hold such a file. Truncate instead of replacing: two runs finding it broken still share an inode.
    if (unusable.has(errcode)) truncateSync(path);
    else if (errcode !== sqliteBusy) throw error;
    return undefined;
  }
  return { [Symbol.dispose]: () => database.close() };
}
