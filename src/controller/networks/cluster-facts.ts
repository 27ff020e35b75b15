import { type ClusterNetwork, maxClusterNetworks } from '../../api/cluster-networks.ts';
import type { ApiServer } from '../../api/job.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isForbidden } from '../../kube/errors.ts';
import type { Logger } from '../../process/log.ts';
import { jittered } from '../../time/backoff.ts';
import { type Clock, passed, type Random } from '../../time/clock.ts';
import { DeadlineReached, withDeadline } from '../../time/deadline.ts';
import { type AddressSource, endpointSources, serviceSource } from './api-server.ts';
import { mergedPrefixes } from './merged-prefixes.ts';
import type { PublishedNetworks } from './published.ts';
import {
  type NetworkSource,
  type NetworkUse,
  networkSources,
  settingNames,
  UnreadableSource,
  usableNetworks,
} from './sources.ts';

/** Facts about the cluster in requests to agents, outside the content hash: a Node that joins starts no applies. */
export interface ClusterFacts {
  readonly networks: readonly ClusterNetwork[];
  /** Undefined: neither Service nor endpoints are known. */
  readonly apiServer: ApiServer | undefined;
}

export interface ClusterFactsReader {
  /** Returns the facts as read last. */
  current(): ClusterFacts;
  /** Reads once, for at most 10 s, before the first request to an agent. */
  begin(signal: AbortSignal): Promise<void>;
  /** Publishes the networks and reads again at intervals until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface ClusterFactsOptions {
  readonly client: Pick<KubeClient, 'find' | 'list' | 'listAll'>;
  readonly published: PublishedNetworks;
  readonly serviceCIDRs: readonly string[];
  readonly podNetworks: readonly string[];
  /** Returns podCIDRs from all cached Nodes. */
  readonly podCidrs: () => readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Pick<Logger, 'warn'>;
  /** Reports a missing right to users. */
  readonly onMissingRight: (message: string) => void;
}

/** Networks rarely change; a read costs about six requests. */
const intervalMs = 900_000;
/** Pause after a failed read. */
const retryMs = 60_000;
/** Time for the Node watch before the first publication. */
const firstPauseMs = 5_000;
const beginMs = 10_000;
const maxEndpoints = 8;
/** Nodes join between two reads. */
const nodesAgeMs = 60_000;

interface Answer {
  readonly source: string;
  readonly prefixes: readonly string[];
}

type Answers = ReadonlyMap<NetworkUse, Answer>;

type Named = Pick<NetworkSource, 'name' | 'right'>;

/** Read outcome; `isUnknown`: the last value stays in force. */
type Outcome<T> = { readonly value: T } | { readonly isUnknown: boolean };

/**
 * Reads networks and API server at intervals, without watches. A failed read leaves the last answer in place: an
 * unknown network is not an absent network.
 */
