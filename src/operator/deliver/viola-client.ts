import type * as z from 'zod';
import {
  type Base,
  deleteAnswer,
  type HeldNode,
  heldNode,
  heldNodes,
  nodeConfigsPath,
  type PostAnswer,
  type PostedNode,
  postAnswer,
  problem,
  providerHeader,
  resultsPreference,
} from '../../api/node-configs-http.ts';
import { ViolaError } from './viola-error.ts';
import type { ViolaTransport, WireAnswer, WireRequest } from './viola-transport.ts';

/** Viola as one OpenstackConfig sees it: one endpoint, one business cluster. */
export interface ViolaClient {
  /** Everything the business cluster holds; `fresh` reads through Viola's short cache. */
  list(options: { readonly fresh: boolean }, signal: AbortSignal): Promise<HeldNode[]>;
  /** One node, always read through; undefined = the business cluster has none. */
  get(nodeName: string, signal: AbortSignal): Promise<HeldNode | undefined>;
  post(nodes: readonly PostedNode[], signal: AbortSignal): Promise<PostAnswer>;
  /** Asks for removal with cleanup on the node. */
  remove(nodeName: string, base: Base | null, signal: AbortSignal): Promise<Removed>;
}

/** `leaving`: accepted, goes when the node is clean. `stale`: it has changed meanwhile. */
export type Removed = 'leaving' | 'gone' | 'stale';

/** Viola's largest page: about 2.5 MB. */
const pageSize = 1_000;
/** A list that is longer than this repeats itself. */
const mostPages = 200;

/** Speaks for one business cluster through a transport. */
export function createViolaClient(transport: ViolaTransport, providerId: string): ViolaClient {
  async function send(request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    const headers = { [providerHeader]: providerId, ...request.headers };
    return transport.send({ ...request, headers }, signal);
  }

  async function listAll(fresh: boolean, signal: AbortSignal): Promise<HeldNode[]> {
    const items: HeldNode[] = [];
    let next: string | undefined;
    for (let pages = 0; pages < mostPages; pages++) {
      const query = new URLSearchParams({ limit: String(pageSize) });
      if (fresh) query.set('fresh', 'true');
      if (next !== undefined) query.set('continue', next);
      const path = `${nodeConfigsPath}?${query.toString()}`;
      const page = read(await send({ method: 'GET', path }, signal), 200, heldNodes);
      items.push(...page.items);
      next = page.continue;
      if (next === undefined) return items;
    }
    throw new ViolaError(`viola: the list of nodes does not end after ${mostPages} pages`, 200);
  }

  return {
    async list({ fresh }, signal) {
      try {
        return await listAll(fresh, signal);
      } catch (error) {
        if (!(error instanceof ViolaError) || error.code !== 'ContinueExpired') throw error;
        return listAll(fresh, signal);
      }
    },
    async get(nodeName, signal) {
      const answer = await send({ method: 'GET', path: nodePath(nodeName) }, signal);
      // An unknown provider is a 404 as well, and says nothing about the node.
      return isNoSuchNode(answer) ? undefined : read(answer, 200, heldNode);
    },
    async post(nodes, signal) {
      const answer = await send(
        {
          method: 'POST',
          path: nodeConfigsPath,
          headers: { 'content-type': 'application/json', prefer: resultsPreference },
          body: JSON.stringify(nodes),
        },
        signal,
      );
      // 409, 422 and 503 carry results too when no node of the request was accepted.
      const body = postAnswer.safeParse(answer.body);
      if (body.success) return body.data;
      return read(answer, 200, postAnswer);
    },
    async remove(nodeName, base, signal) {
      const fence = base ? { uid: base.uid, generation: String(base.generation) } : {};
      const query = base ? `?${new URLSearchParams(fence).toString()}` : '';
      const answer = await send({ method: 'DELETE', path: nodePath(nodeName) + query }, signal);
      if (isNoSuchNode(answer)) return 'gone';
      if (answer.status === 409) return 'stale';
      read(answer, 202, deleteAnswer);
      return 'leaving';
    },
  };
}

function nodePath(nodeName: string): string {
  return `${nodeConfigsPath}/${encodeURIComponent(nodeName)}`;
}

function isNoSuchNode({ status, body }: WireAnswer): boolean {
  return status === 404 && problem.safeParse(body).data?.code === 'NoSuchNode';
}

/** The body of an answer with the expected status, or why there is none. */
function read<T>(answer: WireAnswer, expected: number, schema: z.ZodType<T>): T {
  if (answer.status !== expected) throw refusal(answer);
  const parsed = schema.safeParse(answer.body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue ? `${issue.path.join('.')}: ${issue.message}` : 'it has another form';
  throw new ViolaError(`viola: the answer cannot be read (${where})`, answer.status);
}

function refusal({ status, body, retryAfterMs }: WireAnswer): ViolaError {
  const said = problem.safeParse(body).data;
  const detail = said ? `: ${said.detail}` : '';
  const advice = advices[status] ?? '';
  return new ViolaError(`viola: unexpected status ${status}${detail}${advice}`, status, {
    ...(said ? { code: said.code } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

const advices: Readonly<Record<number, string>> = {
  401: ' (check the token in VIOLA_TOKEN_FILE)',
  403: ' (the token may not do this for this provider)',
};
