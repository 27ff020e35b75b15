import * as z from 'zod';
import {
  type ExistingNodeConfig,
  existingNodeConfig,
  existingNodeConfigs,
  postAnswer,
  problem,
} from '../../../api/node-configs-http.ts';
import { inTurns } from '../../../process/slices.ts';
import { shareTexts, textPool } from '../../../process/text-pool.ts';
import { kindOf, retryAfterOf } from '../../../requests/answer.ts';
import { RequestError } from '../../../requests/request-error.ts';
import type { HttpAnswer } from '../../../requests/transport.ts';

/** Returns the body of an answer with the expected status. Throws RequestError otherwise. */
export function bodyOf<T>(
  answer: HttpAnswer,
  expected: number,
  schema: z.ZodType<T>,
  now: Date,
): T {
  if (answer.status !== expected) throw refusal(answer, now);
  return readAs(schema, parseJson(answer.text));
}

export type NodePage = z.infer<typeof existingNodeConfigs>;

const pageSchema = existingNodeConfigs.extend({ items: z.array(z.unknown()) });

/** Parses a list page; nodes outside the selection are neither parsed nor validated. */
export async function pageOf(
  answer: HttpAnswer,
  isConcern: (raw: unknown) => boolean,
  now: Date,
): Promise<NodePage> {
  const { items, ...page } = bodyOf(answer, 200, pageSchema, now);
  const share = textPool();
  // Pages stay in memory, and their NICs have most texts in common.
  const nodes = await inTurns(
    items.filter(isConcern),
    (raw): ExistingNodeConfig => shareTexts(readAs(existingNodeConfig, raw), share),
  );
  return { ...page, items: nodes };
}

function readAs<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue ? `${issue.path.join('.')}: ${issue.message}` : 'unexpected format';
  throw new RequestError(`the answer cannot be read (${where})`, {
    service: 'viola',
    kind: 'badAnswer',
    status: 200,
  });
}

/** Returns the error of an unsuccessful answer. */
export function refusal(answer: HttpAnswer, now: Date): RequestError {
  const { status } = answer;
  const details = problem.safeParse(parseJson(answer.text)).data;
  const retryAfterMs = retryAfterOf(answer, now);
  const text = `unexpected status ${status}${details ? `: ${details.detail}` : ''}${advices[status] ?? ''}`;
  return new RequestError(text, {
    service: 'viola',
    kind: kindOf(status),
    status,
    ...(details ? { code: details.code } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

const advices: Readonly<Record<number, string>> = {
  401: " (add the operator's token to a file of Viola's --tokens-file)",
  403: " (the operator's token has no right to this provider: check its entry in Viola's --tokens-file)",
  405: ' (a legacy Viola supports no GET: for one, set spec.settings.violaCompatibility to legacy)',
};

/** Returns results per node; 409, 422 and 503 carry results even when no node was accepted. */
export function resultsOf(answer: HttpAnswer) {
  return postAnswer.safeParse(parseJson(answer.text)).data;
}

/** Returns whether the node is missing; an unknown provider is a 404, too, and says nothing about the node. */
export function isNoSuchNode(answer: HttpAnswer): boolean {
  return answer.status === 404 && codeIn(answer) === 'NoSuchNode';
}

/** Returns whether the Viola is older than the route. */
export function isNoSuchRoute(answer: HttpAnswer): boolean {
  return answer.status === 404 && codeIn(answer) === 'NoSuchRoute';
}

/** Returns whether only the object is broken, while Viola and its business cluster work. */
export function isUnreadable(answer: HttpAnswer): boolean {
  return codeIn(answer) === 'Unreadable';
}

function codeIn({ text }: HttpAnswer): string | undefined {
  return problem.safeParse(parseJson(text)).data?.code;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy's page; the status is enough.
    return undefined;
  }
}
