import * as z from 'zod';
import { networkOf } from '../../api/address.ts';
import { type FixedConfig, rt, type Stanza } from '../snapshot.ts';
import type { IniLine } from './ini-text.ts';

/** Returns the field `fixed` of a `.network` file; unreadable items are left out, so nothing of theirs counts as explained. */
export function fixedIn(lines: readonly IniLine[]): Pick<Stanza, 'fixed'> {
  const fixed: FixedConfig = {
    addresses: lines
      .filter(({ section, key }) => key === 'Address' && /^(Network|Address)$/.test(section))
      .flatMap(({ value }) => (cidr.safeParse(value).success ? [value] : [])),
    routes: [
      ...lines.flatMap(({ section, key, value }) =>
        section === 'Network' && key === 'Gateway' ? defaultBy(value) : [],
      ),
      ...sectionsOf(lines, 'Route').flatMap(routeIn),
    ],
    rules: sectionsOf(lines, 'RoutingPolicyRule').flatMap(({ From, Table }) => {
      const table = Number(Table);
      return From !== undefined && table > 0 ? [{ from: From, table }] : [];
    }),
  };
  const count = fixed.addresses.length + fixed.routes.length + fixed.rules.length;
  return count === 0 ? {} : { fixed };
}

const cidr = z.union([z.cidrv4(), z.cidrv6()]);

type Values = Readonly<Record<string, string>>;

/** Returns the values of each section of this name: a repeated key starts a section, as the lines do not show headers. */
function sectionsOf(lines: readonly IniLine[], name: string): Values[] {
  const sections: Record<string, string>[] = [];
  for (const { section, key, value } of lines) {
    if (section !== name) continue;
    const last = sections.at(-1);
    if (last && !(key in last)) last[key] = value;
    else sections.push({ [key]: value });
  }
  return sections;
}

function routeIn({ Gateway: via, Destination: to, Table }: Values): FixedConfig['routes'] {
  const table = Table === undefined ? rt.mainTable : Number(Table);
  if (to === undefined) return via === undefined ? [] : defaultBy(via, table);
  if (!cidr.safeParse(to).success || !(table > 0)) return [];
  return [{ to: networkOf(to), ...(via ? { via } : {}), table }];
}

function defaultBy(via: string, table: number = rt.mainTable): FixedConfig['routes'] {
  return [{ to: via.includes(':') ? '::/0' : '0.0.0.0/0', via, table }];
}
