import { createServer } from 'node:net';
import type { Clock } from '../time/clock.ts';

/**
 * Name in the abstract socket namespace, which belongs to the network namespace that the agent changes. The kernel lets
 * go of it when its process ends in whatever way; a file with a process id could not tell a dead run from a live one, as
 * every container counts its processes from 1.
 */
const lockName = '\0multinic-agent';
const pauseMs = 200;
/** A run takes less than a second; one that takes longer is stuck and ends with its Job. */
const patienceMs = 60_000;

/** Another run did not end in time. */
export class HostBusyError extends Error {
  override readonly name = 'HostBusyError';
}

/** Does the work while no other run on this host does; rejects when another one does not end. */
export async function underLock<T>(
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  work: () => Promise<T>,
  name: string = lockName,
): Promise<T> {
  const end = clock.monotonicMs() + patienceMs;
  for (;;) {
    const lock = await tryLock(name);
    if (lock) return holding(lock, work);
    if (clock.monotonicMs() >= end)
      throw new HostBusyError('another run of the agent holds this host');
    await clock.sleep(pauseMs, signal);
  }
}

async function holding<T>(lock: AsyncDisposable, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await lock[Symbol.asyncDispose]();
  }
}

function tryLock(name: string): Promise<AsyncDisposable | undefined> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen({ path: name }, () => {
      server.removeAllListeners('error');
      resolve({
        [Symbol.asyncDispose]: () =>
          new Promise<void>((done) => {
            server.close(() => done());
          }),
      });
    });
  });
}
