import * as z from 'zod';
import { badRequest } from '../objects/status-error.ts';

/** Where a paged list goes on: after which key, in which state of the storage. */
export interface Continuation {
  readonly revision: number;
  readonly afterKey: string;
}

const edge = z.object({ v: z.literal('meta.k8s.io/v1'), rv: z.number(), start: z.string() });

export function encodeContinuation({ revision, afterKey }: Continuation): string {
  const text = JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: afterKey });
  return Buffer.from(text).toString('base64url');
}

/** Reads a continue token back; throws 400 when it is none of ours. */
export function decodeContinuation(token: string): Continuation {
  try {
    const decoded: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    const { rv, start } = edge.parse(decoded);
    return { revision: rv, afterKey: start };
  } catch {
    throw badRequest('continue key is not valid');
  }
}
