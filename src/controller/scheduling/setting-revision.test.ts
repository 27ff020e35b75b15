import { expect, it } from 'vitest';
import { adoption } from '../../api/shared-content.ts';
import { settingRunsOf } from './setting-revision.ts';

const at = '2026-01-01T00:00:00Z';
const settings = [
  { key: 'sub-a', value: '12345678', rollout: 'done', at },
  { ...adoption, rollout: 'done', at },
];

it.each([
  ['with consent counts for each image', 'Adopt', 'image-2', 2],
  ['by an agent too old for consent counts for its image', undefined, 'image-1', 2],
  ['by an agent too old for consent counts for no other image', undefined, 'image-2', 1],
] as const)('an adoption %s', (_what, consent, image, count) => {
  const record = {
    revision: 'source-1/1/image-1',
    settings,
    ...(consent ? { existingConfiguration: consent } : {}),
  };
  expect(settingRunsOf(record, image)).toHaveLength(count);
});
