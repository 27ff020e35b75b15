import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const room = import.meta.dirname;
const started: ChildProcess[] = [];

/** A process that runs `body` under runUntilSignal and says "ready" once it does. */
async function processWith(body: string): Promise<{ child: ChildProcess; ended: Promise<number> }> {
  const program = `
    import { createLogger } from '${join(room, 'log.ts')}';
    import { runUntilSignal } from '${join(room, 'shutdown.ts')}';
    const keepAlive = setInterval(() => undefined, 1000);
    const log = createLogger({ part: 'test', level: 'silent' });
    process.exitCode = await runUntilSignal(async (signal) => {
      console.log('ready');
      ${body}
    }, { log, graceMs: 500 });
    clearInterval(keepAlive);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(child);
  const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? -1)));
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  return { child, ended };
}

const untilAbort = `await new Promise((_, reject) =>
  signal.addEventListener('abort', () => reject(signal.reason)));`;

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

describe('runUntilSignal', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('ends with status 0 after %s', async (signal) => {
    const { child, ended } = await processWith(untilAbort);
    child.kill(signal);
    expect(await ended).toBe(0);
  });

  it('ends with status 1 when the part fails', async () => {
    const { ended } = await processWith("throw new Error('broken');");
    expect(await ended).toBe(1);
  });

  it('leaves by force when the part does not stop within its grace', async () => {
    const { child, ended } = await processWith('await new Promise(() => undefined);');
    child.kill('SIGTERM');
    expect(await ended).toBe(130);
  });

  it('leaves at once at a second signal', async () => {
    const { child, ended } = await processWith('await new Promise(() => undefined);');
    child.kill('SIGTERM');
    child.kill('SIGINT');
    expect(await ended).toBe(130);
  });
});
