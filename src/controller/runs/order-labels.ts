import * as z from 'zod';
import { jobRequest } from '../../api/job.ts';
import { labelValue } from '../../api/label-value.ts';
import { agentAppName, annotations, labels } from '../../api/names.ts';
import type { Job } from '../../kube/core-resources.ts';
import { keyOf, refOf } from '../../kube/object.ts';
import type { Order } from '../runner.ts';

/** The order of a run as metadata of its Job and Pod: all that a restarted controller knows of it. */
export function orderMetadata(order: Order) {
  return {
    labels: {
      [labels.appName]: agentAppName,
      [labels.component]: 'agent',
      [labels.managedBy]: 'multinic',
      [labels.nodeName]: labelValue(order.node),
      [labels.instance]: labelValue(order.instance),
      [labels.configUid]: order.uid,
      [labels.generation]: String(order.generation),
      [labels.attempt]: String(order.attempt),
      [labels.action]: order.action,
    },
    annotations: {
      [annotations.config]: keyOf(order.config),
      [annotations.content]: order.content,
    },
  };
}

const orderSchema = z.object({
  labels: z.object({
    [labels.configUid]: z.string().min(1),
    [labels.generation]: z.coerce.number().int(),
    [labels.attempt]: z.coerce.number().int(),
    [labels.action]: jobRequest.shape.action,
    [labels.instance]: z.string().catch(''),
  }),
  annotations: z.object({
    [annotations.config]: z.string().includes('/'),
    [annotations.content]: z.string(),
  }),
});

/** The order that a Job carries out; undefined for a Job that is not one of ours. */
export function orderOf({ metadata, spec }: Job): Order | undefined {
  const { data } = orderSchema.safeParse(metadata);
  if (!data) return undefined;
  const { namespace = '', name } = refOf(data.annotations[annotations.config]);
  return {
    uid: data.labels[labels.configUid],
    generation: data.labels[labels.generation],
    attempt: data.labels[labels.attempt],
    action: data.labels[labels.action],
    content: data.annotations[annotations.content],
    node: spec?.template.spec?.nodeName ?? '',
    instance: data.labels[labels.instance],
    config: { namespace, name },
  };
}
