import { stringify } from 'yaml';
import { namespaces } from '../../api/names.ts';
import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import { planView, readPaths } from '../../api/read-http.ts';
import { examine } from '../../explain/examine.ts';
import type { Fact } from '../../explain/fact.ts';
import type { SystemFacts } from '../../explain/facts.ts';
import { problemsIn, unreadIn } from '../../explain/findings.ts';
import { same } from '../../explain/wording.ts';
import { events, jobs, nodes, pods } from '../../kube/core-resources.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { thisBuild } from '../../process/version.ts';
import { type Grant, grantNodes, grantPods, grantReader } from '../../session/access/grants.ts';
import { chosenProviders, flagsTo } from '../../session/access/sources.ts';
import { nodeConfigs } from '../../session/facts/kinds.ts';
import { readSystem } from '../../session/facts/system-facts.ts';
import { explained, factOf } from '../../session/facts/unread.ts';
import { doctorText } from '../doctor/screen.ts';
import { skippedIn } from '../output/findings.ts';
import type { Run } from '../run-command.ts';
import { type Collected, nothingYet, type Place } from './entries.ts';
import { collectLogs } from './logs.ts';

export interface CollectOptions {
  readonly sinceSeconds: number;
  readonly logs: boolean;
}

/** Reads everything for a bundle. What cannot be read is listed, and ends nothing. */
export async function collect(run: Run, options: CollectOptions): Promise<Collected> {
  const { session, progress } = run;
  const all = nothingYet();
  progress.show('reading the state of the system');
  const facts = await readSystem(session);
  addFacts(all, facts, run);
  await collectOperator(all, run, facts);
  const home = await factOf(session, about(grantReader('NAMESPACE')), () => session.home());
  if (home.state === 'read') {
    const { namespace } = home.value;
    const place = { folder: 'management', provider: undefined, grant: grantReader(namespace) };
    await collectList(all, run, place, pods, namespace);
    await collectList(all, run, place, events, namespace);
    if (options.logs) await collectLogs(all, run, { ...place, namespace }, options.sinceSeconds);
  }
  for (const provider of chosenProviders(session.options)) {
    progress.show(`reading business cluster ${provider}`);
    await collectBusiness(all, run, provider, options);
  }
  return all;
}

function about(grant: Grant) {
  return { what: same('Operator'), source: 'management cluster' as const, grant };
}

function addFacts(all: Collected, facts: SystemFacts, { session }: Run): void {
  const sections = examine(facts);
  const { options } = session;
  const { context = '', businessContext } = options;
  for (const name of [context, ...businessContext.values()]) all.names.add(name);
  const page = { facts, sections, unread: unreadIn(sections), options, seconds: 0 };
  const { kubernetesNodes, ...rest } = facts;
  all.skipped.push(...skippedIn(sections, 'en'));
  all.entries.push(
    { path: 'doctor.txt', content: doctorText(page, 'en') },
    { path: 'doctor.json', content: { sections, findings: problemsIn(sections) } },
    { path: 'versions.json', content: { cli: thisBuild(), parts: valueOf(facts.versions) } },
    { path: 'clusters.json', content: valueOf(rest.clusters) },
    { path: 'nodes.json', content: valueOf(rest.nodes) },
    { path: 'parts.json', content: valueOf(rest.parts) },
    { path: 'kubernetes-nodes.json', content: Object.fromEntries(kubernetesNodes) },
    ...valueOf(facts.configs).map((config) => ({
      path: `openstackconfigs/${config.metadata.namespace}/${config.metadata.name}.json`,
      content: config,
    })),
  );
  addNames(all, facts);
}

function addNames({ names }: Collected, facts: SystemFacts): void {
  const { configs, clusters, nodes: ofOperator, kubernetesNodes, nodeConfigs: ofNodes } = facts;
  const found = [
    ...valueOf(configs).flatMap(namesIn),
    ...valueOf(clusters).map(({ providerId }) => providerId),
    ...valueOf(ofOperator).flatMap(({ nodeName, providerId, nics }) => [
      nodeName,
      providerId,
      ...nics.flatMap(({ networkName, subnetName }) => [networkName, subnetName]),
    ]),
    ...kubernetesNodes.keys(),
    ...[...ofNodes.values()].flatMap((fact) => valueOf(fact).map(({ spec }) => spec.nodeName)),
    ...[...kubernetesNodes.values()].flatMap((fact) => valueOf(fact).map(({ name }) => name)),
  ];
  for (const name of found) if (name !== undefined) names.add(name);
}

