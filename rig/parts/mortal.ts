import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { entryPoint } from '../../build/entry-point.ts';
import { bundleFolder, within } from './program.ts';

/**
 * kill-at.ts as a URL: loaded into a part, it ends the part at one of its writes. JavaScript, because the TypeScript file would
 * add 50 ms of CPU time to each start of an agent.
 */
const killAt = urlOf(join(import.meta.dirname, 'kill-at.ts'));

/** Environment of a part started by `program` that ends at the write in KILL_AT. */
export const mortalEnv = { NODE_OPTIONS: `--import=${killAt}` };

/** Command of an agent that ends at the write in KILL_AT. */
export const mortalAgent = entryPoint('agent', {
  ...within(bundleFolder),
  flags: ['--import', killAt],
}).command;

function urlOf(path: string): string {
  const script = stripTypeScriptTypes(readFileSync(path, 'utf8'));
  return `data:text/javascript;base64,${Buffer.from(script).toString('base64')}`;
}
