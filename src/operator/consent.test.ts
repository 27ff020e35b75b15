import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExistingNodeConfig } from '../api/node-configs-http.ts';
import { FakeViola } from './testing/fake-viola.ts';
import { manyServers } from './testing/legacy-scene.ts';
import { attach, delivered, detach, environment, type Scene, setScene } from './testing/scene.ts';
import { deliverTwenty, nicsLeft, onlyB } from './testing/twenty-nics.ts';

let scene: Scene;

afterEach(async () => scene[Symbol.asyncDispose]());

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const direct = {
  credentials: {
    authURL: 'https://keystone.test',
    username: 'u',
    password: 'p',
    projectID: 'project-1',
    domainName: 'd',
  },
};

/** Starts a scene whose default business cluster is biz-1; biz-2 exists, too. */
async function start(): Promise<void> {
  scene = await setScene({ ...environment, DEFAULT_K8S_PROVIDER_ID: 'biz-1' });
  scene.otherViolas.set('biz-2', new FakeViola('second-'));
}

/** Restarts the operator with a changed default business cluster. */
function moveDefault(): void {
  scene.restart({ ...environment, DEFAULT_K8S_PROVIDER_ID: 'biz-2' });
}

/** Delivers 20 NICs, and holds the removal of eleven by an edit. */
async function holdEleven(): Promise<void> {
  await deliverTwenty(scene, 11, direct);
  scene.edit({ ...onlyB, ...direct });
  await scene.look();
  expect(scene.ready()).toContain('OverBudget: 11 of 20');
}

function allow(value = 'yes'): void {
  scene.kube.annotate({ 'multinic.io/allow-removals': value });
}

/** Returns the removals sent with consent: `node mac` for a POST, `node` for a DELETE. */
function consented(): string[] {
  const { posts, bases } = scene.viola;
  return [
    ...posts
      .flat()
      .flatMap(({ nodeName, removals }) =>
        (removals?.consented ?? []).map((mac) => `${nodeName} ${mac}`),
      ),
    ...bases.filter((one) => one.endsWith(' consent')),
  ];
}

const heldReady = [{ type: 'Ready', status: 'False', reason: 'RemovalHeld' } as const];

function setStatus(nodeName: string, status: ExistingNodeConfig['status']): void {
  const node = scene.viola.nodes.get(nodeName) ?? expect.fail(`${nodeName} was delivered`);
  scene.viola.put({ ...node, ...(status && { status }) });
}

/** Lets the controller keep a NIC with the MAC …:`n`, whose port has no selected address. */
function keep(nodeName: string, n: number): string {
  const mac = `fa:16:3e:00:00:${n.toString(16)}`;
  setStatus(nodeName, {
    conditions: heldReady,
    heldRemovals: { code: 'SideEffect', macs: [mac] },
  });
  attach(scene.cloud, n, nodeName === 'worker-1' ? 1 : 2);
  setPort(`p${n}`, { fixedIps: [{ subnetId: 'sub-z', ipAddress: `10.0.90.${n}` }] });
  return mac;
}

function setPort(id: string, change: Partial<Scene['cloud']['ports'][number]>): void {
  scene.cloud.ports = scene.cloud.ports.map((port) =>
    port.id === id ? { ...port, revisionNumber: port.revisionNumber + 1, ...change } : port,
  );
}

beforeEach(start);

