import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { home, identities } from '../../rig/chain/identities.ts';
import { encryptKey, OperatorFixture, ref } from '../../test/fixtures/operator.ts';
import { tapConnections } from '../../test/fixtures/tapped-connections.ts';
import { namespace } from '../../test/fixtures/viola.ts';
import { claimsOfParts } from '../../test/rbac/claims.ts';
import { useOf } from '../../test/rbac/used.ts';
import { configMaps, crds, namespaces } from '../kube/core-resources.ts';
import { Store } from '../store/store.ts';
import { openstackConfigs, statusOf } from './model/openstack-config.ts';
import { allowSecretReads } from './testing/allow-secret-reads.ts';
import { eventually } from './testing/eventually.ts';
import { listen } from './testing/listener.ts';

let fixture: OperatorFixture;
let viola: OperatorFixture['viola'];
let cloud: OperatorFixture['cloud'];
let directory: string;
let world: OperatorFixture['world'];
let lines: string[];

beforeAll(async () => {
  fixture = await OperatorFixture.open();
  ({ viola, cloud, directory, world, lines } = fixture);
});

afterAll(() => fixture?.[Symbol.asyncDispose]());

const start: OperatorFixture['start'] = async (...how) => fixture.start(...how);
const createConfig: OperatorFixture['createConfig'] = async (...what) =>
  fixture.createConfig(...what);
const ready = async (of = ref): Promise<string> => fixture.ready(of);
const nicsReady = async (): Promise<string | undefined> => fixture.statusOf('NICsReady');
const nics = (): string[] => fixture.nics();
const attach = (server: number): string => fixture.attach(server);
const isLease = (path: string): boolean => path.includes('/leases');

