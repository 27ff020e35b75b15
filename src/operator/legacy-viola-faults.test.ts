import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RequestError } from '../requests/request-error.ts';
import { answer, type FakeLegacyViola } from './testing/fake-legacy-viola.ts';
import {
  deliverToLegacy,
  legacySettings,
  manyServers,
  setLegacyScene,
} from './testing/legacy-scene.ts';
import { attach, detach, type Scene, serverIds } from './testing/scene.ts';

let legacy: FakeLegacyViola;
let scene: Scene;

beforeEach(async () => {
  ({ scene, legacy } = await setLegacyScene());
});

afterEach(async () => scene[Symbol.asyncDispose]());

/** kubectl and ssh output when no node can be applied. */
const clusterFailures = [
  'error: You must be logged in to the server (Unauthorized)',
  'Error from server (Forbidden): multinicnodeconfigs.multinic.io "worker-0" is forbidden: User "viola" cannot get resource "multinicnodeconfigs" in API group "multinic.io"',
  'error: resource mapping not found: no matches for kind "MultiNicNodeConfig" in version "multinic.io/v1alpha1"',
  'Error from server (NotFound): namespaces "multinic-system" not found',
  'Error from server (InternalError): failed calling webhook "policy.example.com"',
  'Error from server: etcdserver: request timed out',
  'root@10.0.0.1: Permission denied (publickey,password).',
  'exec: "kubectl": executable file not found in $PATH',
  'Unable to connect to the server: tls: failed to verify certificate',
] as const;

function killed(): never {
  throw new Error('killed');
}

function refuseConnection(): never {
  const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  throw new RequestError('refused', { service: 'viola', kind: 'unreachable', cause });
}

function cut(): never {
  throw new RequestError('no answer within 30 s', { service: 'viola', kind: 'timeout' });
}

