import { beforeEach, expect, it } from 'vitest';
import { type CliFixture, startScene } from '../../../test/fixtures/cli/scene.ts';
import {
  type OpenScreens,
  openScreens,
  withoutContext,
} from '../../../test/fixtures/dashboard/screens.ts';
import { nic, node, port, portId, serverId } from '../../explain/testing/healthy.ts';

let scene: CliFixture;
let screens: OpenScreens;

beforeEach(async () => {
  scene = await startScene();
  screens = await openScreens(withoutContext);
});

/** Returns the titles with the found field. */
async function hitsOf(text: string): Promise<string[]> {
  const { hits } = await screens.get('search', `/api/search?text=${encodeURIComponent(text)}`);
  return hits.map(({ title, field }) => `${title} ${field}`);
}

it.each([
  [
    'WORKER-18',
    ['biz-1/worker-18 name', 'biz-1/worker-18/multinic0 name', 'biz-1/worker-18/multinic1 name'],
  ],
  ['10.40.0.18', ['biz-1/worker-18/multinic1 address']],
  ['FA-16-3E-00-00-77', ['biz-1/worker-18/multinic1 mac']],
  ['be0f33c1', ['biz-1/worker-18/multinic1 port']],
  [serverId, ['biz-1/worker-18 server']],
])('the text %s finds %j', async (text, hits) => {
  expect(await hitsOf(text)).toEqual(hits);
});

it('an equal value comes before a beginning, and a beginning before a further part', async () => {
  const items = ['db-web', 'web-1', 'web'].map((nodeName) => node(17, { nodeName, nics: [] }));
  scene.answers.set('GET /v1/nodes', { items });
  expect(await hitsOf('web')).toEqual(['biz-1/web name', 'biz-1/web-1 name', 'biz-1/db-web name']);
});

it('a port without a node comes from Neutron', async () => {
  const id = 'd3100e2f-0000-4000-8000-000000000001';
  const { node: _, verdict: __, ...unattached } = port;
  const found = { ...unattached, portId: id, deviceId: '' };
  scene.answers.set('GET /v1/ports', { items: [] });
  scene.answers.set(`GET /v1/ports?portId=${id}`, { items: [found] });
  const { hits } = await screens.get('search', `/api/search?text=${id}`);
  expect(hits).toEqual([
    { link: { kind: 'port', portId: id }, title: id, field: 'port', value: id, state: 'Unused' },
  ]);
});

it('a search without the operator reports the silent source', async () => {
  scene.answers.set('GET /v1/nodes', { status: 503, code: 'NotLeading', detail: 'starting' });
  const { hits, unread } = await screens.get('search', '/api/search?text=10.40.0.18');
  expect(hits.length).toBeGreaterThan(0);
  expect(unread.map(({ source }) => source)).toContain('operator');
});

it('a name with markup and control characters is found, and stays as it is', async () => {
  const name = '<img onerror=1>\u202e';
  scene.answers.set('GET /v1/nodes', {
    items: [node(18, { nodeName: name, nics: [nic(18, 0, { portId })] })],
  });
  expect(await hitsOf('<img')).toEqual([`biz-1/${name} name`, `biz-1/${name}/multinic0 name`]);
});

it.each(['', 'x', 'x'.repeat(256)])('the text "%s" gets 400', async (text) => {
  expect((await screens.fetch(`/api/search?text=${text}`)).status).toBe(400);
});
