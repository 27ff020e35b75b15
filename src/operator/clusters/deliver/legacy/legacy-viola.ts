import {
  nodeConfigsPath,
  type PostAnswer,
  type PostedNode,
  providerHeader,
  type Source,
} from '../../../../api/node-configs-http.ts';
import type { Caller } from '../../../../requests/caller.ts';
import { isRequestError, type RequestError } from '../../../../requests/request-error.ts';
import type { RemovalBases } from '../../../../store/removal-bases.ts';
import type { Clock } from '../../../../time/clock.ts';
import { legacyAbilities } from '../abilities.ts';
import { removalUnsupported } from '../unsupported.ts';
import type { ViolaClient } from '../viola-client.ts';
import type { DeliveryRecords } from './delivery-records.ts';
import { refusalsIn } from './legacy-answer.ts';
import { basesIn, isAt, recordFrom } from './node-record.ts';
import { begin, isWithoutEffect, recordedNodes, undo } from './open-records.ts';
import { wireNode } from './wire-node.ts';

interface LegacyViolaOptions {
  readonly caller: Pick<Caller, 'call'>;
  /** Base URL of the legacy Viola. */
  readonly endpoint: string;
  readonly providerId: string;
  /** The OpenstackConfig whose nodes are posted. */
  readonly owner: Source;
  readonly records: DeliveryRecords;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Posts to the legacy system's Viola, which has no GET and no DELETE: reads return the inventory's records of earlier
 * POSTs. Each accepted node is recorded before the next POST, so a restart sends no node twice. A node with an
 * unanswered POST is sent again, whatever has happened to its ports. No token is sent, because the legacy Viola checks
 * none.
 */
export function createLegacyViola(options: LegacyViolaOptions): ViolaClient {
  const { records, providerId } = options;
  const delivery = new LegacyDelivery(options);
  return {
    abilities: legacyAbilities,
    admit: async () => undefined,
    async list({ source: author, instanceIds }) {
      const nodes = await recordedNodes(records, { providerId, author, instanceIds });
      return { nodes, unreadable: [] };
    },
    facts: async () => undefined,
    async get(nodeName) {
      const [found] = await recordedNodes(records, { providerId, nodeNames: [nodeName] });
      return found;
    },
    post: async (nodes, signal) => delivery.post(nodes, signal),
    async remove(nodeName) {
      throw removalUnsupported([nodeName], providerId);
    },
    // Never sent: the legacy Viola has neither route, and writes every node in a body.
    dryRun: async () => undefined,
    check: async () => 'unsupported',
  };
}

/** A sync's POSTs. */
class LegacyDelivery {
  readonly #options: LegacyViolaOptions;
  /** Failure after which this sync sends nothing more. */
  #outage: RequestError | undefined;

  constructor(options: LegacyViolaOptions) {
    this.#options = options;
  }

