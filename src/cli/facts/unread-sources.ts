import { findCondition } from '../../api/condition.ts';
import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import { keyOf } from '../../explain/commands.ts';
import { missingOf, type UnreadSource, unreadSources } from '../../explain/conclusion.ts';
import type { Fact, Missing } from '../../explain/fact.ts';
import { unreadCloud, unreadViola } from '../../explain/missing-texts.ts';
import { providerOfConfig } from '../../explain/subject.ts';
import type { Session } from '../access/session.ts';
import { readConfigs } from './management-facts.ts';
import { readClusters } from './operator-facts.ts';

/**
 * Returns the sources behind listed rows that did not answer: Viola for their business clusters, and OpenStack for the
 * OpenstackConfigs that deliver there. Without rows all business clusters count.
 */
export async function unreadBehind(
  session: Session,
  rows: readonly { readonly providerId: string }[],
): Promise<UnreadSource[]> {
  const shown = new Set(rows.map(({ providerId }) => providerId));
  const isShown = (provider: string | undefined) =>
    shown.size === 0 || provider === undefined || shown.has(provider);
  const [clusters, configs] = await Promise.all([readClusters(session), readableConfigs(session)]);
  return unreadSources([
    ...gapsOf(clusters, (each) =>
      isShown(each.providerId) && each.reachable === undefined ? [unreadViola(each)] : [],
    ),
    ...gapsOf(configs, (each) => (isShown(providerOfConfig(each)) ? cloudGaps(each) : [])),
  ]);
}

/** With --inventory the lists need no kubeconfig. */
async function readableConfigs(session: Session): Promise<Fact<readonly OpenstackConfig[]>> {
  if (session.options.inventory === undefined) return readConfigs(session, undefined);
  return { state: 'read', value: [], source: 'management cluster', at: undefined };
}

function gapsOf<T>(
  fact: Fact<readonly T[]>,
  gaps: (value: T) => readonly Missing[],
): readonly Missing[] {
  return fact.state === 'read' ? fact.value.flatMap(gaps) : missingOf(fact);
}

/** Returns the gap of an OpenstackConfig whose last sync could not read the cloud. */
export function cloudGaps(config: OpenstackConfig): readonly Missing[] {
  const ready = findCondition(config.status?.conditions, 'Ready');
  return ready?.status === 'False' ? unreadCloud(keyOf(config), ready) : [];
}
