import * as z from 'zod';

/**
 * A status condition. Only `type` and `status` are required: the deployed controller writes neither `message` nor
 * `lastTransitionTime`, and a stricter schema would refuse its status for ever.
 */
export const condition = z.object({
  type: z.string().max(316).describe('Type of the condition in PascalCase, such as Ready.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('True, False or Unknown.'),
  observedGeneration: z.int().optional().describe('Generation of the spec this is about.'),
  lastTransitionTime: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('When the status last changed (RFC 3339).'),
  reason: z
    .string()
    .max(1024)
    .optional()
    .describe('One word for programs; see the table of reasons.'),
  message: z.string().max(32_768).optional().describe('What happened and what to do, for people.'),
});

export type Condition = z.infer<typeof condition>;

export const conditions = z
  .array(condition)
  .max(32)
  .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] });

/** The wanted state of one condition; times and generation are filled in by `setCondition`. */
export type ConditionUpdate = Pick<Condition, 'type' | 'status'> & {
  readonly reason: string;
  readonly message: string;
};

/** Returns the list with one condition set; `lastTransitionTime` moves only when the status flips. */
export function setCondition(
  list: readonly Condition[],
  update: ConditionUpdate,
  at: { readonly now: Date; readonly generation: number },
): Condition[] {
  const before = list.find((entry) => entry.type === update.type);
  const kept = before?.status === update.status ? before.lastTransitionTime : undefined;
  const entry: Condition = {
    ...update,
    observedGeneration: at.generation,
    lastTransitionTime: kept ?? rfc3339(at.now),
  };
  return before ? list.map((old) => (old === before ? entry : old)) : [...list, entry];
}

/** Longest message that we write; schemas allow more, a terminal does not. */
export const maxMessage = 1_024;

/** A message as it is written: an API server keeps no half of a character that a cut left over. */
export function shortMessage(text: string): string {
  return text
    .slice(0, maxMessage)
    .replaceAll(/\s/g, ' ')
    .replaceAll(/\p{Cc}/gu, '�')
    .toWellFormed();
}

/** The condition of this type, if the list has one. */
export function findCondition(list: readonly Condition[] | undefined, type: string) {
  return list?.find((entry) => entry.type === type);
}

/** RFC 3339 time in whole seconds, as Kubernetes writes it. */
export function rfc3339(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}
