import { expect, it } from 'vitest';
import { examine } from './examine.ts';
import { missingText } from './fact.ts';
import type { SystemFacts } from './facts.ts';
import type { Section } from './finding.ts';
import { config, hidden, nic, node, read, systemFacts } from './testing/healthy.ts';

const ready = (status: 'True' | 'Unknown') => ({
  conditions: [{ type: 'Ready', status, reason: 'WaitingForTrigger', message: '' }],
});
const unknown = { state: 'Unknown', ready: 'Unknown', reason: 'StatusUnsupported' } as const;
const silent = node(17, {
  ...unknown,
  nics: [nic(17, 0, { state: 'Unknown' }), nic(17, 1, { state: 'Unknown' })],
});
const late = node(18, { nics: [nic(18, 0), nic(18, 1, { state: 'InProgress' })] });

function reportOf(section: Section, facts: Partial<SystemFacts>) {
  const report = examine({ ...systemFacts, ...facts }).find((each) => each.section === section);
  if (!report) throw new Error(`no section ${section}`);
  const { summary, skipped, findings } = report;
  return { summary: summary.en, skipped: skipped.map((each) => missingText(each).en), findings };
}

it('the nodes section counts configured NICs when an agent is still at work', () => {
  const { summary } = reportOf('nodes', { nodes: read([node(17), late]) });
  expect(summary).toBe('3 of 4 NICs on 2 nodes configured');
});

it('doctor skips NICs and boot files when a node has no status', () => {
  const facts = { nodes: read([silent]), kubernetesNodes: new Map() };
  const reports = examine({ ...systemFacts, ...facts });
  const checks = new Map(reports.map(({ section, checks: count }) => [section, count]));
  expect([checks.get('nodes'), checks.get('bootFiles')]).toEqual([0, 0]);
  expect(reportOf('nodes', facts).skipped[0]).toBe('status of 1 node of biz-1: not reported');
  expect(reportOf('bootFiles', facts).skipped).toEqual([
    'boot files of 1 node: no agent has reported them',
  ]);
});

it('the openstack section claims valid credentials when the latest sync succeeded', () => {
  const configs = read([
    { ...config, status: ready('Unknown') },
    { ...config, status: ready('True') },
  ]);
  expect(reportOf('openstack', { configs }).summary).toBe('1 of 2 OpenstackConfigs synced');
});

it('the delivery section counts no business clusters when the operator is unreachable', () => {
  const { summary } = reportOf('delivery', { clusters: hidden('Business clusters') });
  expect(summary).toContain('the business clusters were not checked');
});
