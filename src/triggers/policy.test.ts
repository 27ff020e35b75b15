import { describe, expect, it } from 'vitest';
import { readPolicy } from './policy.ts';

/** Returns the policy's next `count` times after `after`. */
function times(text: string, after: string, count = 3): string[] {
  const { schedule } = readPolicy(text);
  const found: string[] = [];
  for (let at = new Date(after); found.length < count; ) {
    at = schedule?.next(at) ?? new Date(Number.NaN);
    found.push(at.toISOString().replace('.000Z', 'Z'));
  }
  return found;
}

describe('mode', () => {
  it.each([
    ['', 'immediate', true],
    ['mode: immediate', 'immediate', true],
    // As in the legacy system, where immediate mode always follows changes.
    ['{mode: immediate, immediateOnCRChange: false}', 'immediate', true],
    ['mode: scheduled', 'scheduled', false],
    ['{mode: scheduled, immediateOnCRChange: true}', 'scheduled', true],
    ['mode: manual', 'manual', true],
    ['{mode: manual, immediateOnCRChange: false}', 'manual', false],
    ['mode: webhook', 'webhook', false],
    ['{mode: webhook, immediateOnCRChange: true}', 'webhook', true],
  ])('policy %s has mode %s and follows CR changes at once: %s', (text, mode, onChange) => {
    const { schedule, ...policy } = readPolicy(text);
    expect(policy).toEqual({ mode, onChange });
    expect(schedule !== undefined).toBe(mode === 'scheduled');
  });

  it('modes other than scheduled accept an interval, validate it and ignore it', () => {
    expect(readPolicy('{mode: manual, interval: 15m}').schedule).toBeUndefined();
    expect(() => readPolicy('{mode: manual, interval: often}')).toThrow('interval "often"');
  });
});