describe('startOperator', () => {
  it('startOperator releases a deleted object when the business cluster is clean', async () => {
    const operator = await start('deleted.db');
    await createConfig();
    await eventually(ready, (text) => text === 'True NoChange');
    const portId = attach(0);
    await eventually(nics, (list) => list.length === 1);
    await eventually(operator.inventory, (list) => list.length === 1);
    await viola.admin.delete(openstackConfigs, ref);
    await eventually(
      async () => viola.admin.find(openstackConfigs, ref),
      (object) => object === undefined,
    );
    expect(nics()).toEqual([]);
    await eventually(operator.inventory, (list) => list.length === 0);
    await operator.stop();
    cloud.controls.detach({ serverId: world.servers[0] ?? '', portId });
  });

  it('startOperator delivers attached ports and removes detached ports, and uses exactly its granted rights', async () => {
    const operator = await start();
    await createConfig();
    await eventually(ready, (text) => text === 'True NoChange');
    const first = attach(0);
    attach(0);
    attach(1);
    const all = ['worker-1 multinic0', 'worker-1 multinic1', 'worker-2 multinic0'];
    await eventually(nics, (list) => list.join() === all.join());
    await eventually(operator.inventory, (list) => list.join() === 'worker-1 fresh,worker-2 fresh');

    cloud.controls.detach({ serverId: world.servers[0] ?? '', portId: first });
    await eventually(nics, (list) => list.length === 2);
    const listed = await viola.list('?fresh=true');
    const ports = listed.items.flatMap(
      ({ spec }) => spec.interfaces?.map((nic) => nic.portId) ?? [],
    );
    expect(ports).not.toContain(first);

    cloud.failures.add({ kind: 'status', service: 'neutron', status: 503 });
    await eventually(ready, (text) => text === 'False NeutronPortError');
    expect(nics()).toHaveLength(2);
    cloud.failures.heal();
    await eventually(ready, (text) => text.startsWith('True'));
    await operator.stop();

    const claims = claimsOfParts().operator.filter(({ right }) => !right.rare);
    const { unused, refused } = useOf(viola.api.audit, identities.operator, claims);
    expect([unused, refused]).toEqual([[], []]);
    expect(lines.join('')).not.toMatch(new RegExp(`${encryptKey}|Bearer|${cloud.admin.password}"`));
  });

  it('startOperator finds existing nodes after a restart without its inventory file, and writes nothing', async () => {
    const before = viola.api.audit.length;
    const posts = viola.writes.length;
    const operator = await start('another.db');
    await eventually(operator.inventory, (list) => list.length === 2);
    const writes = viola.api.audit
      .slice(before)
      .filter(({ user, verb }) => user === identities.operator && !/get|list|watch/.test(verb))
      .filter(({ resource }) => resource === 'openstackconfigs');
    expect(writes).toEqual([]);
    expect(viola.writes).toHaveLength(posts);
    await operator.stop();
  });

  it('startOperator delivers although MariaDB is down from the start', async () => {
    const operator = await start('unused.db', { 'db-host': '127.0.0.1', 'db-port': '1' });
    const before = nics();
    attach(1);
    await eventually(nics, (list) => list.length === before.length + 1);
    await eventually(ready, (text) => text.startsWith('True'));
    await operator.stop();
  });

  it.each([
    // Without its own key the config would use the operator's key.
    [{ contrabassEndpoint: true }, "the operator's encrypt key is not used"],
    [{ contrabassEndpoint: true, contrabassEncryptKey: encryptKey }, 'a loopback address'],
    [{ violaEndpoint: true }, "the operator's Viola token is not sent there"],
  ])(
    'startOperator sends neither secrets nor requests to an unlisted endpoint, with %j',
    async (given, why) => {
      // An unlisted host name with a loopback address.
      await using other = await listen('http', (_, response) => response.end('{}'));
      const url = `http://localhost:${other.port}`;
      const settings = Object.fromEntries(
        Object.entries(given).map(([field, value]) => [field, value === true ? url : value]),
      );
      const operator = await start('policy.db');
      const of = { namespace, name: 'elsewhere' };
      await createConfig(of, world.servers, settings);
      await eventually(
        async () => ready(of),
        (text) => text === 'False PolicyDenied',
      );
      const object = await viola.admin.find(openstackConfigs, of);
      expect(object && statusOf(object).lastError).toContain(why);
      expect(other.connections).toBe(0);
      await viola.admin.delete(openstackConfigs, of);
      await operator.stop();
    },
  );

  it('startOperator follows its trigger ConfigMap without a restart', async () => {
    const operator = await start('triggers.db');
    await eventually(ready, (text) => text.startsWith('True'));
    // NICs without a configured status are polled in every mode.
    await fixture.reportConfigured();
    await eventually(nicsReady, (status) => status === 'True');
    const metadata = { namespace: home, name: 'multinic-operator-triggers' };
    const skipped = () => lines.filter((line) => line.includes('Reconcile skipped')).length;
    await viola.admin.create(configMaps, { metadata, data: { 'trigger.yaml': 'mode: manual' } });
    await eventually(skipped, (count) => count > 0);
    const [before, since] = [nics(), lines.length];
    attach(0);
    const annotations = { 'multinic.io/reconcile-at': 'now' };
    await viola.admin.patch(openstackConfigs, ref, { metadata: { annotations } });
    await eventually(nics, (list) => list.length === before.length + 1);
    const syncs = lines.slice(since).filter((line) => line.includes('Proceeding with reconcile'));
    expect(syncs.every((line) => line.includes('"mode":"manual"'))).toBe(true);
    attach(0);
    await viola.admin.delete(configMaps, metadata);
    await eventually(nics, (list) => list.length === before.length + 2);
    await operator.stop();
  });

  it('a replica without the lease accepts a trigger call, and the leader syncs', async () => {
    const leader = await start();
    await eventually(leader.inventory, (list) => list.some((line) => line.endsWith('fresh')));
    const keys = join(directory, 'keys');
    await writeFile(keys, '0123456789abcdef');
    const flags = { 'trigger-listen': '127.0.0.1:0', 'trigger-hmac-key-file': keys };
    const waiting = await start('waiting.db', flags);
    const line = await eventually(
      () => lines.find((one) => one.includes('trigger endpoint started')),
      (found) => found !== undefined,
    );
    const { url } = JSON.parse(line ?? '{}') as { url: string };
    const path = `/v1/triggers/openstackconfigs/${ref.namespace}/${ref.name}`;
    const timestamp = String(Date.now() / 1000);
    const hmac = createHmac('sha256', '0123456789abcdef').update(`${timestamp}\nPOST\n${path}\n`);
    const signature = `sha256=${hmac.digest('hex')}`;
    const headers = { 'x-multinic-timestamp': timestamp, 'x-multinic-signature': signature };
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers });
    const { id } = (await answer.json()) as { id: string };
    await eventually(
      async () => viola.admin.find(openstackConfigs, ref),
      (object) => object !== undefined && statusOf(object).lastHandledReconcileAt === id,
    );
    await waiting.stop();
    await leader.stop();
  });

  it('startOperator sends lease requests over a dedicated connection', async () => {
    await using tapped = await tapConnections(viola.api.url);
    const access = { ...viola.api.accessAs(identities.operator), server: tapped.url };
    const operator = await start('inventory.db', {
      kubeconfig: await viola.api.kubeconfig(access),
    });
    await eventually(
      () => tapped.paths.flat().filter(isLease).length,
      (count) => count > 3,
    );
    await operator.stop();
    const used = tapped.paths.filter((paths) => paths.some(isLease));
    expect(used.flat().filter((path) => !isLease(path))).toEqual([]);
    expect(tapped.paths.length).toBeGreaterThan(used.length);
  });

  it('startOperator leaves records unchanged when an operator for a different namespace wrote the records', async () => {
    const foreign = { namespace: 'theirs', name: 'osc', generation: 1 };
    const path = join(directory, 'shared.db');
    const node = { nodeName: 'w', instanceId: 'i', uid: 'u', generation: 1, interfaces: [] };
    const open = async () => Store.open({ kind: 'sqlite', path }, { now: () => new Date(0) });
    const before = await open();
    await before.record('biz-9', foreign, [node]);
    await before[Symbol.asyncDispose]();
    const operator = await start('shared.db', { 'watch-namespace': namespace });
    await eventually(operator.inventory, (list) => list.length === 3);
    await operator.stop();
    const after = await open();
    expect(await after.authors()).toContainEqual({ namespace: 'theirs', name: 'osc' });
    await after[Symbol.asyncDispose]();
  });

  it('the inventory marks records as possibly stale while a different replica leads', async () => {
    const leader = await start();
    await eventually(leader.inventory, (list) => list.join() === 'worker-1 fresh,worker-2 fresh');
    const waiting = await start();
    expect(await waiting.inventory()).toEqual([
      'worker-1 another replica of the operator leads',
      'worker-2 another replica of the operator leads',
    ]);
    await waiting.stop();
    await leader.stop();
  });
});

