import * as z from 'zod';
import { nameServersIn, type Stanza } from '../snapshot.ts';
import { fixedOf } from './netplan-fixed.ts';

const anyEthernet = z.looseObject({
  match: z
    .looseObject({
      macaddress: z.string().optional(),
      name: z.union([z.string(), z.array(z.string())]).nullish(),
    })
    .nullish(),
  macaddress: z.string().nullish(),
  /** Physical function below a virtual function. */
  link: z.string().nullish().catch(undefined),
  dhcp4: z.unknown().optional(),
  dhcp6: z.unknown().optional(),
  'accept-ra': z.unknown().optional(),
  addresses: z.unknown().optional(),
  nameservers: z.unknown().optional(),
  gateway4: z.unknown().optional(),
  gateway6: z.unknown().optional(),
  routes: z.unknown().optional(),
  'routing-policy': z.unknown().optional(),
  'activation-mode': z.unknown().optional(),
});

type Ethernet = z.infer<typeof anyEthernet> | null | undefined;

/** Bond, bridge, VLAN or VRF, with members or lower link. */
const anyUpper = z.looseObject({
  interfaces: z.array(z.string()).nullish(),
  link: z.string().nullish(),
});

type Upper = z.infer<typeof anyUpper> | null | undefined;

const uppers = z.record(z.string(), anyUpper.nullish()).nullish();

/** Parts of any netplan document naming configured NICs. */
export const anyDocument = z.object({
  network: z.looseObject({
    ethernets: z.record(z.string(), anyEthernet.nullish()).nullish(),
    bonds: uppers,
    bridges: uppers,
    vlans: uppers,
    vrfs: uppers,
  }),
});

/** Returns a definition's NICs. A match by driver, or an empty match, may be about any NIC. */
export function matchOf(id: string, nic: Ethernet): NonNullable<Stanza['nics']> {
  const match = nic?.match;
  const macs = [match?.macaddress, nic?.macaddress].flatMap((mac) => mac?.toLowerCase() ?? []);
  if (!match) return { macs, names: [id] };
  return { macs, names: match.macaddress ? [] : [match.name ?? '*'].flat() };
}

/** Returns the links below a bond, bridge, VLAN or VRF, by name or id. */
export function membersOf(upper: Upper): string[] {
  return [...(upper?.interfaces ?? []), upper?.link].flatMap((name) => name || []);
}

/** Returns the definitions, each with the option for the NIC's addresses. */
export function stanzasOf(
  { ethernets, ...kinds }: z.infer<typeof anyDocument>['network'],
  text: string,
): Stanza[] {
  const { bonds, bridges, vlans, vrfs } = kinds;
  const lines = text.split('\n');
  return [
    ...Object.entries(ethernets ?? {}).map(([id, nic]) => ({
      ...ethernetStanza(id, nic),
      ...lineOf(id, lines),
    })),
    ...Object.entries({ bonds, bridges, vlans, vrfs }).flatMap(([kind, all]) =>
      Object.entries(all ?? {}).map(
        ([id, upper]): Stanza => ({
          section: `${kind}.${id}.${upper?.link ? 'link' : 'interfaces'}`,
          nics: { macs: [], names: membersOf(upper) },
          upper: true,
        }),
      ),
    ),
  ];
}

function lineOf(id: string, lines: readonly string[]): Pick<Stanza, 'line'> {
  const at = lines.findIndex((line) => line.trim().replaceAll(/["']/g, '').startsWith(`${id}:`));
  return at < 0 ? {} : { line: at + 1 };
}

function ethernetStanza(id: string, nic: Ethernet): Stanza {
  const option = leasing.find((key) => isTrue(nic?.[key]));
  const fixed = Array.isArray(nic?.addresses) && nic.addresses.length > 0 ? 'addresses' : undefined;
  const field = option ?? fixed;
  const servers = z.object({ addresses: z.array(z.string()) }).safeParse(nic?.nameservers).data;
  return {
    section: `ethernets.${id}${field ? `.${field}` : ''}`,
    dhcp: option !== undefined,
    ...nameServersIn(servers?.addresses ?? []),
    nics: matchOf(id, nic),
    id,
    ...fixedOf(nic),
    ...offIn(nic),
  };
}

function offIn(nic: Ethernet): Pick<Stanza, 'off'> {
  const mode = nic?.['activation-mode'];
  return mode === 'off' || mode === 'manual' ? { off: 'activation-mode' } : {};
}

const leasing = ['dhcp4', 'dhcp6', 'accept-ra'] as const;

/** YAML 1.1 has more words for true than 1.2. */
export function isTrue(value: unknown): boolean {
  return value === true || /^(true|yes|on|y)$/i.test(String(value));
}
