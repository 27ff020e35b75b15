import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chartKinds } from './chart-kinds.ts';
import { proofOf, systems } from './support-matrix.ts';

const root = join(import.meta.dirname, '../../..');

/** Kinds for optional integrations, and instances of MultiNIC's own kinds. */
const optional = ['ServiceMonitor', 'PrometheusRule', 'Certificate', 'MultiNicOperator'];

it.each(['multinic-operator', 'multinic-agent'] as const)(
  'chartKinds names every kind in the templates of %s',
  (chart) => {
    const files = globSync(`charts/${chart}/templates/**/*.{yaml,tpl}`, { cwd: root });
    const text = files.map((path) => readFileSync(join(root, path), 'utf8')).join('\n');
    const found = [...text.matchAll(/^kind: (\w+)$/gm)].map(([, kind = '']) => kind);
    const names: readonly string[] = chartKinds[chart].map(({ kind }) => kind);
    const known = new Set([...names, ...optional]);
    expect([...new Set(found)].filter((kind) => !known.has(kind))).toEqual([]);
  },
);

it.each(systems)('docs/support.md has a row for $row', ({ row }) => {
  expect(readFileSync(join(root, 'docs/support.md'), 'utf8')).toContain(`| ${row} |`);
});

it.each([
  ['Debian GNU/Linux 12 (bookworm)', 'proven'],
  ['Ubuntu 22.04.4 LTS', 'files'],
  ['Rocky Linux 9.4 (Blue Onyx)', 'files'],
  ['Red Hat Enterprise Linux 8.10 (Ootpa)', 'files'],
  ['CentOS Linux 7 (Core)', 'none'],
  ['Ubuntu 22.10', undefined],
  ['Talos (v1.8.0)', undefined],
  ['', undefined],
])('the OS image "%s" is %s in the support matrix', (osImage, proof) => {
  expect(proofOf(osImage)).toBe(proof);
});
