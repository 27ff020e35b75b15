import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { expectedPorts } from '../../api/node-summary.ts';
import type { NicView, NodeView, PortView } from '../../api/read-http.ts';
import { missingOf } from '../../explain/conclusion.ts';
import type { Fact } from '../../explain/fact.ts';
import { valueOf } from '../../explain/subject.ts';
import type { Session } from '../../session/access/session.ts';
import { type PortQuery, readPorts } from '../../session/facts/operator-facts.ts';
import { parseTarget } from '../../session/facts/target.ts';
import { type NodeList, type ScreenReads, withoutTwice } from './screen-reads.ts';
import { gapsIn } from './shown-sources.ts';

type SearchAnswer = ScreenAnswer<'search'>;
type Hit = SearchAnswer['hits'][number];

/** Most hits in an answer. */
const mostHits = 50;

/** Searches nodes, NICs and ports; asks the operator for a port or server that no node has. */
export async function searchScreen(
  text: string,
  reads: ScreenReads,
  signal: AbortSignal,
): Promise<SearchAnswer> {
  const list = await reads.nodes.value(signal);
  const found = rankedHits(text, list);
  if (found.length > 0) return answerOf(found, list);
  const session = reads.session(signal);
  const ports = await readNamedPorts(session, text);
  const { unread, skipped } = gapsIn(ports.flatMap(missingOf), session.options);
  const hits = ports.flatMap((fact) => (valueOf(fact) ?? []).map((port) => ofPort(port, text)));
  return {
    ...answerOf(hits, list),
    unread: withoutTwice([...list.unread, ...unread]),
    skipped,
  };
}

function answerOf(hits: readonly Hit[], { at, unread }: NodeList): SearchAnswer {
  return { at, unread, skipped: [], hits: hits.slice(0, mostHits), count: hits.length };
}

/** Reads the ports of an id, MAC or address; other texts name no port in Neutron. */
async function readNamedPorts(session: Session, text: string): Promise<Fact<PortView[]>[]> {
  const target = parseTarget(text);
  const queries: PortQuery[] =
    target?.kind === 'uuid'
      ? [{ portId: target.value }, { serverId: target.value }]
      : target?.kind === 'mac'
        ? [{ mac: target.value }]
        : target?.kind === 'address'
          ? [{ address: target.value }]
          : [];
  return Promise.all(queries.map((query) => readPorts(session, query)));
}

function ofPort(port: PortView, text: string): Hit {
  const { portId, macAddress, addresses, deviceId, node, verdict } = port;
  const link =
    node && verdict?.nic ? { kind: 'nic' as const, ...node, nic: verdict.nic } : undefined;
  const values: readonly Value[] = [
    { field: 'port', value: portId },
    { field: 'mac', value: macAddress },
    { field: 'server', value: deviceId },
    ...addresses.map(({ ip }) => ({ field: 'address' as const, value: ip })),
  ];
  const [best = { field: 'port' as const, value: portId }] = values.filter(
    ({ value }) => rankOf(value, text) !== undefined,
  );
  return {
    link: link ?? { kind: 'port', portId },
    title: link ? `${link.providerId}/${link.nodeName}/${link.nic}` : portId,
    ...best,
    state: verdict?.nic ? undefined : 'Unused',
    reason: verdict?.reason,
  };
}

type Value = Pick<Hit, 'field' | 'value'>;

/** An object that may match, with the values for the search. */
interface Candidate extends Omit<Hit, keyof Value> {
  readonly values: readonly Value[];
}

/** Returns hits: equal values first, then beginnings, then further parts. */
function rankedHits(text: string, { nodes }: NodeList): Hit[] {
  const found = (valueOf(nodes) ?? [])
    .flatMap(candidatesIn)
    .flatMap((candidate) => bestOf(candidate, text) ?? []);
  return found.toSorted((a, b) => a.rank - b.rank).map(({ hit }) => hit);
}

/** Returns a candidate with the value that fits best; undefined: no value has the text. */
function bestOf({ values, ...shown }: Candidate, text: string) {
  const [best] = values
    .flatMap((value) => {
      const rank = rankOf(value.value, text);
      return rank === undefined ? [] : { value, rank };
    })
    .toSorted((a, b) => a.rank - b.rank);
  return best && { rank: best.rank, hit: { ...shown, ...best.value } };
}

/** Returns 0 for an equal value, 1 for a beginning, 2 for a further part; undefined: the value lacks the text. */
function rankOf(value: string, text: string): number | undefined {
  const [whole, part] = [value.toLowerCase(), text.toLowerCase().replaceAll('-', ':')];
  const wanted = macPart.test(text) ? part : text.toLowerCase();
  const at = whole.split('/')[0] === wanted ? 0 : whole.indexOf(wanted);
  if (at === -1) return undefined;
  if (at > 0) return 2;
  return whole === wanted || whole.startsWith(`${wanted}/`) ? 0 : 1;
}

/** A MAC with dashes, as on Windows. */
const macPart = /^(?:[0-9a-f]{2}-){5}[0-9a-f]{2}$/i;

function candidatesIn(node: NodeView): Candidate[] {
  const { providerId, nodeName, instanceId, state, reason } = node;
  return [
    {
      link: { kind: 'node', providerId, nodeName },
      title: `${providerId}/${nodeName}`,
      state,
      reason: reason || undefined,
      values: [
        { field: 'name', value: nodeName },
        { field: 'server', value: instanceId },
      ],
    },
    ...node.nics.map((nic) => ofNic(node, nic)),
    ...expectedPorts(node).map((port): Candidate => {
      const { portId, macAddress = '', address = '' } = port;
      return {
        link: { kind: 'port', portId },
        title: `${providerId}/${nodeName}: ${portId}`,
        state: 'Unused',
        reason: port.reason,
        values: [
          { field: 'port', value: portId },
          { field: 'mac', value: macAddress },
          { field: 'address', value: address },
        ],
      };
    }),
  ];
}

function ofNic({ providerId, nodeName }: NodeView, nic: NicView): Candidate {
  const { name, state, reason, addresses, macAddress, portId = '' } = nic;
  const { networkName = '', subnetName = '' } = nic;
  return {
    link: { kind: 'nic', providerId, nodeName, nic: name },
    title: `${providerId}/${nodeName}/${name}`,
    state,
    reason: reason || undefined,
    values: [
      ...addresses.map((value) => ({ field: 'address' as const, value })),
      { field: 'mac', value: macAddress },
      { field: 'port', value: portId },
      { field: 'name', value: `${nodeName}/${name}` },
      { field: 'network', value: networkName },
      { field: 'subnet', value: subnetName },
    ],
  };
}
