import { findCondition } from '../../api/condition.ts';
import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import { screensTexts } from '../../api/texts/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { keyOf } from '../../explain/commands.ts';
import { missingOf, type UnreadSource, unreadSources } from '../../explain/conclusion.ts';
import type { Fact, Missing } from '../../explain/fact.ts';
import { unreadCloud, unreadViola } from '../../explain/missing-texts.ts';
import { providerOfConfig, valueOf } from '../../explain/subject.ts';
import { same } from '../../explain/wording.ts';
import type { Failure } from '../access/failure.ts';
import type { Session } from '../access/session.ts';
import { Unread } from '../access/unread.ts';
import { readConfigs } from './management-facts.ts';
import { readClusters } from './operator-facts.ts';

/** A command's request; its sources never depend on the rows that were found. */
export interface Requested {
  /** Business clusters; absent: those of the OpenstackConfigs. */
  readonly providers?: readonly string[] | undefined;
  /** OpenstackConfig as `namespace/name`; absent: all. */
  readonly config?: string | undefined;
  /** Namespace of the OpenstackConfigs; absent: all. */
  readonly namespace?: string | undefined;
  /** OpenstackConfigs that the command has read; absent: read here. */
  readonly configs?: readonly OpenstackConfig[];
}

/** Returns silent sources behind a request: OpenStack at the last sync, and Viola. */
export async function unreadBehind(
  session: Session,
  requested: Requested,
): Promise<UnreadSource[]> {
  const [clusters, configs] = await Promise.all([
    readClusters(session),
    configsFor(session, requested),
  ]);
  const own = (valueOf(configs) ?? []).filter((each) => isRequested(each, requested));
  const providers = requested.providers ?? providersOf(own, requested);
  const silent = (valueOf(clusters) ?? []).filter(
    ({ reachable, isLegacy, providerId }) =>
      reachable !== true && isLegacy !== true && (providers?.includes(providerId) ?? true),
  );
  return unreadSources([
    ...missingOf(clusters),
    ...missingOf(configs),
    ...silent.map(unreadViola),
    ...own.flatMap(cloudGaps),
  ]);
}

/** Throws the claim of absence, or Unread if a silent source may have the rows; returns if the command shows other rows. */
export async function refuseAbsence(
  session: Session,
  { claim, hasRows, ...requested }: Requested & { claim: Failure; hasRows: boolean },
): Promise<void> {
  const [first] = await unreadBehind(session, requested);
  if (first === undefined) throw claim;
  if (hasRows) return;
  const { next } = first;
  throw new Unread(filled(screensTexts.sourceUnread, { ...first }), next[0] ?? same(''));
}

/** Returns the business cluster in PROVIDER/NODE; undefined: all. */
export function providersIn(
  names: readonly string[],
  cluster: string | undefined,
): readonly string[] | undefined {
  if (cluster !== undefined) return [cluster];
  const given = names.flatMap((name) => name.split('/').slice(0, -1));
  return names.length > 0 && given.length === names.length ? given : undefined;
}

function isRequested(config: OpenstackConfig, requested: Requested): boolean {
  const { providers, config: key, namespace, configs } = requested;
  if (configs !== undefined) return true;
  const provider = providerOfConfig(config);
  return (
    (key === undefined || keyOf(config) === key) &&
    (namespace === undefined || config.metadata.namespace === namespace) &&
    (providers === undefined || provider === undefined || providers.includes(provider))
  );
}

/** Returns the business clusters of chosen OpenstackConfigs; undefined: all registered ones. */
function providersOf(
  own: readonly OpenstackConfig[],
  { config, namespace, configs }: Requested,
): readonly string[] | undefined {
  const isChosen = config !== undefined || namespace !== undefined || configs !== undefined;
  const providers = own.flatMap((each) => providerOfConfig(each) ?? []);
  const isKnown = providers.length > 0 && providers.length === own.length;
  return isChosen && isKnown ? providers : undefined;
}

/** With --inventory the lists need no kubeconfig. */
async function configsFor(
  session: Session,
  { configs }: Requested,
): Promise<Fact<readonly OpenstackConfig[]>> {
  if (configs === undefined && session.options.inventory === undefined) {
    return readConfigs(session, undefined);
  }
  return { state: 'read', value: configs ?? [], source: 'management cluster', at: undefined };
}

/** Returns an OpenstackConfig's gap after a sync without answer from the cloud. */
function cloudGaps(config: OpenstackConfig): readonly Missing[] {
  const ready = findCondition(config.status?.conditions, 'Ready');
  return ready?.status === 'False' ? unreadCloud(keyOf(config), ready) : [];
}
