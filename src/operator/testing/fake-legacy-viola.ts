import * as z from 'zod';
import { interfaceSpec } from '../../api/multinicnodeconfig.ts';
import { providerHeader } from '../../api/node-configs-http.ts';
import type { Call, Caller } from '../../requests/caller.ts';
import type { HttpAnswer } from '../../requests/transport.ts';

const body = z
  .array(
    z.strictObject({
      nodeName: z.string(),
      instanceId: z.string(),
      interfaces: z.array(
        z.strictObject({
          ...interfaceSpec.pick({ portId: true, macAddress: true, address: true }).shape,
          ...interfaceSpec.pick({ cidr: true, mtu: true, networkId: true, subnetId: true }).shape,
          id: z.int(),
          name: z.string(),
          deviceId: z.string(),
        }),
      ),
    }),
  )
  .min(1)
  .max(100);

type Node = z.infer<typeof body>[number];

/** A POST as it came. */
interface Posted {
  readonly provider: string;
  readonly nodes: readonly Node[];
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A legacy Viola in memory for tests. Any provider but those of `providers` is the local cluster. A node that kubectl refuses
 * makes the POST a 500 after the other nodes were written. Everything but a POST is 405.
 */
export class FakeLegacyViola implements Pick<Caller, 'call'> {
  readonly providers = new Set(['biz-1', 'biz-2']);
  /** Nodes by `cluster/name`. */
  readonly objects = new Map<string, Node>();
  readonly posts: Posted[] = [];
  /** Nodes that kubectl refuses. */
  readonly refused = new Set<string>();
  /** Runs before a POST is carried out; an answer or an error takes its place. */
  before: ((post: Posted) => HttpAnswer | undefined) | undefined;
  /** Runs after a POST was carried out; an error is what the caller gets. */
  after: ((post: Posted) => void) | undefined;

  async call({ method, headers = {}, body: text = '' }: Call): Promise<HttpAnswer> {
    if (method !== 'POST') return answer(405, 'method not allowed');
    const post = { provider: headers[providerHeader] ?? '', headers, nodes: nodesIn(text) };
    this.posts.push(post);
    const instead = this.before?.(post);
    if (instead) return instead;
    const bad = post.nodes.filter((node) => !this.#write(post.provider, node));
    this.after?.(post);
    if (bad.length === 0) return answer(200, JSON.stringify({ applied: post.nodes.length }));
    const names = bad.map(({ nodeName }) => `"${nodeName}" is invalid`).join('; ');
    return answer(500, `kubectl apply failed: The MultiNicNodeConfig ${names}\n`);
  }

  #write(provider: string, node: Node): boolean {
    if (node.interfaces.length === 0 || this.refused.has(node.nodeName)) return false;
    const cluster = this.providers.has(provider) ? provider : 'local';
    this.objects.set(`${cluster}/${node.nodeName}`, node);
    return true;
  }

  /** NICs of a node of the business cluster biz-1. */
  nics(nodeName: string): string[] {
    const { interfaces = [] } = this.objects.get(`biz-1/${nodeName}`) ?? {};
    return interfaces.map(({ id, name, portId }) => `${id} ${name}=${portId}`);
  }

  /** Names of the nodes of each POST so far, which are forgotten. */
  sent(): string[][] {
    return this.posts.splice(0).map(({ nodes }) => nodes.map(({ nodeName }) => nodeName));
  }
}

/** An answer without headers. */
export function answer(status: number, text: string): HttpAnswer {
  return { status, headers: {}, text };
}

/** The tests of the operator fail where it sends anything else than the legacy operator does. */
function nodesIn(text: string): readonly Node[] {
  const parsed = body.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(`no body of the legacy operator: ${parsed.error.message}`);
  return parsed.data;
}
