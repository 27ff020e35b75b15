import * as z from 'zod';
import { type PostAnswer, postAnswer, problem } from '../api/node-configs-http.ts';
import { HttpProblem, problemBody } from '../http/problem.ts';

/** Problem details of a POST that did not go as its caller has to know by the status, with what became of each node. */
export const refusedPost = z.object({
  ...problem.omit({ errors: true }).shape,
  ...postAnswer.shape,
});

/** The body of such an answer: RFC 9457 lets a problem carry members of its own. */
export function refusedPostBody(
  answer: PostAnswer,
  { status, requestId }: { readonly status: number; readonly requestId: string },
): z.infer<typeof refusedPost> {
  const { errors, applied } = answer;
  const [first] = errors;
  const field = first?.field ? ` ${first.field}` : '';
  const example = first ? `, first "${first.nodeName}"${field}: ${first.message}` : '';
  const detail = `${applied} nodes accepted, ${errors.length} refused${example}`;
  const problemDetails = problemBody(new HttpProblem(status, 'NodesRefused', detail), requestId);
  return { ...problemDetails, ...answer };
}
