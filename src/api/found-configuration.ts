import * as z from 'zod';

/** What happens to configuration of a requested NIC by other programs: a NIC with it is refused, or taken over. */
export const existingConfiguration = z.enum(['Refuse', 'Adopt']);

export type ExistingConfiguration = z.infer<typeof existingConfiguration>;

/**
 * What `existingConfiguration: Adopt` does to found configuration. `Now`: takes it over at once; `AtBoot`: at the next
 * boot, as the agent has no system bus. All others: the reason against adoption.
 */
export const adoptions = [
  'Now',
  'AtBoot',
  'NodeLink',
  'OtherLinksToo',
  'FileWins',
  'CannotParse',
  'OnlyNameServers',
  'LinkInUse',
  'TurnedOff',
  'NotFromFile',
] as const;

export type Adoption = (typeof adoptions)[number];

/**
 * A NIC's configuration by foreign programs, as found by an agent: the file for the next boot, and the present kernel
 * state. Managed state is left out.
 */
export const foundConfiguration = z.object({
  file: z.string().max(128).optional().describe('File that configures the NIC at the next boot.'),
  section: z
    .string()
    .max(64)
    .optional()
    .describe(
      'Stanza or profile in the file, and its option, such as ethernets.ens4.dhcp4 or a profile name.',
    ),
  dhcp: z
    .boolean()
    .optional()
    .describe('Whether the NIC gets its addresses by DHCP or router advertisements.'),
  addresses: z
    .array(z.string().max(64))
    .max(8)
    .optional()
    .describe('Addresses on the link as ip/prefix, beside the requested ones.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  routes: z
    .array(z.string().max(96))
    .max(8)
    .optional()
    .describe('Routes through the link as "to via", beside the requested ones.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  nameServers: z
    .array(z.string().max(64))
    .max(4)
    .optional()
    .describe('Name servers that the file or the lease sets.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  adoption: z
    .string()
    .max(32)
    .optional()
    .describe(
      'What existingConfiguration: Adopt does: Now, AtBoot (takes effect at the next boot), or the reason against adoption.',
    ),
});

export type FoundConfiguration = z.infer<typeof foundConfiguration>;
