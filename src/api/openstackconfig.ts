import * as z from 'zod';
import { conditions } from './condition.ts';
import { existingConfiguration } from './found-configuration.ts';
import { nodeConfigMode, routing } from './multinicnodeconfig.ts';
import type { ObjectMeta } from './object-meta.ts';
import { text, time } from './schema-fields.ts';

const duration = (what: string) =>
  z.string().max(32).optional().describe(`${what}, as a Go duration such as 30s or 2m.`);
const flag = (what: string) => z.boolean().optional().describe(what);
const atomic = { 'x-kubernetes-list-type': 'atomic' };

const credentials = z
  .object({
    openstackProviderID: text('Contrabass id of the OpenStack provider.'),
    k8sProviderID: text('Business cluster the nodes belong to (x-provider-id).'),
    projectID: text('OpenStack project (tenant) of the servers.', 64),
    authURL: text('Direct form: Keystone URL.', 2048),
    username: text('Direct form: user name.'),
    password: text('Direct form: password; prefer secretRef.', 1024),
    domainName: text('Direct form: domain of user and project.'),
    networkEndpoint: text('Direct form: Neutron URL, instead of the catalog.', 2048),
    computeEndpoint: text('Direct form: Nova URL, instead of the catalog.', 2048),
    secretRef: z
      .object({ name: z.string().max(253).describe('Name of the Secret.') })
      .optional()
      .describe('Secret in the same namespace with a clouds.yaml.'),
  })
  .describe('How to reach the cloud: through Contrabass, directly, or by a Secret.');

const addressFamily = z.enum(['IPv4', 'IPv6']);

export type AddressFamily = z.infer<typeof addressFamily>;

export const settings = z
  .object({
    contrabassEndpoint: text('Base URL of the Contrabass API.', 2048),
    contrabassEncryptKey: text('Plain key; prefer secrets.contrabassEncryptKeySecretRef.', 64),
    contrabassTimeout: duration('Timeout of a Contrabass call (default 30s, at most 5m)'),
    contrabassInsecureTLS: flag('Do not verify the certificate of Contrabass (default false).'),
    violaEndpoint: text('Base URL of the Viola API.', 2048),
    openstackTimeout: duration('Timeout of an OpenStack call (default 30s, at most 5m)'),
    openstackInsecureTLS: flag('Do not verify certificates of OpenStack (default false).'),
    openstackNeutronEndpoint: text('Neutron URL, instead of the catalog.', 2048),
    openstackNovaEndpoint: text('Nova URL including /v2.1, instead of the catalog.', 2048),
    openstackEndpointInterface: text('Catalog interface: public (default), internal, admin.', 16),
    openstackEndpointRegion: text(
      'Catalog region; default: the only one that has both Neutron and Nova.',
    ),
    openstackNodeNameMetadataKey: text('Server metadata key that holds the node name.'),
    openstackPortAllowedStatuses: z
      .array(z.string().max(32))
      .max(16)
      .optional()
      .describe('Port statuses to deliver (default ACTIVE, DOWN); * is all.')
      .meta(atomic),
    downPortFastRetryMax: z
      .int32()
      .optional()
      .describe('Fast polls of DOWN ports before slow polling (default 5).'),
    pollFastInterval: duration('Poll interval after a change (default 20s)'),
    pollSlowInterval: duration('Poll interval when nothing changes (default 2m)'),
    pollErrorInterval: duration('Poll interval after a failure (default 30s)'),
    pollFastWindow: duration('How long polling stays fast after a change (default 3m)'),
    portBaseline: text('CreatedAfterConfig (default), All, or an RFC 3339 time.', 64),
    deletionPolicy: z
      .enum(['Ask', 'Delete', 'Retain'])
      .optional()
      .describe(
        'What happens to NICs when this object is deleted. Ask (default): they are removed, above the budget of removals after consent. Delete: consent in advance. Retain: they stay.',
      ),
    maxInterfaces: z.int32().min(1).max(10).optional().describe('NICs per node (default 10).'),
    routing: routing.optional().describe('How traffic of the NICs is routed (default pbr).'),
    addressFamilies: z
      .array(addressFamily)
      .max(2)
      .optional()
      .describe('Address families to configure (default IPv4).')
      .meta(atomic),
    violaCompatibility: z
      .enum(['native', 'legacy'])
      .optional()
      .describe(
        'Which Viola answers (default native). legacy: the operator posts only for providers of its setting LEGACY_VIOLA_PROVIDERS.',
      ),
    mode: nodeConfigMode
      .optional()
      .describe(
        'Apply (default), or Observe: nodes are only checked, and the status shows what an apply would change. Not with violaCompatibility legacy.',
      ),
    existingConfiguration: existingConfiguration
      .optional()
      .describe(
        'What to do with NICs that other programs configured already: Refuse (default), or Adopt: take their configuration over. Adopted NICs stay so after a later Refuse.',
      ),
  })
  .describe('Endpoints, timeouts and rules; each overrides the configuration of the operator.');

