import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, textOf } from '../repo/tree.ts';
import { commandsIn, commandsOf, nameOf, seeds } from './commands.ts';
import { type Outcome, outcomes } from './outcomes.ts';

describe.each(seeds)('document %s', (seed) => {
  const rows = outcomes[seed];

  it('has an outcome for each of its commands, and the list has no other', () => {
    const named = [...new Set(commandsOf(seed).map(nameOf))];
    expect(Object.keys(rows)).toEqual(named);
  });

  it('has words where values are put in, and none that are left', () => {
    for (const [name, outcome] of Object.entries(rows)) expect(leftOpen(name, outcome)).toEqual([]);
  });
});

const all = Object.values(outcomes).flatMap((rows) => Object.entries(rows));

it('every difference has its row', () => {
  const [, section = ''] = textOf('docs/differences.md').split('## From the commands');
  const page = section.replaceAll(/<a [^>]+>#<\/a> /g, '');
  const missing = all.filter(
    ([, outcome]) => outcome.kind === 'difference' && !page.includes(`\n| ${outcome.row}`),
  );
  expect(missing.map(([name]) => name)).toEqual([]);
});

it('what runs elsewhere is a target of make, and that place is there', () => {
  for (const [name, outcome] of all) {
    if (outcome.kind !== 'runs elsewhere') continue;
    const [program, target] = name.split(' ');
    expect(program).toBe('make');
    expect(textOf('Makefile')).toContain(`\n${target}:`);
    expect(existsSync(join(root, outcome.where)), outcome.where).toBe(true);
  }
});

it('reads commands of blocks and of prose, with all their lines', () => {
  const document = [
    'Run `make install`, then `helm` and `./deploy.sh`; kubectl get pods is prose.',
    '```bash',
    '# make no',
    'helm install x \\',
    '  --set a=b  ',
    'kubectl apply -f - <<EOF',
    'make: up',
    'EOF',
    'Some output of make',
    '  curl indented',
    '```',
  ].join('\n');
  const commands = commandsIn(document);
  expect(commands.map(({ line, text }) => [line, text])).toEqual([
    [1, 'make install'],
    [1, './deploy.sh'],
    [4, 'helm install x \\\n  --set a=b'],
    [6, 'kubectl apply -f - <<EOF\nmake: up\nEOF'],
  ]);
  expect(commands.map(nameOf).slice(2)).toEqual([
    'helm install x --set a=b',
    'kubectl apply -f - <<EOF',
  ]);
  expect(() => commandsIn('```\nkubectl apply -f - <<EOF\n```')).toThrow('line 2 does not end');
});

/** Placeholders of a command that runs which no value is put in for, and values for what it does not say. */
function leftOpen(name: string, outcome: Outcome): string[] {
  if (outcome.kind !== 'runs' && outcome.kind !== 'runs with') return [];
  const values = outcome.kind === 'runs with' ? Object.keys(outcome.values) : [];
  const open = [...name.matchAll(/<[a-z-]+>/g)].map(([found]) => found);
  return [
    ...open.filter((word) => !values.includes(word)),
    ...values.filter((word) => !name.includes(word)),
  ];
}