describe('an uninstall in the wrong order', () => {
  it('a deleted namespace keeps its NICs until allow-removals has a new value', async () => {
    const team = { namespace: 'team', name: 'osc' };
    await viola.admin.create(namespaces, { metadata: { name: team.namespace } });
    await allowSecretReads(viola.admin, team.namespace, identities.operator);
    const { projectId, networkId } = world;
    const { serverId } = cloud.controls.createServer({ projectId, name: 'worker-3' });
    const operator = await start('team.db');
    await createConfig(team, [serverId]);
    // Only a port at least as new as its OpenstackConfig becomes a NIC, and timestamps have whole seconds.
    cloud.controls.attach({ serverId, networkId });
    await eventually(nics, (list) => list.includes('worker-3 multinic0'));

    await viola.admin.delete(namespaces, { name: team.namespace });
    await eventually(
      async () => ready(team),
      (text) => text === 'False RemovalHeld',
    );
    expect(nics()).toContain('worker-3 multinic0');

    const annotations = { 'multinic.io/allow-removals': 'now' };
    await viola.admin.patch(openstackConfigs, team, { metadata: { annotations } });
    await eventually(
      async () => viola.admin.find(namespaces, { name: team.namespace }),
      (found) => found === undefined,
    );
    expect(nics()).not.toContain('worker-3 multinic0');
    await operator.stop();
  });

  it('a deleted CRD keeps the NICs, and is released when the finalizers are removed', async () => {
    const before = nics();
    const name = 'openstackconfigs.multinic.example.com';
    const operator = await start('kind.db');
    await eventually(ready, (text) => text.startsWith('True'));
    await viola.admin.delete(crds, { name });
    await eventually(ready, (text) => text === 'False RemovalHeld');
    expect(nics()).toEqual(before);
    await viola.admin.patch(openstackConfigs, ref, { metadata: { finalizers: [] } });
    await eventually(
      async () => viola.admin.find(crds, { name }),
      (found) => found === undefined,
    );
    expect(nics()).toEqual(before);
    expect(before).not.toEqual([]);
    await operator.stop();
  });
});
