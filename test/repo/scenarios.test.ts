import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ciGlobs } from '../scenarios/ci.ts';
import { type Evidence, gapsIn } from '../scenarios/gaps.ts';
import { type Mutant, planted } from '../scenarios/mutant.ts';
import { mutants } from '../scenarios/mutants.ts';
import { type Proof, proofsIn, proofsInText } from '../scenarios/proofs.ts';
import { notPassed, notRun } from '../scenarios/results.ts';
import type { ProvenFailure, Scenario } from '../scenarios/scenario.ts';
import { scenarios } from '../scenarios/scenarios.ts';
import { root, textOf } from './tree.ts';

it('every field scenario has a test in CI, and a mutant if the agent keeps it from happening', () => {
  expect(gapsIn(scenarios, { mutants, proofs: proofsIn(ciGlobs()) })).toEqual([]);
});

it.each(Object.entries(mutants))('mutant %s fits its source exactly once', (_, mutant) => {
  const source = textOf(mutant.file);
  expect(planted(source, mutant)).not.toBe(source);
  expect(existsSync(join(root, mutant.noticedBy))).toBe(true);
});

const first = scenarios[0] as ProvenFailure;
const file = 'src/a.test.ts';
const one: ProvenFailure = { ...first, by: 'controller' };
const mutant: Mutant = { file: 'src/a.ts', find: 'a', replace: 'b', noticedBy: file };
const proof = (id: string, path = file): Proof => ({ file: path, ids: [id], title: 'holds' });

function gaps(scenario: Scenario, evidence: Partial<Evidence> = {}): string[] {
  const rest = scenarios.slice(1).map(({ id, field }) => ({ id, field, outOfScope: 'here' }));
  return gapsIn([scenario, ...rest], { mutants: {}, proofs: [proof('RW-01')], ...evidence });
}

describe('gapsIn', () => {
  it('returns nothing for a scenario with its test and its mutant', () => {
    expect(gaps(one)).toEqual([]);
    expect(gaps({ ...one, by: 'agent' }, { mutants: { 'RW-01': mutant } })).toEqual([]);
  });

  it.each<[string, Partial<ProvenFailure>, Partial<Evidence>, string]>([
    ['a missing test', {}, { proofs: [] }, 'RW-01: no test in CI has [RW-01] in its title'],
    ['a missing mutant of the agent', { by: 'agent' }, {}, 'RW-01: no mutant'],
    [
      'a mutant without a test in its file',
      {},
      { mutants: { 'RW-01': { ...mutant, noticedBy: 'src/b.test.ts' } } },
      'RW-01: src/b.test.ts has no test with [RW-01] for its mutant',
    ],
    [
      'an id that the table does not have',
      {},
      { proofs: [proof('RW-01'), proof('RW-99')] },
      'RW-99: src/a.test.ts names it, the table does not',
    ],
    [
      'a test for a scenario out of scope',
      {},
      { proofs: [proof('RW-01'), proof('RW-02')] },
      'RW-02: out of scope, but has a mutant or a test',
    ],
  ])('reports %s', (_, scenario, evidence, gap) => {
    expect(gaps({ ...one, ...scenario }, evidence)).toEqual([gap]);
  });

  it('reports ids that are missing or occur twice', () => {
    expect(gaps({ id: 'RW-02', field: '', outOfScope: '' }, { proofs: [] })).toEqual([
      'RW-01: missing',
      'RW-02: extra',
    ]);
  });
});

it('proofsInText reads ids and titles in any quotes', () => {
  const text = String.raw`it('[RW-01] [RW-02] is one\'s', () => {}); it("is [RW-03]"); it(${'`[RW-04] x`'})`;
  expect(proofsInText(file, text)).toEqual([
    { file, ids: ['RW-01', 'RW-02'], title: "is one's" },
    { file, ids: ['RW-04'], title: 'x' },
  ]);
});

const ran = (status: string) => [{ name: 'a group [RW-01] holds', status }];

it('notPassed reports tests with an id that failed or were skipped', () => {
  expect(notPassed([one], [])).toEqual([]);
  expect(notPassed([one], ran('passed'))).toEqual([]);
  expect(notPassed([one], ran('skipped'))).toEqual(['RW-01: "a group [RW-01] holds" was skipped']);
});

it('notRun reports scenarios of which no test passed', () => {
  expect(notRun([one], ran('passed'))).toEqual([]);
  const gap = ['RW-01: no test with this id passed in the last runs'];
  expect(notRun([one], [])).toEqual(gap);
  expect(notRun([one], ran('skipped'))).toEqual(gap);
});
