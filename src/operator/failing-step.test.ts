import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RequestError } from '../requests/request-error.ts';
import { attach, delivered, type Scene, serverIds, setScene } from './testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

describe('a failing step', () => {
  const cases: readonly [string, () => void, string][] = [
    [
      'an unknown cloud',
      () => {
        const details = { service: 'contrabass', kind: 'notFound', status: 404 } as const;
        scene.clouds.provided = new RequestError('unexpected status 404', details);
      },
      'False ContrabassError: contrabass: unexpected status 404',
    ],
    [
      'an account refused by Keystone',
      () => scene.cloud.fail('portsOf', 'unauthorized', 'keystone'),
      'False KeystoneError: keystone: portsOf failed (unauthorized)',
    ],
    [
      'a catalog without Neutron',
      () => scene.cloud.fail('portsOf', 'noEndpoint'),
      'False NeutronEndpointError: neutron: portsOf failed (noEndpoint)',
    ],
    [
      'a catalog with several regions and no chosen region',
      () => scene.cloud.fail('portsOf', 'ambiguousRegion'),
      'False ConfigError: neutron: portsOf failed (ambiguousRegion)',
    ],
    [
      'a failing port list',
      () => scene.cloud.fail('portsOf', 'serverError'),
      'False NeutronPortError: neutron: portsOf failed (serverError)',
    ],
    [
      'an unregistered business cluster',
      () => scene.viola.fail(404, 'unexpected status 404: no business cluster'),
      'False ViolaPostError: viola: unexpected status 404: no business cluster',
    ],
    [
      'a silent Viola',
      () => scene.viola.fail(503),
      'False ViolaPostError: ViolaUnavailable: viola: unexpected status 503',
    ],
  ];

  it.each(cases)(
    'Ready reports %s by the first failing step, NICs stay, and the sync recovers',
    async (_what, breakIt, expected) => {
      await delivered(scene);
      const good = scene.clouds.provided;
      attach(scene.cloud, 3, 2);
      breakIt();
      await scene.look();
      expect(scene.ready()).toBe(expected);
      expect(scene.condition('Degraded')).toMatchObject({ status: 'True', reason: 'Error' });
      expect(scene.status().lastError).toBe(expected.replace(/^False \w+: /, ''));
      expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
      expect(scene.viola.posts).toHaveLength(1);
      scene.clouds.provided = good;
      scene.cloud.heal();
      scene.viola.outage = undefined;
      await scene.look();
      expect(scene.ready()).toBe('True Synced: synced 1 node');
      expect(scene.nics('worker-2')).toEqual(['multinic0=p2', 'multinic1=p3']);
    },
  );

  it('CredentialsValid is False only when Keystone refuses the account, and Unknown after a timeout', async () => {
    await delivered(scene);
    scene.cloud.fail('portsOf', 'timeout', 'keystone');
    await scene.look();
    expect(scene.condition('CredentialsValid')?.status).toBe('Unknown');
    scene.cloud.fail('portsOf', 'unauthorized', 'keystone');
    await scene.look();
    expect(scene.condition('CredentialsValid')?.status).toBe('False');
    expect(scene.condition('Delivered')?.status).toBe('Unknown');
  });

  it('a missing token for the subnets stops all further requests', async () => {
    await delivered(scene);
    scene.cloud.log.length = 0;
    scene.cloud.fail('subnet', 'unauthorized', 'keystone');
    await scene.look();
    expect(scene.ready()).toBe('False KeystoneError: keystone: subnet failed (unauthorized)');
    expect(scene.cloud.log).toEqual(['subnet sub-a']);
  });

  it('an unchanged failure is written to the status once', async () => {
    await delivered(scene);
    scene.cloud.fail('portsOf', 'serverError');
    await scene.look();
    const before = scene.kube.writes.length;
    await scene.look();
    expect(scene.kube.writes).toHaveLength(before);
  });
});

describe('a partial failure', () => {
  it('a missing server is reported, and the remaining servers are delivered', async () => {
    attach(scene.cloud, 1, 1);
    scene.cloud.vms = scene.cloud.vms.slice(0, 1);
    scene.create();
    await scene.look();
    expect(scene.ready()).toBe(
      `False ServerNotFound: server ${serverIds[1]} of spec.vmNames does not exist in the project; correct spec.vmNames`,
    );
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
  });

  it('a failing Nova keeps known names, and new nodes wait', async () => {
    attach(scene.cloud, 1, 1);
    scene.create();
    await scene.look();
    attach(scene.cloud, 2, 1);
    attach(scene.cloud, 3, 2);
    scene.cloud.fail('servers', 'serverError');
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p2']);
    expect([...scene.viola.nodes.keys()]).toEqual(['worker-1']);
    expect(scene.ready()).toBe('False NovaServerError: nova: servers failed (serverError)');
    // Without Nova no server is read by id.
    expect(scene.cloud.log.filter((call) => call.startsWith('server '))).toEqual([]);
    expect(await scene.look()).toBe(60_000);
  });

  it('an unreadable network keeps the MTU, and only the new NIC waits', async () => {
    await delivered(scene);
    attach(scene.cloud, 3, 1);
    attach(scene.cloud, 4, 2);
    scene.cloud.fail('network', 'serverError');
    await scene.look();
    expect(scene.viola.posts).toHaveLength(1);
    expect(scene.ready()).toContain('False NeutronPortError: port p3 is not delivered yet');
  });

  it('a missing subnet is reported, and the second subnet is delivered', async () => {
    attach(scene.cloud, 1, 1);
    scene.create({ subnetIDs: ['sub-x', 'sub-a'] });
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    expect(scene.ready()).toBe(
      'False SubnetNotFound: subnet not found: "sub-x" (spec.subnetIDs or spec.subnetID)',
    );
    expect(scene.condition('InventoryComplete')?.status).toBe('False');
  });

  it('a typing error in subnetIDs removes no NIC', async () => {
    await delivered(scene);
    for (const subnetIDs of [['sub-x'], ['sub-x', 'sub-b']]) {
      scene.edit({ subnetIDs });
      await scene.look();
      expect(scene.ready()).toContain('False SubnetNotFound: subnet not found: "sub-x"');
      expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    }
  });

  it('a node refused by Viola is reported with its code, and the remaining nodes are delivered', async () => {
    attach(scene.cloud, 1, 1);
    attach(scene.cloud, 2, 2);
    scene.viola.refused.set('worker-1', 'FieldConflict');
    scene.create();
    await scene.look();
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2']);
    expect(scene.ready()).toBe(
      'False ViolaPostError: NodeRefused: viola: node worker-1: FieldConflict: refused',
    );
    expect(scene.condition('Delivered')).toMatchObject({ status: 'False' });
    expect(scene.status().nodes?.[0]).toMatchObject({ name: 'worker-1', reason: 'ViolaPostError' });
    scene.viola.refused.clear();
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
  });
});
