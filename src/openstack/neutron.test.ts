import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Call } from '../requests/caller.ts';
import { answerOf } from '../requests/fake-caller.ts';
import type { HttpAnswer } from '../requests/transport.ts';
import { createNeutron } from './neutron.ts';
import { createFakeService } from './requests/fake-service.ts';

const signal = new AbortController().signal;

function wirePort(id: string, deviceId: string) {
  return {
    id,
    name: '',
    network_id: 'n',
    mac_address: 'FA:16:3E:00:00:01',
    status: 'active',
    device_id: deviceId,
    device_owner: 'compute:nova',
    created_at: null,
    fixed_ips: [],
  };
}

function devices(call: Call): string[] {
  return call.url.searchParams.getAll('device_id');
}

/** Fake Neutron with one port per server; refuses requests for more than `most` servers. */
function setUp(most = Number.POSITIVE_INFINITY, extra: readonly unknown[] = []) {
  const { client, caller } = createFakeService('neutron', (call): HttpAnswer => {
    const ids = devices(call);
    if (ids.length > most) return { status: 414, headers: {}, text: '' };
    return answerOf(200, { ports: [...ids.map((id) => wirePort(`port-${id}`, id)), ...extra] });
  });
  return { neutron: createNeutron(client), caller };
}

function serverIds(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `s${index}`);
}

type Pass = (ids: readonly string[]) => readonly (string | undefined)[];
const first: Pass = (ids) => ids.slice(0, 1);
const last: Pass = (ids) => ids.slice(-1);
const all: Pass = (ids) => ids;

/** Fake Neutron with ports for `holders`, behind a proxy that forwards only some device_id parameters. */
async function listed(pass: Pass, holders: readonly string[]) {
  const { client, caller } = createFakeService('neutron', (call) => {
    const ids = pass(devices(call)).filter((id = '') => holders.includes(id));
    return answerOf(200, { ports: ids.map((id = '') => wirePort(`port-${id}`, id)) });
  });
  const neutron = createNeutron(client);
  const read = async () => neutron.portsOf(['s0', 's1', 's2'], signal);
  return { ports: (await read().then(() => read())).map(({ id }) => id), calls: caller.calls };
}

describe('proxy that forwards only one device_id parameter', () => {
  test.each([
    ['the first', first, ['s0', 's1']],
    ['the first, when servers 0 and 2 have ports', first, ['s0', 's2']],
    ['the last', last, ['s1', 's2']],
  ])('a proxy that forwards only one device_id is an error: %s', async (_, pass, holders) => {
    await expect(listed(pass, holders)).rejects.toThrow('only one of several device_id');
  });

  test.each([
    ['several servers have ports', ['s0', 's1'], 2],
    ['only the middle server has ports', ['s1'], 2],
    ['only the first server has ports, with a single extra read', ['s0'], 3],
    ['only the last server has ports', ['s2'], 3],
    ['no server has ports', [], 2],
  ])('a Neutron that honours every device_id is recognised: %s', async (_, holders, calls) => {
    const ports = holders.map((id) => `port-${id}`);
    expect(await listed(all, holders)).toEqual({ ports, calls });
  });
});

describe('portsOf', () => {
  test('portsOf requests each server once, at most 100 per batch, with only the needed fields', async () => {
    const { neutron, caller } = setUp();
    const ports = await neutron.portsOf([...serverIds(250), ...serverIds(250)], signal);
    expect(ports).toHaveLength(250);
    const sizes = caller.sent.map((call) => devices(call).length);
    expect(sizes.toSorted((a, b) => b - a)).toEqual([100, 100, 50]);
    expect(caller.sent[0]?.url.searchParams.getAll('fields')).toContain('revision_number');
  });

  test("the request line for 100 servers fits into half of Neutron's limit", async () => {
    const { neutron, caller } = setUp();
    await neutron.portsOf(
      Array.from({ length: 100 }, () => crypto.randomUUID()),
      signal,
    );
    expect(caller.sent[0]?.url.search.length).toBeLessThan(5_000);
  });

  test('a batch answered with 414 is halved, and the smaller batch size is remembered', async () => {
    const { neutron, caller } = setUp(30);
    expect(await neutron.portsOf(serverIds(100), signal)).toHaveLength(100);
    // Batches: 100, 50, 25, 25, 50, 25, 25.
    expect(caller.calls).toBe(7);
    expect(await neutron.portsOf(serverIds(100), signal)).toHaveLength(100);
    expect(caller.calls).toBe(11);
  });

  test('a 414 for a single server is an error', async () => {
    const { neutron } = setUp(0);
    await expect(neutron.portsOf(['s'], signal)).rejects.toMatchObject({ kind: 'tooLarge' });
  });

  test('portsOf skips empty server ids, which would match unattached ports', async () => {
    const { neutron, caller } = setUp(100, [wirePort('loose', '')]);
    const ports = await neutron.portsOf(['', 's'], signal);
    expect(ports.map((port) => port.id)).toEqual(['port-s']);
    expect(caller.sent.map(devices)).toEqual([['s']]);
  });

  test('portsOf drops ports attached to servers outside the request', async () => {
    const { neutron } = setUp(100, [wirePort('stray', 'other'), wirePort('loose', '')]);
    const ports = await neutron.portsOf(['s'], signal);
    expect(ports.map((port) => port.id)).toEqual(['port-s']);
  });

  test('portsOf fails when any batch fails', async () => {
    const { client } = createFakeService('neutron', (call) =>
      devices(call).includes('s150') ? answerOf(403, {}) : answerOf(200, { ports: [] }),
    );
    await expect(createNeutron(client).portsOf(serverIds(300), signal)).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });

  test("portsOf remembers each server's ports only from its latest list", async () => {
    const { neutron } = setUp();
    const [before, after] = [serverIds(30).slice(1), serverIds(30)];
    const known = await neutron.portsOf(before, signal);
    const again = await neutron.portsOf(before, signal);
    expect(again.every((port, at) => port === known[at])).toBe(true);
    await neutron.portsOf(after, signal);
    const later = await neutron.portsOf(before, signal);
    expect(later.some((port, at) => port === known[at])).toBe(false);
  });

  test('ports in one answer share the object with their common values', async () => {
    const { neutron } = setUp();
    const ports = await neutron.portsOf(serverIds(3), signal);
    const [common, ...others] = ports.map((port): unknown => Reflect.get(port, 'common'));
    expect(common).toMatchObject({ networkId: 'n', status: 'ACTIVE' });
    for (const other of others) expect(other).toBe(common);
  });

  test('portsOf is complete and free from duplicates for any server count and batch limit', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(400), fc.integer({ min: 1, max: 120 }), async (count, most) => {
        const { neutron } = setUp(most);
        const ports = await neutron.portsOf(serverIds(count), signal);
        const expected = serverIds(count).map((id) => `port-${id}`);
        expect(ports.map((port) => port.id).toSorted()).toEqual(expected.toSorted());
      }),
      { numRuns: 30 },
    );
  });
});

