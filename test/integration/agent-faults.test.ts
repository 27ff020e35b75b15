import { describe, expect, test } from 'vitest';
import { SceneOnHost } from '../faults/agent/on-host.ts';
import { scenes, titleOf } from '../faults/agent/scenes.ts';
import { faultsOf, wordsOf } from '../faults/agent/syscalls.ts';

// All of them, on hosts of each family: `make test-agent-faults`.
const tried = 6;
const titles = ['netplan, changed', 'ifcfg, altnames, changed'];

describe('the real agent, of which a system call fails or is the last one', () => {
  test.each(scenes.filter((scene) => titles.includes(titleOf(scene))))(
    'leaves good files, and one rerun ends right: $family, altnames $altNames',
    async (scene) => {
      await using stage = await SceneOnHost.open(scene);
      const faults = faultsOf(stage.syscalls);
      expect(faults.length).toBeGreaterThan(200);
      const step = Math.floor(faults.length / tried);
      for (const fault of faults.filter((_, at) => at % step === 0)) {
        expect(await stage.problems(fault), wordsOf(fault)).toEqual([]);
      }
    },
  );
});
