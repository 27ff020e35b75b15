import { expect, it } from 'vitest';
import { isLabelledAs, isOwnedByExpansion, marksOf } from './ownership.ts';

const source = { group: 'multinic.io', name: 'Production', uid: 'u', generation: 2 } as const;

it.each([
  ['its own marks', marksOf(source), true],
  ['another uid', marksOf({ ...source, uid: 'v' }), true],
  ['another name', marksOf({ ...source, name: 'production' }), false],
  ['another group', marksOf({ ...source, group: 'multinic.okestro.io' }), false],
  ['a label alone', { labels: marksOf(source).labels }, false],
  [
    'an annotation that is no JSON',
    { ...marksOf(source), annotations: { 'multinic.io/biz-source': '{' } },
    false,
  ],
] as const)('an object with %s', (_what, metadata, wanted) => {
  expect(isLabelledAs(metadata, source)).toBe(wanted);
});

const field = (manager: string, fieldsV1: object, subresource?: string) => ({
  manager,
  fieldsV1,
  ...(subresource ? { subresource } : {}),
});
const spec = { 'f:spec': { 'f:interfaces': {} } };

it.each([
  [
    'the expansion alone',
    [field('biz-config', spec), field('controller', { 'f:status': {} }, 'status')],
    true,
  ],
  ['another writer, too', [field('biz-config', spec), field('viola', spec)], false],
  [
    'another writer alone',
    [field('kubectl', spec), field('biz-config', { 'f:metadata': {} })],
    false,
  ],
  ['no manager that is known', undefined, false],
])('the spec is owned by %s', (_what, managedFields, wanted) => {
  expect(isOwnedByExpansion({ metadata: { managedFields } })).toBe(wanted);
});
