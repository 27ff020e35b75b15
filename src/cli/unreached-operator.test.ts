import { expect, it } from 'vitest';
import { startScene } from '../../test/fixtures/cli/scene.ts';

const forwardError = 'error: lost connection to pod';

it.each([
  { expected: 1, argv: ['why', '10.40.0.18'] },
  { expected: 1, argv: ['why', 'be0f33c1-0000-4000-8000-000000000077'] },
  { expected: 6, argv: ['doctor'] },
  { expected: 6, argv: ['status'] },
])('$argv ends with $expected when the operator is unreachable', async ({ expected, argv }) => {
  const scene = await startScene({ forwardError });
  const { status, out } = await scene.run(...argv);
  expect(out).toContain('kubectl port-forward failed: error: lost connection to pod');
  expect(status).toBe(expected);
});

it('nodes names an absent token file', async () => {
  const scene = await startScene();
  const inventory = ['--inventory', 'http://127.0.0.1:1', '--token-file', '/absent/token'];
  const { status, err } = await scene.run('nodes', ...inventory);
  expect(status).toBe(1);
  expect(err).toContain('/absent/token');
  expect(err).toContain('Next: give a readable file with --token-file');
});
