// The program of the agent's startup snapshot. `node --build-snapshot` runs it: a dry run on a recorded host loads and compiles
// the code that every run of an agent needs. A start from the snapshot calls the agent's main function.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startupSnapshot } from 'node:v8';
import { runAgent } from '../../../src/agent/agent.ts';
import { connectTcp } from '../../../src/agent/apply/connectivity.ts';
import { IpSession } from '../../../src/agent/ip/session.ts';
import { agentMain } from '../../../src/agent/main-agent.ts';
import { pathReader } from '../../../src/agent/path/ip.ts';
import { createLogger } from '../../../src/process/log.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { type RecordedAnswers, recordedIp } from './recorded-ip.ts';
import { replacement } from './replaced-modules.ts';

async function warmUp(folder: string): Promise<void> {
  const answers = JSON.parse(readFileSync(join(folder, 'answers'), 'utf8')) as RecordedAnswers;
  replacement.spawn = recordedIp(answers);
  let plan = '';
  const status = await runAgent(
    ['--request', join(folder, 'request'), '--host-root', join(folder, 'host'), '--dry-run'],
    {
      clock: systemClock,
      log: createLogger({ part: 'agent', level: 'info', destination: { write: () => undefined } }),
      perform: async (_effect, write) => write(),
      startIp: () => new IpSession(),
      unicastFilter: async () => [],
      paths: pathReader(),
      tcp: connectTcp,
      signal: new AbortController().signal,
      print: (text) => {
        plan += text;
      },
      complain: (text) => process.stderr.write(text),
    },
  );
  replacement.spawn = undefined;
  if (status !== 0) throw new Error(`the dry run on the recorded host ended with ${status}`);
  if (!plan.includes('"link.rename"')) throw new Error(`the dry run planned no NIC: ${plan}`);
}

async function build(): Promise<void> {
  await warmUp(process.env['RECORDED_HOST'] ?? '');
  // Last statement: a snapshot of a dry run that never ended does not start.
  startupSnapshot.setDeserializeMainFunction(async () => {
    process.exitCode = await agentMain(process.argv.slice(2));
  });
}

// Node.js writes no snapshot after an unhandled rejection.
void build();
