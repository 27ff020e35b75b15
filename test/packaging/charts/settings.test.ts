import { describe, expect, it } from 'vitest';
import { settingsOfParts } from '../../../build/settings-of-parts.ts';
import { currentSettings, readSettings, type Settings } from '../../../src/process/settings.ts';
import { containerOf, environmentOf, manifestsIn } from '../../repo/charts/manifests.ts';
import { type Installation, render } from './helm.ts';
import { type Sample, samplesOf } from './setting-samples.ts';

const chartOf = {
  operator: 'multinic-operator',
  viola: 'multinic-operator',
  lifecycle: 'multinic-operator',
  controller: 'multinic-agent',
} as const;

const parts = Object.entries(settingsOfParts) as [keyof typeof chartOf, Settings][];

const isSecret = ({ setting: { secret = false } }: Sample) => secret;

/** What a part reads in its Pod, with all these values. */
async function read(part: keyof typeof chartOf, samples: readonly Sample[]) {
  const secrets = samples.filter(isSecret);
  const settings: Record<string, unknown> = {};
  const secretSettings: Record<string, unknown> = {};
  for (const sample of samples) {
    const { key, value } = sample;
    if (isSecret(sample)) secretSettings[key] = { name: 'own-secrets', key };
    else settings[key] = value;
  }
  const values = {
    settings,
    ...(secrets.length > 0 && { secretSettings }),
    ...(part === 'lifecycle' && { enabled: true }),
  };
  const installation: Installation = { chart: chartOf[part], values: { [part]: values } };
  const container = containerOf(manifestsIn(await render(installation)), part);
  const env = environmentOf(container, ({ secretKeyRef, fieldRef }) => {
    if (secretKeyRef?.name === 'own-secrets') {
      return String(secrets.find(({ key }) => key === secretKeyRef.key)?.value);
    }
    return `the Pod's ${fieldRef?.fieldPath}`;
  });
  return readSettings(settingsOfParts[part] as Settings, { env, flags: {} });
}

describe.each(parts)('the settings of %s', (part, settings) => {
  const samples = samplesOf(settings);

  it.each(samples)('have another value than their default: $key', ({ setting, read: value }) => {
    expect(value).not.toEqual(setting.schema.safeParse(undefined).data);
  });

  it('[RW-75] [RW-78] arrive all, as they were set', async () => {
    const keys = Object.keys(currentSettings(settings));
    const expected = keys.map((key, index) => [key, samples[index]?.read]);
    expect(await read(part, samples)).toEqual(Object.fromEntries(expected));
  });
});