  async post(nodes: readonly PostedNode[], signal: AbortSignal): Promise<PostAnswer> {
    if (this.#outage) throw this.#outage;
    const { current, stale, before } = await this.#fence(nodes);
    if (current.length === 0) return answerOf([stale]);
    const about = { ...this.#options, before };
    const bases = basesIn(current, before);
    await begin(current, about);
    try {
      const part = answerOf(await this.#sendAll(current, bases, signal));
      const refusals = part.errors.filter(({ code }) => code === 'Invalid');
      const names = new Set(refusals.map(({ nodeName }) => nodeName));
      const unchanged = current.filter(({ nodeName }) => names.has(nodeName));
      if (unchanged.length > 0) await undo(unchanged, about);
      return answerOf([stale, part]);
    } catch (error) {
      if (isRequestError(error) && isWithoutEffect(error)) await undo(current, about);
      throw error;
    }
  }

  /** Sends nodes together, then singly after a failure that may concern a single node. */
  async #sendAll(
    nodes: readonly PostedNode[],
    bases: RemovalBases,
    signal: AbortSignal,
  ): Promise<Part[]> {
    try {
      return [await this.#send(nodes, bases, signal)];
    } catch (error) {
      if (!isRequestError(error) || !isNodeFailure(error)) throw error;
      return nodes.length > 1
        ? this.#oneByOne(nodes, bases, signal)
        : [refused(nodes, error.reason)];
    }
  }

  /**
   * Splits nodes into current and stale by the inventory, because a POST overwrites any object with the node's name.
   */
  async #fence(nodes: readonly PostedNode[]) {
    const { records, providerId } = this.#options;
    const nodeNames = nodes.map(({ nodeName }) => nodeName);
    const found = await records.find({ providerId, nodeNames });
    const byName = new Map(found.map((record) => [record.nodeName, record]));
    const isCurrent = ({ nodeName, base }: PostedNode) => isAt(base, byName.get(nodeName));
    const code = 'StaleBase' as const;
    const stale = nodes.filter((node) => !isCurrent(node));
    const message = 'the node has changed in the inventory';
    const errors = stale.map(({ nodeName }) => ({ nodeName, code, field: 'base', message }));
    return { current: nodes.filter(isCurrent), stale: { results: [], errors }, before: byName };
  }

  /** Sends nodes singly. A single refused node fails the whole POST, although kubectl has applied earlier nodes. */
  async #oneByOne(
    nodes: readonly PostedNode[],
    bases: RemovalBases,
    signal: AbortSignal,
  ): Promise<Part[]> {
    const parts: Part[] = [];
    for (const [at, node] of nodes.entries()) {
      try {
        parts.push(await this.#send([node], bases, signal));
      } catch (error) {
        signal.throwIfAborted();
        if (!isRequestError(error)) throw error;
        if (!isNodeFailure(error)) {
          this.#outage = error;
          return [...parts, unreached(nodes.slice(at), error.reason)];
        }
        parts.push(refused([node], error.reason));
      }
    }
    return parts;
  }

  async #send(
    nodes: readonly PostedNode[],
    removals: RemovalBases,
    signal: AbortSignal,
  ): Promise<Part> {
    const { caller, endpoint, providerId, owner, records, clock } = this.#options;
    const answer = await caller.call(
      {
        service: 'viola',
        method: 'POST',
        url: new URL(endpoint.replace(/\/+$/, '') + nodeConfigsPath),
        headers: { [providerHeader]: providerId },
        body: JSON.stringify(nodes.map(wireNode)),
        repeats: false,
        // A 500 concerns a single node, so the circuit breaker stays closed.
        isAnswer: () => true,
      },
      signal,
    );
    const refusals = refusalsIn(answer, nodes.length, clock.now());
    const messages = new Map(refusals.map(({ nodeName, message }) => [nodeName, message]));
    const taken = nodes.filter(({ nodeName }) => !messages.has(nodeName));
    const accepted = taken.map((node) => recordFrom(node, owner));
    await records.add(providerId, owner, accepted, [], removals);
    const bases = new Map(nodes.map(({ nodeName, base }) => [nodeName, base]));
    return {
      results: accepted.map(({ nodeName, uid, generation }) => {
        const status = bases.get(nodeName) ? 'updated' : 'created';
        return { nodeName, status, uid, generation } as const;
      }),
      errors: nodes.flatMap((node) => {
        const message = messages.get(node.nodeName);
        return message === undefined ? [] : refused([node], message).errors;
      }),
    };
  }
}

type Part = Pick<PostAnswer, 'results' | 'errors'>;

function answerOf(parts: readonly Part[]): PostAnswer {
  const results = parts.flatMap((part) => part.results);
  return { applied: results.length, results, errors: parts.flatMap((part) => part.errors) };
}

/** Returns whether kubectl refused a node while its cluster answers. */
function isNodeFailure(error: RequestError): boolean {
  return error.kind === 'serverError' && error.status === 500;
}

function refused(nodes: readonly PostedNode[], message: string): Part {
  return errorsOf(nodes, 'Invalid', message);
}

function unreached(nodes: readonly PostedNode[], message: string): Part {
  return errorsOf(nodes, 'ClusterUnreachable', message);
}

function errorsOf(
  nodes: readonly PostedNode[],
  code: 'Invalid' | 'ClusterUnreachable',
  message: string,
): Part {
  const errors = nodes.map(({ nodeName }) => ({ nodeName, code, field: '', message }));
  return { results: [], errors };
}
