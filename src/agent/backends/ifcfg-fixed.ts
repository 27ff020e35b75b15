import { networkOf, prefixOf } from '../../api/address.ts';
import { type FixedConfig, rt, type Stanza } from '../snapshot.ts';
import { cidrIn, gatewayRoute, ruleIn } from './profile.ts';

type Variables = ReadonlyMap<string, string>;

/** Returns the field `fixed` of an ifcfg file; unreadable items are left out, and explain no kernel state. */
export function fixedIn(variables: Variables): Pick<Stanza, 'fixed'> {
  const valuesOf = (key: RegExp) =>
    [...variables].flatMap(([name, value]) => (key.test(name) ? [value] : []));
  const secondary = valuesOf(/^IPV6ADDR_SECONDARIES$/).flatMap((list) => list.split(/[\s,]+/));
  return given({
    addresses: [
      ...numbered(variables, 'IPADDR').flatMap(([ip, at]) => withMask(ip, at, variables)),
      ...[...valuesOf(/^IPV6ADDR$/), ...secondary].flatMap(cidrIn),
    ],
    routes: [...valuesOf(/^GATEWAY\d*$/), ...valuesOf(/^IPV6_DEFAULTGW$/)].flatMap((via) =>
      gatewayRoute(via.replace(/%.*$/, '')),
    ),
    rules: valuesOf(/^ROUTING_RULE6?_\d+$/).flatMap(ruleIn),
  });
}

/** Returns the field `fixed` of a `route-` file, in either form: variables, or arguments of `ip route`. */
export function routesIn(text: string, variables: Variables): Pick<Stanza, 'fixed'> {
  const byVariables = numbered(variables, 'ADDRESS').flatMap(([to, at]) =>
    withMask(to, at, variables).map((cidr) => ({
      to: networkOf(cidr),
      ...viaIn(variables.get(`GATEWAY${at}`)),
      table: rt.mainTable,
    })),
  );
  return given({
    addresses: [],
    routes: [...byVariables, ...text.split('\n').flatMap(routeIn)],
    rules: [],
  });
}

function given(fixed: FixedConfig): Pick<Stanza, 'fixed'> {
  const count = fixed.addresses.length + fixed.routes.length + fixed.rules.length;
  return count === 0 ? {} : { fixed };
}

/** Returns values with the number in the key, which may be empty. */
function numbered(variables: Variables, key: string): [value: string, at: string][] {
  return [...variables].flatMap(([name, value]) => {
    const [, at] = new RegExp(`^${key}(\\d*)$`).exec(name) ?? [];
    return at === undefined ? [] : [[value, at] as [string, string]];
  });
}

function withMask(ip: string, at: string, variables: Variables): string[] {
  const mask = variables.get(`NETMASK${at}`);
  const prefix = variables.get(`PREFIX${at}`) ?? (mask === undefined ? 32 : prefixFrom(mask));
  return prefix === undefined ? [] : cidrIn(`${ip}/${prefix}`);
}

/** Returns a netmask's length; undefined for an invalid mask. */
function prefixFrom(mask: string): number | undefined {
  const bits = mask
    .split('.')
    .map((part) => Number(part).toString(2).padStart(8, '0'))
    .join('');
  return /^1*0*$/.test(bits) && bits.length === 32 ? bits.replace(/0+$/, '').length : undefined;
}

function viaIn(via: string | undefined): { via?: string } {
  return gatewayRoute(via ?? '').length > 0 && via ? { via } : {};
}

function routeIn(line: string): FixedConfig['routes'] {
  const words = line.trim().split(/\s+/);
  const after = (key: string) => {
    const at = words.indexOf(key);
    return at < 0 ? undefined : words[at + 1];
  };
  const via = after('via');
  const table = Number(after('table') ?? rt.mainTable);
  if (words[0] === 'default') return gatewayRoute(via ?? '', table);
  const [cidr] = cidrIn(words[0] ?? '');
  if (cidr === undefined || !(table > 0) || prefixOf(cidr) < 0) return [];
  return [{ to: networkOf(cidr), ...viaIn(via), table }];
}
