import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openstackConfigs } from './model/openstack-config.ts';
import { attach, detach, type Scene, serverIds, setScene } from './testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

const both = { subnetIDs: ['sub-a', 'sub-b'] };
const onlyB = { subnetIDs: ['sub-b'] };
const hourMs = 3_600_000;

/** Attaches port `pN` in subnet sub-b. */
function attachInB(n: number, server: number): void {
  attach(scene.cloud, n, server);
  const port = scene.cloud.ports.pop();
  const fixedIps = [{ subnetId: 'sub-b', ipAddress: `10.0.20.${n}` }];
  if (port) scene.cloud.ports.push({ ...port, networkId: 'net-b', fixedIps });
}

/** Delivers ten NICs to each of two nodes: `inA` NICs in subnet sub-a, first on worker-1, and the rest in sub-b. */
async function deliverTwenty(inA: number): Promise<void> {
  for (let n = 1; n <= 20; n++) {
    const add = n <= inA ? (at: number, to: number) => attach(scene.cloud, at, to) : attachInB;
    add(n, n <= 10 ? 1 : 2);
  }
  scene.create(both);
  await scene.look();
}

function nicsLeft(): number {
  return scene.nics('worker-1').length + scene.nics('worker-2').length;
}

function allow(value: string): void {
  scene.kube.annotate({ 'multinic.io/allow-removals': value });
}

function lastPost() {
  return scene.viola.posts.at(-1)?.toSorted((a, b) => a.nodeName.localeCompare(b.nodeName)) ?? [];
}

const overBudget = 'False RemovalHeld: OverBudget: 11 of 20 NICs in the business cluster would be';

