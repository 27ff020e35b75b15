import { expect, it } from 'vitest';
import { namesTag, pageTag } from './page-tag.ts';
import type { Page } from './read-nodes.ts';

const node = { nodeName: 'n', uid: 'u', generation: 1, spec: { nodeName: 'n' } };
const page: Page = { items: [node], unreadable: [], continue: 'token' };
const broken = { objectName: 'm', uid: 'v', generation: 1, message: 'spec: is no object' };

it.each<[string, Partial<Page>]>([
  ['the generation of an item', { items: [{ ...node, generation: 2 }] }],
  ['the status of an item', { items: [{ ...node, status: { observedGeneration: 1 } }] }],
  ['the deletion of an item', { items: [{ ...node, deletionTimestamp: '2026-01-01T00:00:00Z' }] }],
  ['one item less', { items: [] }],
  ['an object that cannot be read', { unreadable: [broken] }],
])('the ETag of a page changes with %s', (_, change) => {
  expect(pageTag('biz-1', { ...page, ...change })).not.toBe(pageTag('biz-1', page));
});

/** Returns the tag of a page with two checked nodes. */
function tagOf(...times: readonly string[]): string {
  const items = times.map((checkedAt) => ({
    ...node,
    status: {
      applied: { checkedAt, job: 'a', knownFrom: { uid: 'u', job: `check-${checkedAt}` } },
      interfaceStatuses: [{ lastChecked: checkedAt }],
    },
  }));
  return pageTag('biz-1', { ...page, items });
}

it('repeated checks change the ETag once per hour', () => {
  const tag = tagOf('2026-01-01T03:00:00Z', '2026-01-01T05:10:00Z');
  expect(tagOf('2026-01-01T05:00:00Z', '2026-01-01T05:50:00Z')).toBe(tag);
  expect(tagOf('2026-01-01T03:00:00Z', '2026-01-01T06:00:00Z')).not.toBe(tag);
});

it('the ETag of a page changes with the business cluster, but not with the continue token', () => {
  expect(pageTag('biz-2', page)).not.toBe(pageTag('biz-1', page));
  expect(pageTag('biz-1', { ...page, continue: 'other' })).toBe(pageTag('biz-1', page));
});

it.each([
  ['W/"a"', true],
  ['"a"', true],
  ['"b", W/"a"', true],
  ['*', true],
  ['', false],
  ['"b"', false],
  ['"ab"', false],
])('If-None-Match %s matches ETag W/"a": %s', (header, isNamed) => {
  expect(namesTag(header, 'W/"a"')).toBe(isNamed);
});
