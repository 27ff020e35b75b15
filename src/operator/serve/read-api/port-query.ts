import type * as z from 'zod';
import { isIPv4, isIPv6, plainForm } from '../../../api/address.ts';
import type { portsQuery } from '../../../api/read-http.ts';
import { HttpProblem } from '../../../http/problem.ts';
import type { PortFilter } from '../../../openstack/resources.ts';
import type { Port } from '../../../plan/observation.ts';

/** Search for a port by id, or for ports by a property. */
export type PortQuery = { readonly portId: string } | PortFilter;

/** Returns the only parameter in Neutron's form. Throws 400 for none, several or an unusable value. */
export function portQueryOf({
  portId,
  mac,
  address,
  serverId,
}: z.infer<typeof portsQuery>): PortQuery {
  const given = [
    ...queries(portId, (id) => ({ portId: idIn('portId', id) })),
    ...queries(mac, (text) => ({ macAddress: macIn(text) })),
    ...queries(address, (text) => ({ ipAddress: addressIn(text) })),
    ...queries(serverId, (id) => ({ serverId: idIn('serverId', id) })),
  ];
  const [query] = given;
  if (query !== undefined && given.length === 1) return query;
  const count = given.length === 0 ? 'none' : `${given.length}`;
  const detail = `${count} of portId, mac, address and serverId given; send exactly one`;
  throw new HttpProblem(400, 'InvalidRequest', detail);
}

function queries(text: string | undefined, queryOf: (value: string) => PortQuery): PortQuery[] {
  const value = text?.trim() ?? '';
  return value === '' ? [] : [queryOf(value)];
}

/** Other characters may read another resource, or fail in Neutron's database and count as an outage. */
function idIn(field: string, text: string): string {
  if (/^[\w-]+$/.test(text)) return text.toLowerCase();
  throw invalid(`${field}: "${text}" is not an id; ids have letters, digits and hyphens only`);
}

function macIn(text: string): string {
  const mac = text.toLowerCase().replaceAll('-', ':');
  if (/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(mac)) return mac;
  throw invalid(`mac: "${text}" is not a MAC address; write it like fa:16:3e:00:00:01`);
}

function addressIn(text: string): string {
  if (isIPv4(text) || isIPv6(text)) return plainForm(text);
  throw invalid(`address: "${text}" is not an IP address; write it without prefix`);
}

function invalid(detail: string): HttpProblem {
  return new HttpProblem(400, 'InvalidRequest', detail);
}

/** Returns whether a port matches the search. */
export function isWanted({ id, macAddress, deviceId, fixedIps }: Port, query: PortQuery): boolean {
  if ('portId' in query) return id === query.portId;
  if ('macAddress' in query) return macAddress === query.macAddress;
  if ('serverId' in query) return deviceId === query.serverId;
  return fixedIps.some(({ ipAddress }) => ipAddress === query.ipAddress);
}
