import { expect, it } from 'vitest';
import { createLogger } from '../../process/log.ts';
import { RequestError } from '../../requests/request-error.ts';
import { attempt, StepFailure } from './step-failure.ts';

const { signal } = new AbortController();
const text = 'viola: unexpected status 404: provider "biz-9" is not registered';
const cause = (kind: 'notFound' | 'unreachable') =>
  new RequestError('unexpected status', { service: 'viola', kind });

it.each([
  [
    'a refusal by a service',
    new StepFailure({ reason: 'ViolaPostError', message: text }, { cause: cause('notFound') }),
    'info',
  ],
  ['an unusable field', new StepFailure({ reason: 'ConfigError', message: text }), 'info'],
  [
    'an outage',
    new StepFailure({ reason: 'ViolaPostError', message: text }, { cause: cause('unreachable') }),
    'warn',
  ],
] as const)("[N21] %s is one log line; a user's error has no stack", async (_, failure, level) => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLogger({ part: 'test', level: 'info', destination });
  const fails = async () => Promise.reject(failure);
  expect(await attempt(fails, log, signal)).toBe(failure);
  const [line = '', ...more] = lines;
  expect([more.length, (JSON.parse(line) as { level: string }).level]).toEqual([0, level]);
  if (level !== 'info') return;
  expect(line.split('is not registered')).toHaveLength(2);
  expect(line).not.toContain('step-failure.test.ts');
});
