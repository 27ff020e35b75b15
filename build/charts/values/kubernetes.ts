import * as z from 'zod';
import { text } from './describe.ts';

// Objects from the Kubernetes API that the charts pass on.

const quantity = z.union([
  z.string().regex(/^\d+(\.\d+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/),
  z.number().min(0),
]);

/** Quantities by resource name. */
const amounts = z.strictObject({
  cpu: quantity.optional(),
  memory: quantity.optional(),
  'ephemeral-storage': quantity.optional(),
});

interface Resources {
  readonly requests: z.infer<typeof amounts>;
  readonly limits: z.infer<typeof amounts>;
}

export function resources(value: Resources, description: string) {
  const schema = z.strictObject({ requests: amounts.optional(), limits: amounts.optional() });
  return schema.describe(description).default(value);
}

const toleration = z.strictObject({
  key: z.string().optional(),
  operator: z.enum(['Equal', 'Exists']).optional(),
  value: z.string().optional(),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
  tolerationSeconds: z.int().optional(),
});

export const tolerations = z
  .array(toleration)
  .describe('Taints of nodes that are put up with.')
  .default([]);

const selector = z.strictObject({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z
    .array(
      z.strictObject({
        key: text(),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: z.array(z.string()).optional(),
      }),
    )
    .optional(),
});

const peer = z.strictObject({
  ipBlock: z.strictObject({ cidr: text(), except: z.array(text()).optional() }).optional(),
  namespaceSelector: selector.optional(),
  podSelector: selector.optional(),
});

type Peer = z.infer<typeof peer>;

/** Peers of a NetworkPolicy rule. */
export function peers(value: readonly Peer[], description: string) {
  return z
    .array(peer)
    .describe(description)
    .default([...value]);
}

const port = z.int().min(1).max(65_535);

export function ports(value: readonly number[], description: string) {
  return z
    .array(port)
    .min(1)
    .describe(description)
    .default([...value]);
}

export const pullSecrets = z.array(z.strictObject({ name: text() }));
