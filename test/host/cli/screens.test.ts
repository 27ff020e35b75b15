import { describe, expect, test } from 'vitest';
import { nic, node } from '../../../src/explain/testing/healthy.ts';
import { observedNode } from '../../../src/explain/testing/observed.ts';
import { thisBuild } from '../../../src/process/version.ts';
import { observeFleet } from '../../fixtures/cli/observed-fleet.ts';
import { changedPlan } from '../../fixtures/cli/plans.ts';
import {
  answerNodes,
  answerPlan,
  driftedNode,
  failedNode,
  handleRequest,
} from '../../fixtures/cli/played-operator.ts';
import { type Ended, runOnTerminal } from '../../fixtures/cli/program.ts';
import { type CliFixture, startScene } from '../../fixtures/cli/scene.ts';

/** The eight screens; an archive has no JSON form. */
const screens: readonly (readonly string[])[] = [
  ['status'],
  ['nodes', '-o', 'wide'],
  ['nics', '-o', 'wide'],
  ['why', 'worker-18/multinic1'],
  ['plan', 'storage', '--set', 'portBaseline=All'],
  ['diff', 'worker-17'],
  ['doctor'],
  ['support-bundle'],
];
/** The screens about a fleet in mode Observe. */
const observeScreens: readonly (readonly string[])[] = [
  ['status'],
  ['nodes', 'worker-1', 'worker-2'],
  ['nics', '--node', 'worker-1'],
  ['why', 'worker-18/multinic1'],
  ['why', 'worker-18/multinic2'],
  ['plan', 'storage', '--set', 'mode=Apply'],
  ['diff', 'worker-1'],
  ['doctor'],
];
const forms = {
  en: (argv: readonly string[]) => [...argv, '--lang', 'en'],
  ko: (argv: readonly string[]) => [...argv, '--lang', 'ko'],
  json: (argv: readonly string[]) => [...argv, '--lang', 'en', '-o', 'json'],
} as const;
type Form = keyof typeof forms;

const unused = {
  portId: 'd3100e2f-0000-4000-8000-000000000090',
  macAddress: 'fa:16:3e:00:00:90',
  address: '10.50.0.9',
  reason: 'PortTooOld',
  message: 'older than the OpenstackConfig',
};
const failed = { ...failedNode, unusedPorts: [unused] };

/** A system with a failed and a drifted node, a changed plan, and an unused port. */
async function startBrokenScene(): Promise<CliFixture> {
  const scene = await startScene();
  answerNodes(scene, { ...driftedNode, checkedAt: '2026-11-26T01:25:00Z' }, failed);
  await answerPlan(scene, changedPlan);
  for (const page of ['configz', 'metrics', 'readyz']) scene.answers.set(`GET /${page}`, {});
  return scene;
}

async function screenOf(
  scene: CliFixture,
  argv: readonly string[],
  columns: number,
): Promise<Ended> {
  const [name, target] = argv;
  const checked = target === 'worker-1' ? [observedNode(1)] : [driftedNode, failed];
  const handled = name === 'diff' && handleRequest(scene, () => answerNodes(scene, ...checked));
  const ended = await runOnTerminal(argv, { cwd: scene.folder, columns });
  await handled;
  return ended;
}

/** Returns a terminal session as text: escape characters are visible; durations and the version of this build have no value. */
function shown(argv: readonly string[], { status, out }: Ended): string {
  const text = out
    .replaceAll('\u001b', '\\e')
    .replace(`cli ${thisBuild().version}`, 'cli N')
    .replace(/\b\d+ ms\b/, 'N ms')
    .replace(/(?<=checks in )[\d.]+s|(?<=검사 \d+개, )[\d.]+초/, 'N s');
  return `$ multinic ${argv.join(' ')}\n${text}exit status ${status}\n`;
}

describe('screens on a terminal', () => {
  test.each<[Form, number]>([
    ['en', 80],
    ['ko', 200],
    ['json', 80],
  ])('equal their golden file in the form %s with %i columns', async (form, columns) => {
    const scene = await startBrokenScene();
    const lines = screens
      .filter(([name]) => form !== 'json' || name !== 'support-bundle')
      .map((argv) => forms[form](argv));
    const sessions: string[] = [];
    for (const argv of lines) sessions.push(shown(argv, await screenOf(scene, argv, columns)));
    await expect(sessions.join('\n')).toMatchFileSnapshot(`screens/${form}.txt`);
  });

  test.each<[Form, number]>([
    ['en', 80],
    ['ko', 200],
  ])(
    'of a fleet in mode Observe equal their golden file in the form %s with %i columns',
    async (form, columns) => {
      const scene = await startScene();
      const sessions: string[] = [];
      for (const argv of observeScreens.map((each) => forms[form](each))) {
        await observeFleet(scene);
        sessions.push(shown(argv, await screenOf(scene, argv, columns)));
      }
      await expect(sessions.join('\n')).toMatchFileSnapshot(`screens/observe.${form}.txt`);
    },
  );

  test('have whole rows with 80 columns, also for 5,000 nodes, and no escape sequences from names', async () => {
    const scene = await startScene();
    const names = { networkName: 'data\u001b]0;title\u0007', subnetName: 'a\u001b[2J\u009bb' };
    const nodes = Array.from({ length: 5_000 }, (_, n) =>
      node(n, { nics: [nic(n, 0, names)], instanceId: `id\u001b[31m-${n}` }),
    );
    answerNodes(scene, ...nodes);
    const wide = ['nics', '-o', 'wide', '--lang', 'en'];
    const [narrow, broad] = await Promise.all(
      [80, 200].map((columns) => runOnTerminal(wide, { cwd: scene.folder, columns })),
    );
    expect(narrow).toEqual(broad);
    const rows = narrow?.out.trimEnd().split('\n') ?? [];
    expect(rows).toHaveLength(5_001);
    expect(rows.at(-1)).toMatch(/^worker-4999 .*data\\u001b\]0;title\\u0007 /);
    expect(narrow?.out).not.toMatch(/[^\n\P{Cc}]/u);
  });
});
