import * as z from 'zod';
import { jsonIn } from '../../api/json.ts';
import type { JobTemplate } from './job.ts';

const quantity = z
  .string()
  .regex(/^\d+(\.\d+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/)
  .or(z.number().min(0).transform(String));

/** Null values are allowed: a later Helm values file removes an earlier value by null. */
const amounts = z
  .strictObject({
    cpu: quantity.nullish(),
    memory: quantity.nullish(),
    'ephemeral-storage': quantity.nullish(),
  })
  .nullish()
  .transform((all) =>
    Object.fromEntries(Object.entries(all ?? {}).filter(([, amount]) => amount != null)),
  )
  .pipe(z.record(z.string(), z.string()));

const resources = z
  .string()
  .transform(jsonIn)
  .pipe(z.strictObject({ requests: amounts, limits: amounts }));

/**
 * Parses requests and limits of the agent container (JSON). A kubelet admits a Pod without requests even on a full
 * node.
 */
export function agentResources() {
  return z
    .string()
    .transform((text, context): JobTemplate['resources'] => {
      const { data } = resources.safeParse(text);
      if (data) return data;
      const example = '{"requests":{"cpu":"10m","memory":"16Mi"},"limits":{"memory":"256Mi"}}';
      context.addIssue(`must be requests and limits of a container as JSON, such as ${example}`);
      return z.NEVER;
    })
    .prefault('{"requests":{"cpu":"0","memory":"0"},"limits":{"memory":"256Mi"}}');
}
