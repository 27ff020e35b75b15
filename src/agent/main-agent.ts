import type { Effect } from '../api/effects.ts';
import { createPerform } from '../process/effects.ts';
import { createLogger } from '../process/log.ts';
import { runUntilSignal } from '../process/shutdown.ts';
import { systemClock } from '../time/clock.ts';
import { type AgentDeps, runAgent } from './agent.ts';
import { IpSession } from './ip-session.ts';
import { readUnicastFilter } from './observe/fdb.ts';
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
        signal,
        print: (text) => process.stdout.write(text),
        complain: (text) => process.stderr.write(text),
        ...replaced,
      });
    },
    { log, graceMs },
  );
}
