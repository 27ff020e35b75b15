import * as z from 'zod';
import type { Address } from '../host.ts';

const addressEntry = z.object({
  family: z.enum(['inet', 'inet6']),
  local: z.string(),
  prefixlen: z.int(),
  /** Peer of a point-to-point address. */
  address: z.string().optional(),
  broadcast: z.string().optional(),
  scope: z.coerce.number(),
  label: z.string().optional(),
  noprefixroute: z.boolean().default(false),
  dynamic: z.boolean().default(false),
});

/** What older versions print for a link without addresses. */
const nothing = z.strictObject({}).transform(() => undefined);

/** `ip -N -j -d addr show`. */
const addressShow = z.array(
  z.object({
    ifindex: z.int(),
    ifname: z.string(),
    addr_info: z.array(z.union([addressEntry, nothing])).default([]),
  }),
);

/** What a link was called and which addresses it had. */
export interface LinkAddresses {
  readonly index: number;
  readonly name: string;
  readonly addresses: readonly Address[];
}

/** Addresses of `ip -N -j -d addr show`, in the kernel's order; throws a ZodError on any other text. */
export function parseAddresses(json: string): LinkAddresses[] {
  return addressShow.parse(JSON.parse(json)).map(({ ifindex, ifname, addr_info }) => ({
    index: ifindex,
    name: ifname,
    addresses: addr_info.flatMap((entry) => (entry ? [toAddress(ifname, entry)] : [])),
  }));
}

function toAddress(link: string, entry: z.infer<typeof addressEntry>): Address {
  const family = entry.family === 'inet' ? 4 : 6;
  const foreignLabel = entry.label !== undefined && entry.label !== link;
  return {
    link,
    family,
    cidr: `${entry.local}/${entry.prefixlen}`,
    scope: entry.scope,
    ...(entry.broadcast ? { broadcast: entry.broadcast } : {}),
    noPrefixRoute: entry.noprefixroute,
    ...(entry.dynamic ? { temporary: true as const } : {}),
    opaque: entry.address !== undefined || foreignLabel,
  };
}
