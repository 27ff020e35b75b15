import * as z from 'zod';
import type { Link } from '../host.ts';

/** One entry of `ip -N -j -d link show`. */
const linkEntry = z.object({
  ifindex: z.int(),
  ifname: z.string(),
  altnames: z.array(z.string()).default([]),
  /** Name of the lower link or of a veth's peer; a number stands for one in another namespace. */
  link: z.string().nullish(),
  master: z.string().optional(),
  flags: z.array(z.string()),
  mtu: z.int(),
  max_mtu: z.int().optional(),
  link_type: z.string().optional(),
  address: z.string().optional(),
  permaddr: z.string().optional(),
  linkinfo: z.object({ info_kind: z.string().optional() }).optional(),
  inet6_addr_gen_mode: z.string().optional(),
});

const linkShow = z.array(linkEntry);

/** Links of `ip -N -j -d link show`; throws a ZodError on any other text. */
export function parseLinks(json: string): Link[] {
  return linkShow.parse(JSON.parse(json)).map(toLink);
}

function toLink(entry: z.infer<typeof linkEntry>): Link {
  const kind = entry.linkinfo?.info_kind;
  const lower = kind === 'veth' ? undefined : entry.link;
  return {
    index: entry.ifindex,
    name: entry.ifname,
    altNames: entry.altnames,
    mac: (entry.permaddr ?? entry.address ?? '').toLowerCase(),
    mtu: entry.mtu,
    // 0 stands for a driver that names no maximum.
    ...(entry.max_mtu ? { maxMtu: entry.max_mtu } : {}),
    up: entry.flags.includes('UP'),
    ...(kind ? { kind } : {}),
    ...(lower ? { lower } : {}),
    ...(entry.master ? { master: entry.master } : {}),
    ...(entry.inet6_addr_gen_mode ? { addressMode: entry.inet6_addr_gen_mode } : {}),
  };
}
