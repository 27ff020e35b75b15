import { decryptPassword } from '../../src/openstack/aes-cbc.ts';

/** A port, as far as the deployed operator reads one. */
interface Port {
  readonly id: string;
  readonly network_id: string;
  readonly mac_address: string;
  readonly device_id: string;
  readonly created_at: string;
  readonly status: string;
  readonly fixed_ips: readonly { readonly ip_address: string; readonly subnet_id: string }[];
}

export interface Cloud {
  ports(servers: readonly string[]): Promise<readonly Port[]>;
  cidr(subnet: string): Promise<string>;
  mtu(network: string): Promise<number | undefined>;
  serverName(id: string): Promise<string>;
}

interface Provider {
  readonly data: {
    readonly url: string;
    readonly attributes: {
      readonly adminId: string;
      readonly adminPw: string;
      readonly domain: string;
    };
  };
}

interface Entry {
  readonly type: string;
  readonly endpoints: readonly { readonly interface: string; readonly url: string }[];
}

/** Contrabass and Keystone anew for each look, as there: nothing is kept. */
export async function openCloud(
  contrabass: string,
  key: string,
  { provider, project }: { readonly provider: string; readonly project: string },
): Promise<Cloud> {
  const path = `${contrabass}/v1/contrabass/admin/infra/provider/${provider}`;
  const { data } = (await (await fetch(path)).json()) as Provider;
  const { adminId, adminPw, domain } = data.attributes;
  const user = { name: adminId, domain: { name: domain }, password: decryptPassword(adminPw, key) };
  const identity = { methods: ['password'], password: { user } };
  const asked = await fetch(`${data.url.replace(/\/(v3)?\/?$/, '')}/v3/auth/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ auth: { identity, scope: { project: { id: project } } } }),
  });
  if (asked.status !== 201) throw new Error(`keystone: unexpected status ${asked.status}`);
  const token = asked.headers.get('x-subject-token') ?? '';
  const { token: granted } = (await asked.json()) as { token: { catalog: readonly Entry[] } };
  const endpoint = (type: string): string => {
    const found = granted.catalog.find((one) => one.type === type)?.endpoints;
    return (found?.find((one) => one.interface === 'public') ?? found?.[0])?.url ?? '';
  };
  async function get<T>(url: string): Promise<T> {
    const answer = await fetch(url, { headers: { 'x-auth-token': token } });
    if (answer.status !== 200) throw new Error(`${url}: unexpected status ${answer.status}`);
    return (await answer.json()) as T;
  }
  const neutron = `${endpoint('network').replace(/\/$/, '')}/v2.0`;
  const nova = endpoint('compute').replace(/\/$/, '');
  return {
    async ports(servers) {
      const query = servers.map((id) => `device_id=${id}`).join('&');
      const { ports } = await get<{ ports: readonly Port[] }>(`${neutron}/ports?${query}`);
      return ports.filter(({ device_id: device }) => servers.includes(device));
    },
    async cidr(subnet) {
      return (await get<{ subnet: { cidr: string } }>(`${neutron}/subnets/${subnet}`)).subnet.cidr;
    },
    async mtu(network) {
      const { network: found } = await get<{ network: { mtu?: number } }>(
        `${neutron}/networks/${network}`,
      );
      return found.mtu;
    },
    async serverName(id) {
      return (await get<{ server: { name: string } }>(`${nova}/servers/${id}`)).server.name;
    },
  };
}
