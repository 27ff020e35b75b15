import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import type { InventoryChange } from '../../api/inventory-http.ts';
import { missingOf } from '../../explain/conclusion.ts';
import { valueOf } from '../../explain/subject.ts';
import type { Session } from '../../session/access/session.ts';
import { addressesIn, changedFields, readHistory } from '../../session/facts/history-facts.ts';
import { historySearchOf } from '../../session/facts/history-search.ts';
import { unreadBehind } from '../../session/facts/unread-sources.ts';
import { sourcesInContext } from '../../session/in-context.ts';
import { PageProblem } from '../guard/page-problem.ts';
import { withoutTwice } from './screen-reads.ts';
import { gapsIn } from './shown-sources.ts';

type HistoryAnswer = ScreenAnswer<'history'>;

/** Changes per page; the last API page may add up to as many. */
const pageSize = 200;

interface HistoryQuery {
  readonly target?: string | undefined;
  readonly cluster?: string | undefined;
  readonly namespace?: string | undefined;
  readonly since?: string | undefined;
  readonly continue?: string | undefined;
}

/** Reads changes of NICs, newest first. */
export async function readHistoryScreen(
  { target, cluster, namespace, since, continue: token }: HistoryQuery,
  session: Session,
): Promise<HistoryAnswer> {
  const found = historySearchOf(target);
  if (found === undefined) throw unusableTarget(target ?? '');
  const providerId = cluster ?? found.query.providerId;
  const search = {
    query: { ...found.query, providerId, since },
    matches: (change: InventoryChange) =>
      found.matches(change) &&
      (namespace === undefined || change.openstackConfig.namespace === namespace),
    limit: pageSize,
    token,
  };
  const at = session.now().toISOString();
  const requested = { providers: providerId === undefined ? undefined : [providerId], namespace };
  const [history, behind] = await Promise.all([
    readHistory(session, search),
    unreadBehind(session, requested),
  ]);
  const { unread, skipped } = gapsIn(missingOf(history), session.options);
  const { changes = [], oldest, next } = valueOf(history) ?? {};
  return {
    at,
    unread: withoutTwice([...unread, ...sourcesInContext(behind, session.options)]),
    skipped,
    items: changes.map(shownChange),
    oldest,
    continue: next,
  };
}

function shownChange(change: InventoryChange): HistoryAnswer['items'][number] {
  const { at, providerId, nodeName, name, portId, macAddress, basis, openstackConfig } = change;
  return {
    at,
    providerId,
    nodeName,
    nic: name,
    portId,
    macAddress,
    change: change.change,
    basis,
    addresses: addressesIn(change),
    fields: changedFields(change),
    config: configOf(change),
    generation: openstackConfig.generation,
  };
}

/** Returns the OpenstackConfig behind a change, as `namespace/name`. */
export function configOf({ openstackConfig: { namespace, name } }: InventoryChange): string {
  return `${namespace}/${name}`;
}

function unusableTarget(text: string): PageProblem {
  return new PageProblem(400, {
    reason: 'InvalidRequest',
    message: `"${text}" is no port id, MAC, address, NODE/NIC or node`,
    nextStep: 'give for example 10.50.0.9, fa:16:3e:00:00:90 or worker-18/multinic2',
  });
}
