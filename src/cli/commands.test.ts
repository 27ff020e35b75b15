import { describe, expect, it } from 'vitest';
import { startScene } from './testing/scene.ts';

describe('commands with a healthy system', () => {
  it('status shows parts, OpenstackConfigs and clusters, and exits 0', async () => {
    const scene = await startScene();
    console.error(await scene.run('status'));
    console.error(await scene.run('nodes', '-o', 'wide'));
    console.error(await scene.run('nics'));
    console.error(await scene.run('why', 'worker-18/multinic1'));
    console.error(await scene.run('why', '10.40.0.18', '--lang', 'ko'));
    console.error(await scene.run('doctor'));
    expect(scene.requests).toEqual([]);
  });
});
