import { typed, type Value } from '../../../build/charts/setting-form.ts';
import { valueKey } from '../../../build/charts/values/settings.ts';
import { currentSettings, type Setting, type Settings } from '../../../src/process/settings.ts';

/** A value of a setting that is not its default, and what a part makes of it. */
export interface Sample {
  readonly key: string;
  readonly setting: Setting;
  readonly value: Value;
  readonly read: unknown;
}

/** One for each setting of a part that is not deprecated; no two addresses have the same port. */
export function samplesOf(settings: Settings): Sample[] {
  return Object.entries(currentSettings(settings)).map(([key, setting], index) => {
    const value = sampleOf(key, setting, 9_000 + index);
    return { key: valueKey(key), setting, value, read: setting.schema.parse(textOf(value)) };
  });
}

/** As an environment variable holds it. */
export function textOf(value: Value): string {
  return typeof value === 'object' ? value.join(',') : String(value);
}

const lists = [
  ['one', 'two'],
  ['10.1.0.0/16', '10.2.0.0/16'],
  ['https://one.example.com', 'https://two.example.com'],
  ['multinic.okestro.io', 'multinic.io'],
  ['team-a=prod-*', '*=lab'],
];

const texts = ['{"requests":{"cpu":"10m"},"limits":{"memory":"300Mi"}}'];

function sampleOf(key: string, setting: Setting, port: number): Value {
  const { form, fallback } = typed(setting);
  const isOther = (value: Value) => value !== fallback;
  if (form.kind === 'integer') return [form.max, form.min].find(isOther) ?? form.max;
  if (form.kind === 'integerOrPercent') return '10%';
  if (form.kind === 'choice') return form.words.find(isOther) ?? '';
  const isTaken = (list: readonly string[]) => setting.schema.safeParse(textOf(list)).success;
  const plain = {
    boolean: fallback !== true,
    duration: '7m',
    url: `https://${key.toLowerCase()}.example.com:8443/base`,
    address: `:${port}`,
    list: lists.find(isTaken) ?? [],
    // Some are names of Kubernetes objects.
    text: [`sample-${key.toLowerCase()}`, ...texts].find((text) => isTaken([text])) ?? '',
  };
  return plain[form.kind];
}
