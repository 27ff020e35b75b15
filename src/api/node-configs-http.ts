import * as z from 'zod';
import { shownClusterNetwork } from './cluster-networks.ts';
import { existingConfiguration } from './found-configuration.ts';
import {
  interfaceSpec,
  nodeConfigMode,
  nodeConfigSpec,
  nodeConfigStatus,
} from './multinicnodeconfig.ts';
import { removalLists } from './removal-consent.ts';

/** Viola's HTTP bodies: `/v1/k8s/multinic/node-configs`. */
export const nodeConfigsPath = '/v1/k8s/multinic/node-configs';
/** Server-side dry run, with the POST's body and answer. An earlier Viola answers 404. */
export const dryRunPath = `${nodeConfigsPath}/dry-run`;
export const clustersPath = '/v1/k8s/clusters';
export const providerHeader = 'x-provider-id';
/** `Prefer: multinic-results`: the caller reads per-node results behind a 200. */
export const resultsPreference = 'multinic-results';

/**
 * Time after a POST's start when no more writes can happen: Viola sends writes for 25 s, and API servers abort each
 * write after 15 s.
 */
export const postOverAfterMs = 40_000;

/** MultiNicNodeConfig state that a plan was computed against. */
export const base = z.object({
  uid: z.string().min(1).max(64).describe('metadata.uid of the object.'),
  generation: z.int().min(1).describe('metadata.generation of the object.'),
});

export const source = z.object({
  namespace: z.string().max(63).describe('Namespace of the OpenstackConfig.'),
  name: z.string().max(253).describe('Name of the OpenstackConfig.'),
  uid: z.string().max(64).describe('Its uid.'),
  generation: z.int().min(0).describe('Its generation.'),
  cluster: z
    .string()
    .max(64)
    .optional()
    .describe('Management cluster: uid of its Namespace kube-system.'),
  cloud: z
    .string()
    .max(512)
    .optional()
    .describe(
      "Cloud and project: host:port of Keystone in lower case, a slash, and the project's id.",
    ),
  replaces: z
    .array(z.string().max(64))
    .max(16)
    .optional()
    .describe('uids of earlier OpenstackConfigs with this name that wrote the object.'),
});

/**
 * Posted node. `base: null` means create only; without `base` the last write wins, unless the object is fenced.
 * Interfaces are parsed loosely and then validated one by one: the legacy operator omits `id` 0 and unknown `mtu`,
 * and sends fields that are not stored.
 */
export const postedNode = z.object({
  nodeName: z.string().max(253).describe('Kubernetes node name.'),
  instanceId: z.string().max(64).optional().describe('Nova server id.'),
  interfaces: z.array(z.looseObject(interfaceSpec.shape)).max(64).optional(),
  base: base
    .nullable()
    .optional()
    .describe('Fence: the node is refused when the object has changed since.'),
  source: source.optional().describe('OpenstackConfig this node comes from.'),
  mode: nodeConfigMode
    .optional()
    .describe(
      'Observe: the object gets spec.mode Observe and the annotation multinic.io/paused, so that no controller changes the node. Absent: both are removed.',
    ),
  existingConfiguration: existingConfiguration
    .optional()
    .describe(
      'Adopt: the object gets spec.existingConfiguration Adopt. Refuse, or absent: the field is removed.',
    ),
  removals: removalLists
    .optional()
    .describe(
      'With base: NICs that may leave the node, and why. Any other removal is a named act.',
    ),
  removalsAllowed: z
    .boolean()
    .optional()
    .describe(
      'With base and without removals: a user consented to the removal of all NICs that are missing here. With removals it is for an earlier Viola.',
    ),
});

export type PostedNode = z.infer<typeof postedNode>;
export type Base = z.infer<typeof base>;
export type Source = z.infer<typeof source>;

// Each node is validated separately, so that a malformed node does not block the others.
export const postedNodes = z
  .array(z.unknown().meta(describedAs(postedNode)))
  .min(1)
  .max(5000);

/** Returns another schema's form for the OpenAPI document. */
function describedAs(schema: z.ZodType) {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'input' });
  return described;
}

/** Headers for calls about one business cluster. */
export const providerHeaders = z.looseObject({
  [providerHeader]: z.string().describe('Id of the business cluster.'),
});

/** Header with the next page's token, empty on the last page; a 304 has no body for the token. */
export const continueHeader = 'x-continue';

export const listHeaders = providerHeaders.extend({
  'if-none-match': z
    .string()
    .max(1024)
    .optional()
    .describe(
      `ETag of an earlier response: 304 without a body while the page has the same items. Both responses have the token of the next page in ${continueHeader}.`,
    ),
});

export const postHeaders = providerHeaders.extend({
  prefer: z
    .string()
    .optional()
    .describe(`${resultsPreference}: the caller reads the results of each node in a 200 response.`),
});

const nodeErrorCode = z.enum([
  'StaleBase',
  'FieldConflict',
  'Fenced',
  'Deleting',
  'Invalid',
  'Forbidden',
  'ClusterUnreachable',
  'Internal',
]);

const nodeResult = z.object({
  nodeName: z.string(),
  status: z.enum(['created', 'updated', 'unchanged']),
  uid: z.string(),
  generation: z.int(),
});

const nodeError = z.object({
  nodeName: z.string(),
  code: nodeErrorCode,
  field: z.string().describe('Path of the field; empty: the error is about no field.'),
  message: z.string().describe('What is wrong and what to do.'),
  args: z.string().optional().describe('Values in the message, as key=value; absent: none.'),
});

