import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { multiNicOperatorSpec } from '../../src/api/multinicoperator.ts';
import type { OperatorObject } from '../../src/lifecycle/model/multinicoperator.ts';
import { accept } from '../../src/lifecycle/stages/accept/accept.ts';
import { blocksOf } from './guides.ts';
import { textOf } from './tree.ts';

const samples = blocksOf(textOf('docs/guides/lifecycle.md'))
  .filter(({ text }) => text.startsWith('# sample'))
  .map(({ text }) => parse(text) as OperatorObject);
const now = new Date('2026-11-26T10:00:00Z');

it('shows MultiNicOperators that lifecycle accepts whole', () => {
  const problems = samples.flatMap((sample) =>
    Object.values({ ...accept(sample, now), ignored: {} }).flatMap((stage) =>
      'problems' in stage ? (stage.problems ?? []) : [],
    ),
  );
  expect(problems).toEqual([]);
  // A misspelt field would be dropped in silence.
  for (const { spec } of samples) expect(multiNicOperatorSpec.parse(spec)).toEqual(spec);
  const inventories = samples.map((sample) => accept(sample, now).controller.value?.inventory);
  expect(inventories).toEqual(['built-in', 'external', 'external']);
});
