// The agent as a process that notes each external write and can be killed at one of them.
import { appendFileSync } from 'node:fs';
import { agentMain } from '../../src/agent/main-agent.ts';
import type { Effect } from '../../src/api/effects.ts';
import { createPerform } from '../../src/process/effects.ts';

/** `NAME PHASE NUMBER`: the moment at which this process ends without a word. */
const killAt = process.env['KILL_AT'];
const effectsFile = process.env['EFFECTS_FILE'];
const counts = new Map<string, number>();

const perform = createPerform<Effect>((name, phase) => {
  const key = `${name} ${phase}`;
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  if (effectsFile) appendFileSync(effectsFile, `${key} ${count}\n`);
  if (killAt === `${key} ${count}`) process.kill(process.pid, 'SIGKILL');
});

process.exitCode = await agentMain(process.argv.slice(2), { perform });
