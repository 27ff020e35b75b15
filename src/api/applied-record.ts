import * as z from 'zod';
import { existingConfiguration } from './found-configuration.ts';
import { removalBasis } from './removals.ts';
import { text, time } from './schema-fields.ts';

const removedMac = z.string().max(17).describe('MAC address of the NIC.');

/** NIC whose removal was allowed before the agent run started. */
const allowedRemoval = z.object({
  mac: removedMac,
  basis: removalBasis.describe('Why the NIC may leave: evidence, consent or named.'),
  counts: z
    .boolean()
    .optional()
    .describe(
      'Whether evidence counts in the budget, because the link was present on a Ready node.',
    ),
});

/** Maximum removals in a record. */
export const maxRemoved = 200;

/** Limits for `shared`: number of keys, key length, value length. */
export const maxShared = 200;
export const maxSharedText = { key: 80, value: 32 } as const;

/**
 * Record of the last agent run, written only by our controller. All fields are optional: a record in an unknown form
 * counts as missing, and the node is applied again.
 */
export const appliedRecord = z.object({
  objectUid: text(
    'uid of the object that the agent run was for; the record is valid for no other object.',
    64,
  ),
  action: text(
    'apply, cleanup or, if in mode Observe agents have only checked the node, check.',
    16,
  ),
  content: text('Hash of the requested NICs.', 64),
  nodeName: text('Kubernetes node that the agent ran on.'),
  nodeUid: text('uid of that Node.', 64),
  machineId: text('machineID that the Node reported.', 64),
  bootId: text('bootID of the Node at the last agent run or check.', 64),
  readySince: text('Start of the Ready period of the Node at that time.', 64),
  checkAsked: text('Value of the annotation multinic.io/check at that time.', 64),
  healAsked: text('Value of the annotation multinic.io/heal at that time.', 64),
  checkedAt: time('When a check last compared the node with this record'),
  checkedContent: text(
    'Hash of the requested NICs and the machine at the last check in mode Observe.',
    64,
  ),
  job: text('Name of the agent Job.'),
  attempt: z.int().optional().describe('Number of the attempt.'),
  worked: z
    .int()
    .optional()
    .describe('Number of the last successful attempt before this one with the same content.'),
  protocol: z.int().optional().describe('Protocol version of the request to the agent.'),
  version: text('Version of the controller that started the agent.', 64),
  at: time('When the Job was created or, after its end, when the controller observed the end'),
  done: z
    .boolean()
    .optional()
    .describe('Whether the agent applied everything; absent: the outcome is unknown.'),
  undone: z
    .boolean()
    .optional()
    .describe(
      'A later agent run changed the node for another object: this record is no longer in force.',
    ),
  macs: z
    .array(z.string().max(17))
    .max(20)
    .optional()
    .describe('MAC addresses of the applied NICs.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  shared: z
    .record(z.string().max(maxSharedText.key), z.string().max(maxSharedText.value))
    .optional()
    .describe(
      'Applied settings: per subnet (its Neutron id, or its network) a hash of gateway and routes, with /routing its routing mode unless it is pbr; per Neutron network a hash of the MTU, which is part of the hash of the subnet for NICs without networkId.',
    )
    .meta({ maxProperties: maxShared }),
  nics: z
    .record(z.string().max(17), z.string().max(16))
    .optional()
    .describe(
      'Hash of the requested content per NIC, by MAC address; followed by ! if the last agent run with the NIC failed for it.',
    )
    .meta({ maxProperties: 40 }),
  requested: z
    .array(z.string().max(17))
    .max(40)
    .optional()
    .describe(
      'MAC addresses that agent runs for this object requested and that may be on the node; other NICs there are not its own.',
    )
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  allowedRemovals: text('Value of the annotation multinic.io/allow-removals at that time.', 64),
  knownFrom: z
    .object({
      uid: text('uid of the object that the agent run was for.', 64),
      job: text('Name of the agent Job.'),
    })
    .optional()
    .describe(
      'Agent run that reported knownInterfaces; for an object with another uid the list is unread.',
    ),
  basis: z
    .object({
      content: text('Action and hash of the requested NICs.', 96),
      generation: z.int().optional().describe('Generation of the object.'),
      at: time('When the agent run was queued'),
      removals: z
        .array(allowedRemoval)
        .max(20)
        .optional()
        .describe('NICs, with the basis of their removal.')
        .meta({ 'x-kubernetes-list-type': 'atomic' }),
      used: z
        .boolean()
        .optional()
        .describe(
          'A run has succeeded or the node drifted since: the removals are allowed no more.',
        ),
    })
    .optional()
    .describe('NICs that runs with this content may remove; it holds for their retries.'),
  removed: z
    .array(
      z.object({
        ...allowedRemoval.shape,
        at: time('When the agent run was started'),
        node: text('Kubernetes node that lost the NIC, if it is not the node of this record.'),
      }),
    )
    .max(maxRemoved)
    .optional()
    .describe('Removals started within the last hour; those by named acts count in the budget.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  revision: text(
    'Revision of the rollout: source with generation, and agent image. Earlier versions add a hash of the changed settings.',
    128,
  ),
  rollout: text(
    'For a run that the rollout budget counts: started, done, or failed for a NIC that was configured before.',
    16,
  ),
  failedBefore: z
    .boolean()
    .optional()
    .describe(
      'Whether the agent run before a run that the rollout budget counts had failed: a failure then does not stop the rollout.',
    ),
  settings: z
    .array(
      z.object({
        key: text(
          'Key in shared, /routing for the routing mode, or /existingConfiguration.',
          maxSharedText.key,
        ),
        value: text('Hash as in shared, the routing mode, or Adopt.', maxSharedText.value),
        rollout: text('As rollout, for the NICs with this setting.', 16),
        at: time('When the first run with the setting was started'),
        failedBefore: z.boolean().optional().describe('As failedBefore.'),
        macs: z
          .array(z.string().max(17))
          .max(20)
          .optional()
          .describe('MAC addresses of the NICs that the run changed, until it is done.')
          .meta({ 'x-kubernetes-list-type': 'atomic' }),
      }),
    )
    .max(maxShared)
    .optional()
    .describe('Changed settings in shared, each with a rollout of its own.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  existingConfiguration: existingConfiguration
    .optional()
    .describe(
      'Adopt: the request to the agent had the consent to adopt existing configuration; absent: it had none, or the agent is too old for it.',
    ),
  reasons: z
    .array(z.string().max(64))
    .max(20)
    .optional()
    .describe(
      'Why the agent did not apply everything; the reasons decide when the next attempt starts.',
    )
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  family: text('Network manager that the agent run was for.', 16),
  foundFamily: text('Network manager that the agent found on the host, if different.', 16),
  triedFamilies: z
    .array(z.string().max(16))
    .max(8)
    .optional()
    .describe('Network managers that earlier agent runs tried without success, in order.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  hostFence: z
    .object({
      uid: text('uid of the object.', 64),
      generation: z.int().optional().describe('Generation of the object.'),
    })
    .optional()
    .describe(
      'The newest object state that the host has recorded; set when the host refused an older one.',
    ),
});