describe('a consent covers exactly the NICs held when given', () => {
  it.each<[what: string, hold: () => Promise<string[]>, meanwhile: () => unknown]>([
    [
      'a NIC without plugged port, when the port is plugged again and a different port is unplugged',
      async () => {
        await delivered(scene);
        setPort('p1', { deviceOwner: 'network:vip' });
        await scene.look();
        return ['worker-1 fa:16:3e:00:00:01'];
      },
      () => {
        setPort('p1', { deviceOwner: 'compute:nova' });
        setPort('p2', { deviceOwner: 'network:vip' });
      },
    ],
    [
      'a NIC kept by the controller, when the controller keeps a NIC on another node',
      async () => {
        await delivered(scene);
        const mac = keep('worker-1', 0x63);
        await scene.look();
        return [`worker-1 ${mac}`];
      },
      () => {
        setStatus('worker-1', {});
        keep('worker-2', 0x62);
      },
    ],
    [
      'a NIC, when earlier controllers keep NICs on other nodes without naming them',
      async () => {
        const ids = manyServers(scene, 20);
        scene.create({ vmNames: ids });
        await scene.look();
        setPort('p1', { deviceOwner: 'network:vip' });
        await scene.look();
        return ['worker-1 fa:16:3e:00:00:01'];
      },
      () => {
        const going = {
          deletionTimestamp: '2026-01-01T00:00:00Z',
          status: { conditions: heldReady },
        };
        for (const node of [...scene.viola.nodes.values()].slice(2)) {
          scene.viola.put({ ...node, ...going, generation: node.generation + 1 });
        }
      },
    ],
  ])('%s', async (_, hold, meanwhile) => {
    const expected = await hold();
    scene.viola.refused.set('worker-1', 'FieldConflict');
    allow();
    await scene.look();
    expect(consented()).toEqual(expected);
    expect(scene.status().openAllowRemovals).toMatchObject({ nics: 1, nodes: 1 });
    const before = scene.status().heldRemovals;
    meanwhile();
    await scene.look();
    expect([...new Set(consented())]).toEqual(expected);
    if (scene.status().openAllowRemovals) expect(scene.status().heldRemovals).toEqual(before);
  });

  it('the operator uses a consent for the covered NICs, and holds and reports the rest', async () => {
    await holdEleven();
    const { at, digests, generation } = scene.status().heldRemovals ?? {};
    expect([digests?.length, generation]).toEqual([88, 2]);
    allow();
    const mac = keep('worker-2', 0x63);
    await scene.look(minuteMs);
    expect(nicsLeft(scene)).toBe(9);
    expect(consented()).toHaveLength(11);
    expect(consented().join()).not.toContain(mac);
    expect(scene.ready()).toContain(
      'the consent "yes" does not cover 1 NIC: it covers only NICs held',
    );
    expect(scene.status()).toMatchObject({ lastHandledAllowRemovals: 'yes' });
    expect(scene.status().heldRemovals?.digests).toHaveLength(8);
    expect(scene.status().heldRemovals?.at).not.toBe(at);
    allow('again');
    await scene.look();
    expect(consented()).toContain(`worker-2 ${mac}`);
  });

  it('the set for held NICs does not grow while a consent is open', async () => {
    await holdEleven();
    const before = scene.status().heldRemovals;
    scene.viola.refused.set('worker-1', 'FieldConflict');
    allow();
    await scene.look();
    const mac = keep('worker-2', 0x62);
    await scene.look(minuteMs);
    expect(scene.status().openAllowRemovals).toMatchObject({ nics: 10, nodes: 1 });
    expect(scene.status().heldRemovals).toEqual(before);
    scene.restart();
    scene.viola.refused.clear();
    await scene.look();
    expect(nicsLeft(scene)).toBe(9);
    expect(consented().join()).not.toContain(mac);
    expect(scene.status().openAllowRemovals).toBeUndefined();
    expect(scene.status().heldRemovals?.digests).toHaveLength(8);
  });

  it('a consent to NICs with removals undone meanwhile covers the rest', async () => {
    await holdEleven();
    const { at } = scene.status().heldRemovals ?? {};
    for (const n of [1, 2, 3]) detach(scene.cloud, n);
    await scene.look();
    expect(scene.status().heldRemovals).toMatchObject({ at });
    expect(scene.status().heldRemovals?.digests).toHaveLength(64);
    allow();
    await scene.look();
    expect(nicsLeft(scene)).toBe(9);
    expect(scene.status().heldRemovals).toBeUndefined();
  });

  it('a consent to a NIC whose port read fails stays open when the node is planned again', async () => {
    await delivered(scene);
    setPort('p1', { fixedIps: [] });
    await scene.look();
    expect(scene.status().heldRemovals?.digests).toHaveLength(8);
    scene.cloud.fail('port', 'serverError');
    attach(scene.cloud, 3, 1);
    scene.viola.beforePost = () => {
      scene.viola.beforePost = undefined;
      const node = scene.viola.nodes.get('worker-1') ?? expect.fail('worker-1 was delivered');
      scene.viola.put({ ...node, generation: 7 });
    };
    allow();
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
    expect(scene.status().openAllowRemovals).toMatchObject({ nics: 1, nodes: 1 });
    scene.cloud.heal();
    await scene.look();
    expect(consented()).toEqual(['worker-1 fa:16:3e:00:00:01']);
  });

  it.each<[what: string, prepare: () => Promise<unknown>]>([
    [
      'is first read during a cloud outage',
      async () => {
        scene.cloud.fail('portsOf', 'serverError');
        allow();
        await scene.look();
        moveDefault();
        scene.cloud.heal();
      },
    ],
    [
      'is used by a process killed before the status write',
      async () => {
        allow();
        scene.killAt(scene.effects.length + 3, new Error('killed'));
        await expect(scene.look()).rejects.toThrow('killed');
        moveDefault();
      },
    ],
    [
      'is five hours old when a new operator reads it',
      async () => {
        allow(scene.clock.now().toISOString());
        await scene.clock.advance(5 * hourMs);
        moveDefault();
      },
    ],
  ])(
    'no node leaves a former business cluster by a consent to an edit, when the consent %s',
    async (_, prepare) => {
      await holdEleven();
      await prepare();
      await scene.look();
      await scene.look();
      expect(scene.viola.bases.filter((one) => one.endsWith('consent'))).toEqual([]);
      expect(scene.ready()).toContain('SideEffect: the removal of');
    },
  );

  it.each([
    { keptSince: 'before', bases: 5, nics: 6 },
    { keptSince: 'after', bases: 4, nics: 4 },
  ])(
    'a DELETE needs consent to a NIC kept $keptSince the hold: $bases nodes leave',
    async ({ keptSince, bases, nics }) => {
      const ids = manyServers(scene, 20);
      scene.create({ vmNames: ids });
      await scene.look();
      const { uid, spec } = scene.viola.nodes.get('worker-0') ?? expect.fail('no worker-0');
      const mac = 'fa:16:3e:99:99:99';
      // Ready names a different problem first.
      const conditions = [{ type: 'Ready', status: 'False', reason: 'WaitingForNIC' } as const];
      const listed = (spec.interfaces ?? []).map(({ macAddress, id = 0 }) => ({ macAddress, id }));
      const status = {
        conditions,
        heldRemovals: { code: 'SideEffect', macs: [mac] },
        applied: { requested: [], knownFrom: { uid, job: 'j' }, objectUid: uid },
        knownInterfaces: [...listed, { macAddress: mac, id: 5 }],
      };
      if (keptSince === 'before') setStatus('worker-0', status);
      scene.edit({ vmNames: ids.slice(5) });
      await scene.look();
      expect(scene.ready()).toContain('OverBudget: 5 of 20 nodes');
      if (keptSince === 'after') setStatus('worker-0', status);
      allow();
      const counts: unknown[] = [];
      const remove = scene.viola.remove.bind(scene.viola);
      scene.viola.remove = async (...args) => {
        counts.push(scene.status().openAllowRemovals);
        return remove(...args);
      };
      await scene.look();
      expect(counts[0]).toMatchObject({ nics });
      expect(scene.viola.bases.filter((one) => one.endsWith(' consent'))).toHaveLength(bases);
      expect(scene.viola.bases).toHaveLength(bases);
    },
  );
});

