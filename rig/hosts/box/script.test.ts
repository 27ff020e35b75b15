import { expect, test } from 'vitest';
import { runScript } from './script.ts';

test('standard output is the answer, standard input is handed over', async () => {
  expect(await runScript('/bin/sh', ['-c', 'cat; echo said >&2'], { stdin: 'handed' })).toBe(
    'handed',
  );
});

test('a failure says the command and what it wrote to standard error', async () => {
  const failing = runScript('/bin/sh', ['-c', 'echo the reason >&2; exit 3']);
  await expect(failing).rejects.toThrow(/^sh -c .* failed: the reason$/);
});

test('a script that takes too long is stopped, and the error says so', async () => {
  const endless = runScript('/bin/sh', ['-c', 'exec tail -f /dev/null'], { timeoutMs: 50 });
  await expect(endless).rejects.toThrow(/stopped after 50 ms/);
});

test('a script that does not read its input is no failure', async () => {
  expect(await runScript('/bin/true', [], { stdin: 'x'.repeat(1_000_000) })).toBe('');
});
