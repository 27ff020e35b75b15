import { annotations, type BizConfigGroup, bizConfigGroups, namespaces } from '../../api/names.ts';
import { type BizConfig, bizConfigsIn } from '../../biz-config/biz-config.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import { Refusal } from '../refusal.ts';

/** The migrated MultiNicBizConfig as read from the API server. */
export interface Source {
  readonly group: BizConfigGroup;
  readonly config: BizConfig;
}

export interface SourceName {
  readonly namespace: string;
  readonly name: string;
  /** undefined: the only group containing an object with this name. */
  readonly group: BizConfigGroup | undefined;
}

/** Reads the source; throws a Refusal if no group, or more than one group, contains the name. */
export async function findSource(
  client: KubeClient,
  { namespace, name, group: chosen }: SourceName,
  signal?: AbortSignal,
): Promise<Source> {
  const groups = chosen === undefined ? bizConfigGroups : [chosen];
  const ref = { namespace, name };
  const answers = groups.map(async (group) => ({
    group,
    config: await findIn(client, group, ref, signal),
  }));
  const found = (await Promise.all(answers)).flatMap(({ group, config }) =>
    config ? [{ group, config }] : [],
  );
  const [source, ...others] = found;
  if (!source) throw await absence(client, ref, groups, signal);
  if (others.length > 0) {
    throw new Refusal(
      `MultiNicBizConfig ${namespace}/${name} exists in ${bizConfigGroups.join(' and ')}`,
      `choose one with --group ${bizConfigGroups.join(' or --group ')}`,
    );
  }
  return source;
}

type Ref = Pick<SourceName, 'namespace' | 'name'>;

async function findIn(
  client: KubeClient,
  group: BizConfigGroup,
  ref: Ref,
  signal: AbortSignal | undefined,
): Promise<BizConfig | undefined> {
  try {
    return await client.get(bizConfigsIn(group), ref, { signal });
  } catch (error) {
    // 404 also means: the kind is not served.
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Returns the Refusal for a missing source: wrong name, or wrong cluster. */
async function absence(
  client: KubeClient,
  { namespace, name }: Ref,
  groups: readonly BizConfigGroup[],
  signal: AbortSignal | undefined,
): Promise<Refusal> {
  const served: BizConfigGroup[] = [];
  for (const group of groups) if (await isServed(client, group, signal)) served.push(group);
  if (served.length === 0) {
    return new Refusal(
      `the cluster does not serve MultiNicBizConfigs of ${groups.join(' or ')}`,
      'choose the business cluster with --kubeconfig or --context; the chart multinic-agent installs the CRDs',
    );
  }
  return new Refusal(
    `there is no MultiNicBizConfig ${namespace}/${name} in group ${served.join(' or ')}`,
    `list them: kubectl get ${served.map((group) => `multinicbizconfigs.${group}`).join(',')} -A`,
  );
}

/** Returns true if the cluster serves the kind: listing a served kind never returns 404. */
async function isServed(
  client: KubeClient,
  group: BizConfigGroup,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    await client.list(bizConfigsIn(group), { namespace: namespaces.system, limit: 1, signal });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** Refuses a source with an unreadable spec: its entries are unknown. */
export function checkReadable(source: Source): void {
  const { spec, flaw } = source.config;
  if (spec) return;
  throw new Refusal(`${sourceText(source)} cannot be read: ${flaw}`, 'correct that field');
}

/** Returns the migration's start time (RFC 3339); undefined: not started, or reverted. */
export function migrationStart({ config }: Source): string | undefined {
  return config.metadata.annotations?.[annotations.bizMigration];
}

/** Returns group, namespace and name for messages and next steps. */
export function sourceText({ group, config: { metadata } }: Source): string {
  return `multinicbizconfigs.${group} ${metadata.namespace}/${metadata.name}`;
}

/** Most nodes in a message; further nodes are counted. */
export const shownNodes = 5;
