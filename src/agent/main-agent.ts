import type { Effect } from '../api/effects.ts';
import { createPerform } from '../process/effects.ts';
import { createLogger } from '../process/log.ts';
import { runUntilSignal, usageExit } from '../process/shutdown.ts';
import { systemClock } from '../time/clock.ts';
import { type AgentDeps, runAgent } from './agent.ts';
import { connectTcp } from './apply/connectivity.ts';
import { IpSession } from './ip/session.ts';
import { readUnicastFilter } from './observe/fdb.ts';
import { pathReader } from './path/ip.ts';
import { parseOptions, UsageError, usage } from './request.ts';
import { effectiveCapabilities } from './rights.ts';

/**
 * Grace period in ms after a signal: a change takes less than a second and may end; the rest is for a disk without
 * answers.
 */
const graceMs = 20_000;

/** `multinic agent`: runs once in this process; returns the exit status. `replaced` overrides dependencies in tests. */
export async function agentMain(
  argv: readonly string[],
  replaced: Partial<AgentDeps> = {},
): Promise<number> {
  const refused = printUsage(argv);
  if (refused !== undefined) return refused;
  const level = process.env['LOG_LEVEL'] ?? 'info';
  // Standard output is for a dry run's plan.
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
        paths: pathReader(),
        tcp: connectTcp,
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
