import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { changedPlan, unchangedPlan } from '../../../test/fixtures/cli/plans.ts';
import { answerPlan } from '../../../test/fixtures/cli/played-operator.ts';
import { type CliFixture, startScene } from '../../../test/fixtures/cli/scene.ts';
import { config } from '../../explain/testing/healthy.ts';
import { openstackConfigs } from '../../session/facts/kinds.ts';

const ref = { namespace: 'multinic-system', name: 'storage' };
const canary = 'Canary-Passw0rd';
const { spec } = config;

/** Returns an edited OpenstackConfig as JSON, a subset of YAML. */
function edited(changes: object = {}, more: object = {}): string {
  const object = { kind: 'OpenstackConfig', metadata: { name: 'storage' }, ...more };
  return JSON.stringify({ ...object, spec: { ...spec, ...changes } });
}

/** Records received edits; answers with a plan without changes. */
function recordEdits({ answers }: CliFixture, generation = () => 1): unknown[] {
  const sent: unknown[] = [];
  answers.set('POST /v1/plan/multinic-system/storage', (body: unknown) => {
    sent.push(body);
    return { ...unchangedPlan, generation: generation() };
  });
  return sent;
}

async function planFile(scene: CliFixture, text: string) {
  const path = join(scene.folder, 'edited.yaml');
  await writeFile(path, text);
  return scene.run('plan', 'storage', '-f', path);
}

describe('plan -f', () => {
  it.each([
    ['two objects', `${edited()}\n---\n${edited()}`, 'holds 2 objects'],
    ['no object', '', 'holds 0 objects'],
    ['no YAML', '{', 'is not YAML'],
    ['another kind', edited({}, { kind: 'Secret' }), 'is no OpenstackConfig'],
    ['another name', edited({}, { metadata: { name: 'tenant' } }), 'is OpenstackConfig tenant'],
    ['a field beside spec', edited({}, { settings: {} }), 'has the unknown field settings'],
    [
      'a credential',
      edited({ credentials: { ...spec.credentials, password: canary } }),
      'changes spec.credentials',
    ],
    [
      'another Secret',
      edited({ secrets: { contrabassEncryptKeySecretRef: { name: 'x', key: canary } } }),
      'changes spec.secrets',
    ],
  ])('plan refuses a file with %s, and sends nothing', async (_, text, why) => {
    const scene = await startScene();
    const sent = recordEdits(scene);
    const { status, err, out } = await planFile(scene, text);
    expect([status, sent, out]).toEqual([3, [], '']);
    expect(err).toContain(why);
    expect(err).toContain('\nNext: ');
    expect(err).not.toContain(canary);
  });

  it('plan sends only the fields that a file changes, without credentials', async () => {
    const scene = await startScene();
    const sent = recordEdits(scene);
    const changes = { vmNames: ['worker-1'], settings: { maxInterfaces: 2 } };
    const { status } = await planFile(scene, edited({ ...changes, subnetIDs: undefined }));
    expect([status, sent]).toEqual([0, [{ ...changes, subnetIDs: null }]]);
  });

  it('plan names the field that the operator refuses', async () => {
    const scene = await startScene();
    const detail = 'subnetIdz: a what-if cannot replace it';
    const refused = { status: 422, code: 'InvalidEdit', detail };
    scene.answers.set('POST /v1/plan/multinic-system/storage', refused);
    const { status, err } = await planFile(scene, edited({ subnetIdz: ['a'] }));
    expect(status).toBe(3);
    expect(err).toContain(
      `the operator refuses the edit: ${detail}\nNext: correct the field, and plan again`,
    );
  });
});

it.each([
  ['pollFastInterval=1s', 'a plan cannot replace this field'],
  ['credentials.password=x', 'a plan cannot replace this field'],
  ['portBaselin=All', 'portBaseline'],
  ['portBaseline', 'has no value'],
  ['maxInterfaces=many', 'is not a number'],
  ['vmSelector=tags', 'is not JSON'],
  ['subnetIDs=["a"', 'is not a JSON list'],
  ['subnetIDs=[1]', 'is not a JSON list'],
])('plan --set %s ends with 2 and names the next step', async (assignment, why) => {
  const scene = await startScene();
  const { status, err } = await scene.run('plan', 'storage', '--set', assignment);
  expect(status).toBe(2);
  expect(err).toContain(why);
  expect(err).toContain('\nNext: ');
});