describe('port parsing', () => {
  test('a null field is parsed as undefined, the MAC as lower case, the status as upper case', async () => {
    const { client } = createFakeService('neutron', () =>
      answerOf(200, { port: { ...wirePort('p', ''), name: null } }),
    );
    expect(await createNeutron(client).port('p', signal)).toEqual({
      kind: 'found',
      value: {
        id: 'p',
        name: '',
        networkId: 'n',
        macAddress: 'fa:16:3e:00:00:01',
        status: 'ACTIVE',
        deviceId: '',
        deviceOwner: 'compute:nova',
        createdAt: undefined,
        revisionNumber: 0,
        projectId: '',
        fixedIps: [],
      },
    });
  });

  test('a 404 from a proxy is an error, because removals could rely on a 404', async () => {
    const { client } = createFakeService('neutron', () => answerOf(404, { message: 'no route' }));
    await expect(createNeutron(client).port('p', signal)).rejects.toMatchObject({
      kind: 'badAnswer',
      message:
        'neutron: GET /v2.0/ports/p answered 404, but in a form that neutron does not use; check proxies in front of it',
    });
  });

  test.each(['device_id', 'fixed_ips', 'mac_address'])(
    'a port without its %s is an error when read by id, and flawed when listed',
    async (field) => {
      const wire = Object.fromEntries(
        Object.entries(wirePort('p', 's')).filter(([name]) => name !== field),
      );
      const { client } = createFakeService('neutron', ({ url }) =>
        answerOf(200, url.pathname.endsWith('/p') ? { port: wire } : { ports: [wire] }),
      );
      const neutron = createNeutron(client);
      await expect(neutron.port('p', signal)).rejects.toMatchObject({ kind: 'badAnswer' });
      const deviceId = field === 'device_id' ? '' : 's';
      const flaw = expect.stringMatching(`^${field}: `) as unknown;
      expect(await neutron.portsOf(['s'], signal)).toMatchObject([{ id: 'p', deviceId, flaw }]);
      // Removal evidence needs every port with the MAC.
      const byMac = neutron.portsWithMac('fa:16:3e:00:00:01', signal);
      await expect(byMac).rejects.toMatchObject({ kind: 'badAnswer' });
    },
  );
});

test.each([
  [0, undefined],
  [null, undefined],
  [1450, 1450],
])('a network MTU %j is parsed as %j', async (mtu, read) => {
  const network = { id: 'n', name: 'lan', mtu };
  const { client } = createFakeService('neutron', () => answerOf(200, { network }));
  const found = await createNeutron(client).network('n', signal);
  expect(found).toEqual({ kind: 'found', value: { id: 'n', name: 'lan', mtu: read } });
});

test.each(['gateway_ip', 'host_routes', 'cidr'])(
  'a subnet without its %s is an error, because delivered routes would change',
  async (field) => {
    const wire = {
      id: 'sub',
      name: '',
      cidr: '10.0.0.0/24',
      network_id: 'n',
      ip_version: 4,
      gateway_ip: null,
      host_routes: [],
      project_id: '',
    };
    const cut = Object.fromEntries(Object.entries(wire).filter(([name]) => name !== field));
    const { client } = createFakeService('neutron', (_call, index) =>
      answerOf(200, { subnet: index === 0 ? wire : cut }),
    );
    const neutron = createNeutron(client);
    expect(await neutron.subnet('sub', signal)).toMatchObject({ kind: 'found' });
    await expect(neutron.subnet('sub', signal)).rejects.toMatchObject({ kind: 'badAnswer' });
  },
);
