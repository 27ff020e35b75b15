import { beforeEach, expect, it } from 'vitest';
import {
  broken,
  ClusterObjects,
  forbidden,
  type Objects,
  unserved,
} from './testing/cluster-objects.ts';

let cluster: ClusterObjects;

beforeEach(() => {
  cluster = new ClusterObjects();
});

const { signal } = new AbortController();

const sliceOf = (...addresses: string[]) => ({
  endpoints: [{ addresses, conditions: { ready: true } }],
  ports: [{ port: 6443 }],
});

const at = (address: string, port = 6443) => ({ address, port });

async function server() {
  const facts = cluster.facts();
  await facts.begin(signal);
  return facts.current().apiServer;
}

const kubernetes = 'services default/kubernetes';
const slice = 'endpointslices default/kubernetes';
const old = 'endpoints default/kubernetes';
const own = { spec: { clusterIP: '10.96.0.1', ports: [{ port: 443 }] } };

it.each<[string, Objects, unknown]>([
  ['unknown without objects', {}, undefined],
  [
    'read from Service and EndpointSlice',
    { [kubernetes]: own, [slice]: sliceOf('192.0.2.1', '192.0.2.2') },
    { service: at('10.96.0.1', 443), endpoints: [at('192.0.2.1'), at('192.0.2.2')] },
  ],
  [
    'read from Endpoints in an older cluster',
    {
      [kubernetes]: own,
      [slice]: unserved,
      [old]: { subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 6443 }] }] },
    },
    { service: at('10.96.0.1', 443), endpoints: [at('192.0.2.1')] },
  ],
  [
    'read without endpoints',
    { [kubernetes]: own },
    { service: at('10.96.0.1', 443), endpoints: [] },
  ],
  [
    'read with IPv6 in short form',
    { [slice]: sliceOf('2001:DB8:0::1') },
    { endpoints: [at('2001:db8::1')] },
  ],
  [
    'read with eight endpoints at most, without names',
    { [slice]: sliceOf('name', ...Array.from({ length: 12 }, (_, n) => `192.0.2.${n}`)) },
    { endpoints: Array.from({ length: 8 }, (_, n) => at(`192.0.2.${n}`)) },
  ],
  [
    'read without endpoints that are not ready',
    {
      [slice]: {
        ...sliceOf(),
        endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: false } }],
      },
    },
    undefined,
  ],
  ['unknown with malformed objects', { [kubernetes]: {}, [slice]: { endpoints: 7 } }, undefined],
])('the API server is %s', async (_, given, expected) => {
  cluster.objects = given;
  expect(await server()).toEqual(expected);
});

it.each([kubernetes, slice, old])(
  'without the right to read %s a warning names it',
  async (key) => {
    cluster.objects = { [slice]: unserved, [key]: forbidden };
    expect(await server()).toBeUndefined();
    expect(cluster.warnings).toEqual([
      expect.stringContaining(
        `get ${key.startsWith('endpointslices') ? 'endpointslices' : key.split(' ')[0]}`,
      ),
    ]);
  },
);

it('a failed read leaves the last addresses in place', async () => {
  cluster.objects = { [kubernetes]: own, [slice]: sliceOf('192.0.2.1') };
  const facts = cluster.facts();
  await facts.begin(signal);
  const before = facts.current().apiServer;
  cluster.objects = { [kubernetes]: broken, [slice]: broken, [old]: broken };
  await facts.begin(signal);
  expect(facts.current().apiServer).toEqual(before);
});
