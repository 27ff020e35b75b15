import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mortalBundle } from './mortal-image.ts';

const run = promisify(execFile);
const pack = join(import.meta.dirname, '../../../rig/agent-image/pack');

export const mortalAgentImage = 'localhost/multinic-agent:dev';

/** An agent's image that has a file of the rig in it, by which the agent can be ended at its writes. */
export async function packMortalAgent(directory: string): Promise<{ archive: string; id: string }> {
  const archive = join(directory, 'mortal-agent.tar');
  const bundle = await mortalBundle(join(directory, 'bundle'));
  const { stdout } = await run(pack, [archive, bundle]);
  return { archive, id: stdout.trim() };
}