function namesIn({ metadata, spec }: OpenstackConfig): (string | undefined)[] {
  const { vmNames = [], subnetName, credentials } = spec;
  const { k8sProviderID, openstackProviderID } = credentials;
  return [metadata.name, ...vmNames, subnetName, k8sProviderID, openstackProviderID];
}

function valueOf<T>(fact: Fact<readonly T[]>): readonly T[] {
  return fact.state === 'read' ? fact.value : [];
}

/** Reads settings (secrets are redacted by the operator), metrics and plans. */
async function collectOperator(all: Collected, run: Run, facts: SystemFacts): Promise<void> {
  const { session } = run;
  const grant = grantReader('NAMESPACE');
  const texts = [
    ['configz', 'operator/configz.json'],
    ['metrics', 'operator/metrics.txt'],
    ['readyz', 'operator/readyz.json'],
  ] as const;
  for (const [name, path] of texts) {
    await attempt(all, `Operator /${name}`, grant, async () => {
      const text = await (await session.operator()).text(`/${name}`);
      all.entries.push({ path, content: path.endsWith('.json') ? jsonOf(text) : text });
    });
  }
  for (const { metadata } of valueOf(facts.configs)) {
    const key = `${metadata.namespace}/${metadata.name}`;
    await attempt(all, `Plan of ${key}`, grant, async () => {
      const plan = await (await session.operator()).get(`${readPaths.plan}/${key}`, planView);
      all.entries.push({ path: `plans/${key}.json`, content: plan });
    });
  }
}

function jsonOf(text: string): string | object {
  try {
    return JSON.parse(text) as object;
  } catch {
    return text;
  }
}

async function attempt(
  { skipped }: Collected,
  what: string,
  grant: Grant,
  read: () => Promise<void>,
): Promise<void> {
  try {
    await read();
  } catch (error) {
    const { why, next } = explained(error, { grant, place: 'the cluster', kubeconfig: undefined });
    skipped.push({ what, why: why.en, next: next.en });
  }
}

async function collectBusiness(
  all: Collected,
  run: Run,
  provider: string,
  { logs, sinceSeconds }: CollectOptions,
): Promise<void> {
  const flags = flagsTo(run.session.options, provider);
  const place = { folder: `business/${provider}`, provider, grant: grantNodes(flags) };
  await collectList(all, run, place, nodes, undefined);
  await collectList(all, run, place, nodeConfigs, namespaces.system);
  for (const namespace of [namespaces.system, namespaces.agents]) {
    const inside = { ...place, grant: grantPods(flags, namespace) };
    await collectList(all, run, inside, jobs, namespace);
    await collectList(all, run, inside, pods, namespace);
    await collectList(all, run, inside, events, namespace);
    if (logs) await collectLogs(all, run, { ...inside, namespace }, sinceSeconds);
  }
}

async function collectList<T extends KubeObject>(
  all: Collected,
  { session }: Run,
  { folder, provider, grant }: Place,
  resource: Resource<T>,
  namespace: string | undefined,
): Promise<void> {
  const where = namespace === undefined ? '' : ` in ${namespace}`;
  await attempt(all, `${resource.kind}s of ${folder}${where}`, grant, async () => {
    const client = await session.client(provider);
    const { items } = await client.listAll(resource, { namespace, signal: session.signal });
    const path = [folder, namespace, `${resource.plural}.yaml`].filter(
      (each) => each !== undefined,
    );
    all.entries.push({ path: path.join('/'), content: { items: items.map(withoutManagers) } });
  });
}

/** managedFields repeat field names and triple the size. */
function withoutManagers(object: KubeObject): object {
  const { managedFields: _, ...metadata } = object.metadata as typeof object.metadata & {
    managedFields?: unknown;
  };
  return { ...object, metadata };
}

/** Returns a file's text; `.yaml` files are YAML, without line breaks inside values that redaction searches for. */
export function textOf(path: string, content: unknown): string {
  if (typeof content === 'string') return content;
  return path.endsWith('.yaml')
    ? stringify(content, { lineWidth: 0 })
    : JSON.stringify(content, undefined, 2);
}
