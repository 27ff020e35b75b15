import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { type JobRequest, jobFiles, jobRequest, type Protocol, protocol } from '../api/job.ts';
import { suggestionFor } from '../process/nearest.ts';

export interface AgentOptions {
  readonly request: string;
  /** Result file; absent in a dry run. */
  readonly result?: string;
  readonly hostRoot: string;
  readonly dryRun: boolean;
}

export const usage = `usage: multinic agent --request FILE --result FILE [--host-root DIR] [--dry-run]

  --request FILE   desired NICs of the node (JSON)
  --result FILE    file for the outcome (JSON, at most 4,000 bytes)
  --host-root DIR  folder with the host's /etc/netplan, /var/lib/multinic and /proc/sys/net (${jobFiles.hostRoot})
  --dry-run        print the plan as JSON and change nothing
`;

const options = {
  request: { type: 'string' },
  result: { type: 'string' },
  'host-root': { type: 'string' },
  'dry-run': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Unusable command line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Parses the agent's command line; undefined if help is requested. Throws a UsageError. */
export function parseOptions(argv: readonly string[]): AgentOptions | undefined {
  const { request, result, help, ...rest } = valuesOf(argv);
  if (help) return undefined;
  const dryRun = rest['dry-run'] ?? false;
  if (!request) throw new UsageError('--request FILE is missing');
  if (!result && !dryRun) throw new UsageError('--result FILE is missing');
  const hostRoot = rest['host-root'] ?? jobFiles.hostRoot;
  return { request, ...(result ? { result } : {}), hostRoot, dryRun };
}

function valuesOf(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options }).values;
  } catch (cause) {
    throw new UsageError(unknownOption(argv) ?? (cause as Error).message, { cause });
  }
}

/** Names the first unknown option and the nearest known one; undefined when every option is known. */
function unknownOption(argv: readonly string[]): string | undefined {
  const words = argv.filter((word) => word.startsWith('--') && word !== '--');
  const unknown = words
    .map((word) => word.slice(2).replace(/=.*/s, ''))
    .find((name) => !Object.hasOwn(options, name));
  if (unknown === undefined) return undefined;
  const suggestion = suggestionFor(
    `--${unknown}`,
    Object.keys(options).map((name) => `--${name}`),
  );
  return `unknown option \`--${unknown}\`${suggestion}`;
}

/** Identity of a request, as far as readable. */
export interface RequestIdentity {
  /** Protocol version, also used in the answer; the newest if unknown. */
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

/** Returns the request in this file, or its problem, naming the field. */
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
