import { expect, it } from 'vitest';
import { createLogger } from '../../process/log.ts';
import { RequestError } from '../../requests/request-error.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { ConfigMemories } from './memory/config-memory.ts';
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
] as const)(
  "[N21] %s is a log line; a user's error is logged once, without a stack",
  async (_, failure, level) => {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const log = createLogger({ part: 'test', level: 'info', destination });
    const fails = async () => Promise.reject(failure);
    const object = { metadata: { namespace: 'n', name: 'osc', uid: 'u' } };
    const clock = createFakeClock();
    const memories = new ConfigMemories({ clock, random: Math.random, clouds: [], others: [] });
    const context = { object, memory: memories.of(object), log };
    expect(await attempt(fails, context, signal)).toBe(failure);
    await attempt(fails, context, signal);
    const [line = '', ...repeated] = lines;
    const { level: shown, config } = JSON.parse(line) as { level: string; config: string };
    expect([shown, config, repeated.length]).toEqual([level, 'n/osc', level === 'info' ? 0 : 1]);
    if (level !== 'info') return;
    expect(line.split('is not registered')).toHaveLength(2);
    expect(line).not.toContain('step-failure.test.ts');
  },
);
