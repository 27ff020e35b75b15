import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { freePorts } from '../parts/free-ports.ts';
import { choosePorts } from './ports.ts';

it('[H13] names a base whose ports are free when a port is taken', async () => {
  const [base = 0] = await freePorts(1);
  const other = createServer().listen(base, '127.0.0.1');
  await once(other, 'listening');
  try {
    const refused: unknown = await choosePorts(base).catch((error: unknown) => error);
    expect(String(refused)).toContain(`port ${base} (viola) is taken by another process`);
    const advised = Number(/--port-base=(\d+)$/.exec(String(refused))?.[1]);
    expect(advised).not.toBe(base);
    await expect(choosePorts(advised)).resolves.toMatchObject({ viola: advised });
  } finally {
    other.close();
  }
});