describe('many removals by an edit', () => {
  it('11 removals wait for allow-removals, are posted as consented, and each value is used once', async () => {
    await deliverTwenty(11);
    scene.edit(onlyB);
    await scene.look();
    expect(scene.ready()).toContain(overBudget);
    expect(scene.condition('Delivered')?.reason).toBe('RemovalHeld');
    expect(nicsLeft()).toBe(20);
    allow('yes');
    await scene.look();
    expect(nicsLeft()).toBe(9);
    const [first, second] = lastPost();
    expect(first).toMatchObject({ removalsAllowed: true, removals: { proven: [] } });
    expect(first?.removals?.consented).toHaveLength(10);
    expect(second?.removals?.consented).toEqual(['fa:16:3e:00:00:0b']);
    expect(scene.status()).toMatchObject({ lastHandledAllowRemovals: 'yes' });
    expect(scene.status().openAllowRemovals).toBeUndefined();
    expect(scene.status().removals).toBeUndefined();
    scene.edit({ subnetIDs: ['sub-a'] });
    await scene.look();
    await scene.look();
    expect(nicsLeft()).toBeGreaterThan(9);
    expect(scene.status().removals).toBeDefined();
  });

  it('named removals within the budget are posted without basis, and recorded before the POST', async () => {
    await deliverTwenty(2);
    scene.edit(onlyB);
    scene.viola.beforePost = () => {
      expect(scene.status().removals).toEqual([
        { at: expect.any(String) as unknown, nics: 2, nodes: 1 },
      ]);
    };
    await scene.look();
    expect(nicsLeft()).toBe(18);
    expect(lastPost()).toMatchObject([{ removals: { proven: [], consented: [] } }]);
    expect(lastPost()[0]).not.toHaveProperty('removalsAllowed');
    expect(scene.status().removals).toMatchObject([{ nics: 2, nodes: 1 }]);
    await scene.look(hourMs);
    expect(scene.status().removals).toBeUndefined();
  });

  it('removals of an hour count together, also after a restart, and no more after the hour', async () => {
    await deliverTwenty(6);
    scene.edit(onlyB);
    await scene.look();
    expect(nicsLeft()).toBe(14);
    scene.restart();
    scene.edit({ ...onlyB, vmNames: serverIds.slice(0, 1) });
    await scene.look();
    expect(scene.viola.removals).toEqual([]);
    expect(scene.ready()).toContain('OverBudget: 16 of 20 NICs in the business cluster');
    scene.edit(onlyB);
    await scene.look();
    expect(scene.ready()).toContain('True');
    await scene.look(hourMs);
    scene.edit({ ...onlyB, vmNames: serverIds.slice(0, 1) });
    await scene.look();
    expect(scene.viola.bases).toEqual(['worker-2 named']);
  });

  it.each<[what: string, meanwhile: () => Promise<unknown>]>([
    ['the hour is over', async () => scene.look(2 * hourMs)],
    [
      'the operator restarts',
      async () => {
        scene.restart();
        return scene.look(2 * hourMs);
      },
    ],
    [
      'a cloud outage fails the syncs of the hour, and the operator restarts',
      async () => {
        scene.cloud.fail('portsOf', 'serverError');
        await scene.look(hourMs);
        expect(scene.ready()).toContain('False NeutronPortError');
        scene.cloud.heal();
        scene.restart();
        return scene.look(hourMs);
      },
    ],
  ])('held removals stay held when some are undone in OpenStack and %s', async (_, meanwhile) => {
    await deliverTwenty(11);
    scene.edit(onlyB);
    await scene.look();
    for (const n of [1, 2, 3]) detach(scene.cloud, n);
    await meanwhile();
    expect(nicsLeft()).toBe(17);
    expect(scene.ready()).toContain('OverBudget: 8 NICs would be removed, and an earlier sync');
    scene.edit(both);
    await scene.look();
    expect(scene.ready()).toContain('True');
    expect(nicsLeft()).toBe(17);
  });

  it('NICs removed, added and removed again within the hour count twice', async () => {
    await deliverTwenty(6);
    for (const wanted of [onlyB, both]) {
      scene.edit(wanted);
      await scene.look();
    }
    expect(nicsLeft()).toBe(20);
    scene.edit(onlyB);
    await scene.look();
    expect(nicsLeft()).toBe(20);
    expect(scene.ready()).toContain('OverBudget: 12 of 26 NICs in the business cluster');
  });

  it('a removal refused by Viola counts once in the retry', async () => {
    await deliverTwenty(6);
    scene.viola.refused.set('worker-1', 'FieldConflict');
    scene.edit(onlyB);
    await scene.look();
    expect(nicsLeft()).toBe(20);
    scene.viola.refused.clear();
    await scene.look();
    expect(nicsLeft()).toBe(14);
    expect(scene.status().removals).toMatchObject([{ nics: 6, nodes: 1 }]);
  });

  it('held removals stay held when a node with evidence is planned again during delivery', async () => {
    await deliverTwenty(12);
    scene.edit(onlyB);
    detach(scene.cloud, 1);
    scene.viola.beforePost = () => {
      scene.viola.beforePost = undefined;
      const node = scene.viola.nodes.get('worker-1');
      if (node) scene.viola.put({ ...node, generation: 7 });
    };
    await scene.look();
    expect(scene.ready()).toContain('False RemovalHeld: OverBudget: 11 of');
    expect(scene.nics('worker-1')).toHaveLength(9);
  });

  it('a second plan in the same sync removes only NICs from the first plan', async () => {
    await deliverTwenty(2);
    attach(scene.cloud, 30, 1);
    scene.edit(onlyB);
    scene.viola.beforePost = () => {
      scene.viola.beforePost = undefined;
      const node = scene.viola.nodes.get('worker-1');
      const [nic, ...rest] = node?.spec.interfaces ?? [];
      if (!node || !nic) return;
      const added = { ...nic, portId: 'p30', macAddress: 'fa:16:3e:00:00:1e' };
      const interfaces = [added, nic, ...rest.slice(0, 8)];
      scene.viola.put({ ...node, generation: 7, spec: { ...node.spec, interfaces } });
    };
    await scene.reconcile(15_000);
    expect(scene.nics('worker-1').join()).toMatch(/p30/);
    expect(scene.nics('worker-1').join()).not.toMatch(/=p1,|=p2,/);
  });

  it('an unreadable status.removals holds removals by an edit', async () => {
    await deliverTwenty(2);
    const status = { ...scene.status(), removals: 'many' };
    const metadata = { namespace: 'multinic-system', name: 'osc' };
    const manager = { fieldManager: 'people', force: true };
    await scene.kube.applyStatus(openstackConfigs, { metadata, status }, manager);
    scene.edit(onlyB);
    await scene.look();
    expect(scene.ready()).toContain(
      'False RemovalHeld: OverBudget: status.removals cannot be read',
    );
    expect(nicsLeft()).toBe(20);
  });
});

describe('many removals with evidence', () => {
  it('11 detached NICs leave without consent, posted as proven and not recorded', async () => {
    await deliverTwenty(20);
    for (let n = 1; n <= 11; n++) detach(scene.cloud, n);
    await scene.look();
    expect(nicsLeft()).toBe(9);
    expect(scene.ready()).toContain('True');
    const [first] = lastPost();
    expect(first?.removals?.proven).toHaveLength(10);
    expect(first?.removals?.consented).toEqual([]);
    expect(scene.status().removals).toBeUndefined();
  });
});

