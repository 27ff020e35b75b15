// Cuts the power of guests at each system call with which an agent writes to disk, and at random moments, and checks the next boot. Writes
// results.md. Usage: node test/system/power-cut/cuts/main.ts [part of a title]
import { bundle } from '../../../../build/bundler.ts';
import { bundleFolder } from '../../../../rig/parts/program.ts';
import { sampleOf } from '../../../rotation.ts';
import { type GuestHost, programDisk } from '../guest-host.ts';
import { type Cut, cutsAtCalls, cutsAtRandom } from './cut.ts';
import { contentOf } from './disk.ts';
import { wrongFiles } from './expected.ts';
import { wrongHost } from './judge.ts';
import { type GuestLife, randomCuts, scenes, titleOf } from './scenes.ts';
import { Stage } from './stage.ts';
import { type Row, write } from './table.ts';

const isSample = Boolean(process.env['MULTINIC_TEST_SAMPLE']);

async function cutsOf(stage: Stage): Promise<{ calls: Cut[]; random: Cut[] }> {
  const { scene, runMs } = stage;
  const { asked } = scene.life;
  const cutsIn = async (take: (host: GuestHost) => Promise<Cut[]>) => {
    await using host = await stage.resume();
    return await take(host);
  };
  const calls = await cutsIn((host) => cutsAtCalls(host, asked));
  const count = isSample ? 5 : randomCuts(scene);
  const random = await cutsIn((host) => cutsAtRandom(host, asked, { count, runMs }));
  return { calls, random };
}

async function rowOf(scene: GuestLife, program: string): Promise<Row> {
  const title = titleOf(scene);
  await using stage = await Stage.open(scene, program);
  const { calls, random } = await cutsOf(stage);
  const judged = new Map<string, readonly string[]>();
  let wrong = 0;
  const cuts = [...calls, ...random];
  const chosen = new Set(isSample ? sampleOf(cuts, 6) : cuts);
  for (const cut of cuts) {
    await using _ = cut.disk;
    if (!chosen.has(cut)) continue;
    const content = await contentOf(cut.disk);
    const known = judged.get(content.digest);
    const ofHost = known ?? (await wrongHost(stage, cut, content));
    judged.set(content.digest, ofHost);
    const problems = [...(await wrongFiles(stage, cut, content)), ...ofHost];
    const words = known ? 'as one before' : 'booted';
    console.error(`${title}, cut at ${cut.moment}: ${words}, ${problems.length} wrong`);
    for (const problem of problems) console.error(`  ${problem}`);
    if (problems.length > 0) wrong += 1;
  }
  return { title, atCalls: calls.length, atRandom: random.length, booted: judged.size, wrong };
}

const [wanted = ''] = process.argv.slice(2);
await bundle(bundleFolder);
await using disk = await programDisk();
for (const scene of scenes.filter((each) => titleOf(each).includes(wanted))) {
  const row = await rowOf(scene, disk.path);
  write(row);
  if (row.wrong > 0) process.exitCode = 1;
}
