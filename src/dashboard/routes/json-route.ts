import type * as z from 'zod';
import { PageProblem } from '../guard/page-problem.ts';

/** Context for a route's answer. */
interface RouteContext<Rights> {
  /** The logged-in user's rights. */
  readonly rights: Rights;
  /** Aborts when the browser disconnects, the deadline passes, or the dashboard ends. */
  readonly signal: AbortSignal;
}

/** A JSON route. */
export interface JsonRoute<Rights> {
  /** POST: an action; actions run one after the other. */
  readonly method: 'GET' | 'POST';
  /** Fastify's pattern, such as `/api/nodes/:provider/:node`. */
  readonly path: `/api/${string}`;
  /** `input`: path parameters with the query, or with the body's fields. */
  readonly answer: (input: object, context: RouteContext<Rights>) => Promise<object>;
}

interface RouteDefinition<Rights, Input extends z.ZodType>
  extends Pick<JsonRoute<Rights>, 'method' | 'path'> {
  /** Schema for path parameters with the query, or with the body's fields. */
  readonly input: Input;
  readonly answer: (input: z.output<Input>, context: RouteContext<Rights>) => Promise<object>;
}

/** Defines a JSON route; requests with an unusable input get 400. */
export function defineRoute<Rights, Input extends z.ZodType>({
  method,
  path,
  input: schema,
  answer,
}: RouteDefinition<Rights, Input>): JsonRoute<Rights> {
  return {
    method,
    path,
    answer: async (input, context) => {
      const { success, data, error } = schema.safeParse(input);
      if (success) return answer(data, context);
      throw new PageProblem(400, {
        reason: 'InvalidRequest',
        message: error.issues.map((each) => `${each.path.join('.')}: ${each.message}`).join('; '),
        nextStep: 'correct the fields, and try again',
      });
    },
  };
}
