import { parseArgs } from 'node:util';
import { jobFiles } from '../api/job.ts';

export interface AgentOptions {
  readonly request: string;
  /** Where the result goes; a dry run has none. */
  readonly result?: string;
  readonly hostRoot: string;
  readonly dryRun: boolean;
}

export const usage = `usage: multinic agent --request FILE --result FILE [--host-root DIR] [--dry-run]

  --request FILE   what the node's NICs shall be (JSON)
  --result FILE    where the outcome is written (JSON, at most 4,000 bytes)
  --host-root DIR  where the host's /etc/netplan, /var/lib/multinic and /proc/sys/net are found (${jobFiles.hostRoot})
  --dry-run        print the plan as JSON and change nothing
`;

/** A command line that cannot be used. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The agent's command line; undefined when it asks for help. Throws a UsageError. */
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
    return parseArgs({
      args: [...argv],
      options: {
        request: { type: 'string' },
        result: { type: 'string' },
        'host-root': { type: 'string' },
        'dry-run': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}
