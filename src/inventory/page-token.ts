import * as z from 'zod';
import { HttpProblem } from '../http/problem.ts';
import { continueHeader } from './continue.ts';

/** Position in the record list. */
interface Place {
  readonly providerId: string;
  readonly nodeName: string;
}

const pageKey = z.tuple([z.string(), z.string()]);

/** Returns the x-continue header for this position. */
export function tokenOf({ providerId, nodeName }: Place): string {
  return Buffer.from(JSON.stringify([providerId, nodeName])).toString('base64url');
}

/** Parses parameter `continue`; undefined: the start. Throws 400 for a foreign value. */
export function keyOf(token: string | undefined): Place | undefined {
  if (token === undefined) return undefined;
  try {
    const text = Buffer.from(token, 'base64url').toString('utf8');
    const [providerId, nodeName] = pageKey.parse(JSON.parse(text));
    return { providerId, nodeName };
  } catch (cause) {
    if (!(cause instanceof SyntaxError || cause instanceof z.ZodError)) throw cause;
    const detail = `continue: "${token}" is not a value of ${continueHeader}; start without it`;
    throw new HttpProblem(400, 'InvalidRequest', detail, { cause });
  }
}