describe('held removals', () => {
  it('held removals stay held when some are undone and Viola fails meanwhile', async () => {
    await holdEleven();
    for (const n of [1, 2, 3]) detach(scene.cloud, n);
    scene.viola.fail(503);
    await scene.look();
    expect(scene.ready()).toContain('ViolaPostError');
    scene.viola.outage = undefined;
    scene.restart();
    await scene.look();
    await scene.look();
    expect(nicsLeft(scene)).toBe(17);
    expect(scene.ready()).toContain('OverBudget: 8 NICs would be removed, and an earlier sync');
  });

  it('held removals stay held when Viola fails and the hour of the budget is over', async () => {
    await deliverTwenty(scene, 6);
    scene.edit(onlyB);
    await scene.look();
    expect(nicsLeft(scene)).toBe(14);
    scene.edit({ ...onlyB, vmNames: ['00000000-0000-4000-8000-000000000001'] });
    await scene.look();
    expect(scene.ready()).toContain('OverBudget');
    scene.viola.fail(503);
    await scene.look();
    scene.viola.outage = undefined;
    await scene.look(hourMs);
    await scene.look();
    expect(scene.viola.bases).toEqual([]);
    expect(scene.ready()).toContain('OverBudget');
  });

  it('nodes stay when a legacy controller reports no NICs, and the OpenstackConfig moves', async () => {
    await delivered(scene);
    const conditions = [{ type: 'InProgress', status: 'True', reason: 'JobRunning' } as const];
    for (const name of ['worker-1', 'worker-2'])
      setStatus(name, { state: 'InProgress', conditions });
    const credentials = { openstackProviderID: 'cloud-1', projectID: 'project-1' };
    scene.edit({ credentials: { ...credentials, k8sProviderID: 'biz-2' } });
    await scene.look();
    expect(scene.viola.bases).toEqual([]);
  });
});
