import { expect, it } from 'vitest';
import { examine } from '../explain/examine.ts';
import { problemsIn } from '../explain/findings.ts';
import { nic, node, read, systemFacts } from '../explain/testing/healthy.ts';
import { doctorText } from './doctor/screen.ts';
import { statusText } from './status/screen.ts';

const taken = { state: 'Failed', reason: 'TableInUse', message: 'table 100 of ens8' } as const;
const nodes = Array.from({ length: 5_000 }, (_, at) =>
  node(at, {
    ready: 'False',
    state: 'Failed',
    reason: 'TableInUse',
    nics: [nic(at, 0), nic(at, 1, taken)],
  }),
);
const facts = { ...systemFacts, nodes: read(nodes), kubernetesNodes: new Map() };
const sections = examine(facts);
const findings = problemsIn(sections);
const options = { businessContext: new Map<string, string>(), context: 'prod' };
const inventory = read({ version: '0.2.0', milliseconds: 3 });

it.each([
  {
    command: 'status',
    text: statusText(
      { facts, inventory, findings, unread: [], skipped: [] },
      { ...options, output: 'table', headers: true, lang: 'en' },
    ),
  },
  {
    command: 'doctor',
    text: doctorText({ facts, sections, unread: [], options, seconds: 1 }, 'en'),
  },
])('$command shows 5,000 findings with one reason on one page', ({ text }) => {
  expect(findings).toHaveLength(5_000);
  const lines = text.split('\n');
  expect(lines.length).toBeLessThan(30);
  expect(lines[0]).toMatch(/^5000 errors, 0 warnings; first: biz-1\/worker-0: TableInUse: /);
  expect(lines.filter((line) => line.includes('of ens8')).length).toBe(4);
  expect(text).toContain(
    'and 4997 more of 5000 with reason TableInUse; list all with: kubectl multinic nics --reason TableInUse --context prod',
  );
});
