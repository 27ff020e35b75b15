import { readFile, rename, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { bundle } from '../../../build/bundler.ts';
import type { Node } from '../../../rig/control-plane/node.ts';
import { jobFiles } from '../../../src/api/job.ts';

/** Where an agent looks whether it is to die; the folder is one that its container sees. */
const folder = '/var/lib/multinic';
const momentFile = `${folder}/kill-at`;

const entry = `
import { existsSync, readFileSync } from 'node:fs';
process.env.LOG_LEVEL = 'debug';
const file = ${JSON.stringify(jobFiles.hostRoot + momentFile)};
if (existsSync(file)) {
  process.env.KILL_AT = readFileSync(file, 'utf8');
  process.env.KILL_AT_FILE = file;
}
await import('./kill-at.mjs');
await import('./multinic.mjs');
`;

/** Makes the bundle in a folder for the agent's image, around it what ends an agent at one of its writes. */
export async function mortalBundle(to: string): Promise<string> {
  await bundle(to);
  await rename(join(to, 'main.mjs'), join(to, 'multinic.mjs'));
  const killAt = join(import.meta.dirname, '../../../rig/parts/kill-at.ts');
  const source = await readFile(killAt, 'utf8');
  await writeFile(join(to, 'kill-at.mjs'), stripTypeScriptTypes(source));
  await writeFile(join(to, 'main.mjs'), entry);
  return to;
}

/** The next agent on the node that comes to this moment dies. */
export async function letAgentDieAt(node: Node, moment: string): Promise<void> {
  await node.sh(['sh', '-ec', `mkdir -p ${folder} && printf %s '${moment}' >${momentFile}`]);
}

/** Whether an agent came to where it was told to die. */
export async function agentHasDied(node: Node): Promise<boolean> {
  return !(await node.sh(['ls', folder])).includes('kill-at');
}
