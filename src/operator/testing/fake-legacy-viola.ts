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

/** A received POST. */
interface Posted {
  readonly provider: string;
  readonly nodes: readonly Node[];
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * An in-memory legacy Viola. A provider outside `providers` goes to the local cluster. A node refused by kubectl turns
 * the POST into a 500, after writing the remaining nodes. Methods other than POST return 405.
 */
export class FakeLegacyViola implements Pick<Caller, 'call'> {
  readonly providers = new Set(['biz-1', 'biz-2']);
  /** Nodes by `cluster/name`. */
  readonly objects = new Map<string, Node>();
  readonly posts: Posted[] = [];
  /** Nodes that kubectl refuses. */
  readonly refused = new Set<string>();
  /** Runs before a POST takes effect; may return an answer or throw instead. */
  before: ((post: Posted) => HttpAnswer | undefined) | undefined;
  /** Runs after a POST took effect; a thrown error reaches the caller. */
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

  /** Returns a node's NICs in business cluster biz-1. */
  nics(nodeName: string): string[] {
    const { interfaces = [] } = this.objects.get(`biz-1/${nodeName}`) ?? {};
    return interfaces.map(({ id, name, portId }) => `${id} ${name}=${portId}`);
  }

  /** Returns the node names of each POST since the last call. */
  sent(): string[][] {
    return this.posts.splice(0).map(({ nodes }) => nodes.map(({ nodeName }) => nodeName));
  }
}

/** Returns an answer without headers. */
export function answer(status: number, text: string): HttpAnswer {
  return { status, headers: {}, text };
}

/** Parses a POST; throws for a body that the legacy operator would not send. */
function nodesIn(text: string): readonly Node[] {
  const parsed = body.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(`no body of the legacy operator: ${parsed.error.message}`);
  return parsed.data;
}