export const postAnswer = z.object({
  applied: z.int().describe('Nodes that were accepted.'),
  results: z.array(nodeResult),
  errors: z.array(nodeError),
});

export type NodeErrorCode = z.infer<typeof nodeErrorCode>;
export type NodeResult = z.infer<typeof nodeResult>;
export type NodeError = z.infer<typeof nodeError>;
export type PostAnswer = z.infer<typeof postAnswer>;

/** MultiNicNodeConfig as stored in the business cluster. */
export const existingNodeConfig = z.object({
  nodeName: z.string(),
  uid: z.string(),
  generation: z.int(),
  deletionTimestamp: z.string().optional(),
  source: source.optional().describe('From the annotation multinic.io/source.'),
  labelledInstanceId: z
    .string()
    .optional()
    .describe('From the label multinic.io/instance-id: spec.instanceId as Viola last wrote it.'),
  pausedToObserve: z
    .boolean()
    .optional()
    .describe(
      'True: Viola set the annotation multinic.io/paused for mode Observe. Without spec.mode Observe the CRD of the cluster is older, and only the annotation protects the node. Absent: no.',
    ),
  setToObserve: z
    .boolean()
    .optional()
    .describe('True: Viola set spec.mode Observe, also beside a changed annotation. Absent: no.'),
  setToAdopt: z
    .boolean()
    .optional()
    .describe('True: Viola set spec.existingConfiguration. Absent: no.'),
  spec: nodeConfigSpec,
  status: nodeConfigStatus.optional(),
});

export type ExistingNodeConfig = z.infer<typeof existingNodeConfig>;

/** Existing object in an unreadable form: its NICs and names are unknown. */
const unreadableNode = z.object({
  objectName: z.string().describe('metadata.name of the object.'),
  uid: z.string(),
  generation: z.int(),
  instanceId: z.string().optional().describe('spec.instanceId, if readable.'),
  source: source
    .nullable()
    .optional()
    .describe('From the annotation multinic.io/source; null: no annotation; absent: unknown.'),
  message: z.string().describe('Which field cannot be read, and why.'),
});

export type UnreadableNode = z.infer<typeof unreadableNode>;

export const existingNodeConfigs = z.object({
  items: z.array(existingNodeConfig),
  unreadable: z
    .array(unreadableNode)
    .optional()
    .describe('Existing objects of this page that cannot be read.'),
  observedAt: z.string().describe('When the business cluster was read (RFC 3339).'),
  continue: z.string().optional().describe('Token of the next page.'),
});

export type ExistingNodeConfigs = z.infer<typeof existingNodeConfigs>;

/** Reason for a deletion: evidence shows that the server is gone, so the deletion does not wait for its Node. */
export const deleteReason = z.enum(['server-gone']);

export type DeleteReason = z.infer<typeof deleteReason>;

/**
 * Basis of a deletion (query `basis`, default named). Evidence and consent exempt the object from the budget of
 * removals.
 */
export const deleteBasis = z.enum(['evidence', 'consent', 'named']);

export type DeleteBasis = z.infer<typeof deleteBasis>;

export const deleteAnswer = z.object({ uid: z.string(), generation: z.int() });

/** Request to check a node, and to apply drift if `heal` is true. */
export const checkRequest = z.strictObject({
  id: z
    .string()
    .min(1)
    .max(64)
    .describe('Value for the annotation; a value that the object has already starts no check.'),
  heal: z
    .boolean()
    .optional()
    .describe('true: set multinic.io/heal; else multinic.io/check (default false).'),
});

export type CheckRequest = z.infer<typeof checkRequest>;

export const checkAnswer = z.object({ uid: z.string(), generation: z.int() });

/** Viola features; an earlier Viola ignores the fields without an error. */
export const violaFeature = z.enum(['observe', 'adopt']);

export type ViolaFeature = z.infer<typeof violaFeature>;

export const clusters = z.object({
  items: z.array(
    z.object({
      providerId: z.string(),
      server: z.string(),
      reachable: z.boolean(),
      checkedAt: z.string(),
      message: z.string(),
      rights: z
        .object({
          missing: z.array(z.string()).describe('Rights that Viola needs there and does not have.'),
          checkedAt: z.string(),
        })
        .optional()
        .describe('Rights of the account in the Secret; absent: unknown.'),
      networks: z
        .array(shownClusterNetwork)
        .optional()
        .describe(
          'Networks of Services and Pods that no NIC may overlap, as the controller published them; absent: unknown, or not readable.',
        ),
      supports: z
        .array(z.string().max(32))
        .optional()
        .describe(
          `Features for this cluster, such as ${violaFeature.options.join(', ')}; absent: none.`,
        ),
      uid: z
        .string()
        .optional()
        .describe(
          'uid of the Namespace kube-system, which identifies the cluster; absent: unknown, or not readable.',
        ),
    }),
  ),
  conditions: z
    .array(
      z.object({
        type: z.string(),
        status: z.enum(['True', 'False', 'Unknown']),
        reason: z.string(),
        message: z.string(),
      }),
    )
    .optional()
    .describe('Conditions of Viola itself, such as LegacyListener; absent: none.'),
});

/** RFC 9457 problem details, the body for every error. */
export const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string().describe('One word for programs.'),
  requestId: z.string().optional(),
  errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
});
