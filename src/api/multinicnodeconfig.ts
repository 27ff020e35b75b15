import * as z from 'zod';
import { appliedRecord } from './applied-record.ts';
import { conditions } from './condition.ts';
import { existingConfiguration, foundConfiguration } from './found-configuration.ts';
import type { ObjectMeta } from './object-meta.ts';
import { text, time } from './schema-fields.ts';

/** Type of the condition that is present, and Unknown, while the node has not been ready for five minutes. */
export const nodeReadyType = 'NodeReady';

const macPattern = /^([0-9A-Fa-f]{2}:){5}([0-9A-Fa-f]{2})$/;

const route = z.object({
  to: z.string().max(64).describe('Destination network, such as 10.9.0.0/16.'),
  via: z.string().max(64).optional().describe('Next hop; without it the route has scope link.'),
  metric: z.int32().min(0).optional().describe('Route metric; default 100 + index of the NIC.'),
});

export const routing = z.enum(['isolated', 'pbr', 'main']);

export type Routing = z.infer<typeof routing>;

/**
 * Permitted work on a node. `Observe`: agents only check the node, nothing is applied or removed. Absent:
 * Apply.
 */
export const nodeConfigMode = z.enum(['Apply', 'Observe']);

/** Subnet on a port beside the main address's subnet. */
const furtherSubnet = z.object({
  cidr: z.string().max(64).describe('Network of the subnet, such as 10.1.0.0/24.'),
  gateway: z.string().max(64).optional().describe('Gateway of the subnet, if it has one.'),
  routes: z
    .array(route)
    .max(64)
    .optional()
    .describe('Host routes of the subnet.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
});

/**
 * NIC entry in an object, in the loosest form from deployed writers; `acceptInterface` decides whether the entry is
 * usable.
 */
export const interfaceSpec = z.object({
  id: z
    .int32()
    .min(0)
    .optional()
    .describe('Index of the NIC, 0-based; default: the number in name.'),
  name: z
    .string()
    .regex(/^multinic[0-9]+$/)
    .max(15)
    .optional()
    .describe('Kernel name of the NIC, multinic0 to multinic9.'),
  portId: z
    .string()
    .max(64)
    .optional()
    .describe('Neutron port id; the NIC name belongs to the port.'),
  macAddress: z
    .string()
    .regex(macPattern)
    .max(17)
    .describe('MAC address of the port, in colon form; how the node finds the NIC.'),
  address: z.string().max(64).optional().describe('IPv4 address of the NIC, without prefix.'),
  cidr: z
    .string()
    .max(64)
    .optional()
    .describe('Subnet of address: network form 10.0.0.0/24 or host form 10.0.0.10/24.'),
  mtu: z.int32().min(68).max(65_535).optional().describe('MTU of the network in bytes.'),
  addresses: z
    .array(z.string().max(64))
    .max(32)
    .optional()
    .describe('All addresses of the NIC as ip/prefix, IPv4 and IPv6.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  gateway: z.string().max(64).optional().describe('Gateway of the subnet, if it has one.'),
  routes: z
    .array(route)
    .max(64)
    .optional()
    .describe('Further routes through this NIC.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  subnets: z
    .array(furtherSubnet)
    .max(32)
    .optional()
    .describe(
      'Further subnets of the NIC that have a gateway or routes; the first gateway of each address family is used.',
    )
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  networkId: z.string().max(64).optional().describe('Neutron network id.'),
  subnetId: z.string().max(64).optional().describe('Neutron subnet id of address.'),
  routing: routing
    .optional()
    .describe('How traffic of the NIC is routed; default pbr: by its own table and rules.'),
});

export type InterfaceSpec = z.infer<typeof interfaceSpec>;

export const nodeConfigSpec = z.object({
  providerId: z.string().max(253).optional().describe('Business cluster (x-provider-id).'),
  nodeName: z.string().max(253).describe('Kubernetes node name as OpenStack knows it.'),
  instanceId: z
    .string()
    .max(64)
    .optional()
    .describe('Nova server id; the node is the one whose systemUUID equals it.'),
  specHash: z
    .string()
    .max(128)
    .optional()
    .describe('sha256 of the canonical JSON of nodeName, instanceId and interfaces.'),
  interfaces: z
    .array(interfaceSpec)
    .max(64)
    .optional()
    .describe('NICs of the node; empty: MultiNIC manages no NIC on this node.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  mode: nodeConfigMode
    .optional()
    .describe(
      'Apply (default), or Observe: the node is only checked, nothing is changed on it. Outside specHash.',
    ),
  existingConfiguration: existingConfiguration
    .optional()
    .describe(
      'Refuse (default), or Adopt: takes over existing configuration of the NICs. A later Refuse changes nothing on adopted NICs. Outside specHash.',
    ),
});

export type NodeConfigSpec = z.infer<typeof nodeConfigSpec>;

export const interfaceStatus = z.object({
  name: z.string().max(64).optional().describe('Current or planned kernel name of the NIC.'),
  interfaceIndex: z.int().optional().describe('Position of the entry in spec.interfaces.'),
  id: z.int().optional().describe('Index of the NIC.'),
  portId: z.string().max(64).optional().describe('Neutron port id.'),
  macAddress: z.string().max(64).optional().describe('MAC address.'),
  address: z.string().max(64).optional().describe('IPv4 address.'),
  addresses: z
    .array(z.string().max(64))
    .max(32)
    .optional()
    .describe('All addresses as ip/prefix, where there are more than address.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  cidr: z.string().max(64).optional().describe('Subnet of the address.'),
  mtu: z.int().optional().describe('MTU in bytes.'),
  status: z
    .string()
    .max(64)
    .optional()
    .describe('Pending, InProgress, Configured, Failed or Observed.'),
  reason: z.string().max(1024).optional().describe('One word; see the table of reasons.'),
  actualState: z.string().max(64).optional().describe('Written only by the legacy controller.'),
  message: z.string().max(4096).optional().describe('What happened and what to do.'),
  code: z.string().max(32).optional().describe('Which case of the reason the message describes.'),
  args: z.string().max(60).optional().describe('Values in the message.'),
  lastUpdated: time('When this entry last changed'),
  lastChecked: time('When the NIC was last checked on the node'),
  lastConfigured: time('When the NIC was last configured'),
  carrier: z
    .boolean()
    .optional()
    .describe('Whether the link had a carrier at the last agent run; absent: unknown.'),
  found: foundConfiguration
    .optional()
    .describe('Configuration of the NIC by other programs, as the last check found it.'),
});

export type InterfaceStatus = z.infer<typeof interfaceStatus>;

/** NIC in the host's own record; its name is kept even if the spec entry is lost. */
export const knownInterface = z.object({
  id: z.int().min(0).max(9).describe('Index of the NIC on the host.'),
  macAddress: z.string().max(64).describe('MAC address.'),
  portId: z.string().max(64).optional().describe('Neutron port id, if the host has recorded one.'),
});

export type KnownInterface = z.infer<typeof knownInterface>;

/** Maximum length for the addresses in a summary. */
export const nicSummaryBytes = 512;

/** A spec's entries plus equally many NICs that leave the node. */
export const maxInterfaceStatuses = 128;

export const nodeConfigState = z.enum([
  'Pending',
  'InProgress',
  'Configured',
  'Failed',
  'Observed',
]);

export const nodeConfigStatus = z.object({
  state: nodeConfigState.optional().describe('Summary for people; programs read conditions.'),
  summary: z
    .object({
      nics: text('NICs that are configured, of the NICs in the spec: 2/3.', 32),
      addresses: text('Addresses of the configured NICs, separated by commas.', nicSummaryBytes),
    })
    .optional()
    .describe('Texts for the columns of kubectl get; programs read interfaceStatuses.'),
  observedGeneration: z.int().optional().describe('Generation this status is about.'),
  observedSpecHash: z.string().max(128).optional().describe('specHash this status is about.'),
  lastProcessed: time('When the node was last processed'),
  lastJobName: z.string().max(253).optional().describe('Last agent Job of this node.'),
  lastUpdated: time('When this status last changed'),
  lastInterfaceCheck: time('When the NICs were last checked'),
  nodeReady: z.boolean().optional().describe('Whether the Kubernetes node is Ready.'),
  conditions: conditions.optional().describe('Ready, Reconciling, Stalled, Accepted, Applied, …'),
  interfaceStatuses: z
    .array(interfaceStatus)
    .max(maxInterfaceStatuses)
    .optional()
    .describe('One entry per NIC, including a removed NIC until it leaves the node.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  knownInterfaces: z
    .array(knownInterface)
    .max(20)
    .optional()
    .describe('NICs that the host recorded as managed by MultiNIC at the last agent run.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  heldRemovals: z
    .object({
      uid: text('uid of the object.', 64),
      generation: z.int().optional().describe('Generation whose removals wait.'),
      code: text('OverBudget, NotCounted, SideEffect or NotKnownYet.', 32),
      macs: z
        .array(z.string().max(17))
        .max(20)
        .optional()
        .describe('MAC addresses of the NICs that stay.')
        .meta({ 'x-kubernetes-list-type': 'atomic' }),
      since: time('When the removals were held'),
      allowRemovals: text(
        'Value of the annotation multinic.io/allow-removals when they were held: only another value is consent.',
        64,
      ),
      consent: z
        .object({ value: text('Value of the annotation.', 64), at: time('When it was first seen') })
        .optional()
        .describe(
          'Consent by the annotation; it ends after an hour unless an agent run is queued.',
        ),
    })
    .optional()
    .describe('Removals that wait for consent.'),
  applied: appliedRecord.optional().describe('Record of the last agent run.'),
  rolloutContinued: z
    .object({
      value: text('Value of the annotation.', 64),
      at: time('When the controller handled the value, by the clock of the controller'),
      until: time(
        'The latest failure at that time, if the clock that recorded the failure is ahead',
      ),
    })
    .optional()
    .describe('The annotation multinic.io/rollout-continue that was handled last.'),
});

export type NodeConfigStatus = z.infer<typeof nodeConfigStatus>;

/** One node's NICs in the business cluster; `metadata.name` is the node name posted to Viola. */
export interface MultiNicNodeConfig {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly spec: NodeConfigSpec;
  readonly status?: NodeConfigStatus;
}
