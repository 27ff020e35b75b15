import * as z from 'zod';
import { counted } from '../../api/counted.ts';
import { type PostAnswer, postAnswer, problem } from '../../api/node-configs-http.ts';
import { HttpProblem, problemBody } from '../../http/problem.ts';

/** Problem details for a POST with refused nodes, including each node's result. */
export const refusedPost = z.object({
  ...problem.omit({ errors: true }).shape,
  ...postAnswer.shape,
});

/** Returns the problem body; RFC 9457 permits extension members. */
export function refusedPostBody(
  answer: PostAnswer,
  { status, requestId }: { readonly status: number; readonly requestId: string },
): z.infer<typeof refusedPost> {
  const { errors, applied } = answer;
  const [first] = errors;
  const field = first?.field ? ` ${first.field}` : '';
  const example = first ? `, first "${first.nodeName}"${field}: ${first.message}` : '';
  const detail = `${counted(applied, 'node')} accepted, ${errors.length} refused${example}`;
  const problemDetails = problemBody(new HttpProblem(status, 'NodesRefused', detail), requestId);
  return { ...problemDetails, ...answer };
}
