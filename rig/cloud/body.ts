import type * as z from 'zod';
import { Refusal } from './refusal.ts';

/** The request's body as the schema has it; what is missing or not simulated is a 400 that says where. */
export function bodyAs<T>(schema: z.ZodType<T>, body: unknown, errorType: string): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const where = issue === undefined ? '' : `${issue.path.join('.')}: ${issue.message}`;
  throw new Refusal(400, errorType, `Not a body that is simulated: ${where}`);
}
