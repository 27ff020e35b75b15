import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import { type Fact, mapFact } from '../../explain/fact.ts';
import type { PartHealth, PartVersion, SystemFacts } from '../../explain/facts.ts';
import type { Session } from '../access/session.ts';
import { chosenProviders } from '../access/sources.ts';
import { readControllerVersion, readKubernetesNodes, readNodeConfigs } from './business-facts.ts';
import { readClusterNetworks } from './cluster-networks.ts';
import { readConfigs, readParts } from './management-facts.ts';
import { readClusters, readNodes } from './operator-facts.ts';

/** Reads everything that an examination needs. */
export async function readSystem(session: Session, namespace?: string): Promise<SystemFacts> {
  const [parts, configs, clusters, nodes] = await Promise.all([
    readParts(session),
    readConfigs(session, namespace),
    readClusters(session),
    readNodes(session),
  ]);
  const providers = providersOf(session, clusters);
  const controllers = await readControllers(session);
  const kubernetesNodes = await byProvider(providers, (provider) =>
    readKubernetesNodes(session, provider),
  );
  const [nodeConfigs, clusterNetworks] = await Promise.all([
    byProvider(providers, (provider) => readNodeConfigs(session, provider)),
    byProvider(providers, (provider) => readClusterNetworks(session, provider)),
  ]);
  return {
    parts: mapFact(parts, ({ health }): readonly PartHealth[] => health),
    configs: configs as Fact<readonly OpenstackConfig[]>,
    clusters,
    nodes:
      namespace === undefined
        ? nodes
        : mapFact(nodes, (all) => all.filter(({ config }) => config.startsWith(`${namespace}/`))),
    versions: mapFact(parts, ({ versions }) => [...versions, ...controllers]),
    kubernetesNodes,
    nodeConfigs,
    clusterNetworks,
    now: session.now(),
  };
}

async function byProvider<T>(
  providers: readonly string[],
  read: (provider: string) => Promise<Fact<T>>,
): Promise<ReadonlyMap<string, Fact<T>>> {
  const facts = providers.map(async (provider) => [provider, await read(provider)] as const);
  return new Map(await Promise.all(facts));
}

/** Reads the builds of the controllers in business clusters with a context; others stay unknown. */
export async function readControllers(session: Session): Promise<PartVersion[]> {
  const providers = chosenProviders(session.options);
  const facts = await Promise.all(
    providers.map((provider) => readControllerVersion(session, provider)),
  );
  return facts.flatMap((fact) => (fact.state === 'read' ? fact.value : []));
}

/** True if no fact could be read: then a command has failed. */
export function isNothingRead({ parts, configs, clusters, nodes }: SystemFacts): boolean {
  return [parts, configs, clusters, nodes].every(({ state }) => state === 'unread');
}

function providersOf(
  { options }: Session,
  clusters: Fact<readonly { readonly providerId: string }[]>,
): string[] {
  const known = clusters.state === 'read' ? clusters.value.map(({ providerId }) => providerId) : [];
  return [...new Set([...known, ...chosenProviders(options)])];
}
