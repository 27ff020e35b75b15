import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Box, type BoxKind, prepareBoxes, startBox } from '../../../rig/hosts/box/box.ts';
import { program } from '../../../rig/parts/program.ts';
import { type JobRequest, type JobResult, jobResult } from '../../../src/api/job.ts';

/** The agent runs inside, with the Node.js of this process; on Debian 13 a box mounts a separate filesystem on /tmp. */
const repository = join(import.meta.dirname, '../../..');
const inBox = '/opt/multinic';

/** A box for agent runs. */
export async function boxForAgents(name: string, kind: BoxKind): Promise<Box> {
  await prepareBoxes(kind);
  return startBox(name, { ...kind, readOnly: { [repository]: inBox } });
}

/** Command prefix that hides the system bus, as in a Pod without the right `agentSystemBus`. */
export const withoutBus = [
  'unshare',
  '--mount',
  'sh',
  '-c',
  'mount -t tmpfs tmpfs /run/dbus && exec "$0" "$@"',
];

/** Runs the image's agent in a box, `under` a command prefix; resolves to the result. */
export async function agentIn(
  box: Box,
  asked: JobRequest,
  under: readonly string[] = [],
): Promise<JobResult> {
  const folder = join(await box.root(), 'root');
  await writeFile(join(folder, 'request'), JSON.stringify(asked));
  await rm(join(folder, 'result'), { force: true });
  const files = ['--request', '/root/request', '--result', '/root/result', '--host-root', '/'];
  const command = program('agent').command.map((word) => word.replace(repository, inBox));
  const { stderr } = await box.exec([...under, ...command, ...files]);
  const text = await readFile(join(folder, 'result'), 'utf8').catch((cause: unknown) => {
    throw new Error(`no result: ${stderr}`, { cause });
  });
  return jobResult.parse(JSON.parse(text));
}
