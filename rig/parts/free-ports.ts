import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface FreePortsOptions {
  /** First port, and the first one after the last. */
  readonly range: readonly [number, number];
  /** Folder with a file per reserved port, which holds the id of the process that has it. */
  readonly directory: string;
}

const usual: FreePortsOptions = {
  // Below the kernel's range (32768 and up): a server on port 0 cannot take the port of a part that is about to restart.
  range: [26_000, 32_768],
  directory: join(tmpdir(), `multinic-ports-${process.getuid?.() ?? 0}`),
};

const reserved = new Set<string>();

/**
 * Returns loopback ports on which no server listens. They stay reserved until this process ends: parts listen on them seconds
 * later, and test processes side by side would else choose one port twice.
 */
export async function freePorts(count: number, { range, directory } = usual): Promise<number[]> {
  mkdirSync(directory, { recursive: true });
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(...range);
    if (reserve(join(directory, `${port}`)) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

/** Whether this process has the port now, and had not before. */
function reserve(path: string): boolean {
  try {
    writeFileSync(path, `${process.pid}`, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // The next one who comes to this port may have it.
    if (!isAlive(holderOf(path))) rmSync(path, { force: true });
    return false;
  }
  if (reserved.size === 0) process.once('exit', releaseAll);
  reserved.add(path);
  return true;
}

function releaseAll(): void {
  for (const path of reserved) rmSync(path, { force: true });
}

/** Undefined when the reservation has ended meanwhile, or is being written. */
function holderOf(path: string): number | undefined {
  try {
    return Number(readFileSync(path, 'utf8')) || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}

function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Returns whether no server listens on the loopback port. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
