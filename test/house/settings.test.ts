import { expect, it } from 'vitest';
import { settingsOfParts } from '../../deploy/settings-of-parts.ts';
import { describeSettings } from '../../src/process/settings.ts';

/** What has no default, for any part. */
const flags = { 'tokens-file': '/tokens.yaml' };

it.each(Object.entries(settingsOfParts))('%s shows each setting as it is', (_part, settings) => {
  const shown = describeSettings(settings, { env: {}, flags });
  expect(Object.keys(shown)).toEqual(Object.keys(settings));
  expect(JSON.parse(JSON.stringify(shown))).toEqual(shown);
  const secrets = Object.entries(settings).filter(([, { secret = false }]) => secret);
  for (const [key] of secrets) expect(shown[key]).toEqual({ value: null, from: 'default' });
});
