import { expect, it } from 'vitest';
import { adoptions } from '../api/found-configuration.ts';
import { adoptionText } from './adoption.ts';

it.each([...adoptions, 'LaterReason'])('adoption %s has a text in both languages', (adoption) => {
  const { en, ko } = adoptionText({ found: { adoption } }) ?? {};
  const isRefused = adoption !== 'Now' && adoption !== 'AtBoot';
  expect([en?.startsWith('cannot be adopted'), ko?.includes('인수')]).toEqual([isRefused, true]);
});
