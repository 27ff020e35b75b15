import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const room = import.meta.dirname;
const started: ChildProcess[] = [];

/** Starts a process that runs `body` under runUntilSignal, prints "ready" and leaves a timer running. */
async function processWith(body: string): Promise<{
  child: ChildProcess;
  ended: Promise<number>;
  lines: () => { msg: string; level: string }[];
}> {
  const program = `
    import { createLogger } from '${join(room, 'log.ts')}';
    import { runUntilSignal } from '${join(room, 'shutdown.ts')}';
    setInterval(() => undefined, 1000);
    const log = createLogger({ part: 'test', level: 'info' });
    process.exitCode = await runUntilSignal(async (signal) => {
      console.log('ready');
      ${body}
    }, { log, graceMs: 500, leftoversMs: 50 });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(child);
  const ended = new Promise<number>((resolve) =>
    child.once('close', (code) => resolve(code ?? -1)),
  );
  let output = '';
  child.stdout?.on('data', (piece: Buffer) => {
    output += piece.toString();
  });
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  const lines = () =>
    output
      .trim()
      .split('\n')
      .filter((text) => text !== 'ready')
      .map((text) => JSON.parse(text) as { msg: string; level: string });
  return { child, ended, lines };
}

const untilAbort = `await new Promise((_, reject) =>
  signal.addEventListener('abort', () => reject(signal.reason)));`;

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

describe('runUntilSignal', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'runUntilSignal exits with status 0 after %s',
    async (signal) => {
      const { child, ended } = await processWith(untilAbort);
      child.kill(signal);
      expect(await ended).toBe(0);
    },
  );

  it('runUntilSignal exits with status 1 when the part fails', async () => {
    const { ended } = await processWith("throw new Error('broken');");
    expect(await ended).toBe(1);
  });

  it("[RW-54] runUntilSignal exits with the part's status despite open timers", async () => {
    const { ended } = await processWith('return 3;');
    expect(await ended).toBe(3);
  });

  it('runUntilSignal aborts the root signal when the part has failed', async () => {
    const { ended, lines } = await processWith(`
      signal.addEventListener('abort', () => log.info('told'));
      throw new Error('broken');`);
    expect(await ended).toBe(1);
    expect(lines().map(({ msg }) => msg)).toEqual(['failed', 'told']);
  });

  it.each([
    ['exception', "setImmediate(() => { throw new Error('stray'); });"],
    ['rejection', "void Promise.reject(new Error('stray'));"],
  ])(
    'runUntilSignal stops the part and exits with status 1 after an uncaught %s',
    async (_, stray) => {
      const { ended, lines } = await processWith(`${stray}
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      log.info('in order');`);
      expect(await ended).toBe(1);
      expect(lines().map(({ level, msg }) => `${level} ${msg}`)).toEqual([
        'fatal uncaught error, stopping',
        'info in order',
      ]);
    },
  );

  it('runUntilSignal exits with status 130 when the part does not stop within the grace period', async () => {
    const { child, ended } = await processWith('await new Promise(() => undefined);');
    child.kill('SIGTERM');
    expect(await ended).toBe(130);
  });

  it('runUntilSignal exits at once on a second signal', async () => {
    const { child, ended, lines } = await processWith('await new Promise(() => undefined);');
    child.kill('SIGTERM');
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(lines().map(({ msg }) => msg)).toEqual(['stopping']);
  });
});
