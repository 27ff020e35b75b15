import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { metricTable } from '../../../api/metrics.ts';
import { createMetrics } from '../../../process/metrics.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { CloudAges } from '../../cloud/cloud-age.ts';
import { attach, delivered, type Scene, setScene } from '../../testing/scene.ts';
import { sampleDelivered } from './metrics.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

async function shown(name: string): Promise<string[]> {
  const text = await scene.metrics.registry.getSingleMetricAsString(`multinic_${name}`);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => line.replace(`multinic_${name}`, ''));
}

function says(node: string, state: 'Configured' | 'Failed', nic: string): void {
  const held = scene.viola.nodes.get(node);
  const interfaceStatuses = [{ id: 0, name: 'multinic0', status: nic }];
  if (held) scene.viola.put({ ...held, status: { state, interfaceStatuses } });
}

describe('metrics of delivered nodes and NICs', () => {
  it('metrics count node and NIC states from the business cluster until the OpenstackConfig is gone', async () => {
    attach(scene.cloud, 3, 2);
    await delivered(scene);
    says('worker-1', 'Configured', 'Configured');
    says('worker-2', 'Failed', 'NeverHeardOf');
    await scene.look();
    expect(await shown('delivered_nodes')).toEqual([
      '{provider="biz-1",state="Pending"} 0',
      '{provider="biz-1",state="InProgress"} 0',
      '{provider="biz-1",state="Configured"} 1',
      '{provider="biz-1",state="Failed"} 1',
      '{provider="biz-1",state="Observed"} 0',
    ]);
    expect(await shown('delivered_interfaces')).toEqual([
      '{provider="biz-1",state="Pending"} 2',
      '{provider="biz-1",state="InProgress"} 0',
      '{provider="biz-1",state="Configured"} 1',
      '{provider="biz-1",state="Failed"} 0',
      '{provider="biz-1",state="Observed"} 0',
    ]);
    scene.kube.configs.replace([]);
    await scene.look();
    expect(await shown('delivered_nodes')).toEqual([]);
  });

  it('multinic_delivered_interfaces does not count the NIC of a node that has not been ready as Configured', async () => {
    await delivered(scene);
    scene.viola.report('Configured');
    const held = scene.viola.nodes.get('worker-1');
    if (!held) throw new Error('no node worker-1');
    const conditions = [{ type: 'Ready', status: 'Unknown' as const, reason: 'NodeNotReady' }];
    scene.viola.put({ ...held, status: { ...held.status, state: 'Pending', conditions } });
    await scene.look();
    expect(await shown('delivered_interfaces')).toEqual(
      expect.arrayContaining([
        '{provider="biz-1",state="Pending"} 1',
        '{provider="biz-1",state="Configured"} 1',
      ]),
    );
  });

  it('multinic_removals_held counts NICs with a blocked removal by OpenstackConfig', async () => {
    for (let n = 3; n <= 12; n++) attach(scene.cloud, n, (n % 2) + 1);
    await delivered(scene);
    scene.edit({ subnetIDs: ['sub-b'] });
    await scene.look();
    expect(await shown('removals_held')).toEqual([
      '{config_namespace="multinic-system",config="osc"} 12',
    ]);
    scene.kube.annotate({ 'multinic.io/allow-removals': 'yes' });
    await scene.look();
    expect(await shown('removals_held')).toEqual([]);
  });
});

async function age(): Promise<number> {
  const [line] = await shown('cloud_look_age_seconds');
  return Number(line?.split(' ')[1]);
}

describe("age of a cloud's last complete read", () => {
  it('the age grows while any list request to the cloud fails', async () => {
    await delivered(scene);
    expect(await shown('cloud_look_age_seconds')).toEqual(['{cloud="https://keystone.test"} 0']);
    for (const what of ['portsOf', 'servers', 'subnet'] as const) {
      scene.cloud.fail(what, 'serverError');
      await scene.look(600_000);
      expect(await age()).toBeGreaterThanOrEqual(600);
      scene.cloud.heal();
      await scene.look(600_000);
      expect(await age()).toBe(0);
    }
    scene.viola.fail(503);
    await scene.look(600_000);
    expect(await age()).toBe(600);
  });

  it.each([
    ['paused', () => scene.kube.annotate({ 'multinic.io/paused': 'true' })],
    ['deleted', () => scene.kube.delete()],
    ['gone', () => scene.kube.configs.replace([])],
    ['refused', () => scene.edit({ subnetIDs: [] })],
  ])('the age is absent for a cloud whose only OpenstackConfig is %s', async (_, happens) => {
    await delivered(scene);
    happens();
    await scene.look();
    expect(await shown('cloud_look_age_seconds')).toEqual([]);
  });

  it('the age is present until the last OpenstackConfig leaves the cloud', () => {
    const ages = new CloudAges(createFakeClock());
    for (const member of ['a', 'b', 'b']) ages.begin(member, 'one');
    ages.begin('a', 'two');
    expect(ages.ages().map(({ cloud }) => cloud)).toEqual(['one', 'two']);
    ages.leave('b');
    expect(ages.ages().map(({ cloud }) => cloud)).toEqual(['two']);
    ages.complete('b');
    ages.clear();
    expect(ages.ages()).toEqual([]);
  });

  it('the age is present for the 100 clouds with the highest age', async () => {
    const metrics = createMetrics(metricTable);
    const clock = createFakeClock();
    const ages = new CloudAges(clock);
    sampleDelivered(metrics, [], ages);
    for (let n = 0; n < 150; n++) {
      ages.begin(`osc-${n}`, `https://cloud-${n}.test`);
      await clock.advance(1_000);
    }
    const text = await metrics.registry.getSingleMetricAsString('multinic_cloud_look_age_seconds');
    expect(text.match(/^multinic_/gm)).toHaveLength(100);
    expect(text).toContain('{cloud="https://cloud-0.test"} 150');
  });
});
