import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Setting } from '../../src/process/settings.ts';
import { charts } from './charts.ts';
import { schemaOf, type ValuesSchema } from './schema.ts';
import { typed } from './setting-form.ts';
import { valueKey } from './values/settings.ts';

const root = join(import.meta.dirname, '../../charts');

function yaml(chart: string, file: string): Record<string, unknown> {
  return parse(readFileSync(join(root, chart, file), 'utf8')) as Record<string, unknown>;
}

/** Merges values as Helm does. */
function over(below: unknown, above: unknown): unknown {
  if (!isMap(below) || !isMap(above)) return above ?? below;
  const keys = new Set([...Object.keys(below), ...Object.keys(above)]);
  return Object.fromEntries([...keys].map((key) => [key, over(below[key], above[key])]));
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Paths where the schema allows any key. */
function openObjects(schema: ValuesSchema, path: string): string[] {
  const { type, additionalProperties, properties = {}, items } = schema;
  const isOpen = type === 'object' && additionalProperties !== false;
  return [
    ...(isOpen ? [path] : []),
    ...Object.entries(properties).flatMap(([key, inner]) => openObjects(inner, `${path}.${key}`)),
    ...(items ? openObjects(items, `${path}[]`) : []),
  ];
}

function at(schema: ValuesSchema, ...path: readonly string[]): ValuesSchema | undefined {
  return path.reduce<ValuesSchema | undefined>((found, key) => found?.properties?.[key], schema);
}

function keysIn(schema: ValuesSchema, ...path: readonly string[]): string[] {
  return Object.keys(at(schema, ...path)?.properties ?? {});
}

describe.each(charts)('values in $name', ({ name, values, parts }) => {
  const schema = schemaOf(values);
  const defaults = yaml(name, 'values.yaml');

  it.each(['dev', 'staging', 'production'])('the schema accepts values for %s', (size) => {
    const all = over(defaults, yaml(name, `values-${size}.yaml`));
    expect(values.safeParse(all).error).toBeUndefined();
  });

  it('the defaults equal values.yaml', () => {
    expect(values.parse(defaults)).toEqual(defaults);
  });

  it('the schema refuses unknown keys, except in objects from the Kubernetes API', () => {
    const free =
      /\.(global|labels|podLabels|podAnnotations|nodeSelector|matchLabels|affinity|extraVolumes\[\]|extraVolumeMounts\[\])$/;
    expect(openObjects(schema, '').filter((path) => !free.test(path))).toEqual([]);
  });

  it.each(Object.entries(parts))('have each setting of %s, secrets by reference', (part, known) => {
    const settings: Readonly<Record<string, Setting>> = known;
    const keysOf = (wanted: boolean) =>
      Object.keys(settings).filter((key) => (settings[key]?.secret ?? false) === wanted);
    expect(keysIn(schema, part, 'settings')).toEqual(keysOf(false).map(valueKey));
    expect(keysIn(schema, part, 'secretSettings')).toEqual(keysOf(true).map(valueKey));
  });

  it.each(Object.entries(parts))(
    'have the defaults of %s, or the chart has another',
    (part, known) => {
      const settings: Readonly<Record<string, Setting>> = known;
      const shown = at(schema, part, 'settings')?.properties ?? {};
      for (const [key, setting] of Object.entries(settings)) {
        const { default: fallback, description = '' } = shown[valueKey(key)] ?? {};
        if (!description.includes('of the chart: ') && !setting.secret) {
          expect([key, fallback]).toEqual([key, typed(setting).fallback]);
        }
      }
    },
  );
});
