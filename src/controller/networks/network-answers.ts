import { type ClusterNetwork, maxClusterNetworks } from '../../api/cluster-networks.ts';
import type { Outcome } from './guarded-reads.ts';
import { mergedPrefixes } from './merged-prefixes.ts';
import {
  type NetworkSource,
  type NetworksByUse,
  type NetworkUse,
  settingNames,
} from './sources.ts';

/** Networks for a use, from one source. */
interface Answer {
  readonly source: string;
  readonly prefixes: readonly string[];
}

export type Answers = ReadonlyMap<NetworkUse, Answer>;

/**
 * Returns the answer for a use; the only rule for unknown networks. The first source with networks counts. A source
 * that gave the last answer and fails now keeps it, whatever the failure is. Without any networks, the last answer
 * stays while a source is unknown. A missing right without an earlier answer is no unknown source.
 */
async function answerFor(
  use: NetworkUse,
  sources: readonly NetworkSource[],
  last: Answer | undefined,
  read: (source: NetworkSource) => Promise<Outcome<NetworksByUse>>,
): Promise<Answer | undefined> {
  let isUnknown = false;
  for (const source of sources.filter(({ uses }) => uses.includes(use))) {
    const outcome = await read(source);
    if ('value' in outcome) {
      const prefixes = outcome.value[use] ?? [];
      if (prefixes.length > 0) return { source: source.name, prefixes };
    } else if (last?.source === source.name) return last;
    else isUnknown ||= outcome.isUnknown;
  }
  return isUnknown ? last : undefined;
}

/**
 * Returns the answers of all uses. A source with both uses is read once. `last`: answers so far. `read`: reads a source.
 */
export async function answersFrom(
  sources: readonly NetworkSource[],
  last: Answers,
  read: (source: NetworkSource) => Promise<Outcome<NetworksByUse>>,
): Promise<Answers> {
  const outcomes = new Map<NetworkSource, Promise<Outcome<NetworksByUse>>>();
  const readOnce = async (source: NetworkSource) => {
    const outcome = outcomes.get(source) ?? read(source);
    outcomes.set(source, outcome);
    return outcome;
  };
  const found = new Map<NetworkUse, Answer>();
  for (const use of ['Services', 'Pods'] as const) {
    const answer = await answerFor(use, sources, last.get(use), readOnce);
    if (answer) found.set(use, answer);
  }
  return found;
}

/** Returns an earlier process's answers, except answers from settings: the settings may have changed. */
export function storedAnswers(stored: readonly ClusterNetwork[]): Answers {
  const fromCluster = stored.filter(({ use, source }) => source !== settingNames[use]);
  return new Map(
    [...Map.groupBy(fromCluster, ({ use }) => use)].map(([use, list]) => [
      use,
      { source: list[0]?.source ?? '', prefixes: list.map(({ cidr }) => cidr) },
    ]),
  );
}

/** Returns at most 64 networks; each use gets half if both have many. */
export function networkList(answers: Answers): readonly ClusterNetwork[] {
  const [services, pods] = (['Services', 'Pods'] as const).map((use) =>
    mergedPrefixes(answers.get(use)?.prefixes ?? [], maxClusterNetworks),
  ) as [string[], string[]];
  const limited = {
    Services: mergedPrefixes(services, roomBeside(pods)),
    Pods: mergedPrefixes(pods, roomBeside(services)),
  };
  return (['Services', 'Pods'] as const).flatMap((use) =>
    limited[use].map((cidr) => ({ cidr, use, source: answers.get(use)?.source ?? '' })),
  );
}

function roomBeside(other: readonly string[]): number {
  return Math.max(maxClusterNetworks / 2, maxClusterNetworks - other.length);
}
