import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { nodes } from '../../../src/kube/core-resources.ts';
import {
  applyConfig,
  attach,
  installLegacy,
  openPlace,
  type Place,
  provider,
} from '../../fixtures/migrate/management.ts';
import { configOf, generous, hostsOf } from '../../fixtures/migrate/observed.ts';
import { NicMonitor } from '../../fixtures/nic-monitor.ts';
import { carryRelease } from '../../system/e2e/guide/place.ts';
import { openReader, type Reader } from '../../system/e2e/guide/reader.ts';

const guide = 'docs/guides/migrate.md';
const podCIDR = '127.0.0.0/8';

let place: Place;
let reader: Reader;
let monitor: NicMonitor;
let hosts: unknown;

/** Images of all Deployments. */
async function programsOf({ site }: Place): Promise<string[]> {
  const images = 'jsonpath={.items[*].spec.template.spec.containers[*].image}';
  const found = await site.cluster.kubectl(['get', 'deployments', '-A', '-o', images]);
  return found.split(' ').map((image) => image.replace(/^.*\/|:.*$/g, ''));
}

beforeAll(async () => {
  place = await openPlace('guide', 'theirs');
  const { site } = place;
  await installLegacy(place);
  // Pods are processes on this machine, so requests without a token come from loopback.
  for (const { name } of site.workers) {
    await site.client.patch(nodes, { name }, { spec: { podCIDR, podCIDRs: [podCIDR] } });
  }
  await applyConfig(
    place,
    'nodes',
    site.workers.map(({ systemUuid }) => systemUuid),
  );
  for (const [i, worker] of site.workers.entries()) {
    await attach(place, worker, `fa:16:3e:00:0${i}:20`);
    await vi.waitFor(async () => {
      expect((await configOf(site, worker)).status?.state).toBe('Configured');
    }, generous);
  }
  monitor = new NicMonitor(site.workers);
  hosts = await hostsOf(site);
  reader = await openReader(site.directory, { management: site.cluster, business: site.cluster });
  await carryRelease({ reader });
  await reader.open(guide, {
    exported: { BUSINESS_CLUSTER: provider },
    words: [
      // The stand-ins of Contrabass and OpenStack are on this machine.
      [
        'cat >"$OPERATOR_VALUES" <<END\n',
        'cat >"$OPERATOR_VALUES" <<END\noperator: {persistence: {enabled: false}, settings: {allowedEndpoints: ["http://127.0.0.1:*", "*"]}}\n',
      ],
    ],
  });
}, 600_000);

afterAll(async () => {
  monitor?.[Symbol.dispose]();
  await place?.[Symbol.asyncDispose]();
});

async function expectUntouched(): Promise<void> {
  expect(await hostsOf(place.site)).toEqual(hosts);
  expect(monitor.downs).toEqual([]);
}

it('the guide leads from the legacy system to MultiNIC', async () => {
  const theirs = await programsOf(place);
  expect(await reader.follow(guide, '1. Check')).toContain('no obstacle found');
  expect(await programsOf(place)).toEqual(theirs);
  const agent = await reader.follow(guide, '2. Each business cluster');
  expect(agent).toContain('done: MultiNIC manages 2 node configs');
  await expectUntouched();
  const registered = await reader.follow(guide, '3. Register the business clusters');
  expect(registered).toContain(provider);
  const operator = await reader.follow(guide, '4. The management cluster');
  expect(operator).toContain("done: the legacy operator sends to MultiNIC's Viola");
  expect(operator).toContain('done: MultiNIC manages 1 OpenstackConfig');
  // The Pod of helm test resolves Service names, but Pods in this cluster have no network.
  const seen = await reader.follow(guide, '5. See that it worked', /^helm .* test /);
  expect(seen).toMatch(/^nodes +True/m);
  expect(await programsOf(place)).toEqual(Array(3).fill('multinic-controllers'));
  await expectUntouched();
}, 900_000);

it('the guide leads back to the legacy system', async () => {
  const back = await reader.follow(guide, 'Going back');
  expect(back).toContain('done: the legacy operator manages this cluster again');
  expect(back).toContain('done: the legacy controller manages this cluster again');
  expect(await programsOf(place)).not.toContain('multinic-controllers');
  await expectUntouched();
}, 600_000);
