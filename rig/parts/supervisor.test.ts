import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/time/clock.ts';
import { type ChildSpec, Supervisor } from './supervisor.ts';

let directory: string;
let supervisor: Supervisor;

function child(name: string, body: string): ChildSpec {
  return {
    name,
    command: [process.execPath, '-e', `console.log('up'); ${body}`],
    ready: async () => undefined,
  };
}

const forever = 'setInterval(() => undefined, 1000);';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'supervisor-'));
  supervisor = new Supervisor(directory, systemClock);
});

afterEach(async () => {
  await supervisor[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

describe('Supervisor', () => {
  it('says which child ended, how, and its last words', async () => {
    await supervisor.start(child('part', "console.error('disk full'); process.exit(3);"));
    await expect.poll(() => supervisor.failed.aborted).toBe(true);
    expect(String(supervisor.failed.reason)).toMatch(/part ended with status 3.*disk full/s);
  });

  it('takes a wanted end for none, and can start the child again', async () => {
    await supervisor.start(child('part', forever));
    await supervisor.kill('part');
    await supervisor.restart('part');
    expect(supervisor.failed.aborted).toBe(false);
  });

  it('ends the wait for a child that is not ready yet when it stops', async () => {
    const waiting = supervisor.start({
      ...child('slow', forever),
      ready: (signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        }),
    });
    await Promise.all([
      expect(waiting).rejects.toThrow('everything is being stopped'),
      supervisor[Symbol.asyncDispose](),
    ]);
  });

  it('says so when a program does not exist', async () => {
    await supervisor.start({
      name: 'ghost',
      command: ['/nonexistent/program'],
      ready: async () => undefined,
    });
    await expect.poll(() => String(supervisor.failed.reason)).toContain('cannot start');
  });
});
