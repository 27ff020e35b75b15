import { describe, expect, it } from 'vitest';
import { koreanOf } from './guides.ts';
import { filesBelow, textOf } from './tree.ts';

const guide = 'docs/guides/migrate.md';
const scripts = filesBelow('scripts/migrate').map(textOf);

function namedIn(pattern: RegExp): string[] {
  return [
    ...new Set(scripts.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name))),
  ];
}

describe.each([guide, koreanOf(guide)])('%s', (path) => {
  const rows = textOf(path)
    .split('\n')
    .filter((line) => line.startsWith('|'));
  const firstCells = rows.map((row) => row.split('|')[1] ?? '').join('\n');

  it('has a row for each code of what may be in the way', () => {
    const codes = namedIn(/\bblock(?:_all)? ([a-z]+) /g);
    expect(codes.length).toBeGreaterThan(15);
    expect(codes.filter((code) => !firstCells.includes(`\`${code}\``))).toEqual([]);
  });

  it('has a row for each setting of the deployed system that has a counterpart', () => {
    const settings = namedIn(
      /^\w+ +(?:ttl|url|duration|boolean|word|list|count|window) +([A-Z_]+)/gm,
    );
    expect(settings.length).toBeGreaterThan(15);
    const untold = settings.filter((name) => {
      const forms = [name, name.replace(/^(OPENSTACK|POLL)_.*/, '$1_*')];
      return !forms.some((form) => firstCells.includes(`\`${form}\``));
    });
    expect(untold).toEqual([]);
  });
});
