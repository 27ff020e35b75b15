import * as z from 'zod';
import { interfaceSpec, nodeConfigSpec, nodeConfigStatus } from './multinicnodeconfig.ts';

/** HTTP bodies of Viola: `/v1/k8s/multinic/node-configs`. */
export const nodeConfigsPath = '/v1/k8s/multinic/node-configs';
export const clustersPath = '/v1/k8s/clusters';
export const providerHeader = 'x-provider-id';
/** A caller that sends `Prefer: multinic-results` reads per-node results behind a 200. */
export const resultsPreference = 'multinic-results';

/**
 * Nothing of a POST is written later than this after Viola began with it: it sends writes for 25 s, and an API server gives
 * each of them up within 15 s.
 */
export const postOverAfterMs = 40_000;

/** State of the MultiNicNodeConfig that a plan was computed against. */
export const base = z.object({
  uid: z.string().min(1).max(64).describe('metadata.uid of the object.'),
  generation: z.int().min(1).describe('metadata.generation of the object.'),
});

export const source = z.object({
  namespace: z.string().max(63).describe('Namespace of the OpenstackConfig.'),
  name: z.string().max(253).describe('Name of the OpenstackConfig.'),
  uid: z.string().max(64).describe('Its uid.'),
  generation: z.int().min(0).describe('Its generation.'),
  replaces: z
    .array(z.string().max(64))
    .max(16)
    .optional()
    .describe('uids of OpenstackConfigs of this name that the object was written for before.'),
});

/**
 * One node of a POST. `base: null` means create only; without `base` the last write wins, unless the object is fenced.
 * Interfaces are read loosely (the deployed operator leaves out `id` 0 and an unknown `mtu`, and sends fields that we do
 * not keep), then checked one by one.
 */
export const postedNode = z.object({
  nodeName: z.string().max(253).describe('Kubernetes node name.'),
  instanceId: z.string().max(64).optional().describe('Nova server id.'),
  interfaces: z.array(z.looseObject(interfaceSpec.shape)).max(64).optional(),
  base: base.nullable().optional().describe('Fence: refuse the node when the object has moved.'),
  source: source.optional().describe('OpenstackConfig this node comes from.'),
  removalsAllowed: z
    .boolean()
    .optional()
    .describe('With base: somebody agreed to the removal of the NICs that are missing here.'),
});

export type PostedNode = z.infer<typeof postedNode>;
export type Base = z.infer<typeof base>;
export type Source = z.infer<typeof source>;

// Each node is checked by itself, so that one of a wrong form does not keep the others from being written.
export const postedNodes = z
  .array(z.unknown().meta(describedAs(postedNode)))
  .min(1)
  .max(5000);

/** How another schema stands in the OpenAPI document. */
function describedAs(schema: z.ZodType) {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'input' });
  return described;
}

/** Headers of a call that is about one business cluster. */
export const providerHeaders = z.looseObject({
  [providerHeader]: z.string().describe('Id of the business cluster.'),
});

/** Header of a list with the token of the next page, empty on the last one: a 304 has it nowhere else. */
export const continueHeader = 'x-continue';

export const listHeaders = providerHeaders.extend({
  'if-none-match': z
    .string()
    .max(1024)
    .optional()
    .describe(
      `ETag of an earlier answer: 304 without a body while the page has the same items. Either answer has the token of the next page in ${continueHeader}.`,
    ),
});

export const postHeaders = providerHeaders.extend({
  prefer: z
    .string()
    .optional()
    .describe(`${resultsPreference}: the caller reads results of nodes behind a 200.`),
});

export const nodeErrorCode = z.enum([
  'StaleBase',
  'FieldConflict',
  'Fenced',
  'Deleting',
  'Invalid',
  'Forbidden',
  'ClusterUnreachable',
  'Internal',
]);

export const nodeResult = z.object({
  nodeName: z.string(),
  status: z.enum(['created', 'updated', 'unchanged']),
  uid: z.string(),
  generation: z.int(),
});

export const nodeError = z.object({
  nodeName: z.string(),
  code: nodeErrorCode,
  field: z.string().describe('Path of the field, empty when it is none.'),
  message: z.string().describe('What is wrong and what to do.'),
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

/** One MultiNicNodeConfig as the business cluster holds it. */
export const existingNodeConfig = z.object({
  nodeName: z.string(),
  uid: z.string(),
  generation: z.int(),
  deletionTimestamp: z.string().optional(),
  source: source.optional().describe('From the annotation multinic.io/source.'),
  labelledInstanceId: z
    .string()
    .optional()
    .describe(
      'From the label multinic.io/instance-id: spec.instanceId as it was written last by Viola.',
    ),
  spec: nodeConfigSpec,
  status: nodeConfigStatus.optional(),
});

export type ExistingNodeConfig = z.infer<typeof existingNodeConfig>;

/** An object that exists and is of no form that can be read: nothing is known about its NICs and names. */
export const unreadableNode = z.object({
  objectName: z.string().describe('metadata.name of the object.'),
  uid: z.string(),
  generation: z.int(),
  instanceId: z.string().optional().describe('spec.instanceId, when that can be read.'),
  source: source
    .nullable()
    .optional()
    .describe('From the annotation multinic.io/source; null = it has none; absent = not known.'),
  message: z.string().describe('Which field cannot be read, and why.'),
});

export type UnreadableNode = z.infer<typeof unreadableNode>;

export const existingNodeConfigs = z.object({
  items: z.array(existingNodeConfig),
  unreadable: z
    .array(unreadableNode)
    .optional()
    .describe('Objects of this page that cannot be read; they are there all the same.'),
  observedAt: z.string().describe('When the business cluster was read (RFC 3339).'),
  continue: z.string().optional().describe('Token of the next page.'),
});

export type ExistingNodeConfigs = z.infer<typeof existingNodeConfigs>;

/** Why a node config is deleted: there is evidence that its server is gone, so that its Node is not waited for. */
export const deleteReason = z.enum(['server-gone']);

export type DeleteReason = z.infer<typeof deleteReason>;

export const deleteAnswer = z.object({ uid: z.string(), generation: z.int() });

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
          missing: z.array(z.string()).describe('What Viola may not do there and has to.'),
          checkedAt: z.string(),
        })
        .optional()
        .describe('Rights of the identity that the Secret holds; absent: not known.'),
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
    .describe('What is to be known of Viola itself, such as LegacyListener; absent: nothing.'),
});

/** RFC 9457 problem details, the body of every error. */
export const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string().describe('One word for programs.'),
  requestId: z.string().optional(),
  errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
});

export type Problem = z.infer<typeof problem>;
