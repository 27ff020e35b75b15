import { expect, test } from 'vitest';
import { plansOf } from './failing-disk.ts';
import { SceneOnModel } from './on-model.ts';
import { families, scenes, titleOf } from './scenes.ts';

/** `main.ts` tries all. */
const tried = 12;
// Each family, each life, without and with udev: one scene of five.
const chosen = scenes.filter((_, at) => at % 5 === 0);

test('the slice has each family in it', () => {
  expect(new Set(chosen.map(({ family }) => family))).toEqual(new Set(families));
});

test.each(chosen.map((scene) => [titleOf(scene), scene] as const))(
  'a run that dies, or whose disk fails, leaves good files, and one rerun ends right: %s',
  async (_, scene) => {
    using stage = await SceneOnModel.open(scene);
    const plans = plansOf(stage.moments);
    const step = Math.floor(plans.length / tried);
    expect(step).toBeGreaterThan(5);
    for (const plan of plans.filter((_plan, at) => at % step === 0)) {
      const moment = stage.moments[plan.at];
      const words = `${plan.fault} at ${plan.at}, ${moment?.call} ${moment?.on}`;
      expect(await stage.problems(plan), words).toEqual([]);
    }
  },
  120_000,
);