describe('schedule', () => {
  it('interval times are equal in every process', () => {
    expect(times('{mode: scheduled, interval: 15m}', '2026-01-01T10:07:30.5Z')).toEqual([
      '2026-01-01T10:15:00Z',
      '2026-01-01T10:30:00Z',
      '2026-01-01T10:45:00Z',
    ]);
  });

  it('scheduled mode without interval runs every five minutes', () => {
    expect(times('mode: scheduled', '2026-01-01T10:00:00Z', 2)).toEqual([
      '2026-01-01T10:05:00Z',
      '2026-01-01T10:10:00Z',
    ]);
  });

  it('cron times use the configured time zone, else UTC', () => {
    const at = '2026-01-01T00:00:00Z';
    expect(times('{mode: scheduled, schedule: "30 3 * * *"}', at, 1)).toEqual([
      '2026-01-01T03:30:00Z',
    ]);
    const seoul = '{mode: scheduled, schedule: "30 3 * * *", timezone: Asia/Seoul}';
    expect(times(seoul, at, 1)).toEqual(['2026-01-01T18:30:00Z']);
  });

  it('cron times in a daylight-saving gap run after the gap, and repeated times run once', () => {
    const zone = 'timezone: America/New_York';
    const gap = `{mode: scheduled, schedule: "30 2 * * *", ${zone}}`;
    expect(times(gap, '2026-03-07T12:00:00Z', 2)).toEqual([
      '2026-03-08T07:00:00Z',
      '2026-03-09T06:30:00Z',
    ]);
    const twice = `{mode: scheduled, schedule: "30 1 * * *", ${zone}}`;
    expect(times(twice, '2026-11-01T00:00:00Z', 2)).toEqual([
      '2026-11-01T05:30:00Z',
      '2026-11-02T06:30:00Z',
    ]);
  });

  it.each(['Asia/Seoul', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', '+09:00'])(
    'cron times in %s continue across daylight-saving changes',
    (timezone) => {
      const longestMinutes = { '*/15 * * * *': 15, '30 2 * * *': 25 * 60, '0 */6 * * *': 7 * 60 };
      // Days around clock changes, forward and back.
      const days = [
        '2026-03-07',
        '2026-03-28',
        '2026-04-04',
        '2026-10-03',
        '2026-10-24',
        '2026-10-31',
      ];
      for (const [pattern, longest] of Object.entries(longestMinutes)) {
        const text = `{mode: scheduled, schedule: "${pattern}", timezone: "${timezone}"}`;
        const { schedule } = readPolicy(text);
        for (const day of days) {
          const start = Date.parse(`${day}T00:00:00Z`);
          for (let at = start; at < start + 2 * 86_400_000; at += 11 * 60_000) {
            const minutes = ((schedule?.next(new Date(at)).getTime() ?? 0) - at) / 60_000;
            const where = `${pattern} after ${new Date(at).toISOString()}`;
            expect(minutes, where).toBeGreaterThan(0);
            expect(minutes, where).toBeLessThanOrEqual(longest);
          }
        }
      }
    },
  );

  it('intervals with fractional milliseconds still advance', () => {
    const { schedule } = readPolicy('{mode: scheduled, interval: 60000.5ms}');
    const first = schedule?.next(new Date(0)) ?? new Date(0);
    expect(schedule?.next(first).getTime()).toBeGreaterThan(first.getTime());
  });

  it('cron times may be years ahead', () => {
    expect(times('{mode: scheduled, schedule: "0 0 29 2 *"}', '2026-01-01T00:00:00Z', 1)).toEqual([
      '2028-02-29T00:00:00Z',
    ]);
  });
});

describe('unusable policies are refused with field, value and advice', () => {
  const cron = 'set five fields in quotes, such as "0 3 * * *"';
  it.each([
    [
      'mode: often',
      'mode "often" cannot be used; set one of immediate, scheduled, manual, webhook',
    ],
    ['mode: ""', 'mode "" cannot be used; set one of immediate, scheduled, manual, webhook'],
    [
      'mdoe: manual',
      'mdoe is not known; known fields: mode, interval, schedule, timezone, immediateOn',
    ],
    ['interval: 15', 'interval 15 cannot be used; set a duration such as "15m"'],
    ['interval: often', 'interval "often" is not a duration; set a duration such as "15m"'],
    ['interval: 59s', 'interval "59s" is too short; set at least "1m"'],
    ['interval: 0s', 'interval "0s" is too short; set at least "1m"'],
    ['interval: -15m', 'interval "-15m" is too short; set at least "1m"'],
    ['interval: 597h', 'interval "597h" is too long; set at most "596h"'],
    ['schedule: ""', `schedule "" cannot be used (`],
    ['schedule: "0 3 * *"', cron],
    ['schedule: "0 0 3 * * *"', `schedule "0 0 3 * * *" cannot be used (`],
    ['schedule: "0 0 3 * * *"', cron],
    ['schedule: "2030-01-01T00:00:00"', cron],
    [
      'schedule: "@daily"',
      `schedule "@daily" cannot be used (a schedule has five fields); ${cron}`,
    ],
    ['schedule: "0 0 30 2 *"', `schedule "0 0 30 2 *" cannot be used (no such day exists`],
    ['schedule: "61 3 * * *"', 'schedule "61 3 * * *" cannot be used ('],
    ['schedule: "0 0 31 2 *"', `schedule "0 0 31 2 *" cannot be used (no such day exists`],
    ['timezone: Mars/Base', 'timezone "Mars/Base" is not known; set a name such as "Asia/Seoul"'],
    ['timezone: ""', 'timezone "" is not known; set a name such as "Asia/Seoul"'],
    ['immediateOnCRChange: "yes"', 'immediateOnCRChange "yes" cannot be used; set true or false'],
    ['{interval: 5m, schedule: "0 3 * * *"}', 'exclude each other; remove one'],
    ['- mode', 'it has no fields; known fields: mode, interval'],
    ['manual', 'it has no fields; known fields: mode, interval'],
    ['mode: [', 'it is not YAML: '],
    ['{mode: manual, mode: webhook}', 'it is not YAML: Map keys must be unique'],
    ['mode: manual\n---\nmode: webhook', 'it is not YAML: '],
    ['mode: ~', 'mode null cannot be used; set one of immediate, scheduled, manual, webhook'],
  ])('%s', (text, message) => {
    expect(() => readPolicy(text)).toThrow(message);
    expect(() => readPolicy(text)).toThrow('trigger.yaml: ');
  });

  it('policy text above 4,096 characters is refused unread', () => {
    const text = '# a comment\n'.padEnd(4_096, '#');
    expect(readPolicy(text).mode).toBe('immediate');
    expect(() => readPolicy(`${text}#`)).toThrow('it has 4097 characters; use at most 4096');
  });

  it('all problems in a policy are reported at once', () => {
    const text = '{interval: 1s, timezone: Mars/Base}';
    expect(() => readPolicy(text)).toThrow(/interval "1s".*; timezone "Mars/);
    const shape = '{mode: often, immediateOnCRChange: 1}';
    expect(() => readPolicy(shape)).toThrow(/mode "often".*; immediateOnCRChange 1/);
  });
});
