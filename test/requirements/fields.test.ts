import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { crdDefinitions } from '../../src/api/crd/definition.ts';
import { textOf } from '../repo/tree.ts';
import { fields, sampleOf002 } from './fields.ts';

const lastWord = (field: string): string => field.split('.').at(-1) ?? '';
const known = new Set(fieldsOfSpec());

it('every field of an OpenstackConfig has a test on real parts, and no other has', () => {
  expect(Object.keys(fields).toSorted()).toEqual([...known].toSorted());
});

it('each of these tests has the field in its title', () => {
  const without = Object.entries(fields).filter(([field, file]) => {
    const titles = [...textOf(file).matchAll(/\bit(?:\.each\([^)]*\))?\(\s*[`'](.*)/g)].join('\n');
    return !new RegExp(`\\b${lastWord(field)}\\b`).test(titles);
  });
  expect(without).toEqual([]);
});

it('the fields of the sample of document 002 are among them', () => {
  const { spec } = parse(sampleOf002()) as { spec: object };
  expect(leavesOf(spec).filter((field) => !(field in fields))).toEqual([]);
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Fields below spec by the definition that is installed; what has fields of its own below the second step is one. */
function fieldsOfSpec(): string[] {
  const definition = crdDefinitions()['multinic.example.com_openstackconfigs.yaml'];
  const schema = definition?.spec.versions[0]?.schema.openAPIV3Schema as Schema | undefined;
  return Object.entries(schema?.properties?.['spec']?.properties ?? {}).flatMap(([name, field]) => {
    const below = Object.keys(field.properties ?? {});
    return below.length === 0 ? [name] : below.map((each) => `${name}.${each}`);
  });
}

function leavesOf(spec: object): string[] {
  return Object.entries(spec).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.keys(value).map((each) => `${name}.${each}`)
      : [name],
  );
}
