import * as z from 'zod';

/** Returns the schema for a list; the list is never changed. */
export function list<Item extends z.ZodType>(item: Item) {
  return z.array(item).readonly();
}

export function time(what: string) {
  return z.string().describe(`${what} (RFC 3339).`);
}

/** Text for people. */
const wording = z.object({ en: z.string(), ko: z.string() });

/** Text in both languages, such as a part's own message in English in both. */
export function words(what: string) {
  return wording.describe(`${what}, in English and Korean.`);
}

/** The user's next action. */
export const nextStep = z.object({
  text: words('What the user does'),
  commands: list(z.string()).describe(
    "Shell commands with the user's own access options, in order; empty: none exists.",
  ),
  preview: list(z.string()).describe('Commands for a preview; empty: none.'),
  isAfterText: z
    .boolean()
    .optional()
    .describe('True: the commands work only after the correction in the text.'),
});

/** Source without an answer: the screen may lack rows, and its counts are too small. */
const unreadSource = z.object({
  source: z.string().describe('Such as operator, business cluster or Neutron.'),
  place: z.string().describe('URL, kubeconfig, context, port-forward or business cluster.'),
  why: words('Cause'),
  next: list(wording).describe('How the user gets the answer; empty: unknown.'),
});

/** Optional unread facts, such as a business cluster's Nodes without `--business-context`. */
const skippedFact = z.object({
  what: words('The facts'),
  why: words('Cause'),
  next: words('How the user supplies the facts; empty: unknown'),
});

/** Fields in every answer. A list is only complete if `unread` is empty. */
export const screenFields = {
  at: time('When the oldest fact of the answer was read'),
  unread: list(unreadSource).describe('Sources without an answer; empty: the screen is complete.'),
  skipped: list(skippedFact).describe('Optional facts that were not read.'),
};

/** Subject with its screen; `other`: a network, or a part. */
export const subjectLink = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('cluster'), providerId: z.string() }),
  z.object({ kind: z.literal('config'), namespace: z.string(), name: z.string() }),
  z.object({ kind: z.literal('node'), providerId: z.string(), nodeName: z.string() }),
  z.object({
    kind: z.literal('nic'),
    providerId: z.string(),
    nodeName: z.string(),
    nic: z.string().describe('Name of the NIC; its screen is `nic`.'),
  }),
  z.object({ kind: z.literal('port'), portId: z.string().describe('Its screen is `port`.') }),
  z.object({ kind: z.literal('other') }),
]);

const severity = z.enum(['error', 'warning', 'info']);

/** Findings with the same reason, in the examination's order. */
export const findingGroup = z.object({
  severity,
  section: z.string().describe('Section of the examination, a key of sectionTitles.'),
  reason: z.string().describe('Reason in the table of reasons.'),
  count: z.int().describe('Findings of the group.'),
  nics: z.int().describe('NICs behind the findings; 0: the findings are not about NICs.'),
  findings: list(
    z.object({
      subject: z
        .string()
        .describe('namespace/name, provider, provider/node, provider/node/nic, network or part.'),
      link: subjectLink,
      evidence: words('Facts with values'),
      next: nextStep.optional().describe('Absent: nothing to do, or as in `next` of the group.'),
    }),
  ).describe('The first findings, at most 20.'),
  next: nextStep
    .optional()
    .describe('Next step of all findings of the group; absent: each finding has its own.'),
});

/** Numbers of findings, groups together. */
export const findingCounts = z.object({ errors: z.int(), warnings: z.int() });

/** An object's condition. */
export const shownCondition = z.object({
  type: z.string(),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string().describe('Key of the table of reasons; empty: none.'),
  text: words('Message, with the meaning of the reason'),
  since: time('When the status last changed').optional(),
  isOutdated: z.boolean().describe('True: about an earlier generation of the spec.'),
});
