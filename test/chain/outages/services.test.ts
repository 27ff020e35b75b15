import { vi } from 'vitest';
import { generous, nodeConfigOf } from '../../fixtures/chain/waits.ts';
import { openWorld, type Worker } from '../../fixtures/chain/world.ts';
import { allForms } from '../../fixtures/outages/forms.ts';
import type { Settled } from '../../fixtures/outages/place.ts';
import { byProxiedViola, inOwnCloud, inOwnCluster } from '../../fixtures/outages/site.ts';
import { outageSuite, type Plan } from '../../fixtures/outages/suite.ts';

const names = ['OpenStack', 'Viola', 'business cluster'].flatMap((what) =>
  allForms.map((form) => `${what} ${form}`),
);

outageSuite('services', names, async (stack) => {
  const hosts = allForms.map((form) => `viola-${form}`);
  const env = {
    // The operator sends its secrets only to allowed endpoints.
    ALLOWED_ENDPOINTS: 'http://127.0.0.1:*',
    // Half the defaults: two attempts must fit into the minute on a busy machine.
    CONTRABASS_TIMEOUT: '15s',
    OPENSTACK_TIMEOUT: '15s',
    VIOLA_TIMEOUT: '15s',
    VIOLA_CLUSTER_TIMEOUT: '15s',
  };
  const world = stack.use(await openWorld(hosts, { env }));
  const plans: Plan[] = [];
  for (const [i, form] of allForms.entries()) {
    const worker = world.workers[i] as Worker;
    const [cloud, viola, cluster] = [
      await inOwnCloud(world, `cloud-${form}`, stack),
      await byProxiedViola(world, worker, stack),
      await inOwnCluster(world, `cluster-${form}`, stack),
    ];
    plans.push(
      { what: 'OpenStack', form, place: cloud, waits: true },
      { what: 'Viola', form, place: viola, waits: true },
      { what: 'business cluster', form, place: cluster, waits: true, midway: untilWritten },
    );
  }
  return [{ plans, calm: await inOwnCloud(world, 'cloud-calm', stack) }];
});

/** Resolves when the node config has the port, just before the controller acts. */
async function untilWritten({ world, worker, port }: Settled): Promise<void> {
  await vi.waitFor(
    () => {
      const interfaces = nodeConfigOf(world, worker)?.spec.interfaces ?? [];
      if (!interfaces.some(({ portId }) => portId === port.id)) throw new Error('not written yet');
    },
    { ...generous, interval: 20 },
  );
}