describe('a faulty legacy Viola', () => {
  it('a POST refused by a legacy Viola is repeated node by node, and Ready names the refused node', async () => {
    const ids = manyServers(scene, 150);
    legacy.refused.add('worker-42');
    scene.create({ settings: legacySettings, vmNames: ids });
    await scene.look();
    const sizes = legacy.sent().map(({ length }) => length);
    // In name order worker-42 is among the first hundred nodes.
    expect(sizes).toEqual([100, ...Array.from({ length: 100 }, () => 1), 50]);
    expect(legacy.objects.size).toBe(149);
    expect(scene.ready()).toContain(
      'False ViolaPostError: NodeRefused: viola: node worker-42: Invalid: unexpected status 500: kubectl apply failed: The MultiNicNodeConfig "worker-42" is invalid',
    );
    await scene.look();
    expect(legacy.sent()).toEqual([['worker-42']]);
    legacy.refused.clear();
    await scene.look();
    expect(scene.ready()).toContain('True Synced');
  });

  it.each<[what: string, fail: () => ReturnType<typeof answer>, words: string]>([
    ['does not answer', cut, 'viola: no answer within 30 s'],
    [
      'cannot reach the business cluster',
      () =>
        answer(500, 'kubectl apply failed: The connection to the server 10.0.0.1:6443 was refused'),
      'The connection to the server 10.0.0.1:6443 was refused',
    ],
    ...clusterFailures.map((text): [string, () => ReturnType<typeof answer>, string] => [
      `fails for all nodes: ${text}`,
      () => answer(500, `failed: ${text}`),
      text,
    ]),
  ])(
    'a legacy Viola that fails between chunks (%s) gets only unaccepted nodes afterwards',
    async (_, fail, words) => {
      const ids = manyServers(scene, 250);
      legacy.before = () => (legacy.posts.length === 2 ? fail() : undefined);
      scene.create({ settings: legacySettings, vmNames: ids });
      await scene.look();
      expect(legacy.sent().map(({ length }) => length)).toEqual([100, 100]);
      expect(scene.ready()).toContain('False ViolaPostError');
      expect(scene.ready()).toContain(words);
      legacy.before = undefined;
      scene.restart();
      await scene.look(300_000);
      expect(legacy.sent().map(({ length }) => length)).toEqual([100, 50]);
      expect(scene.ready()).toContain('True Synced');
    },
  );

  it('a legacy Viola gets no accepted node again after the operator was killed between two POSTs', async () => {
    const ids = manyServers(scene, 150);
    scene.create({ settings: legacySettings, vmNames: ids });
    legacy.before = () => {
      if (legacy.posts.length === 2) throw new Error('killed');
      return undefined;
    };
    await scene.look();
    legacy.before = undefined;
    legacy.sent();
    scene.restart();
    await scene.look();
    expect(legacy.sent().map(({ length }) => length)).toEqual([50]);
    expect(legacy.objects.size).toBe(150);
  });

  it('a legacy Viola that fails between single nodes gets only unaccepted nodes afterwards', async () => {
    const ids = manyServers(scene, 5);
    legacy.refused.add('worker-0');
    legacy.before = ({ nodes }) => (nodes[0]?.nodeName === 'worker-2' ? cut() : undefined);
    scene.create({ settings: legacySettings, vmNames: ids });
    await scene.look();
    expect(legacy.sent()).toEqual([
      ids.map((_, n) => `worker-${n}`),
      ['worker-0'],
      ['worker-1'],
      ['worker-2'],
    ]);
    legacy.before = undefined;
    legacy.refused.clear();
    await scene.look(300_000);
    expect(legacy.sent()).toEqual([['worker-0', 'worker-2', 'worker-3', 'worker-4']]);
  });

  it.each<[what: string, end: () => never]>([
    ['does not answer', cut],
    ['the operator is killed', killed],
  ])(
    'a legacy Viola with an applied but unanswered POST (%s) gets the node again without the detached NIC',
    async (_, end) => {
      attach(scene.cloud, 1, 1);
      scene.create({ settings: legacySettings });
      await scene.look();
      attach(scene.cloud, 3, 1);
      attach(scene.cloud, 2, 2);
      legacy.after = () => {
        legacy.after = undefined;
        end();
      };
      await scene.look();
      expect(legacy.nics('worker-1')).toHaveLength(2);
      scene.restart();
      detach(scene.cloud, 3);
      detach(scene.cloud, 2);
      await scene.look(300_000);
      expect(legacy.nics('worker-1')).toEqual(['0 multinic0=p1']);
      expect(scene.ready()).toContain('False RemovalUnsupported: node worker-2: ');
    },
  );

  it.each<[what: string, fail: () => ReturnType<typeof answer>]>([
    ['refuses a node', () => answer(500, 'kubectl apply failed: "worker-1" is invalid')],
    ['takes no POST', () => answer(404, 'not found')],
    ['takes no connection', refuseConnection],
  ])('a legacy Viola that definitely applied no POST (%s) needs no removal', async (_, fail) => {
    attach(scene.cloud, 1, 1);
    legacy.before = fail;
    scene.create({ settings: legacySettings });
    await scene.look();
    expect(scene.ready()).toContain('False ViolaPostError');
    legacy.before = undefined;
    detach(scene.cloud, 1);
    await scene.look(300_000);
    expect(scene.ready()).toContain('True NoChange');
    expect(await scene.store.list()).toEqual([]);
  });

  it.each<[what: string, status: number, text: string, words: string]>([
    ['401', 401, 'no', 'unexpected status 401: no (a legacy Viola needs no token'],
    ['another service', 405, 'method not allowed', 'the url of a viola)'],
    ['a strict unknown provider', 400, 'no route for providerID "biz-1"', 'no route for'],
    ['a login page', 200, '<html></html>', 'the answer of the legacy Viola is not valid'],
    ['a count that is too low', 200, '{"applied":1}', 'confirms 1 of 2 nodes'],
  ])(
    'an answer from a legacy Viola with %s counts as no node accepted',
    async (_, status, text, words) => {
      legacy.before = () => answer(status, text);
      await deliverToLegacy(scene);
      expect(scene.ready().toLowerCase()).toContain(words.toLowerCase());
      legacy.before = undefined;
      legacy.sent();
      await scene.look(300_000);
      expect(legacy.sent()).toEqual([['worker-1', 'worker-2']]);
    },
  );

  it('an error for a node in a 200 answer makes the operator send only this node again', async () => {
    const errors = [{ nodeName: 'worker-2', message: 'mtu' }];
    legacy.before = () => answer(200, JSON.stringify({ applied: 1, errors }));
    await deliverToLegacy(scene);
    expect(scene.ready()).toContain('viola: node worker-2: Invalid: mtu');
    legacy.before = undefined;
    legacy.sent();
    await scene.look();
    expect(legacy.sent()).toEqual([['worker-2']]);
  });

  it('a legacy Viola gets nothing while the inventory fails, because indexes would be assigned twice', async () => {
    await deliverToLegacy(scene);
    legacy.sent();
    scene.failStore(new Error('database is down'));
    attach(scene.cloud, 4, 1);
    await scene.look();
    expect(legacy.sent()).toEqual([]);
    expect(scene.ready()).toContain('False ViolaPostError: the inventory database cannot be read');
    scene.failStore(undefined);
    await scene.look(300_000);
    expect(legacy.sent()).toEqual([['worker-1']]);
  });

  it('a legacy Viola gets nothing more while an accepted node cannot be recorded, and gets the node again afterwards', async () => {
    const ids = manyServers(scene, 150);
    legacy.after = () => scene.failStore(new Error('disk is full'));
    scene.create({ settings: legacySettings, vmNames: ids });
    await scene.look();
    expect(legacy.sent().map(({ length }) => length)).toEqual([100]);
    expect(scene.ready()).toContain(
      'False ViolaPostError: the inventory database cannot be written',
    );
    legacy.after = undefined;
    scene.failStore(undefined);
    await scene.look(300_000);
    expect(legacy.sent().map(({ length }) => length)).toEqual([100, 50]);
  });

  it('a legacy Viola gets nothing after the inventory was lost, until reconcile-at has a new value', async () => {
    await deliverToLegacy(scene);
    legacy.sent();
    await loseInventory(scene);
    scene.restart();
    await scene.look();
    expect(legacy.sent()).toEqual([]);
    expect(scene.ready()).toContain(
      'False ViolaPostError: the inventory has no record of the 2 nodes',
    );
    scene.kube.annotate({ 'multinic.io/reconcile-at': 'now' });
    await scene.look();
    expect(legacy.sent()).toEqual([['worker-1', 'worker-2']]);
  });

  it('a legacy Viola gets nothing for a notification after the inventory was lost during operation', async () => {
    await deliverToLegacy(scene);
    detach(scene.cloud, 1);
    await scene.look();
    await loseInventory(scene);
    attach(scene.cloud, 4, 1);
    scene.cloudEvent({ servers: [serverIds[0] ?? ''] });
    await scene.look(1_000);
    expect(legacy.nics('worker-1')).toEqual(['1 multinic1=p3']);
    expect(scene.ready()).toContain('False ViolaPostError: the inventory has no record');
  });

  it('a legacy Viola gets no new NIC while the inventory cannot return former indexes', async () => {
    attach(scene.cloud, 3, 1);
    scene.create({ settings: legacySettings });
    legacy.after = () => {
      legacy.after = undefined;
      throw new Error('killed');
    };
    await scene.look();
    scene.restart();
    attach(scene.cloud, 1, 1);
    vi.spyOn(scene.store, 'nicsOf').mockRejectedValueOnce(new Error('lock wait timeout'));
    await scene.look();
    expect(scene.ready()).toContain('False ViolaPostError: the inventory database cannot be read');
    await scene.look(300_000);
    expect(legacy.nics('worker-1').toSorted()).toEqual(['0 multinic0=p3', '1 multinic1=p1']);
  });

  it('a legacy Viola gets the nodes for a new provider although the database failed before the first node', async () => {
    await deliverToLegacy(scene);
    attach(scene.cloud, 5, 3);
    const credentials = { openstackProviderID: 'cloud-1', k8sProviderID: 'biz-2', projectID: 'p' };
    const vmNames = serverIds.slice(2);
    scene.edit({ settings: legacySettings, credentials, vmNames });
    vi.spyOn(scene.store, 'reserve').mockRejectedValueOnce(new Error('lock wait timeout'));
    await scene.look();
    await scene.look(300_000);
    expect(legacy.objects.has('biz-2/worker-3')).toBe(true);
  });
});

