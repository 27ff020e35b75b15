import type * as z from 'zod';
import {
  type Base,
  type CheckRequest,
  checkAnswer,
  type DeleteBasis,
  type DeleteReason,
  deleteAnswer,
  dryRunPath,
  type ExistingNodeConfig,
  existingNodeConfig,
  nodeConfigsPath,
  type PostAnswer,
  type PostedNode,
  postAnswer,
  providerHeader,
  resultsPreference,
} from '../../../api/node-configs-http.ts';
import type { Call, Caller } from '../../../requests/caller.ts';
import type { HttpAnswer } from '../../../requests/transport.ts';
import type { Clock } from '../../../time/clock.ts';
import { type Abilities, nativeAbilities } from './abilities.ts';
import type { FactPages } from './fact-pages.ts';
import type { ListQuery } from './list-query.ts';
import type { ClusterFacts } from './node-facts.ts';
import { type Listed, listNodes } from './node-list.ts';
import { createPageReader, type PageMemory } from './page-reader.ts';
import type { TokenSource } from './token-source.ts';
import { bodyOf, isNoSuchNode, isNoSuchRoute, isUnreadable, resultsOf } from './viola-answer.ts';

/** Viola for one OpenstackConfig: one endpoint and one business cluster, native or legacy. */
export interface ViolaClient {
  readonly abilities: Abilities;
  /** Throws StepFailure if no write is permitted; each write throws alike. See `behindGate`. */
  admit(): Promise<void>;
  list(query: ListQuery, signal: AbortSignal): Promise<Listed>;
  /** Returns facts about all nodes in the business cluster; undefined: this Viola reports no status. */
  facts(signal: AbortSignal): Promise<ClusterFacts | undefined>;
  /** Returns one node, bypassing Viola's cache; undefined: the business cluster has no such node. */
  get(nodeName: string, signal: AbortSignal): Promise<ExistingNodeConfig | undefined>;
  post(nodes: readonly PostedNode[], signal: AbortSignal): Promise<PostAnswer>;
  /** Requests removal with cleanup on the node. */
  remove(
    nodeName: string,
    base: Base | null,
    why: RemovalCause,
    signal: AbortSignal,
  ): Promise<Removed>;
  /** Validates nodes in the business cluster, and writes nothing; undefined: this Viola has no dry run. */
  dryRun(nodes: readonly PostedNode[], signal: AbortSignal): Promise<PostAnswer | undefined>;
  /** Makes the controller check the node. */
  check(nodeName: string, request: CheckRequest, signal: AbortSignal): Promise<CheckRequested>;
}

/** `gone`: the business cluster has no such node. `unsupported`: this Viola has no checks. */
export type CheckRequested = 'requested' | 'gone' | 'unsupported';

/** Why a node is removed. An earlier Viola ignores the basis. */
export interface RemovalCause {
  readonly basis: DeleteBasis;
  readonly reason?: DeleteReason;
  /** OpenstackConfig that must still deliver the node. An earlier Viola ignores it. */
  readonly sourceUid?: string;
}

/** `leaving`: accepted, removed when the node is clean. `stale`: the node has changed since its read. */
export type Removed = 'leaving' | 'gone' | 'stale';

interface ViolaClientOptions {
  readonly caller: Pick<Caller, 'call'>;
  /** Base URL of Viola. */
  readonly endpoint: string;
  readonly providerId: string;
  /** undefined: no token is sent. */
  readonly token: TokenSource | undefined;
  readonly clock: Clock;
  readonly pages: PageMemory;
  /** The last facts about the business cluster. */
  readonly facts: FactPages;
}

/** Creates a client for a native Viola and one business cluster. */
export function createViolaClient(options: ViolaClientOptions): ViolaClient {
  const { caller, providerId, token, clock, pages } = options;
  const { origin, pathname } = new URL(options.endpoint);
  const baseUrl = origin + pathname.replace(/\/+$/, '');

  /** Sends once, because a retry needs a new plan. */
  async function send(
    {
      path,
      headers,
      ...request
    }: Pick<Call, 'method' | 'headers' | 'body' | 'isAnswer'> & {
      readonly path: string;
    },
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    const authorization = token && { authorization: `Bearer ${await token()}` };
    const own = { [providerHeader]: providerId, ...authorization };
    const url = new URL(baseUrl + path);
    const all = { ...own, ...headers };
    return caller.call({ service: 'viola', url, repeats: false, ...request, headers: all }, signal);
  }

  function read<T>(answer: HttpAnswer, expected: number, schema: z.ZodType<T>): T {
    return bodyOf(answer, expected, schema, clock.now());
  }

  return {
    abilities: nativeAbilities,
    admit: async () => undefined,
    async list(query, signal) {
      const reader = createPageReader(query, {
        pages,
        clock,
        place: `${baseUrl} ${providerId}`,
        send: async (path, headers) => send({ method: 'GET', path, headers }, signal),
      });
      return listNodes(query, reader);
    },
    facts: async (signal) =>
      options.facts.read(
        async (path, headers) => send({ method: 'GET', path, headers }, signal),
        () => clock.now(),
      ),
    async get(nodeName, signal) {
      const request = { method: 'GET', path: nodePath(nodeName), isAnswer: isUnreadable } as const;
      const answer = await send(request, signal);
      return isNoSuchNode(answer) ? undefined : read(answer, 200, existingNodeConfig);
    },
    async post(nodes, signal) {
      const answer = await send(
        {
          method: 'POST',
          path: nodeConfigsPath,
          headers: { prefer: resultsPreference },
          body: JSON.stringify(nodes),
          isAnswer: (busy) => resultsOf(busy) !== undefined,
        },
        signal,
      );
      return resultsOf(answer) ?? read(answer, 200, postAnswer);
    },
    async remove(nodeName, base, why, signal) {
      const fence = base ? { uid: base.uid, generation: String(base.generation) } : {};
      const query = new URLSearchParams({ ...fence, ...why }).toString();
      const path = `${nodePath(nodeName)}?${query}`;
      const answer = await send({ method: 'DELETE', path }, signal);
      if (isNoSuchNode(answer)) return 'gone';
      if (answer.status === 409) return 'stale';
      read(answer, 202, deleteAnswer);
      return 'leaving';
    },
    async dryRun(nodes, signal) {
      const body = JSON.stringify(nodes);
      const answer = await send({ method: 'POST', path: dryRunPath, body }, signal);
      return isNoSuchRoute(answer) ? undefined : read(answer, 200, postAnswer);
    },
    async check(nodeName, request, signal) {
      const path = `${nodePath(nodeName)}/check`;
      const body = JSON.stringify(request);
      const answer = await send({ method: 'POST', path, body }, signal);
      if (isNoSuchNode(answer)) return 'gone';
      if (isNoSuchRoute(answer)) return 'unsupported';
      read(answer, 202, checkAnswer);
      return 'requested';
    },
  };
}

function nodePath(nodeName: string): string {
  return `${nodeConfigsPath}/${encodeURIComponent(nodeName)}`;
}
