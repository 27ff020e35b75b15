import { describe, expect, it } from 'vitest';
import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import type { Observation } from '../../../plan/observation.ts';
import { networks, port, subnet } from '../../../plan/sample.ts';
import { observedHash } from '../../../store/observed-ports.ts';
import { attach, delivered, detach, setScene } from '../../testing/scene.ts';
import { sightingOf } from './observed.ts';

const nothing: Observation = {
  servers: [],
  missingServers: [],
  ports: [],
  subnets: [],
  networks: [],
};
const object = { spec: { vmNames: ['worker-1'] } };
const status = (state: string, portId: string) => ({ status: state, portId });

const hashOf = async (spec: unknown) => (await sightingOf({ spec }, nothing, [])).specHash;

describe('observed data for the inventory', () => {
  it('observed data holds ports, subnets with network names, and configured ports', async () => {
    const observation = {
      ...nothing,
      ports: [port(1, 's1')],
      subnets: [subnet('a', { name: 'storage' }), subnet('b')],
      networks: networks.map((one) => ({ ...one, name: `name of ${one.id}` })).slice(0, 1),
    };
    const interfaceStatuses = [status('Configured', 'P1'), status('Failed', 'p2'), {}];
    const held: ExistingNodeConfig = {
      nodeName: 'worker-1',
      uid: 'u',
      generation: 1,
      spec: { nodeName: 'worker-1' },
      status: { interfaceStatuses },
    };
    const sighting = await sightingOf(object, observation, [held]);
    expect([...sighting.ports]).toEqual([
      ['p1', { status: 'ACTIVE', addresses: ['10.0.10.1'], createdAt: '2026-01-02T00:00:00Z' }],
    ]);
    const about = { id: 'sub-a', cidr: '10.0.10.0/24', networkId: 'net-a' };
    expect(sighting.subnets.get('sub-a')).toEqual({
      ...about,
      name: 'storage',
      networkName: 'name of net-a',
    });
    expect(sighting.subnets.get('sub-b')).toMatchObject({ name: '', networkName: '' });
    expect([...sighting.configured]).toEqual(['p1']);
  });

  it("the observed hash is equal for every order of a port's addresses", async () => {
    const ips = ['10.0.10.9', '10.0.10.1'].map((ipAddress) => ({ subnetId: 'sub-a', ipAddress }));
    const node = { interfaces: [{ portId: 'p1', macAddress: 'fa:16:3e:00:00:01' }] };
    const hash = async (fixedIps: typeof ips) => {
      const observation = { ...nothing, ports: [port(1, 's1', { fixedIps })] };
      return observedHash(node, await sightingOf(object, observation, []));
    };
    expect(await hash(ips)).toBe(await hash(ips.toReversed()));
  });

  it('the spec hash covers neither password nor encrypt key', async () => {
    const spec = {
      subnetID: 's',
      credentials: { username: 'u', password: 'a' },
      settings: { contrabassEncryptKey: 'a', openstackTimeout: '5s' },
    };
    const other = {
      settings: { openstackTimeout: '5s', contrabassEncryptKey: 'b' },
      credentials: { password: 'b', username: 'u' },
      subnetID: 's',
    };
    expect(await hashOf(spec)).toMatch(/^[0-9a-f]{64}$/);
    expect(await hashOf(other)).toBe(await hashOf(spec));
    expect(await hashOf({ ...spec, subnetID: 't' })).not.toBe(await hashOf(spec));
    expect(await hashOf(undefined)).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('a sync with observed data', () => {
  it('a sync records a changed port status without a POST to Viola', async () => {
    await using scene = await setScene();
    await delivered(scene);
    const notes = async () => scene.store.notesOf(await scene.store.list());
    expect((await notes()).of('biz-1', 'p1')).toEqual({
      subnetName: 'subnet-a',
      portStatus: 'ACTIVE',
      createdAt: '2026-01-01T00:00:10.000Z',
    });
    const nodes = JSON.stringify([...scene.viola.nodes]);
    scene.cloud.ports = scene.cloud.ports.map((one) => ({ ...one, status: 'BUILD' }));
    await scene.look();
    expect((await notes()).of('biz-1', 'p1')).toMatchObject({ portStatus: 'BUILD' });
    expect(JSON.stringify([...scene.viola.nodes])).toBe(nodes);
  });

  it('a sync delivers while the store fails, and records port data when the store works again', async () => {
    await using scene = await setScene();
    await delivered(scene);
    scene.failStore(new Error('read-only'));
    attach(scene.cloud, 3, 1);
    detach(scene.cloud, 2);
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
    scene.failStore(undefined);
    await scene.look(60_000);
    const notes = await scene.store.notesOf(await scene.store.list());
    expect(notes.of('biz-1', 'p3')).toMatchObject({ portStatus: 'ACTIVE' });
  });

  it('a deleted OpenstackConfig leaves no records in the inventory', async () => {
    await using scene = await setScene();
    scene.create();
    await scene.look();
    expect(await scene.store.authors()).toEqual([{ namespace: 'multinic-system', name: 'osc' }]);
    scene.kube.delete();
    await scene.look();
    expect(await scene.store.authors()).toEqual([]);
  });
});
