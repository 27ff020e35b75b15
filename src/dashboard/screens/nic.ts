import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import type { ObservedRecord } from '../../api/inventory-http.ts';
import type { NicView, NodeView } from '../../api/read-http.ts';
import { missingOf } from '../../explain/conclusion.ts';
import type { Explanation } from '../../explain/explain-port.ts';
import type { Fact } from '../../explain/fact.ts';
import type { PortFacts } from '../../explain/facts.ts';
import { type Subject, subjectOf, valueOf } from '../../explain/subject.ts';
import { Failure } from '../../session/access/failure.ts';
import type { Session } from '../../session/access/session.ts';
import { explanationInContext } from '../../session/examination.ts';
import {
  type History,
  type HistorySearch,
  readHistory,
} from '../../session/facts/history-facts.ts';
import { readNodeEvents } from '../../session/facts/node-events.ts';
import { readDesiredNode } from '../../session/facts/operator-facts.ts';
import { type PortSubject, readPortFacts } from '../../session/facts/port-facts.ts';
import { findNodes, subjectOfNic, subjectsById } from '../../session/facts/port-subjects.ts';
import { nicStateOf } from './nic-state.ts';
import { timelineOf } from './nic-timeline.ts';
import { nodeNicsOf } from './node-table.ts';
import { gapsIn } from './shown-sources.ts';

type NicAnswer = ScreenAnswer<'nic'>;

/** Most changes in a timeline. */
const mostChanges = 50;

interface NicName extends Pick<NodeView, 'providerId' | 'nodeName'> {
  readonly nic: string;
}

/** Reads a NIC: why, state and timeline. Throws Failure: no such node or NIC. */
export async function readNicScreen(
  { providerId, nodeName, nic: name }: NicName,
  session: Session,
): Promise<NicAnswer> {
  const [node] = await findNodes(session, nodeName, providerId);
  const nic = node?.nics.find((each) => each.name === name);
  if (!node || !nic) throw absentNic({ providerId, nodeName, nic: name });
  const subject = await subjectOfNic(session, node, nic);
  const isOfNic = (change: History['changes'][number]) =>
    change.name === name || (change.portId !== '' && change.portId === nic.portId);
  const search = { query: { providerId, nodeName }, matches: isOfNic, limit: mostChanges };
  return screenOf(session, { subject, search, ref: node });
}

function absentNic({ providerId, nodeName, nic }: NicName): Failure {
  return new Failure(
    `node ${providerId}/${nodeName} has no NIC ${nic}`,
    `for a removed NIC see kubectl multinic history ${providerId}/${nodeName}/${nic}`,
  );
}

/** Reads a port, whether a NIC or not. */
export async function readPortScreen(portId: string, session: Session): Promise<NicAnswer> {
  const [subject] = await subjectsById(session, portId);
  if (!subject) throw new Error(`no subject for port ${portId}`);
  const search = { query: { portId }, matches: () => true, limit: mostChanges };
  return screenOf(session, { subject, search, ref: valueOf(subject.port)?.node });
}

interface Request {
  readonly subject: PortSubject;
  readonly search: HistorySearch;
  /** Undefined: no node has the port. */
  readonly ref: Pick<NodeView, 'providerId' | 'nodeName'> | undefined;
}

async function screenOf(session: Session, { subject, search, ref }: Request): Promise<NicAnswer> {
  const at = session.now().toISOString();
  const [facts, history, desired, events] = await Promise.all([
    readPortFacts(session, subject),
    readHistory(session, search),
    ref && readDesiredNode(session, ref),
    ref && readNodeEvents(session, ref.providerId, ref.nodeName),
  ]);
  const past = valueOf(history);
  const explanation = explanationInContext(facts, session.options);
  const beside = [history, desired, events].flatMap((fact) => (fact ? missingOf(fact) : []));
  const missing = [...explanation.missing, ...beside];
  const { port, node, nic } = subjectOf(facts);
  return {
    at,
    ...gapsIn(missing, session.options),
    ...placeOf(subjectOf(facts), ref),
    row: rowOf(facts, nic),
    why: shownExplanation(explanation),
    state: node && nic && nicStateOf(node, nic, desiredOf(desired, nic)),
    timeline: timelineOf({
      port,
      nic,
      changes: past?.changes ?? [],
      events: (events && valueOf(events)) ?? [],
    }),
    timelineSince: past?.oldest,
  };
}

function placeOf({ port, node, nic, config }: Subject, ref: Request['ref']) {
  return {
    providerId: ref?.providerId,
    nodeName: ref?.nodeName,
    portId: port?.portId ?? nic?.portId,
    config: node?.config ?? config?.config,
  };
}

function rowOf(facts: PortFacts, nic: NicView | undefined): NicAnswer['row'] {
  const node = valueOf(facts.node);
  const port = valueOf(facts.port);
  if (!node) return undefined;
  const kubernetesNode = valueOf(facts.kubernetesNode);
  const rows = nodeNicsOf({ node, ports: port ? [port] : [], kubernetesNode });
  return rows.find(({ key }) => key === (nic?.name ?? port?.portId));
}

function desiredOf(desired: Fact<ObservedRecord | undefined> | undefined, { name }: NicView) {
  const record = desired && valueOf(desired);
  return record?.config.interfaces.find((each) => each.name === name);
}

function shownExplanation({ headline, conclusion, steps, answer }: Explanation): NicAnswer['why'] {
  return {
    headline,
    conclusion,
    steps: steps.map(({ name, result, reason, evidence, next }) => ({
      name,
      result,
      reason,
      evidence,
      next,
    })),
    answer: answer?.name,
  };
}
