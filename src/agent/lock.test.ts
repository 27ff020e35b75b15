import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../time/clock.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { underLock } from './lock.ts';

const { signal } = new AbortController();
let hostRoot: string;
beforeEach(() => {
  hostRoot = mkdtempSync(join(tmpdir(), 'multinic-lock-'));
});
afterEach(() => rmSync(hostRoot, { recursive: true }));

/** Holds the lock until told to let go. */
async function held() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const taken = Promise.withResolvers<void>();
  const work = async () => {
    taken.resolve();
    await promise;
  };
  const done = underLock({ hostRoot, clock: systemClock, signal }, work);
  await taken.promise;
  return async () => {
    resolve();
    await done;
  };
}

/** A database as SQLite writes one, of two pages. */
function databaseOfOthers(): Buffer {
  const directory = mkdtempSync(join(tmpdir(), 'multinic-database-'));
  const path = join(directory, 'database');
  const database = new DatabaseSync(path);
  database.exec('CREATE TABLE a (b)');
  database.close();
  const content = readFileSync(path);
  rmSync(directory, { recursive: true });
  return content;
}

describe('the lock of a host', () => {
  test('[RW-23] lets a second run wait until the first one has ended', async () => {
    const letGo = await held();
    const clock = createFakeClock();
    const order: string[] = [];
    const second = underLock({ hostRoot, clock, signal }, async () => void order.push('second'));
    await expect.poll(() => clock.waits.length).toBe(1);
    expect(order).toEqual([]);
    await letGo();
    await clock.advance(200);
    await second;
    expect(order).toEqual(['second']);
  });

  test('does not wait for ever', async () => {
    const letGo = await held();
    const clock = createFakeClock();
    const second = underLock({ hostRoot, clock, signal }, async () => 'never');
    const said = expect(second).rejects.toThrow('another run of the agent holds this host');
    const patience = expect.poll(async () => {
      await clock.advance(61_000);
      return clock.waits.length;
    });
    await patience.toBe(0);
    await said;
    await letGo();
  });

  test('is free again after work that failed', async () => {
    const failing = underLock({ hostRoot, clock: systemClock, signal }, async () => {
      throw new Error('work failed');
    });
    await expect(failing).rejects.toThrow('work failed');
    const next = underLock({ hostRoot, clock: createFakeClock(), signal }, async () => 'done');
    expect(await next).toBe('done');
  });

  test('ends with a run that is killed', async () => {
    const code = `
      const { underLock } = await import(process.argv[1]);
      const { systemClock: clock } = await import(process.argv[2]);
      const { signal } = new AbortController();
      await underLock({ hostRoot: process.argv[3], clock, signal }, () => {
        console.log('held');
        // A promise that nothing can settle is garbage, and with it the lock.
        return new Promise((resolve) => setInterval(() => resolve, 1_000));
      });`;
    const files = ['./lock.ts', '../time/clock.ts'].map((file) => import.meta.resolve(file));
    const argv = ['--input-type=module', '-e', code, ...files, hostRoot];
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    const clock = createFakeClock();
    const next = underLock({ hostRoot, clock, signal }, async () => 'done');
    await expect.poll(() => clock.waits.length).toBe(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await clock.advance(200);
    expect(await next).toBe('done');
  });

  test.each([
    ['text', Buffer.from('half a line of a log, '.repeat(100))],
    ['half a database', databaseOfOthers().subarray(0, 4096)],
  ])('is taken although its file holds %s that no run of ours wrote', async (_, content) => {
    mkdirSync(join(hostRoot, 'var/lib/multinic'), { recursive: true });
    writeFileSync(join(hostRoot, 'var/lib/multinic/lock'), content);
    const clock = createFakeClock();
    const run = underLock({ hostRoot, clock, signal }, async () => 'done');
    await clock.advance(200);
    expect(await run).toBe('done');
  });

  test('can be held by nobody who is not root', async () => {
    const letGo = await held();
    const directory = join(hostRoot, 'var/lib/multinic');
    expect(statSync(join(directory, 'lock')).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(['lock']);
    await letGo();
  });

  test('is not waited for any longer when the run is to stop', async () => {
    const letGo = await held();
    const stopping = new AbortController();
    const clock = createFakeClock();
    const waiting = underLock({ hostRoot, clock, signal: stopping.signal }, async () => 'never');
    const said = expect(waiting).rejects.toThrow('stop');
    await expect.poll(() => clock.waits.length).toBe(1);
    stopping.abort(new Error('stop'));
    await said;
    await letGo();
  });
});
