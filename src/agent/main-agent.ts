import type { Effect } from '../api/effects.ts';
import { createPerform } from '../process/effects.ts';
import { createLogger } from '../process/log.ts';
import { runUntilSignal, usageExit } from '../process/shutdown.ts';
import { systemClock } from '../time/clock.ts';
import { type AgentDeps, runAgent } from './agent.ts';
import { IpSession } from './ip-session.ts';
import { readUnicastFilter } from './observe/fdb.ts';
import { parseOptions, UsageError, usage } from './request.ts';
import { effectiveCapabilities } from './rights.ts';

/** A change takes less than a second, so a signal lets it end; the rest is for a disk that does not answer. */
const graceMs = 20_000;

/** `multinic agent`: runs once in this process; resolves to the exit status. Replaces parts of it for tests. */
export async function agentMain(
  argv: readonly string[],
  replaced: Partial<AgentDeps> = {},
): Promise<number> {
  const refused = printUsage(argv);
  if (refused !== undefined) return refused;
  const level = process.env['LOG_LEVEL'] ?? 'info';
  // Standard output is for the plan of a dry run.
  const destination = { write: (line: string) => process.stderr.write(line) };
  const log = createLogger({ part: 'agent', level, destination });
  return runUntilSignal(
    async (signal) => {
      log.info({ capabilities: effectiveCapabilities() }, 'started');
      return runAgent(argv, {
        clock: systemClock,
        log,
        perform: createPerform<Effect>((effect, phase) => log.debug({ effect, phase }, 'write')),
        startIp: () => new IpSession(),
        unicastFilter: readUnicastFilter,
        signal,
        print: (text) => process.stdout.write(text),
        complain: (text) => process.stderr.write(text),
        ...replaced,
      });
    },
    { log, graceMs },
  );
}

/** Prints help, or why the command line cannot be used, without log lines around; undefined when there is work to do. */
function printUsage(argv: readonly string[]): number | undefined {
  try {
    if (parseOptions(argv)) return undefined;
    process.stdout.write(usage);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`multinic agent: ${error.message}\n\n${usage}`);
    return usageExit;
  }
}
