// Every moment of the agent's runs on the model of the kernel fails in every way; prints a table.
// Usage: node test/faults/agent/main.ts [part of a scene's title]
import { plansOf } from './failing-disk.ts';
import { SceneOnModel } from './on-model.ts';
import { scenes, titleOf } from './scenes.ts';

const [wanted = ''] = process.argv.slice(2);
console.log('| host and life | moments | failures tried | wrong |\n| --- | --- | --- | --- |');
for (const scene of scenes.filter((each) => titleOf(each).includes(wanted))) {
  using stage = await SceneOnModel.open(scene);
  const plans = plansOf(stage.moments);
  let wrong = 0;
  for (const plan of plans) {
    const problems = await stage.problems(plan);
    if (problems.length === 0) continue;
    wrong += 1;
    const moment = stage.moments[plan.at];
    console.error(`${titleOf(scene)}: ${plan.fault} at ${plan.at} (${moment?.call} ${moment?.on})`);
    for (const problem of problems) console.error(`  ${problem}`);
  }
  console.log(`| ${titleOf(scene)} | ${stage.moments.length} | ${plans.length} | ${wrong} |`);
  if (wrong > 0) process.exitCode = 1;
}