export const openstackConfigSpec = z.object({
  subnetIDs: z
    .array(z.string().max(64))
    .max(64)
    .optional()
    .describe('Subnets whose ports become NICs; wins over subnetID and subnetName.')
    .meta(atomic),
  subnetID: text('One subnet by id; wins over subnetName.', 64),
  subnetName: text('One subnet by name; must be unique in the project.', 255),
  vmNames: z
    .array(z.string().max(255))
    .max(2000)
    .optional()
    .describe('Server UUIDs; anything else is an exact server name that must match one server.')
    .meta(atomic),
  vmSelector: z
    .object({
      metadata: z
        .record(z.string(), z.string().max(255))
        .optional()
        .describe('Metadata keys and values that a server must carry.'),
      tags: z
        .array(z.string().max(60))
        .max(50)
        .optional()
        .describe('Tags that a server must carry.')
        .meta(atomic),
    })
    .optional()
    .describe('Selects servers without listing them.'),
  credentials,
  settings: settings.optional(),
  secrets: z
    .object({
      contrabassEncryptKeySecretRef: z
        .object({
          name: z.string().min(1).max(253).describe('Name of the Secret.'),
          key: z.string().min(1).max(253).describe('Key in the Secret.'),
        })
        .optional()
        .describe('AES key for passwords from Contrabass.'),
    })
    .optional()
    .describe('Secrets in the namespace of this object.'),
});

export type OpenstackConfigSpec = z.infer<typeof openstackConfigSpec>;
export type OpenstackConfigSettings = z.infer<typeof settings>;

const count = (what: string) => z.int32().optional().describe(what);

export const openstackConfigStatus = z.object({
  observedGeneration: z.int().optional().describe('Generation this status is about.'),
  conditions: conditions.optional().describe('Ready, Degraded, Reconciling, Delivered, …'),
  lastSyncedAt: time('Last successful sync'),
  lastError: z.string().max(4096).optional().describe('Last failure; empty after a success.'),
  summary: z
    .object({
      servers: count('Servers selected.'),
      nodes: count('Nodes with at least one NIC.'),
      interfaces: count('NICs delivered.'),
      nics: text(
        'NICs configured on their nodes, of the planned NICs, such as 2/3; ?/3 with a legacy Viola.',
        32,
      ),
      filteredPorts: count('Ports with an address in a selected subnet that are not NICs.'),
    })
    .optional()
    .describe('Counts of the last sync.'),
  nodes: z
    .array(
      z.object({
        name: text('Node name.'),
        instanceId: text('Server id.', 64),
        interfaces: count('NICs of the node.'),
        state: text('State of its MultiNicNodeConfig; Unknown with a legacy Viola.', 64),
        reason: text('One word; see the table of reasons.', 1024),
        message: text('Problem of the node and what to do, for people.', 1024),
      }),
    )
    .max(20)
    .optional()
    .describe('The nodes that need attention most, at most 20.')
    .meta(atomic),
  unusedPorts: z
    .array(
      z.object({
        portId: text('Neutron port id.', 64),
        serverId: text('Server that the port is attached to.', 64),
        address: text('Its address in a selected subnet.', 64),
        reason: text('Why the port is not a NIC; see the table of reasons.', 64),
        message: text('The reason with its values, and what to do, for people.', 1024),
      }),
    )
    .max(20)
    .optional()
    .describe('Ports with an address in a selected subnet that are not NICs, at most 20.')
    .meta(atomic),
  deliveredTo: z
    .array(z.string().max(253))
    .max(256)
    .optional()
    .describe('Business clusters (k8sProviderID) that have, or may have, nodes of this object.')
    .meta(atomic),
  downPortRetry: z
    .object({
      hash: text('sha256 of the sorted ids of the DOWN ports.', 128),
      lastAttempt: time('Last poll of the DOWN ports'),
      fastAttempts: count('Number of fast polls so far.'),
    })
    .optional()
    .describe('Fast polls of DOWN ports.'),
  lastHandledReconcileAt: text('Last value of the annotation multinic.io/reconcile-at.', 253),
  lastAttempt: z
    .object({
      reconcileAt: text('Value of the annotation multinic.io/reconcile-at at its start.', 253),
      at: time('End of the attempt'),
      nextAt: time('Next attempt without a new cause'),
    })
    .optional()
    .describe('Last attempt to sync, also a failed one.'),
  lastHandledAllowRemovals: text('Last value of the annotation multinic.io/allow-removals.', 253),
  lastHandledCheckNodes: text(
    'Id of the last request in the annotation multinic.io/check-nodes; unusable …: its JSON cannot be used.',
    253,
  ),
  openAllowRemovals: z
    .object({
      value: text('Value of the annotation.', 253),
      since: time('First sync with it'),
      until: time('When the consent ends'),
      nics: count('NICs that wait and that the consent covers.'),
      nodes: count('Nodes of these NICs.'),
    })
    .optional()
    .describe('Consent to removals that still applies, because a read or a delivery failed.'),
  heldRemovals: z
    .object({
      generation: z.int().optional().describe('Generation whose removals wait.'),
      at: time('First sync that held these NICs'),
      digests: text(
        'NICs that wait for consent: 8 hex digits for each, from business cluster, server or object, and MAC; above 2,500 NICs = and a sha256 for each business cluster.',
        20_000,
      ),
      overBudget: flag(
        'NICs are held above a budget: further removals of this generation wait, too.',
      ),
    })
    .optional()
    .describe('Removals that wait for consent: a consent covers exactly these NICs.'),
  withdrawal: z
    .object({
      uid: text('uid of the object.', 64),
      generation: z.int().optional().describe('Generation of its deletion.'),
    })
    .optional()
    .describe('Deletion whose removals have started: they go on.'),
  removals: z
    .array(
      z.object({
        at: time('When the removals were sent'),
        nics: count('NICs.'),
        nodes: count('Nodes that lost them.'),
      }),
    )
    .max(20)
    .optional()
    .describe('Removals of the last hour that count in the budget.')
    .meta(atomic),
});

export type OpenstackConfigStatus = z.infer<typeof openstackConfigStatus>;

/** Selects subnets and servers whose ports become NICs in a business cluster; lives in the management cluster. */
export interface OpenstackConfig {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly spec: OpenstackConfigSpec;
  readonly status?: OpenstackConfigStatus;
}
