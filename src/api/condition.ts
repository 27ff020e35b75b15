import * as z from 'zod';

/**
 * Status condition. Only `type` and `status` are required: the legacy controller writes neither `message` nor
 * `lastTransitionTime`, and a stricter schema would refuse its status forever.
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

/** Desired state for one condition; `setCondition` adds times and generation. */
export type ConditionUpdate = Pick<Condition, 'type' | 'status'> & {
  readonly reason: string;
  readonly message: string;
};

/** Returns the list with one condition set; `lastTransitionTime` changes only when the status flips. */
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

/** Maximum message length; schemas allow more, but terminals are narrow. */
export const maxMessage = 1_024;

/** Returns the message as stored by API servers: truncated at a whole character, on one line, no control characters. */
export function shortMessage(text: string): string {
  return text
    .slice(0, maxMessage)
    .replaceAll(/[^\S ]/g, ' ')
    .replaceAll(/\p{Cc}/gu, '�')
    .toWellFormed();
}

/** Returns a message without its RFC 3339 times, to compare two messages. */
export function undated(message = ''): string {
  return message.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '');
}

/** Returns the condition with this type, if any. */
export function findCondition(list: readonly Condition[] | undefined, type: string) {
  return list?.find((entry) => entry.type === type);
}

/** Returns an RFC 3339 time in whole seconds, as Kubernetes writes times. */
export function rfc3339(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}
