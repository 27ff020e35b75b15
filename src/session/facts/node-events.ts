import { namespaces } from '../../api/names.ts';
import { accessTexts } from '../../api/texts/access.ts';
import { filled } from '../../api/texts/text.ts';
import type { Fact } from '../../explain/fact.ts';
import { type EventObject, events } from '../../kube/core-resources.ts';
import type { Session } from '../access/session.ts';
import { aboutBusiness } from './business-facts.ts';
import { factOf } from './unread.ts';

/** An Event about a node's MultiNicNodeConfig. */
export interface NodeEvent {
  /** Last occurrence (RFC 3339). */
  readonly at: string;
  readonly reason: string;
  readonly message: string;
}

/** Reads the Events about a node's MultiNicNodeConfig; Kubernetes deletes Events after an hour. */
export function readNodeEvents(
  session: Session,
  provider: string,
  nodeName: string,
): Promise<Fact<readonly NodeEvent[]>> {
  const namespace = namespaces.system;
  const what = filled(accessTexts.eventsOf, { nodeName });
  return factOf(session, aboutBusiness(session, what, provider, namespace), async () => {
    const client = await session.client(provider);
    const fieldSelector = `involvedObject.kind=MultiNicNodeConfig,involvedObject.name=${nodeName}`;
    const { signal } = session;
    const { items } = await client.listAll(events, { namespace, fieldSelector, signal });
    return items.flatMap(nodeEventOf);
  });
}

function nodeEventOf(event: EventObject): NodeEvent[] {
  const { lastTimestamp, eventTime, firstTimestamp, metadata, reason = '', message = '' } = event;
  const at = lastTimestamp ?? eventTime ?? firstTimestamp ?? metadata.creationTimestamp;
  return at === undefined ? [] : [{ at, reason, message }];
}
