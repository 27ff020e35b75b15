import { type ChildProcess, spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { untilOneEnds } from './until-one-ends.ts';

function node(script: string): ChildProcess {
  return spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
}

const forEver = 'setInterval(() => undefined, 1_000)';

it.each([
  ['ends with a status', 'process.exit(3)', 3],
  ['ends well', '', 0],
  ['is killed', 'process.kill(process.pid, "SIGKILL")', 137],
])('when one process %s, all end with the corresponding status', async (_how, one, status) => {
  const other = node(forEver);
  expect(await untilOneEnds([other, node(one)])).toBe(status);
  expect(other.signalCode).toBe('SIGTERM');
});

it('a signal ends all processes and leaves no signal handler', async () => {
  const before = process.listenerCount('SIGTERM');
  const children = [node(forEver), node(forEver)];
  const ended = untilOneEnds(children);
  process.emit('SIGTERM', 'SIGTERM');
  expect(await ended).toBe(0);
  expect(children.map(({ signalCode }) => signalCode)).toEqual(['SIGTERM', 'SIGTERM']);
  expect(process.listenerCount('SIGTERM')).toBe(before);
});
