import * as z from 'zod';
import { jobRequest } from '../api/job.ts';
import { labelValue } from '../api/label-value.ts';
import { agentAppName, annotations, labels } from '../api/names.ts';
import type { Job } from '../kube/core-resources.ts';
import { keyOf, refOf } from '../kube/object.ts';
import type { Machine } from './machine.ts';
import type { Order } from './runner.ts';

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
      [annotations.machine]: machineText(order.machine),
    },
  };
}

function machineText({ nodeUid, machineId }: Machine): string {
  return JSON.stringify({ nodeUid, machineId });
}

/** Jobs of an earlier version name no machine: they were made for another one than any. */
const machineSchema = z
  .preprocess(
    (text) => parseJson(String(text)),
    z.object({
      nodeUid: z.string(),
      machineId: z.string().optional(),
    }),
  )
  .catch({ nodeUid: '' });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Written by somebody else: it names no machine.
    return undefined;
  }
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
    [annotations.machine]: machineSchema,
  }),
});

/** The order that a Job carries out; undefined for a Job that is not one of ours. */
export function orderOf({ metadata, spec }: Job): Order | undefined {
  const { data } = orderSchema.safeParse(metadata);
  if (!data) return undefined;
  const { namespace = '', name } = refOf(data.annotations[annotations.config]);
  const node = spec?.template.spec?.nodeName ?? '';
  const { nodeUid, machineId } = data.annotations[annotations.machine];
  return {
    uid: data.labels[labels.configUid],
    generation: data.labels[labels.generation],
    attempt: data.labels[labels.attempt],
    action: data.labels[labels.action],
    content: data.annotations[annotations.content],
    node,
    machine: { nodeName: node, nodeUid, machineId, bootId: undefined },
    instance: data.labels[labels.instance],
    config: { namespace, name },
  };
}