it.each([
  ['subnetIDs=["a","b"]', { subnetIDs: ['a', 'b'] }],
  ['subnetIDs= [ "a, b" ]', { subnetIDs: ['a, b'] }],
  ['subnetIDs=a, b', { subnetIDs: ['a', 'b'] }],
  ['addressFamilies=["IPv4"]', { settings: { addressFamilies: ['IPv4'] } }],
])('plan --set %s sends the list %j', async (assignment, edit) => {
  const scene = await startScene();
  const sent = recordEdits(scene);
  const { status } = await scene.run('plan', 'storage', '--set', assignment);
  expect([status, sent]).toEqual([0, [edit]]);
});

const problems = [{ reason: 'SubnetNotFound', subject: '', message: 'no subnet has the id x' }];
const [withChanges, withHold] = changedPlan.nodes;
const deletion = { ...withHold, action: 'delete', nics: [] } as NonNullable<typeof withHold>;
const emptyRun = { validated: true, message: '', answer: { applied: 0, results: [], errors: [] } };

it.each([
  ['no changes', 0, {}, ['No changes on 3 nodes.'], 'dry run'],
  [
    'problems only',
    4,
    { problems },
    ['! SubnetNotFound: no subnet', '1 problem; apart from'],
    'No changes',
  ],
  [
    'changes and problems',
    4,
    { nodes: [withChanges], problems },
    ['! SubnetNotFound', '1 NIC added'],
    'No changes',
  ],
  [
    'a deletion',
    4,
    { nodes: [deletion], dryRun: emptyRun },
    ['no dry run for the deletion of 1 node'],
    ' 0 nodes',
  ],
])('plan with %s ends with %i', async (_, status, more, texts, absent) => {
  const scene = await startScene();
  await answerPlan(scene, { ...unchangedPlan, ...more } as typeof unchangedPlan);
  const ran = await scene.run('plan', 'storage');
  expect(ran.status).toBe(status);
  for (const text of texts) expect(ran.out).toContain(text);
  expect(ran.out).not.toContain(absent);
});

it('plan reports an OpenstackConfig that changed since the plan, and plans again', async () => {
  const scene = await startScene();
  const { metadata } = await scene.client.get(openstackConfigs, ref);
  const after = (metadata.generation ?? 0) + 1;
  let change: Promise<unknown> | undefined;
  const sent = recordEdits(scene, () => {
    change ??= scene.client.patch(openstackConfigs, ref, { spec: { vmNames: ['worker-2'] } });
    return after;
  });
  const { status, err } = await planFile(scene, edited({ vmNames: ['worker-2'] }));
  await change;
  expect(err).toContain(`generation ${after - 1}, planned ${after}): planning again`);
  expect([status, sent]).toEqual([0, [{ vmNames: ['worker-2'] }, {}]]);
});

it.each([
  [
    'en',
    'Rollout to 12 nodes: mtu, routes of subnet a; gateway of subnet b; 1 node first, then 2, then 9.',
    'Rollout to 1 node: another generation of the OpenstackConfig; 1 node first.',
  ],
  [
    'ko',
    '노드 12개 롤아웃: 서브넷 a의 mtu, routes; 서브넷 b의 gateway, 먼저 노드 1개, 다음 2개, 다음 9개.',
    '노드 1개 롤아웃: OpenstackConfig의 다른 세대, 먼저 노드 1개.',
  ],
])('plan names the rollouts and their steps in %s', async (lang, ofSettings, ofGeneration) => {
  const scene = await startScene();
  const changes = [
    { subnet: 'a', fields: ['mtu', 'routes'] },
    { subnet: 'b', fields: ['gateway'] },
  ];
  const rollouts = [
    { nodes: 12, changes, steps: [1, 2, 9] },
    { nodes: 1, changes: [], steps: [1] },
  ];
  await answerPlan(scene, { ...changedPlan, rollouts });
  const { out } = await scene.run('plan', 'storage', '--lang', lang);
  expect(out).toContain(ofSettings);
  expect(out).toContain(ofGeneration);
});
