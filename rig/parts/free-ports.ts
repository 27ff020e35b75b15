import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the kernel's range (32768 and up): a server on port 0 cannot take the port of a part that is about to restart. */
const range = [26_000, 32_768] as const;

const given = new Set<number>();

/** Returns loopback ports on which no server listens. A process gets each port once. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(...range);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    ports.push(port);
  }
  return ports;
}

/** Returns whether no server listens on the loopback port. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
