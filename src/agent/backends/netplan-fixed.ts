import * as z from 'zod';
import { familyOf, networkOf } from '../../api/address.ts';
import { type FixedConfig, rt, type Stanza } from '../snapshot.ts';

const route = z.object({
  to: z.string(),
  via: z.string().nullish(),
  table: z.coerce.number().nullish(),
});
const rule = z.object({ from: z.string(), table: z.coerce.number() });

/** Options with addresses, routes and rules in an ethernet definition, of any form. */
interface FixedOptions {
  readonly addresses?: unknown;
  readonly gateway4?: unknown;
  readonly gateway6?: unknown;
  readonly routes?: unknown;
  readonly 'routing-policy'?: unknown;
}

/** Returns a definition's field `fixed`; unreadable items are left out, so nothing of theirs counts as explained. */
export function fixedOf(nic: FixedOptions | null | undefined): Pick<Stanza, 'fixed'> {
  const fixed: FixedConfig = {
    addresses: listIn(nic?.addresses).flatMap(addressIn),
    routes: [
      ...gateway('0.0.0.0/0', nic?.gateway4),
      ...gateway('::/0', nic?.gateway6),
      ...listIn(nic?.routes).flatMap(routeIn),
    ],
    rules: listIn(nic?.['routing-policy']).flatMap((item) => rule.safeParse(item).data ?? []),
  };
  const count = fixed.addresses.length + fixed.routes.length + fixed.rules.length;
  return count === 0 ? {} : { fixed };
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** An address with options is a mapping with the address as only key. */
function addressIn(item: unknown): string[] {
  const text = typeof item === 'string' ? item : Object.keys(mapping.safeParse(item).data ?? {})[0];
  return text !== undefined && cidr.safeParse(text).success ? [text] : [];
}

const mapping = z.record(z.string(), z.unknown());

const cidr = z.union([z.cidrv4(), z.cidrv6()]);

function gateway(to: string, via: unknown): FixedConfig['routes'] {
  return typeof via === 'string' ? [{ to, via, table: rt.mainTable }] : [];
}

function routeIn(item: unknown): FixedConfig['routes'] {
  const { data } = route.safeParse(item);
  if (!data) return [];
  const { via, table } = data;
  const family = familyOf(via ?? data.to);
  const to = data.to === 'default' ? (family === 6 ? '::/0' : '0.0.0.0/0') : data.to;
  if (!cidr.safeParse(withPrefix(to)).success) return [];
  return [{ to: networkOf(withPrefix(to)), ...(via ? { via } : {}), table: table ?? rt.mainTable }];
}

function withPrefix(to: string): string {
  if (to.includes('/')) return to;
  return `${to}/${to.includes(':') ? 128 : 32}`;
}
