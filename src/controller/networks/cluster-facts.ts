import type { ClusterNetwork } from '../../api/cluster-networks.ts';
import type { ApiServer } from '../../api/job.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Logger } from '../../process/log.ts';
import { jittered } from '../../time/backoff.ts';
import { type Clock, passed, type Random } from '../../time/clock.ts';
import { DeadlineReached, withDeadline } from '../../time/deadline.ts';
import { createApiServerReader } from './api-server-facts.ts';
import { createGuardedReads } from './guarded-reads.ts';
import { type Answers, answersFrom, networkList, storedAnswers } from './network-answers.ts';
import { usableNetworks } from './network-text.ts';
import { type PublishedNetworks, publication } from './published.ts';
import {
  type NetworkSource,
  NodesUnlisted,
  networkSources,
  nodesName,
  settingNames,
} from './sources.ts';

/** Facts about the cluster in requests to agents, outside the content hash: a Node that joins starts no applies. */
export interface ClusterFacts {
  readonly networks: readonly ClusterNetwork[];
  /** Undefined: neither Service nor endpoints are known. */
  readonly apiServer: ApiServer | undefined;
}

interface ClusterFactsReader {
  /** Returns the facts as read last. */
  current(): ClusterFacts;
  /** Reads once, for at most 10 s, before the first request to an agent. */
  begin(signal: AbortSignal): Promise<void>;
  /** Publishes the networks and reads again at intervals until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Nodes in the watch cache. */
interface CachedNodes {
  readonly podCidrs: () => readonly string[];
  /** Resolves when all Nodes are in the cache. */
  readonly listed: () => Promise<void>;
}

export interface ClusterFactsOptions {
  readonly client: Pick<KubeClient, 'find' | 'list' | 'listAll'>;
  readonly published: PublishedNetworks;
  readonly serviceCIDRs: readonly string[];
  readonly podNetworks: readonly string[];
  readonly nodes: CachedNodes;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Pick<Logger, 'warn'>;
  /** Reports a missing right to users. */
  readonly onMissingRight: (message: string) => void;
}

/** Networks rarely change; a read costs about seven requests. */
const intervalMs = 900_000;
/** Pause after an incomplete read, and limit for the Node watch before the first publication. */
const retryMs = 60_000;
const beginMs = 10_000;
/** Nodes join between two reads. */
const nodesAgeMs = 60_000;

/**
 * Reads networks and API server at intervals, without watches. A failed read leaves the last answer in place: an
 * unknown network is not an absent network.
 */
export function createClusterFacts(options: ClusterFactsOptions): ClusterFactsReader {
  const { client, published, nodes, clock, random, log, onMissingRight } = options;
  const reads = createGuardedReads({ log, onMissingRight, isExpected });
  const sources = networkSources(options, readNodes);
  const readApiServer = createApiServerReader(client, reads);
  const fromSettings = answersOfSettings(options);
  let answers: Answers = fromSettings;
  let apiServer: ApiServer | undefined;
  /** Undefined: `answers` changed. */
  let networks: readonly ClusterNetwork[] | undefined;
  /** True after the read of the published networks: a publication must not lose them. */
  let hasStored = false;
  let isComplete = false;
  let areNodesListed = false;
  let nodesAt: number | undefined;

  function readNodes(): readonly string[] {
    if (!areNodesListed) throw new NodesUnlisted('the Node watch has not listed yet');
    nodesAt = clock.monotonicMs();
    return nodes.podCidrs();
  }

  async function untilNodesListed(): Promise<void> {
    await nodes.listed();
    areNodesListed = true;
  }

  function setAnswers(...layers: readonly Answers[]): void {
    answers = new Map(layers.flatMap((layer) => [...layer]));
    networks = undefined;
  }

  async function readStored(signal: AbortSignal): Promise<void> {
    if (hasStored) return;
    const outcome = await reads.attempt(publication, async () => published.read(signal), signal);
    if (!('value' in outcome)) return;
    hasStored = true;
    setAnswers(answers, storedAnswers(outcome.value ?? []), fromSettings);
  }

  async function readNetworks(signal: AbortSignal): Promise<void> {
    await readStored(signal);
    const read = (source: NetworkSource) =>
      reads.attempt(source, async () => source.read(signal), signal);
    setAnswers(await answersFrom(sources, answers, read));
  }

  async function refresh(signal: AbortSignal): Promise<void> {
    isComplete = false;
    reads.startRound();
    const address = async () => {
      apiServer = await readApiServer(apiServer, signal);
    };
    await Promise.all([readNetworks(signal), address()]);
    isComplete = reads.isComplete();
  }

  function current(): ClusterFacts {
    return { networks: currentNetworks(), apiServer };
  }

  function currentNetworks(): readonly ClusterNetwork[] {
    const { source = nodesName } = answers.get('Pods') ?? {};
    const isDue = nodesAt === undefined || clock.monotonicMs() - nodesAt >= nodesAgeMs;
    if (source === nodesName && areNodesListed && isDue) {
      const prefixes = usableNetworks(readNodes());
      if (prefixes.length > 0) setAnswers(answers, new Map([['Pods', { source, prefixes }]]));
    }
    networks ??= networkList(answers);
    return networks;
  }

  async function begin(signal: AbortSignal): Promise<void> {
    void untilNodesListed();
    try {
      await withDeadline({ clock, ms: beginMs, signal }, refresh);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof DeadlineReached)) throw error;
      log.warn({ err: error }, lateText(error));
    }
  }

  /** Never publishes an empty list, or a list without the networks published before. */
  async function publish(signal: AbortSignal): Promise<void> {
    nodesAt = undefined;
    const list = currentNetworks();
    if (!hasStored || list.length === 0) return;
    const outcome = await reads.attempt(
      publication,
      async () => published.write(list, signal),
      signal,
    );
    isComplete &&= 'value' in outcome || !outcome.isUnknown;
  }

  async function run(signal: AbortSignal): Promise<void> {
    const limit = { clock, ms: retryMs, signal };
    await withDeadline(limit, untilNodesListed).catch((error: unknown) => {
      if (!signal.aborted && !(error instanceof DeadlineReached)) throw error;
    });
    // A complete read in `begin` did not need the Nodes.
    if (!isComplete && !signal.aborted) await refresh(signal);
    while (!signal.aborted) {
      await publish(signal);
      if (!(await passed(clock, jittered(isComplete ? intervalMs : retryMs, random), signal)))
        break;
      await refresh(signal);
    }
  }

  return { current, begin, run };
}

function isExpected(error: unknown): boolean {
  return error instanceof NodesUnlisted;
}

function answersOfSettings({
  serviceCIDRs,
  podNetworks,
}: Pick<ClusterFactsOptions, 'serviceCIDRs' | 'podNetworks'>): Answers {
  const given = [
    ['Services', serviceCIDRs],
    ['Pods', podNetworks],
  ] as const;
  return new Map(
    given
      .filter(([, prefixes]) => prefixes.length > 0)
      .map(([use, prefixes]) => [use, { source: settingNames[use], prefixes }]),
  );
}

function lateText({ message }: Error): string {
  const instead = `set ${settingNames.Services} and ${settingNames.Pods} if this lasts`;
  return `API server: ${message} for networks of the cluster; agents get the networks known so far; the controller tries again, ${instead}`;
}