/** Replaces the inventory with an empty inventory. */
async function loseInventory({ store }: Scene): Promise<void> {
  const author = { namespace: 'multinic-system', name: 'osc', generation: 1 };
  await store.record('biz-1', author, []);
  const nothing = { nodeName: '', interfaces: [] };
  await store.reserve(serverIds.map((instanceId) => ({ ...nothing, instanceId })));
}

class Killed extends Error {}

/** Attaches, attaches again, detaches, deletes; after each step syncs until nothing is left to do. */
async function play(at?: number) {
  const { scene: played, legacy: there } = await setLegacyScene();
  await using _ = played;
  if (at !== undefined) played.killAt(at, new Killed('killed'));
  const settle = async (change: () => void): Promise<void> => {
    change();
    for (let round = 0; round < 3; round++) {
      try {
        await played.look();
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        played.restart();
      }
    }
  };
  await settle(() => {
    attach(played.cloud, 2, 1);
    attach(played.cloud, 3, 1);
    played.create({ settings: legacySettings });
  });
  await settle(() => attach(played.cloud, 1, 1));
  await settle(() => detach(played.cloud, 2));
  const records = (await played.store.list()).map(({ updatedAt: _at, ...record }) => record);
  const end = { nics: there.nics('worker-1'), records, ready: played.ready() };
  await settle(() => played.kube.delete());
  const isGone = played.object() === undefined;
  return { writes: played.effects.length, end: { ...end, isGone } };
}

describe('a killed operator with a legacy Viola', async () => {
  const { writes, end } = await play();

  it('an operator with a legacy Viola delivers, keeps indexes and releases the object without a kill', () => {
    const nics = ['1 multinic1=p3', '2 multinic2=p1'];
    expect(end).toMatchObject({ nics, isGone: true, records: [{ nodeName: 'worker-1' }] });
  });

  it.each(Array.from({ length: writes }, (_, at) => at))(
    'killed at write %i, an operator with a legacy Viola reaches the same end state',
    async (at) => {
      expect((await play(at)).end).toEqual(end);
    },
  );
});
