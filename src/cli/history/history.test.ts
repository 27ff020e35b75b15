import { describe, expect, it } from 'vitest';
import { type CliFixture, startScene } from '../../../test/fixtures/cli/scene.ts';
import type { InventoryChange } from '../../api/inventory-http.ts';

const removedPort = 'be0f33c1-0000-4000-8000-0000000000aa';

function change(more: Partial<InventoryChange>): InventoryChange {
  const entry = { macAddress: 'fa:16:3e:00:00:aa', addresses: ['10.50.0.9/24'], mtu: 1450 };
  return {
    at: '2026-11-26T04:30:46.000Z',
    providerId: 'biz-1',
    nodeName: 'worker-18',
    instanceId: 'x',
    change: 'removed',
    basis: 'evidence',
    name: 'multinic3',
    portId: removedPort,
    macAddress: 'fa:16:3e:00:00:aa',
    before: entry,
    openstackConfig: { namespace: 'multinic-system', name: 'storage', generation: 2 },
    ...more,
  };
}

const removed = change({});
const grown = change({
  at: '2026-11-26T03:00:00.000Z',
  change: 'changed',
  basis: undefined,
  name: 'multinic1',
  portId: 'be0f33c1-0000-4000-8000-0000000000bb',
  macAddress: 'fa:16:3e:00:00:bb',
  before: { macAddress: 'fa:16:3e:00:00:bb', mtu: 1450 },
  after: { macAddress: 'fa:16:3e:00:00:bb', mtu: 9000 },
});

/** Serves two pages; the second ends the history. */
async function historyScene(): Promise<CliFixture> {
  const scene = await startScene();
  const path = 'GET /v1/inventory/history';
  const oldest = { 'x-oldest': '2026-01-01T00:00:00.000Z' };
  scene.answers.set(path, [removed]);
  scene.headers.set(path, { 'x-continue': 'p2', ...oldest });
  for (const query of ['', 'nodeName=worker-18&']) {
    scene.answers.set(`${path}?${query}limit=200&continue=p2`, [grown]);
    scene.headers.set(`${path}?${query}limit=200&continue=p2`, oldest);
  }
  return scene;
}

describe('history', () => {
  it('history lists changes from all pages, with basis, details and reach', async () => {
    const scene = await historyScene();
    const { status, out, err } = await scene.run('history');
    expect(status).toBe(0);
    expect(out.split('\n').slice(1)).toEqual([
      expect.stringMatching(
        /^2026-11-26T04:30:46.000Z +biz-1 +worker-18 +multinic3 +removed +evidence +10.50.0.9\/24$/,
      ),
      expect.stringMatching(
        /^2026-11-26T03:00:00.000Z +biz-1 +worker-18 +multinic1 +changed +- +mtu 1450 → 9000$/,
      ),
    ]);
    expect(err).toContain('The history reaches back to 2026-01-01T00:00:00.000Z.');
  });

  it.each([
    [['multinic3'], ['multinic3'], '?limit=200'],
    [['fa-16-3e-00-00-bb'], ['multinic1'], '?limit=200'],
    [['10.50.0.9'], ['multinic3'], '?limit=200'],
    [['worker-18/multinic1'], ['multinic1'], '?nodeName=worker-18&limit=200'],
    [['biz-1/worker-18'], ['multinic3'], '?nodeName=worker-18&providerId=biz-1&limit=200'],
    [[removedPort], ['multinic3'], `?portId=${removedPort}&limit=200`],
    [['--limit', '1'], ['multinic3'], '?limit=200'],
    [['-n', 'elsewhere'], [], '?limit=200'],
    [
      ['--cluster', 'biz-1', '--since', '2026-11-26T00:00:00+01:00'],
      ['multinic3'],
      '?providerId=biz-1&since=2026-11-25T23%3A00%3A00.000Z&limit=200',
    ],
  ])('history %j lists %j', async (argv, names, query) => {
    const scene = await historyScene();
    const { requests } = scene;
    const { status, out, err } = await scene.run('history', ...argv, '-o', 'name');
    const shown = out.split('\n').filter((line) => line !== '');
    expect(status).toBe(0);
    expect(shown.slice(0, 1)).toEqual(names.map((name) => `biz-1/worker-18/${name}`));
    expect(requests).toContain(`GET /v1/inventory/history${query}`);
    if (names.length === 0) expect(err).not.toContain('unknown');
  });

  it.each([
    [['--limit', '0'], '--limit "0" is no number'],
    [['--since', 'soon'], '--since "soon" is no time'],
    [['a b'], '"a b" is no port id'],
  ])('history %j ends with 2', async (argv, text) => {
    const scene = await startScene();
    const { status, err } = await scene.run('history', ...argv);
    expect(status).toBe(2);
    expect(err).toContain(text);
    expect(err).toContain('\nNext: ');
  });

  it('history with an operator of an earlier release reports an unknown reach', async () => {
    const scene = await startScene();
    const { answers } = scene;
    answers.set('GET /v1/inventory/history', []);
    expect((await scene.run('history')).err).toContain(
      'How far back the history reaches is unknown',
    );
  });

  it('history without an answer of the operator ends with 1', async () => {
    const scene = await startScene();
    const { answers } = scene;
    answers.set('GET /v1/inventory/history', { status: 503, code: 'NotLeading', detail: 'x' });
    expect(await scene.run('history')).toMatchObject({ status: 1, out: '' });
  });
});

describe('why for a removed port', () => {
  const noPort = { status: 404, code: 'NoSuchPort', detail: 'no such port' };
  const reach = 'history since 2026-01-01T00:00:00.000Z';

  it.each([
    [removedPort, 0],
    ['fa:16:3e:00:00:aa', 0],
    ['10.50.0.9', 0],
    ['10.50.0.99', 1],
  ])('why %s reports removal and reach', async (target, missing) => {
    const scene = await historyScene();
    const { answers } = scene;
    answers.set('GET /v1/ports', noPort);
    const { status, out } = await scene.run('why', target);
    expect(status).toBe(5);
    expect(out).toContain(
      missing
        ? `no removal for it (${reach})`
        : 'it was multinic3 of node biz-1/worker-18, removed at 2026-11-26T04:30:46.000Z',
    );
    expect(out).toContain(missing ? 'Check the id' : `basis evidence (${reach})`);
    expect(out.includes('kubectl multinic history biz-1/worker-18/multinic3')).toBe(!missing);
  });

  it('why for a port without history reports the cause', async () => {
    const scene = await startScene();
    const { answers } = scene;
    answers.set('GET /v1/ports', noPort);
    const { out } = await scene.run('why', removedPort);
    expect(out).toContain('the NIC history was not read: this operator is older');
  });
});
