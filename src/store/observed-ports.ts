import { hash } from 'node:crypto';
import type { StoredNode } from './node-configs.ts';

/** A port as it was seen in OpenStack. */
export interface ObservedPort {
  /** Neutron's word, upper case. */
  readonly status: string;
  readonly addresses: readonly string[];
  readonly createdAt: string | undefined;
}

export interface ObservedSubnet {
  readonly id: string;
  readonly name: string;
  readonly cidr: string;
  readonly networkId: string;
  /** '' = not known. */
  readonly networkName: string;
}

/** What a look saw beside the node configs. What is not in it is unknown: what is noted of it stays. */
export interface ObservedPorts {
  /** By port id in lower case. */
  readonly ports: ReadonlyMap<string, ObservedPort>;
  /** By id. */
  readonly subnets: ReadonlyMap<string, ObservedSubnet>;
  /** Ports, in lower case, whose NIC its node reports as configured. */
  readonly configured: ReadonlySet<string>;
  /** sha256 (hex) of the OpenstackConfig's spec without passwords; '' = not known. */
  readonly specHash: string;
}

export const nothingObserved: ObservedPorts = {
  ports: new Map(),
  subnets: new Map(),
  configured: new Set(),
  specHash: '',
};

/** Tells whether anything seen of a node's ports has changed, so that nothing needs to be read for that. */
export function observedHash(
  { interfaces }: Pick<StoredNode, 'interfaces'>,
  { ports, configured }: ObservedPorts,
): string {
  const facts = interfaces.map(({ portId = '' }) => {
    const id = portId.toLowerCase();
    const port = ports.get(id);
    if (port === undefined) return [id, configured.has(id)];
    return [id, configured.has(id), port.status, port.createdAt, ...port.addresses];
  });
  return hash('sha256', JSON.stringify(facts));
}

/** Subnets that these nodes have NICs in, as far as they were seen. */
export function subnetsOf(
  nodes: readonly Pick<StoredNode, 'interfaces'>[],
  { subnets }: ObservedPorts,
): ObservedSubnet[] {
  const ids = new Set<string>();
  for (const { interfaces } of nodes)
    for (const { subnetId } of interfaces) ids.add(subnetId ?? '');
  return [...ids].flatMap((id) => subnets.get(id) ?? []);
}

/** Text as a column of so many characters takes it and gives it back: names come from other systems. */
export function columnText(text: string, length: number): string {
  // Whoever names a network may take megabytes, and a character takes two places of a string at most.
  const characters = Array.from(text.slice(0, 2 * length));
  const short = characters.slice(0, length).join('').toWellFormed();
  // SQLite ends a text at its first NUL.
  return short.replaceAll('\0', '\u{FFFD}');
}

/** A time as the columns have it: UTC, in the form that both databases calculate with. */
export function sqlTime(time: Date): string {
  return time.toISOString().replace('T', ' ').replace('Z', '');
}

/** The same of a text from elsewhere; undefined when it tells no time that a column takes. */
export function sqlTimeOf(text: string | undefined): string | undefined {
  const time = new Date(text ?? Number.NaN);
  const year = time.getUTCFullYear();
  return year >= 1000 && year <= 9999 ? sqlTime(time) : undefined;
}

/** RFC 3339 of a time in a column. */
export function fromSqlTime(time: string): string {
  return `${time.replace(' ', 'T')}Z`;
}
