import { findCondition } from '../../api/condition.ts';
import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import { keyOf } from '../../explain/commands.ts';
import { missingOf, type UnreadSource, unreadSources } from '../../explain/conclusion.ts';
import type { Fact, Missing } from '../../explain/fact.ts';
import { unreadCloud, unreadViola } from '../../explain/missing-texts.ts';
import { providerOfConfig, valueOf } from '../../explain/subject.ts';
import type { Session } from '../access/session.ts';
import { readConfigs } from './management-facts.ts';
import { readClusters } from './operator-facts.ts';

/** A command's output: rows from business clusters, or an OpenstackConfig as `namespace/name`. */
type Shown = { readonly providers: readonly string[] } | { readonly config: string };

/** Returns silent sources behind an output: OpenStack at the last sync, and Viola. */
export async function unreadBehind(session: Session, shown: Shown): Promise<UnreadSource[]> {
  const [clusters, configs] = await Promise.all([readClusters(session), readableConfigs(session)]);
  const own = (valueOf(configs) ?? []).filter((each) => isShown(each, shown));
  const providers = 'providers' in shown ? shown.providers : own.flatMap(providersOf);
  const silent = (valueOf(clusters) ?? []).filter(
    ({ reachable, providerId }) => reachable === undefined && isAmong(providerId, providers),
  );
  return unreadSources([
    ...missingOf(clusters),
    ...missingOf(configs),
    ...silent.map(unreadViola),
    ...own.flatMap(cloudGaps),
  ]);
}

/** Returns the rows' business clusters. */
export function shownBy(rows: readonly { readonly providerId: string }[]): Shown {
  return { providers: [...new Set(rows.map(({ providerId }) => providerId))] };
}

function isShown(config: OpenstackConfig, shown: Shown): boolean {
  if ('config' in shown) return keyOf(config) === shown.config;
  const providers = providersOf(config);
  return providers.length === 0 || providers.some((each) => isAmong(each, shown.providers));
}

/** An output without rows may lack rows from any business cluster. */
function isAmong(provider: string, providers: readonly string[]): boolean {
  return providers.length === 0 || providers.includes(provider);
}

function providersOf(config: OpenstackConfig): string[] {
  const provider = providerOfConfig(config);
  return provider === undefined ? [] : [provider];
}

/** With --inventory the lists need no kubeconfig. */
async function readableConfigs(session: Session): Promise<Fact<readonly OpenstackConfig[]>> {
  if (session.options.inventory === undefined) return readConfigs(session, undefined);
  return { state: 'read', value: [], source: 'management cluster', at: undefined };
}

/** Returns an OpenstackConfig's gap after a sync without answer from the cloud. */
function cloudGaps(config: OpenstackConfig): readonly Missing[] {
  const ready = findCondition(config.status?.conditions, 'Ready');
  return ready?.status === 'False' ? unreadCloud(keyOf(config), ready) : [];
}
