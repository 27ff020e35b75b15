import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defaultOf, shownDefault } from './setting-default.ts';
import { address, boolean, duration, integer, nonBlank, url } from './setting-schemas.ts';
import {
  currentSettings,
  deprecatedIn,
  describeSettings,
  readSettings,
  removedSetting,
  replacedSetting,
  type SettingSource,
  SettingsError,
  setting,
} from './settings.ts';

const settings = {
  endpoint: setting({
    env: ['VIOLA_ENDPOINT', 'OLD_ENDPOINT'],
    flag: 'viola-endpoint',
    schema: url(),
    description: 'URL of Viola',
  }),
  timeout: setting({
    env: ['VIOLA_TIMEOUT'],
    flag: 'viola-timeout',
    schema: duration({ minMs: 1000 }).default(30_000),
    description: 'timeout of a call',
  }),
  key: setting({
    env: ['KEY'],
    flag: 'key',
    schema: nonBlank()
      .refine((value) => value.length === 16, 'must have 16 characters')
      .optional(),
    description: 'AES key',
    secret: true,
  }),
};

function problemsOf(env: Record<string, string>, flags: Record<string, string> = {}) {
  try {
    readSettings(settings, { env, flags });
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}

describe('readSettings', () => {
  it('readSettings prefers flag over environment, current variable over older ones, and default last', () => {
    const env = { VIOLA_ENDPOINT: 'http://new', OLD_ENDPOINT: 'http://old' };
    const read = (flags: Record<string, string>) => readSettings(settings, { env, flags });
    expect(read({}).endpoint).toBe('http://new');
    expect(read({ 'viola-endpoint': 'http://flag/' }).endpoint).toBe('http://flag');
    expect(read({}).timeout).toBe(30_000);
    const old = readSettings(settings, { env: { OLD_ENDPOINT: 'http://old' }, flags: {} });
    expect(old.endpoint).toBe('http://old');
  });

  it('readSettings treats an empty variable as unset', () => {
    const env = { VIOLA_ENDPOINT: '', OLD_ENDPOINT: 'http://old', VIOLA_TIMEOUT: '' };
    const read = readSettings(settings, { env, flags: {} });
    expect([read.endpoint, read.timeout]).toEqual(['http://old', 30_000]);
  });

  it("readSettings hides a URL's password in problems, even where passwords are not allowed", () => {
    const [problem] = problemsOf({ VIOLA_ENDPOINT: 'https://me:secret@viola.example' });
    expect(problem?.value).toBe('https://…@viola.example');
    expect(problem?.message).not.toContain('secret');
  });

  it('readSettings reports every invalid setting with value and advice', () => {
    expect(problemsOf({ VIOLA_ENDPOINT: 'viola', VIOLA_TIMEOUT: '0s' })).toEqual([
      {
        name: 'VIOLA_ENDPOINT',
        value: 'viola',
        message: '"viola" must be a URL such as https://viola.example:8080 (URL of Viola)',
      },
      {
        name: 'VIOLA_TIMEOUT',
        value: '0s',
        message: '"0s" must be at least 1000 ms (timeout of a call)',
      },
    ]);
  });

  it('readSettings names flag and variable for a missing required setting', () => {
    expect(problemsOf({})[0]).toMatchObject({
      name: '--viola-endpoint or VIOLA_ENDPOINT',
      message: 'is required (URL of Viola)',
    });
  });

  it('readSettings never prints a secret', () => {
    const [problem] = problemsOf({ VIOLA_ENDPOINT: 'http://v', KEY: 'hunter2' });
    expect(problem?.message).toBe('must have 16 characters (AES key)');
    expect(JSON.stringify(problem)).not.toContain('hunter2');
  });
});

describe('deprecated settings', () => {
  const table = {
    endpoint: settings.endpoint,
    parallel: removedSetting('parallel', ['PARALLEL'], 'it is always 8'),
    tlsCert: replacedSetting('old-cert', ['OLD_CERT'], nonBlank().optional(), 'tls-cert'),
  };

  it.each<[string, SettingSource, readonly string[]]>([
    ['none is set', { env: {}, flags: {} }, []],
    [
      'flags are set',
      { env: {}, flags: { parallel: '0', 'old-cert': 'a' } },
      ['--parallel', '--old-cert'],
    ],
    [
      'variables are set',
      { env: { PARALLEL: 'x', OLD_CERT: 'a' }, flags: {} },
      ['PARALLEL', 'OLD_CERT'],
    ],
    ['a variable is empty', { env: { PARALLEL: '' }, flags: {} }, []],
  ])('are accepted and named when %s', (_when, { env, flags }, names) => {
    const source = { env, flags: { ...flags, 'viola-endpoint': 'http://v' } };
    const values = readSettings(table, source);
    expect(deprecatedIn(table, source).map(({ name }) => name)).toEqual(names);
    expect(values.tlsCert).toBe(names.length > 0 ? 'a' : undefined);
    const shown = describeSettings(table, values, source);
    expect(Object.keys(shown)).toEqual([
      'endpoint',
      ...(names.length > 0 ? ['parallel', 'tlsCert'] : []),
    ]);
  });

  it('say what to do instead, and are not among the current ones', () => {
    const source = { env: { PARALLEL: '9', OLD_CERT: 'a' }, flags: {} };
    expect(deprecatedIn(table, source)).toEqual([
      { name: 'PARALLEL', instead: 'it is always 8', isIgnored: true },
      { name: 'OLD_CERT', instead: 'use --tls-cert', isIgnored: false },
    ]);
    expect(Object.keys(currentSettings(table))).toEqual(['endpoint']);
  });
});

describe('the default of a setting', () => {
  it.each([
    [duration().prefault('30s'), '30s'],
    [nonBlank().default('a').pipe(nonBlank()), 'a'],
    [
      nonBlank()
        .transform((text) => text.split(','))
        .prefault('a,b'),
      'a,b',
    ],
    [nonBlank().optional(), 'none'],
    [z.string().prefault(''), 'none'],
    [nonBlank(), 'required'],
  ])('is shown as the user writes it', (schema, shown) => {
    expect(shownDefault({ schema })).toBe(shown);
    expect(defaultOf(schema) || 'none').toBe(shown === 'required' ? 'none' : shown);
  });
});

describe('setting schemas', () => {
  it.each([
    [duration(), '1h30m', 5_400_000],
    [duration(), '500ms', 500],
    [integer(1, 10), '7', 7],
    [boolean(), 'Yes', true],
    [boolean(), 'off', false],
    [url(), ' https://viola.example/path/\n', 'https://viola.example/path'],
    [integer(1, 10), '7\n', 7],
    [boolean(), ' true', true],
    [duration(), '596h', 2_145_600_000],
  ])('setting schemas parse values as users write them', (schema, input, value) => {
    expect(schema.parse(input)).toBe(value);
  });

  it('address() reads a missing host as all IPv4 and IPv6 addresses', () => {
    expect(address().parse(':8080')).toEqual({ host: '', port: 8080 });
    expect(address().parse('0.0.0.0:8080')).toEqual({ host: '0.0.0.0', port: 8080 });
    expect(address().parse('[::1]:8080')).toEqual({ host: '::1', port: 8080 });
  });

  it.each([
    [duration(), '30'],
    [duration(), '-1s'],
    [integer(1, 10), '11'],
    [integer(1, 10), '1.5'],
    [boolean(), 'maybe'],
    [address(), '8080'],
    [url(), 'ftp://x'],
    [url(), 'https://user:password@x'],
    [url(), 'https://x/?a=b'],
    [url(), 'https://x/#there'],
    [boolean(), 'constructor'],
    [address(), ':65536'],
    [duration(), '597h'],
    [duration(), `${'9'.repeat(400)}s`],
  ])('setting schemas refuse malformed and out-of-range values', (schema, input) => {
    expect(schema.safeParse(input).success).toBe(false);
  });
});

function described(source: SettingSource) {
  return describeSettings(settings, readSettings(settings, source), source);
}

describe('describeSettings', () => {
  it('describeSettings returns value and origin for each setting, and redacts secrets', () => {
    const env = { OLD_ENDPOINT: 'http://old', KEY: '0123456789abcdef' };
    expect(described({ env, flags: { 'viola-timeout': '2s' } })).toEqual({
      endpoint: { value: 'http://old', from: 'OLD_ENDPOINT' },
      timeout: { value: 2_000, from: '--viola-timeout' },
      key: { value: 'redacted', from: 'KEY' },
    });
  });

  it('describeSettings hides user and password in URLs', () => {
    const proxy = setting({ env: ['PROXY'], flag: 'proxy', schema: nonBlank(), description: 'a' });
    const source = { env: { PROXY: 'http://me:word@proxy:3128' }, flags: {} };
    const shown = describeSettings({ proxy }, readSettings({ proxy }, source), source);
    expect(shown).toMatchObject({ proxy: { value: 'http://…@proxy:3128' } });
  });

  it('describeSettings returns defaults for unset settings', () => {
    const flags = { 'viola-endpoint': 'http://v' };
    expect(described({ env: {}, flags })).toMatchObject({
      timeout: { value: 30_000, from: 'default' },
      key: { value: null, from: 'default' },
    });
  });
});
