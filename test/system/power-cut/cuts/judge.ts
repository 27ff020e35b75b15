import { difference, stateOf } from '../../distros/nic-state.ts';
import { GuestHost, inTime } from '../guest-host.ts';
import type { Cut } from './cut.ts';
import type { DiskContent } from './disk.ts';
import { wrongNics } from './expected.ts';
import { failedUnits, pictureOf, type Stage } from './stage.ts';

/** Boots after a cut and returns problems of the host, and problems after another agent run. */
export async function wrongHost(
  stage: Stage,
  { disk }: Cut,
  content: DiskContent,
): Promise<string[]> {
  const problems: string[] = [];
  try {
    await using host = await GuestHost.bootAfter(stage.scene.family, disk);
    problems.push(...(await wrongBoot(stage, host, content)));
    problems.push(...(await wrongRerun(stage, host)));
  } catch (error) {
    problems.push((error as Error).stack ?? String(error));
  }
  return problems;
}

async function wrongBoot(stage: Stage, host: GuestHost, content: DiskContent): Promise<string[]> {
  const { stdout } = await host.exec('systemctl', 'is-system-running');
  const failed = await failedUnits(host);
  const problems: string[] = [];
  if (!/^(running|degraded)\n$/.test(stdout)) problems.push(`the system is ${stdout}`);
  if (failed !== stage.old.failed) problems.push(`failed units: ${failed}`);
  await host.managerIsDone();
  let wrong: readonly string[] = ['not seen'];
  await inTime(async () => {
    const now = await stateOf(host);
    wrong = wrongNics(stage, now, content);
    if (wrong.length > 0) throw new Error('not as its file says');
  }).catch(() => undefined);
  return [...problems, ...wrong.map((line) => `after the boot: ${line}`)];
}

async function wrongRerun(stage: Stage, host: GuestHost): Promise<string[]> {
  const { result, log } = await host.agent({ ...stage.scene.life.asked, attempt: 1 });
  if (result.outcome !== 'ok') return [`one more run: ${log}`];
  let wrong: readonly string[] = ['not seen'];
  await inTime(async () => {
    wrong = difference(await stateOf(host), stage.new.nics);
    if (wrong.length > 0) throw new Error('not as after a clean run');
  }).catch(() => undefined);
  const { files } = (await pictureOf(host)).content;
  return [...wrong, ...differentFiles(files, stage.new.content.files)].map(
    (line) => `after one more run: ${line}`,
  );
}

function differentFiles(now: DiskContent['files'], shall: DiskContent['files']): string[] {
  const paths = new Set([...Object.keys(now), ...Object.keys(shall)]);
  return [...paths].filter((path) => now[path] !== shall[path]);
}
