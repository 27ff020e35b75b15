import { expect, it } from 'vitest';
import { startScene } from '../../../test/fixtures/cli/scene.ts';
import { openScreens, withoutContext } from '../../../test/fixtures/dashboard/screens.ts';
import type { InventoryChange } from '../../api/inventory-http.ts';

const path = 'GET /v1/inventory/history';

function change(at: number, name: string): InventoryChange {
  const entry = { macAddress: 'fa:16:3e:00:00:bb', mtu: 1450 };
  return {
    at: `2026-11-26T04:30:${at}.000Z`,
    providerId: 'biz-1',
    nodeName: 'worker-18',
    instanceId: 'x',
    change: 'changed',
    name,
    portId: 'be0f33c1-0000-4000-8000-0000000000bb',
    macAddress: entry.macAddress,
    before: entry,
    after: { ...entry, mtu: 9000, addresses: ['10.50.0.9/24'] },
    openstackConfig: { namespace: 'multinic-system', name: 'storage', generation: 2 },
  };
}

async function openHistory() {
  const scene = await startScene();
  const oldest = { 'x-oldest': '2026-01-01T00:00:00.000Z' };
  const first = Array.from({ length: 200 }, (_, at) =>
    change(59, at === 7 ? 'multinic7' : 'multinic1'),
  );
  scene.answers.set(path, first);
  scene.headers.set(path, { 'x-continue': 'p2', ...oldest });
  for (const query of ['', 'nodeName=worker-18&']) {
    scene.answers.set(`${path}?${query}limit=200&continue=p2`, [change(10, 'multinic1')]);
    scene.headers.set(`${path}?${query}limit=200&continue=p2`, oldest);
  }
  return { scene, ...(await openScreens(withoutContext)) };
}

it('the history shows changed fields with both values, and continues after a page', async () => {
  const { get } = await openHistory();
  const first = await get('history');
  expect(first.items).toHaveLength(200);
  expect(first).toMatchObject({ continue: 'p2', oldest: '2026-01-01T00:00:00.000Z', unread: [] });
  expect(first.items[0]).toMatchObject({
    fields: [
      { name: 'mtu', before: '1450', after: '9000' },
      { name: 'addresses', before: '-', after: '["10.50.0.9/24"]' },
    ],
    addresses: ['10.50.0.9/24'],
    config: 'multinic-system/storage',
  });
  const second = await get('history', '/api/history?continue=p2');
  expect([second.items.length, second.continue]).toEqual([1, undefined]);
});

it.each([
  ['target=multinic7', 1],
  ['target=worker-18/multinic1', 200],
  ['target=10.50.0.8', 0],
  ['namespace=absent', 0],
])('the filter %s leaves %i changes', async (query, count) => {
  const { get } = await openHistory();
  expect((await get('history', `/api/history?${query}`)).items).toHaveLength(count);
});

it('an unusable target gets 400 with examples', async () => {
  const { fetch } = await openHistory();
  const { status, text } = await fetch('/api/history?target=a%20b');
  expect([status, text]).toEqual([400, expect.stringContaining('worker-18/multinic2')]);
});
