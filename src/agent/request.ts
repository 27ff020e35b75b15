import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { type JobRequest, jobRequest, type Protocol, protocol } from '../api/job.ts';

/** Of whom a request is, as far as it can be read. */
export interface RequestIdentity {
  /** The version it is in, which the answer is in too; the newest when it is unknown. */
  readonly protocol: Protocol;
  readonly uid: string;
  readonly generation: number;
  readonly attempt: number;
}

export type ReadRequest =
  | { readonly request: JobRequest }
  | { readonly identity: RequestIdentity; readonly problem: string };

const identity = z.object({
  protocol: jobRequest.shape.protocol.catch(protocol),
  uid: z.string().min(1).max(64).catch('unknown'),
  generation: z.int().min(0).catch(0),
  attempt: z.int().min(0).catch(0),
});

const unknown: RequestIdentity = { protocol, uid: 'unknown', generation: 0, attempt: 0 };

/** The request in this file, or what is wrong with it, naming the field. */
export function readRequest(path: string): ReadRequest {
  const json = jsonIn(path);
  if (json instanceof Error) return { identity: unknown, problem: `request ${json.message}` };
  const { success, data, error } = jobRequest.safeParse(json);
  if (success) return { request: data };
  const problems = error.issues.map(
    (issue) => `${issue.path.join('.') || 'request'}: ${issue.message}`,
  );
  return {
    identity: identity.catch(unknown).parse(json),
    problem: problems.join('; '),
  };
}

function jsonIn(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    return new Error(`cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
