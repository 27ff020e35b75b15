import { expect, it } from 'vitest';
import { isLabelledAs, isOwnedByExpansion, marksOf } from './ownership.ts';

const source = { group: 'multinic.io', name: 'Production', uid: 'u', generation: 2 } as const;

it.each([
  ['label and annotation from this source', marksOf(source), true],
  ['another uid', marksOf({ ...source, uid: 'v' }), true],
  ['another name', marksOf({ ...source, name: 'production' }), false],
  ['another group', marksOf({ ...source, group: 'multinic.okestro.io' }), false],
  ['a label alone', { labels: marksOf(source).labels }, false],
  [
    'an annotation without valid JSON',
    { ...marksOf(source), annotations: { 'multinic.io/biz-source': '{' } },
    false,
  ],
] as const)(
  'isLabelledAs checks label and annotation: object with %s',
  (_what, metadata, wanted) => {
    expect(isLabelledAs(metadata, source)).toBe(wanted);
  },
);

const field = (manager: string, fieldsV1: object, subresource?: string) => ({
  manager,
  fieldsV1,
  ...(subresource ? { subresource } : {}),
});
const spec = { 'f:spec': { 'f:interfaces': {} } };

it.each([
  [
    'only the expansion',
    [field('biz-config', spec), field('controller', { 'f:status': {} }, 'status')],
    true,
  ],
  ['the expansion and another writer', [field('biz-config', spec), field('viola', spec)], false],
  [
    'only another writer',
    [field('kubectl', spec), field('biz-config', { 'f:metadata': {} })],
    false,
  ],
  ['unknown managers', undefined, false],
])('isOwnedByExpansion reads managedFields: spec owned by %s', (_what, managedFields, wanted) => {
  expect(isOwnedByExpansion({ metadata: { managedFields } })).toBe(wanted);
});
