import { expect, it } from 'vitest';
import { startScene } from '../../../test/fixtures/cli/scene.ts';
import { cluster, config, hidden, read, systemFacts } from '../../explain/testing/healthy.ts';
import { statusText } from './screen.ts';

const form = {
  output: 'table',
  headers: true,
  lang: 'en',
  businessContext: new Map<string, string>(),
} as const;

function pageOf(facts: Partial<typeof systemFacts>): string {
  const inventory = hidden('Inventory');
  const page = { facts: { ...systemFacts, ...facts }, inventory, findings: [] };
  return statusText({ ...page, unread: [], skipped: [] }, form);
}

it("status shows the operator's last sync, not the last status write", () => {
  const status = { ...config.status, lastSyncedAt: '2026-11-26T05:20:28Z' };
  const lastSyncs = [{ config: 'multinic-system/storage', at: '2026-11-26T05:24:59Z' }];
  const text = pageOf({
    configs: read([{ ...config, status }]),
    clusters: read([{ ...cluster, lastSyncs }]),
  });
  expect(text).toContain('last sync 1s ago');
  expect(text).toMatch(/^multinic-system\/storage .* 1s +biz-1$/m);
});

it('status names an unknown version as unknown', () => {
  const unread = { versions: hidden('Parts'), parts: hidden('Parts') };
  expect(pageOf(unread).split('\n')[0]).toBe('MultiNIC (version unknown)');
});

it.each(['status', 'doctor'])('%s names a namespace without OpenstackConfigs', async (command) => {
  const scene = await startScene();
  const { status, out } = await scene.run(command, '--namespace', 'team-b');
  expect(out).toContain('no OpenstackConfig in namespace team-b');
  expect(status).toBe(0);
});
