import { expect, it } from 'vitest';
import { settingsOfParts } from '../../build/settings-of-parts.ts';
import { describeSettings, readSettings } from '../../src/process/settings.ts';

/** What has no default, for any part. */
const flags = { 'tokens-file': '/tokens.yaml' };

it.each(Object.entries(settingsOfParts))('%s shows each setting as it is', (_part, settings) => {
  const source = { env: {}, flags };
  const shown = describeSettings(settings, readSettings(settings, source), source);
  expect(Object.keys(shown)).toEqual(Object.keys(settings));
  expect(JSON.parse(JSON.stringify(shown))).toEqual(shown);
  const secrets = Object.entries(settings).filter(([, { secret = false }]) => secret);
  for (const [key] of secrets) expect(shown[key]).toEqual({ value: null, from: 'default' });
});
