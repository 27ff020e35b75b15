import * as z from 'zod';
import { type NodeConfig, nodeConfigs } from '../../../rig/deployed/node-config.ts';
import type { NamespaceHost } from '../../../rig/hosts/namespace/host.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import type { Site, Worker } from './site.ts';

/** How long anything may take on a busy machine. */
export const generous = { timeout: 120_000, interval: 500 };

const links = z.array(
  z.object({
    ifname: z.string(),
    address: z.string().optional(),
    mtu: z.int(),
    operstate: z.string(),
    addr_info: z.array(z.object({ local: z.string(), prefixlen: z.int() })),
  }),
);

/** Every NIC of a host by its MAC. The deployed agent leaves link-local addresses on, ours does not. */
export async function nicsOf(host: NamespaceHost): Promise<Record<string, unknown>> {
  const all = links.parse(await host.ipJson('addr', 'show'));
  return Object.fromEntries(
    all.map(({ ifname, address = ifname, mtu, operstate, addr_info: held }) => {
      const addresses = held.map(({ local, prefixlen }) => `${local}/${prefixlen}`);
      const kept = addresses.filter((text) => !text.startsWith('fe80'));
      return [address, { ifname, mtu, operstate, addresses: kept }];
    }),
  );
}

export function hostsOf({ workers }: Site): Promise<Record<string, unknown>[]> {
  return Promise.all(workers.map(({ host }) => nicsOf(host)));
}

/** A node config as the deployed programs read it. */
export function configOf({ client }: Site, { name }: Pick<Worker, 'name'>): Promise<NodeConfig> {
  return client.get(nodeConfigs, { namespace: 'multinic-system', name });
}

/** Jobs that were made so far: an agent that is sent to a node is one. */
export async function agentsSent({ cluster }: Site, namespace: string): Promise<number> {
  const entries = await cluster.auditLog();
  return entries.filter(
    ({ verb, resource, namespace: where, code }) =>
      verb === 'create' && resource === 'jobs' && where === namespace && code === 201,
  ).length;
}

/** Rights that a user made use of to change something: verb, and resource with its subresource. */
export async function rightsUsed({ cluster }: Site, user: string): Promise<string[]> {
  const looks = new Set(['get', 'list', 'watch']);
  const entries = await cluster.auditLog();
  const changes = entries.filter(
    (each) => each.user === user && !looks.has(each.verb) && !each.resource.startsWith('self'),
  );
  const used = changes.map(({ verb, resource, subresource }) =>
    [`${verb} ${resource}`, subresource].filter(Boolean).join('/'),
  );
  return [...new Set(used)];
}

/** Rights of which a check says that they are missing. */
export function rightsMissed(said: string): string[] {
  const [, list = ''] =
    /\[rights\] these rights are missing:\n((?: {6}\S+ \S+\n)*)/.exec(said) ?? [];
  return list.split('\n').flatMap((line) => line.trim() || []);
}

type Object = KubeObject & Readonly<Record<string, unknown>>;

/** Objects by kind and name, without what an API server says and nobody wrote. */
export async function objectsOf({ cluster }: Site, ...what: readonly string[]) {
  const text = await cluster.kubectl(['get', ...what, '-o', 'json']);
  const { items } = JSON.parse(text) as { readonly items: readonly Object[] };
  return Object.fromEntries(
    items.map(({ kind, metadata, ...rest }) => {
      const { name, namespace, labels, annotations } = metadata;
      const { status: _, ...wanted } = rest as Record<string, unknown>;
      return [
        `${String(kind)}/${name}`,
        { ...wanted, metadata: { name, namespace, labels, annotations } },
      ];
    }),
  );
}
