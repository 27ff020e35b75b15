import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import { type Fact, mapFact } from '../../explain/fact.ts';
import type { ControllerFacts, PartHealth, PartVersion, SystemFacts } from '../../explain/facts.ts';
import type { Session } from '../access/session.ts';
import { chosenProviders } from '../access/sources.ts';
import { readController, readKubernetesNodes, readNodeConfigs } from './business-facts.ts';
import { readClusterNetworks } from './cluster-networks.ts';
import { refuseUnknownChoices } from './known-clusters.ts';
import { readConfigs, readParts } from './management-facts.ts';
import { readClusters, readNodes } from './operator-facts.ts';

/** Reads all facts for an examination, all sources at once. Throws Failure: an unknown business cluster was chosen. */
export async function readSystem(session: Session, namespace?: string): Promise<SystemFacts> {
  const chosen = chosenProviders(session.options);
  const [parts, configs, clusters, nodes, ofChosen] = await Promise.all([
    readParts(session),
    readConfigs(session, namespace),
    readClusters(session),
    readNodes(session),
    readBusinessClusters(session, chosen),
  ]);
  const known = providersIn(clusters);
  refuseUnknownChoices(session.options, clusters, configs);
  const others = known.filter((provider) => !chosen.includes(provider));
  const order = [...new Set([...known, ...chosen])];
  const ofAll = [...ofChosen, ...(await readBusinessClusters(session, others))].toSorted(
    (a, b) => order.indexOf(a.provider) - order.indexOf(b.provider),
  );
  const controllers = new Map(ofAll.map((each) => [each.provider, each.controller]));
  return {
    parts: mapFact(parts, ({ health }): readonly PartHealth[] => health),
    configs: configs as Fact<readonly OpenstackConfig[]>,
    ...(namespace !== undefined && { namespace }),
    clusters,
    nodes:
      namespace === undefined
        ? nodes
        : mapFact(nodes, (all) => all.filter(({ config }) => config.startsWith(`${namespace}/`))),
    versions: mapFact(parts, ({ versions }) => [...versions, ...versionsIn(controllers)]),
    controllers,
    kubernetesNodes: new Map(ofAll.map((each) => [each.provider, each.kubernetesNodes])),
    nodeConfigs: new Map(ofAll.map((each) => [each.provider, each.nodeConfigs])),
    clusterNetworks: new Map(ofAll.map((each) => [each.provider, each.clusterNetworks])),
    now: session.now(),
  };
}

function readBusinessClusters(session: Session, providers: readonly string[]) {
  return Promise.all(providers.map((provider) => readBusinessCluster(session, provider)));
}

/** Reads a business cluster; without a context every fact is unread, without a request. */
async function readBusinessCluster(session: Session, provider: string) {
  const [kubernetesNodes, nodeConfigs, clusterNetworks, controller] = await Promise.all([
    readKubernetesNodes(session, provider),
    readNodeConfigs(session, provider),
    readClusterNetworks(session, provider),
    readController(session, provider),
  ]);
  return { provider, kubernetesNodes, nodeConfigs, clusterNetworks, controller };
}

/** Reads the controllers in business clusters with a context. */
export async function readControllers(session: Session): Promise<ControllerFacts> {
  const providers = chosenProviders(session.options);
  const entries = providers.map(
    async (provider) => [provider, await readController(session, provider)] as const,
  );
  return new Map(await Promise.all(entries));
}

export function versionsIn(controllers: ControllerFacts): PartVersion[] {
  return [...controllers.values()].flatMap((fact) =>
    fact.state === 'read' ? fact.value.versions : [],
  );
}

/** True if no fact could be read: then a command has failed. */
export function isNothingRead({ parts, configs, clusters, nodes }: SystemFacts): boolean {
  return [parts, configs, clusters, nodes].every(({ state }) => state === 'unread');
}

function providersIn(clusters: Fact<readonly { readonly providerId: string }[]>): string[] {
  return clusters.state === 'read' ? clusters.value.map(({ providerId }) => providerId) : [];
}