export function createClusterFacts(options: ClusterFactsOptions): ClusterFactsReader {
  const { client, published, podCidrs, clock, random, log, onMissingRight } = options;
  const sources = networkSources(options);
  const service = serviceSource(client);
  const endpoints = endpointSources(client);
  let answers: Answers = new Map();
  let apiServer: ApiServer | undefined;
  let ofNodes: { readonly prefixes: readonly string[]; readonly at: number } | undefined;
  let networks: readonly ClusterNetwork[] | undefined;
  let isComplete = false;
  /** Last reported problem by source. */
  const problems = new Map<string, string>();

  async function guarded<T>(
    source: Named,
    read: () => Promise<T>,
    signal: AbortSignal,
  ): Promise<Outcome<T>> {
    try {
      const value = await read();
      problems.delete(source.name);
      return { value };
    } catch (error) {
      signal.throwIfAborted();
      report(source, error);
      const isUnknown = !isForbidden(error) && !(error instanceof UnreadableSource);
      isComplete &&= !isUnknown;
      return { isUnknown };
    }
  }

  /** Reports each problem once. */
  function report({ name, right }: Named, error: unknown): void {
    const { message } = error as Error;
    if (problems.get(name) === message) return;
    problems.set(name, message);
    if (!isForbidden(error)) {
      log.warn({ err: error, source: name }, `${name}: networks of the cluster are not readable`);
      return;
    }
    const lost = `missing right: ${right}; without it, ${name} is no source for networks of the cluster`;
    log.warn({ reason: 'RightsMissing', source: name }, lost);
    onMissingRight(lost);
  }

  async function readNetworks(signal: AbortSignal): Promise<Answers> {
    const found = new Map<NetworkUse, Answer>();
    for (const source of sources) {
      const open = source.uses.filter((use) => !found.has(use));
      if (open.length === 0) continue;
      const outcome = await guarded(source, () => source.read(signal), signal);
      for (const use of open) {
        const answer = answerOf(source.name, use, outcome);
        if (answer) found.set(use, answer);
      }
    }
    return found;
  }

  function answerOf(
    source: string,
    use: NetworkUse,
    outcome: Outcome<Partial<Record<NetworkUse, readonly string[]>>>,
  ): Answer | undefined {
    if (!('value' in outcome)) return outcome.isUnknown ? answers.get(use) : undefined;
    const prefixes = outcome.value[use] ?? [];
    return prefixes.length > 0 ? { source, prefixes } : undefined;
  }

  async function readAddresses<T>(
    list: readonly AddressSource[],
    before: T,
    signal: AbortSignal,
  ): Promise<T | Awaited<ReturnType<AddressSource['read']>>> {
    let isUnknown = false;
    for (const source of list) {
      const outcome = await guarded(source, () => source.read(signal), signal);
      if ('value' in outcome) {
        if (outcome.value) return outcome.value;
      } else isUnknown ||= outcome.isUnknown;
    }
    return isUnknown ? before : undefined;
  }

  async function readApiServer(signal: AbortSignal): Promise<ApiServer | undefined> {
    const { service: serviceBefore, endpoints: before = [] } = apiServer ?? {};
    const [address] =
      (await readAddresses([service], serviceBefore && [serviceBefore], signal)) ?? [];
    const list = (await readAddresses(endpoints, before, signal)) ?? [];
    if (!address && list.length === 0) return undefined;
    return { ...(address ? { service: address } : {}), endpoints: list.slice(0, maxEndpoints) };
  }

  async function refresh(signal: AbortSignal): Promise<void> {
    isComplete = true;
    [answers, apiServer] = await Promise.all([readNetworks(signal), readApiServer(signal)]);
    networks = undefined;
  }

  function current(): ClusterFacts {
    return { networks: currentNetworks(), apiServer };
  }

  function currentNetworks(): readonly ClusterNetwork[] {
    const now = clock.monotonicMs();
    const needsNodes = !answers.has('Pods');
    if (needsNodes && (ofNodes === undefined || now - ofNodes.at >= nodesAgeMs)) {
      ofNodes = { prefixes: usableNetworks(podCidrs()), at: now };
      networks = undefined;
    }
    networks ??= listOf(
      answers.get('Services'),
      answers.get('Pods') ?? { source: 'Node podCIDRs', prefixes: ofNodes?.prefixes ?? [] },
    );
    return networks;
  }

  async function begin(signal: AbortSignal): Promise<void> {
    try {
      await withDeadline({ clock, ms: beginMs, signal }, async (limited) => {
        const stored = await published.read(limited).catch(ignoreUnless(limited));
        if (answers.size === 0) answers = answersIn(stored ?? []);
        await refresh(limited);
      });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof DeadlineReached)) throw error;
      log.warn({ err: error }, 'networks of the cluster are not known yet');
    }
  }

  /** Never publishes an empty list: unknown networks leave the published networks in place. */
  async function publish(signal: AbortSignal): Promise<void> {
    ofNodes = undefined;
    const list = currentNetworks();
    if (list.length === 0) return;
    await guarded(publication, () => published.write(list, signal), signal);
  }

  async function run(signal: AbortSignal): Promise<void> {
    let round = 0;
    let pauseMs = firstPauseMs;
    while (await passed(clock, pauseMs, signal)) {
      // The first publication follows the read in `begin`; the second read follows soon, with all Nodes.
      if (round > 0) await refresh(signal);
      await publish(signal);
      pauseMs = jittered(isComplete && round > 0 ? intervalMs : retryMs, random);
      round += 1;
    }
  }

  return { current, begin, run };
}

/** The ConfigMap for Viola, in warnings. */
const publication = {
  name: 'ConfigMap multinic-cluster-networks',
  right: 'get, create and patch configmaps "multinic-cluster-networks"',
};

/** Ignores an unreadable ConfigMap: the sources are read anyway. */
function ignoreUnless(signal: AbortSignal): () => undefined {
  return () => {
    signal.throwIfAborted();
    return undefined;
  };
}

/** Returns an earlier process's answers, except answers from settings: the settings may have changed. */
function answersIn(stored: readonly ClusterNetwork[]): Answers {
  const kept = stored.filter(({ use, source }) => source !== settingNames[use]);
  return new Map(
    [...Map.groupBy(kept, ({ use }) => use)].map(([use, list]) => [
      use,
      { source: list[0]?.source ?? '', prefixes: list.map(({ cidr }) => cidr) },
    ]),
  );
}

/** Returns at most 64 networks; each use gets half if both have many. */
function listOf(services: Answer | undefined, pods: Answer): readonly ClusterNetwork[] {
  const all = {
    Services: mergedPrefixes(services?.prefixes ?? [], maxClusterNetworks),
    Pods: mergedPrefixes(pods.prefixes, maxClusterNetworks),
  };
  return [
    ...networksOf('Services', mergedPrefixes(all.Services, roomBeside(all.Pods)), services?.source),
    ...networksOf('Pods', mergedPrefixes(all.Pods, roomBeside(all.Services)), pods.source),
  ];
}

function roomBeside(other: readonly string[]): number {
  return Math.max(maxClusterNetworks / 2, maxClusterNetworks - other.length);
}

function networksOf(
  use: NetworkUse,
  prefixes: readonly string[],
  source = '',
): readonly ClusterNetwork[] {
  return prefixes.map((cidr) => ({ cidr, use, source }));
}
