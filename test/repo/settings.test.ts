import { expect, it } from 'vitest';
import { settingsOfParts } from '../../build/settings-of-parts.ts';
import {
  currentSettings,
  deprecatedIn,
  describeSettings,
  readSettings,
  type Settings,
} from '../../src/process/settings.ts';

/** What has no default, for any part. */
const flags = { 'tokens-file': '/tokens.yaml' };

it.each(Object.entries(settingsOfParts))('%s shows each setting as it is', (_part, settings) => {
  const source = { env: {}, flags };
  const shown = describeSettings(settings, readSettings(settings, source), source);
  expect(Object.keys(shown)).toEqual(Object.keys(currentSettings(settings)));
  expect(JSON.parse(JSON.stringify(shown))).toEqual(shown);
  const secrets = Object.entries(settings).filter(([, { secret = false }]) => secret);
  for (const [key] of secrets) expect(shown[key]).toEqual({ value: null, from: 'default' });
});

const deprecated = Object.entries<Settings>(settingsOfParts).flatMap(([part, settings]) =>
  Object.values(settings).flatMap((each) =>
    each.deprecated ? [[part, each.flag, each.env[0], settings] as const] : [],
  ),
);

it.each(deprecated)(
  '%s accepts the deprecated --%s (%s) and reports its use',
  (_part, flag, variable, settings) => {
    const value = flag.endsWith('plain-http') ? 'true' : 'x';
    const byFlag = { env: {}, flags: { ...flags, [flag]: value } };
    const byVariable = { env: variable === undefined ? {} : { [variable]: value }, flags };
    expect(() => readSettings(settings, byFlag)).not.toThrow();
    expect(deprecatedIn(settings, byFlag).map(({ name }) => name)).toEqual([`--${flag}`]);
    expect(deprecatedIn(settings, byVariable).map(({ name }) => name)).toEqual(
      variable === undefined ? [] : [variable],
    );
    expect(deprecatedIn(settings, { env: { POD_NAME: 'pod', HOSTNAME: 'pod' }, flags })).toEqual(
      [],
    );
  },
);

const current = Object.entries<Settings>(settingsOfParts).flatMap(([part, settings]) =>
  Object.values(currentSettings(settings)).map((each) => [part, each.flag, each] as const),
);

it.each(current)('%s describes --%s in sentences, without its default', (_part, _flag, each) => {
  expect(each.description).toMatch(/^\S.*[^.]\.$/s);
  expect(each.description).not.toMatch(/\bdefault(s to)? [^o]/);
  expect(each.description).not.toContain('|');
});
