import { networkOf } from '../../api/address.ts';
import type { RequestInterface } from '../../api/job.ts';
import { broadcastOf, contains, ipOf, prefixOf } from './ipv4.ts';

/** Shortest prefix of a subnet: a wider connected route would take the node's own traffic. */
const widestPrefix = 8;

/** Why an entry of the request cannot be used, naming the field; undefined when it can. */
export function entryProblem(
  entry: RequestInterface,
  all: readonly RequestInterface[],
): string | undefined {
  return (
    duplicateProblem(entry, all) ??
    macProblem(entry.mac) ??
    first(entry.addresses, addressProblem) ??
    gatewayProblem(entry) ??
    routesProblem(entry)
  );
}

function duplicateProblem(entry: RequestInterface, all: readonly RequestInterface[]) {
  const others = all.filter((other) => other !== entry);
  const ips = new Set(others.flatMap((other) => other.addresses.map(ipOf)));
  const taken = entry.addresses.find((cidr) => ips.has(ipOf(cidr)));
  if (others.some(({ mac }) => mac === entry.mac)) return `mac ${entry.mac} is in two entries`;
  if (others.some(({ index }) => index === entry.index))
    return `index ${entry.index} is in two entries`;
  if (taken) return `address ${taken} is in two entries`;
  const own = new Set(entry.addresses.map(ipOf));
  return own.size < entry.addresses.length ? 'addresses has one address twice' : undefined;
}

function macProblem(mac: string): string | undefined {
  const group = (Number.parseInt(mac.slice(0, 2), 16) & 1) === 1;
  return group || mac === '00:00:00:00:00:00' ? `mac ${mac} is not of one NIC` : undefined;
}

function addressProblem(cidr: string): string | undefined {
  const [ip, prefix] = [ipOf(cidr), prefixOf(cidr)];
  if (prefix < widestPrefix) return `address ${cidr} is in a network wider than /${widestPrefix}`;
  if (/^(0|127|22[4-9]|2[3-5]\d)\./.test(ip)) return `address ${cidr} is not of one host`;
  const edge = [ipOf(networkOf(cidr)), broadcastOf(cidr)];
  return prefix <= 30 && edge.includes(ip) ? `address ${cidr} is not of one host` : undefined;
}

function gatewayProblem({ gateway, addresses }: RequestInterface): string | undefined {
  if (gateway === undefined) return undefined;
  if (addresses.some((cidr) => ipOf(cidr) === gateway))
    return `gateway ${gateway} is the NIC itself`;
  return onLink(gateway, addresses) ? undefined : `gateway ${gateway} is in no subnet of the NIC`;
}

function routesProblem({ routes, gateway, addresses }: RequestInterface): string | undefined {
  const outside = routes.find(({ via }) => via !== undefined && !onLink(via, addresses));
  if (outside) return `route to ${outside.to}: via ${outside.via} is in no subnet of the NIC`;
  const hops = new Map<string, string>(addresses.map((cidr) => [networkOf(cidr), '']));
  if (gateway) hops.set('0.0.0.0/0', gateway);
  return first(routes, ({ to, via = '', metric }) => {
    const key = metric === undefined ? networkOf(to) : `${networkOf(to)} metric ${metric}`;
    const known = hops.get(key);
    hops.set(key, via);
    return known === undefined || known === via ? undefined : `route to ${to} is there twice`;
  });
}

function onLink(ip: string, addresses: readonly string[]): boolean {
  return addresses.some((cidr) => prefixOf(cidr) < 32 && contains(cidr, ip));
}

function first<T>(items: readonly T[], problem: (item: T) => string | undefined) {
  for (const item of items) {
    const found = problem(item);
    if (found) return found;
  }
  return undefined;
}
