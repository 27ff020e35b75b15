import { expect } from 'vitest';
import * as z from 'zod';
import type { RawAnswer } from '../../../rig/openstack/openstack-http.ts';
import { readVersions } from '../../../rig/openstack/versions.ts';
import type { Contract } from './contract.ts';
import type { Setting } from './setting.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';
const pageSchema = z.object({
  ports: z.array(z.record(z.string(), z.unknown())),
  ports_links: z.array(z.object({ rel: z.string(), href: z.string() })).optional(),
});

/** Neutron's wire format, where the product relies on the format. */
export function neutronWireTests(contract: Contract): void {
  contract('neutron-01', 'a repeated filter is OR, another filter is AND', async (setting) => {
    const { tenant, netA, netB, server } = setting;
    const loose = await tenant.createPort({ networkId: netA.id });
    const either = await list(setting, `device_id=${server.id}&device_id=${unknownId}`);
    expect(either.ports.length).toBeGreaterThan(0);
    const both = await list(setting, `device_id=${server.id}&network_id=${netB.id}`);
    expect(both.ports.every((port) => port['network_id'] === netB.id)).toBe(true);
    const ids = either.ports.map((port) => port['id']);
    expect(ids).not.toContain(loose.id);
  });

  contract(
    'neutron-02',
    'an empty device_id lists the ports attached to nothing',
    async (setting) => {
      const { tenant, netB, server } = setting;
      const loose = await tenant.createPort({ networkId: netB.id });
      const { ports } = await list(setting, 'device_id=');
      expect(ports.map((port) => port['id'])).toContain(loose.id);
      expect(ports.map((port) => port['device_id'])).not.toContain(server.id);
    },
  );

  contract('neutron-03', 'an unknown filter is refused with 400', async ({ tenant }) => {
    const answer = await tenant.user.raw('network', { path: '/v2.0/ports?nonsense=1' });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      NeutronError: {
        type: 'HTTPBadRequest',
        message: "['nonsense'] is invalid attribute for filtering",
        detail: '',
      },
    });
  });

  contract(
    'neutron-04',
    'fields select, and names that do not exist select nothing',
    async (setting) => {
      const { server } = setting;
      const one = await list(setting, `device_id=${server.id}&fields=id&fields=status`);
      expect(Object.keys(one.ports[0] ?? {}).toSorted()).toEqual(['id', 'status']);
      const none = await list(setting, `device_id=${server.id}&fields=bogus`);
      expect(none.ports[0]).toEqual({});
    },
  );

  contract('neutron-05', 'fields select of one port, too', async ({ tenant, netB }) => {
    const made = await tenant.createPort({ networkId: netB.id });
    const path = `/v2.0/ports/${made.id}?fields=id&fields=name`;
    expect(await tenant.user.ask('network', { path })).toEqual({ port: { id: made.id, name: '' } });
  });

  contract(
    'neutron-06',
    'pages are linked, and a full last page leads to an empty one',
    async (setting) => {
      const { tenant } = setting;
      const network = await tenant.createNetwork({ name: 'paged' });
      for (let i = 0; i < 4; i++) await tenant.createPort({ networkId: network.id });
      const query = `network_id=${network.id}&fields=id&limit=2`;
      const first = await list(setting, query);
      const second = await list(setting, nextOf(first));
      const third = await list(setting, nextOf(second));
      const sizes = [first, second, third].map((page) => page.ports.length);
      expect(sizes).toEqual([2, 2, 0]);
      expect(rels(first)).toEqual(['next', 'previous']);
      expect(rels(third)).not.toContain('next');
      const ids = [...first.ports, ...second.ports].map((port) => String(port['id']));
      expect(new Set(ids).size).toBe(4);
      expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)));
    },
  );

  contract('neutron-07', 'without a limit there are no links', async (setting) => {
    expect((await list(setting, `device_id=${setting.server.id}`)).ports_links).toBeUndefined();
  });

  contract('neutron-08', 'an unknown marker is 404 PortNotFound', async ({ tenant }) => {
    const answer = await tenant.user.raw('network', {
      path: `/v2.0/ports?limit=2&marker=${unknownId}`,
    });
    expect(answer.status).toBe(404);
    expect(errorOf(answer)).toEqual(['PortNotFound', `Port ${unknownId} could not be found.`]);
  });

  contract('neutron-09', 'a negative limit is refused with 400', async ({ tenant }) => {
    const answer = await tenant.user.raw('network', { path: '/v2.0/ports?limit=-1' });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)[0]).toBe('BadRequest');
  });

  contract('neutron-10', 'a request line over 8 KiB is 414 without a body', async ({ tenant }) => {
    const ids = Array.from({ length: 180 }, () => `device_id=${crypto.randomUUID()}`);
    const answer = await tenant.user.raw('network', { path: `/v2.0/ports?${ids.join('&')}` });
    expect([answer.status, answer.body]).toEqual([414, '']);
  });

  contract(
    'neutron-11',
    'the product reads more servers than one request line holds',
    async ({ parts, server, signal }) => {
      const strangers = Array.from(
        { length: 180 },
        () => ['device_id', crypto.randomUUID()] as const,
      );
      const { neutron } = parts();
      await expect(neutron.ports(strangers, signal())).rejects.toMatchObject({
        kind: 'tooLarge',
        status: 414,
      });
      const ids = [...strangers.map(([, id]) => id), server.id];
      expect((await neutron.portsOf(ids, signal())).length).toBeGreaterThan(0);
    },
  );

  contract('neutron-12', '404s name what is not there', async ({ tenant }) => {
    for (const [collection, type] of [
      ['ports', 'PortNotFound'],
      ['subnets', 'SubnetNotFound'],
      ['networks', 'NetworkNotFound'],
    ] as const) {
      const answer = await tenant.user.raw('network', { path: `/v2.0/${collection}/${unknownId}` });
      expect([answer.status, errorOf(answer)[0]]).toEqual([404, type]);
    }
  });

  contract('neutron-13', 'a port on an unknown network is 404', async ({ tenant }) => {
    const answer = await post(tenant, 'ports', { port: { network_id: unknownId } });
    expect([answer.status, errorOf(answer)[0]]).toEqual([404, 'NetworkNotFound']);
  });

  contract('neutron-14', 'an address or a MAC in use is 409', async ({ tenant, netB }) => {
    const made = await tenant.createPort({ networkId: netB.id });
    const fixed = { fixed_ips: [{ ip_address: made.fixed_ips[0]?.ip_address }] };
    const address = await post(tenant, 'ports', { port: { network_id: netB.id, ...fixed } });
    expect([address.status, errorOf(address)[0]]).toEqual([409, 'IpAddressAlreadyAllocated']);
    const mac = { mac_address: made.mac_address };
    const twin = await post(tenant, 'ports', { port: { network_id: netB.id, ...mac } });
    expect([twin.status, errorOf(twin)[0]]).toEqual([409, 'MacAddressInUse']);
  });

  contract('neutron-15', 'an address outside the subnets is 400', async ({ tenant, netB }) => {
    const port = { network_id: netB.id, fixed_ips: [{ ip_address: '10.99.0.1' }] };
    const answer = await post(tenant, 'ports', { port });
    expect([answer.status, errorOf(answer)[0]]).toEqual([400, 'InvalidIpForNetwork']);
  });

  contract('neutron-16', 'overlapping subnets of a network are 400', async ({ tenant, netB }) => {
    const subnet = { network_id: netB.id, cidr: '10.20.1.0/24', ip_version: 4 };
    const answer = await post(tenant, 'subnets', { subnet });
    expect([answer.status, errorOf(answer)[0]]).toEqual([400, 'InvalidInput']);
  });

  contract('neutron-17', 'an MTU over what VXLAN leaves is 400', async ({ tenant }) => {
    const answer = await post(tenant, 'networks', { network: { name: 'jumbo', mtu: 9000 } });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)[1]).toContain('Requested MTU is too big');
  });

  contract('neutron-18', 'the services publish their versions', async ({ tenant }) => {
    const versions = await readVersions(tenant.keystoneUrl, tenant.user);
    expect(versions.keystone).toMatch(/^v3\.\d+$/);
    expect(versions.neutron).toBe('v2.0');
    expect(versions.nova).toMatch(/^2\.\d+$/);
  });
}

type Page = z.infer<typeof pageSchema>;

async function list({ tenant }: Setting, query: string): Promise<Page> {
  return pageSchema.parse(await tenant.user.ask('network', { path: `/v2.0/ports?${query}` }));
}

async function post(
  tenant: Setting['tenant'],
  collection: string,
  body: unknown,
): Promise<RawAnswer> {
  return tenant.user.raw('network', { method: 'POST', path: `/v2.0/${collection}`, body });
}

function nextOf(page: Page): string {
  const href = page.ports_links?.find((link) => link.rel === 'next')?.href;
  if (href === undefined) throw new Error('the page has no next');
  return new URL(href).search.slice(1);
}

function rels(page: Page): string[] {
  return (page.ports_links ?? []).map((link) => link.rel);
}

function errorOf({ body }: RawAnswer): [type: string, message: string] {
  const schema = z.object({ NeutronError: z.object({ type: z.string(), message: z.string() }) });
  const { NeutronError: error } = schema.parse(body);
  return [error.type, error.message];
}
