import { ipOf, networkOf } from '../../api/address.ts';
import { type FixedConfig, rt, type Stanza } from '../snapshot.ts';
import { type IniLine, valueIn } from './ini-text.ts';
import { cidrIn, gatewayRoute, ruleIn } from './profile.ts';

/** Returns a profile's field `fixed`; unreadable items are left out, and explain no kernel state. */
export function fixedIn(lines: readonly IniLine[]): Pick<Stanza, 'fixed'> {
  const families = ['ipv4', 'ipv6'].map((section) =>
    familyIn(lines.filter((line) => line.section === section)),
  );
  const fixed: FixedConfig = {
    addresses: families.flatMap(({ addresses }) => addresses),
    routes: families.flatMap(({ routes }) => routes),
    rules: families.flatMap(({ rules }) => rules),
  };
  const count = fixed.addresses.length + fixed.routes.length + fixed.rules.length;
  return count === 0 ? {} : { fixed };
}

/** Addresses and routes have numbered keys, or the older keys `addresses` and `routes`. */
function familyIn(lines: readonly IniLine[]): FixedConfig {
  const valuesOf = (key: RegExp) =>
    lines.filter((line) => key.test(line.key)).map(({ value }) => value.split(/[,;]/));
  const [first] = lines;
  const table = Number(first && valueIn(lines, first.section, 'route-table')) || rt.mainTable;
  const addresses = valuesOf(/^address(es)?\d*$/);
  const gateways = [
    ...valuesOf(/^gateway$/).map(([via = '']) => via),
    ...addresses.map(([, via = '']) => via),
  ];
  return {
    addresses: addresses.flatMap(([address = '']) => cidrIn(address)),
    routes: [
      ...gateways.flatMap((via) => gatewayRoute(via, table)),
      ...lines.flatMap((line) => routeIn(line, lines, table)),
    ],
    rules: valuesOf(/^routing-rule\d+$/).flatMap(([text = '']) => ruleIn(text)),
  };
}

function routeIn(
  { key, value, section }: IniLine,
  lines: readonly IniLine[],
  common: number,
): FixedConfig['routes'] {
  if (!/^routes?\d*$/.test(key)) return [];
  const [to = '', via = ''] = value.split(/[,;]/);
  const options = valueIn(lines, section, `${key}_options`) ?? '';
  const [, table] = /(?:^|,)table=(\d+)/.exec(options) ?? [];
  const hop = /^[\da-f.:]+$/.test(via) && !/^(0\.0\.0\.0|::)$/.test(via) ? { via: ipOf(via) } : {};
  return cidrIn(to).map((cidr) => ({
    to: networkOf(cidr),
    ...hop,
    table: table === undefined ? common : Number(table),
  }));
}
