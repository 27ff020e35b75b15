import { expect, it } from 'vitest';
import { startScene } from '../../../test/fixtures/cli/scene.ts';
import { openScreens, withoutContext } from '../../../test/fixtures/dashboard/screens.ts';
import { cluster, nic, node } from '../../explain/testing/healthy.ts';

/** Largest answer (bytes). */
const largestAnswer = 500_000;
const servers = 1_000;

/** A node with ten NICs, all failed for the same cause with a long message. */
function failedNode(number: number) {
  const message = `${'link ens8 has the foreign address 10.7.0.1/24; '.repeat(20)}end`;
  const nics = Array.from({ length: 10 }, (_, index) =>
    nic(number, 0, {
      name: `multinic${index}`,
      portId: `b0000000-0000-4000-8000-${String(number * 10 + index).padStart(12, '0')}`,
      state: 'Failed',
      reason: 'NICInUse',
      message,
    }),
  );
  return node(number, { ready: 'False', state: 'Failed', reason: 'NICInUse', message, nics });
}

it('answers stay below 500 kB with 10,000 failed NICs, and one cause is one group', async () => {
  const scene = await startScene();
  const nodes = Array.from({ length: servers }, (_, number) => failedNode(1_000 + number));
  scene.answers.set('GET /v1/nodes', { items: nodes });
  const nics = { ...cluster.nics, Configured: 0, Failed: 10 * servers };
  scene.answers.set('GET /v1/clusters', { items: [{ ...cluster, nodes: servers, nics }] });
  const { fetch, get } = await openScreens(withoutContext);
  const paths = [
    '/api/fleet',
    '/api/doctor',
    '/api/nodes',
    '/api/search?text=ens',
    '/api/rollouts',
  ];
  for (const path of [...paths, '/api/search?text=multinic', '/api/configs']) {
    const { status, text } = await fetch(path);
    expect([path, status]).toEqual([path, 200]);
    expect(Buffer.byteLength(text), path).toBeLessThan(largestAnswer);
  }
  const { findings, counts } = await get('fleet');
  const groups = findings.filter(({ reason }) => reason === 'NICInUse');
  expect(groups.map(({ count }) => count)).toEqual([counts.errors]);
  const { items, total, facets } = await get('nodes');
  expect({ shown: items.length, total, reasons: facets.reason }).toEqual({
    shown: 250,
    total: servers,
    reasons: [{ value: 'NICInUse', count: servers }],
  });
});
