import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attach, environment, type Scene, setScene } from './testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene(environment);
  const [subnet] = scene.cloud.subnets;
  if (!subnet) expect.fail('the cloud has no subnet');
  scene.cloud.subnets.push({
    ...subnet,
    id: 'sub-6',
    name: 'six',
    cidr: 'fd00:10::/64',
    ipVersion: 6,
    gatewayIp: 'fe80::1',
    hostRoutes: [{ destination: 'fd00:99::/48', nexthop: 'fd00:10::fe' }],
  });
  attach(scene.cloud, 7, 1);
  scene.cloud.ports = scene.cloud.ports.map((port) =>
    port.id === 'p7'
      ? { ...port, fixedIps: [...port.fixedIps, { subnetId: 'sub-6', ipAddress: 'fd00:10::7' }] }
      : port,
  );
});

afterEach(async () => scene[Symbol.asyncDispose]());

function delivered() {
  const all = [...scene.viola.nodes.values()].flatMap(({ spec }) => spec.interfaces ?? []);
  return all.find(({ portId }) => portId === 'p7');
}

describe('a dual-stack port', () => {
  it('a dual-stack port gets only its IPv4 addresses by default', async () => {
    scene.create({});
    await scene.look();
    expect(delivered()?.addresses).toEqual(['10.0.10.7/24']);
  });

  it('a dual-stack port gets both families, with gateway and routes from the unselected IPv6 subnet', async () => {
    scene.create({ settings: { addressFamilies: ['IPv4', 'IPv6'] } });
    await scene.look();
    expect(scene.ready()).toMatch(/^True /);
    expect(delivered()).toMatchObject({
      address: '10.0.10.7',
      addresses: ['10.0.10.7/24', 'fd00:10::7/64'],
      subnets: [
        {
          cidr: 'fd00:10::/64',
          gateway: 'fe80::1',
          routes: [{ to: 'fd00:99::/48', via: 'fd00:10::fe' }],
        },
      ],
    });
  });

  it('a dual-stack port gets only IPv6, with the requested routing, when only IPv6 is selected', async () => {
    scene.create({
      subnetIDs: ['sub-6'],
      settings: { addressFamilies: ['IPv6'], routing: 'isolated' },
    });
    await scene.look();
    expect(scene.ready()).toMatch(/^True /);
    expect(delivered()).toMatchObject({
      addresses: ['fd00:10::7/64'],
      cidr: 'fd00:10::/64',
      gateway: 'fe80::1',
      routing: 'isolated',
    });
    expect(delivered()).not.toHaveProperty('address');
  });
});

it.each([
  ['IPv6', 'sub-6', ['IPv4'], 'fd00:10::/64'],
  ['IPv4', 'sub-a', ['IPv6'], '10.0.10.0/24'],
] as const)(
  'a selected %s subnet outside addressFamilies is reported as ConfigError',
  async (...row) => {
    const [family, id, addressFamilies, cidr] = row;
    scene.create({ subnetIDs: [id], settings: { addressFamilies: [...addressFamilies] } });
    await scene.look();
    expect(scene.ready()).toBe(
      `False ConfigError: subnet ${id} (${cidr}) is ${family}, which spec.settings.addressFamilies [${addressFamilies[0]}] does not include; add ${family} or select other subnets`,
    );
    expect(scene.viola.posts).toEqual([]);
  },
);