describe('consent to removals', () => {
  it('a consent stays open with the remaining counts until every removal is delivered', async () => {
    await deliverTwenty(11);
    scene.edit(onlyB);
    await scene.look();
    scene.viola.refused.set('worker-1', 'FieldConflict');
    allow('yes');
    await scene.look();
    expect(nicsLeft()).toBe(19);
    expect(scene.status().lastHandledAllowRemovals).toBeUndefined();
    expect(scene.status().openAllowRemovals).toMatchObject({ value: 'yes', nics: 10, nodes: 1 });
    const { since = '', until = '' } = scene.status().openAllowRemovals ?? {};
    expect(Date.parse(until) - Date.parse(since)).toBe(hourMs);
    scene.restart();
    scene.viola.refused.clear();
    await scene.look();
    expect(nicsLeft()).toBe(9);
    expect(scene.status().lastHandledAllowRemovals).toBe('yes');
  });

  it('[W0] a consent expires after an hour, used up or not', async () => {
    await deliverTwenty(11);
    scene.edit(onlyB);
    await scene.look();
    scene.cloud.fail('portsOf', 'serverError');
    allow('yes');
    await scene.look();
    expect(scene.status().openAllowRemovals?.value).toBe('yes');
    await scene.look(hourMs);
    expect(scene.status().openAllowRemovals).toBeUndefined();
    scene.cloud.heal();
    await scene.look();
    expect(nicsLeft()).toBe(20);
    expect(scene.ready()).toContain(overBudget);
    expect(scene.status().lastHandledAllowRemovals).toBe('yes');
  });

  it.each<[what: string, prepare: () => Promise<unknown>]>([
    [
      'is set together with the edit',
      async () => {
        allow('yes');
        scene.edit(onlyB);
        return scene.look();
      },
    ],
    [
      'is followed by a later edit',
      async () => {
        scene.edit(onlyB);
        await scene.look();
        scene.cloud.fail('portsOf', 'serverError');
        allow('yes');
        await scene.look();
        scene.cloud.heal();
        scene.edit({ ...onlyB, vmNames: serverIds.slice(0, 1) });
        return scene.look();
      },
    ],
    [
      'was carried by a recreated object',
      async () => {
        scene.kube.configs.replace([]);
        const annotations = { 'multinic.io/allow-removals': 'last year' };
        scene.create(both, { uid: 'cr-uid-2', annotations });
        await scene.look();
        scene.edit(onlyB);
        return scene.look();
      },
    ],
  ])('a consent releases nothing when it %s', async (_, prepare) => {
    await deliverTwenty(11);
    await prepare();
    await scene.look();
    expect(nicsLeft()).toBe(20);
    expect(scene.ready()).toContain('False RemovalHeld: OverBudget');
    allow('today');
    await scene.look();
    expect(nicsLeft()).toBeLessThan(20);
  });

  it('20 removals wait for consent if an edit deselects their servers, and are deleted with it', async () => {
    await deliverTwenty(20);
    scene.edit({ ...both, vmNames: [serverIds[2] ?? ''] });
    await scene.look();
    expect(scene.viola.removals).toEqual([]);
    expect(scene.ready()).toContain('OverBudget: 20 of 20 NICs');
    allow('today');
    await scene.look();
    expect(scene.viola.bases.toSorted()).toEqual(['worker-1 consent', 'worker-2 consent']);
  });

  it('a consent is posted once, in one sync, to all nodes with kept NICs', async () => {
    await deliverTwenty(20);
    const conditions = [{ type: 'Ready', status: 'False', reason: 'RemovalHeld' } as const];
    const macs = ['fa:16:3e:00:00:63'];
    for (const node of scene.viola.nodes.values()) {
      const status = { conditions, heldRemovals: { code: 'OverBudget', macs } };
      scene.viola.put({ ...node, status });
    }
    attachKept();
    await scene.look();
    const posts = scene.viola.posts.length;
    allow('yes');
    await scene.look();
    expect(lastPost().map(({ removals }) => removals?.consented)).toEqual([macs, macs]);
    expect(scene.viola.posts).toHaveLength(posts + 1);
    expect(scene.status().lastHandledAllowRemovals).toBe('yes');
    for (let syncs = 0; syncs < 3; syncs++) await scene.look(60_000);
    expect(scene.viola.posts).toHaveLength(posts + 1);
  });

  it('evidence for a kept NIC is posted once an hour', async () => {
    await deliverTwenty(20);
    const [node] = scene.viola.nodes.values();
    const conditions = [{ type: 'Ready', status: 'False', reason: 'RemovalHeld' } as const];
    const heldRemovals = { code: 'OverBudget', macs: ['fa:16:3e:00:00:63'] };
    if (node) scene.viola.put({ ...node, status: { conditions, heldRemovals } });
    const posts = scene.viola.posts.length;
    for (let syncs = 0; syncs < 5; syncs++) await scene.look(60_000);
    expect(scene.viola.posts).toHaveLength(posts + 1);
    expect(lastPost()).toMatchObject([{ removals: { proven: heldRemovals.macs, consented: [] } }]);
    await scene.look(hourMs);
    expect(scene.viola.posts).toHaveLength(posts + 2);
  });
});

/** Attaches the kept NICs' port to both servers without a selected address: OpenStack gives no evidence. */
function attachKept(): void {
  for (const server of [1, 2]) {
    attach(scene.cloud, 0x63, server);
    const port = scene.cloud.ports.pop();
    if (port) scene.cloud.ports.push({ ...port, id: `kept-${server}`, fixedIps: [] });
  }
}
