import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { changedPlan, unchangedPlan } from '../../../test/fixtures/cli/plans.ts';
import { answerPlan, storage } from '../../../test/fixtures/cli/played-operator.ts';
import {
  type CliFixture,
  type SceneOptions,
  startScene,
} from '../../../test/fixtures/cli/scene.ts';
import { annotations } from '../../api/names.ts';
import { node } from '../../explain/testing/healthy.ts';
import { openstackConfigs } from '../../session/facts/kinds.ts';

const held =
  'OverBudget: 4 of 12 nodes in the business cluster would lose NICs within an hour, more than the 3 that need no consent';

/** An OpenstackConfig whose last sync held removals. */
async function heldScene(options: SceneOptions = {}): Promise<CliFixture> {
  const scene = await startScene(options);
  await answerPlan(scene, changedPlan);
  await report(scene, 'RemovalHeld', held);
  return scene;
}

/** Writes the status of a sync of the current generation. */
async function report({ client }: CliFixture, reason: string, message: string, more: object = {}) {
  const { generation: observedGeneration } = (await client.get(openstackConfigs, storage)).metadata;
  const conditions = [{ type: 'Ready', status: 'False', reason, message }];
  await client.patchStatus(openstackConfigs, storage, {
    status: { observedGeneration, conditions, ...more },
  });
}

async function annotation({ client }: CliFixture): Promise<string | undefined> {
  const { metadata } = await client.get(openstackConfigs, storage);
  return metadata.annotations?.[annotations.allowRemovals];
}

/** Makes standard input a terminal on which the user types `answer`; without an answer it is no terminal. */
function standardInput(answer?: string): void {
  const input = Object.assign(new PassThrough(), { isTTY: answer !== undefined });
  input.end(`${answer ?? ''}\n`);
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as unknown as typeof process.stdin);
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('allow-removals', () => {
  it('allow-removals shows NICs, codes and budgets, and sets the annotation with --yes', async () => {
    const scene = await heldScene();
    const before = Date.now();
    const { status, out } = await scene.run('allow-removals', 'storage', '--yes');
    expect(status).toBe(0);
    expect(out).toContain('1 removal waits for consent');
    expect(out).toMatch(
      /= worker-20 +multinic1 +mac fa:16:3e:00:00:92 +.*\(OverBudget\) +basis named/,
    );
    expect(out).toContain(`! ${held}`);
    expect(out).toContain(
      '4 used of 3 allowed (12 in total), free again from 2026-11-26T06:10:00Z',
    );
    expect(out).toContain('it covers exactly this NIC, for an hour (until ');
    const value = (await annotation(scene)) ?? '';
    expect(Date.parse(value)).toBeGreaterThanOrEqual(before - 1_000);
    expect(new Date(value).toISOString()).toBe(value);
  });

  it('allow-removals writes the annotation with the field manager of the CLI', async () => {
    const scene = await heldScene();
    await scene.run('allow-removals', 'storage', '--yes');
    const { managedFields = [] } = (await scene.client.get(openstackConfigs, storage)).metadata as {
      readonly managedFields?: readonly { readonly manager?: string; readonly fieldsV1?: object }[];
    };
    const own = managedFields.filter((each) =>
      JSON.stringify(each.fieldsV1 ?? {}).includes(annotations.allowRemovals),
    );
    expect(own.map(({ manager }) => manager)).toEqual(['cli']);
  });

  it.each([
    ['1', 0],
    [' 1 ', 0],
    ['84', 3],
    ['yes', 3],
    ['', 3],
  ])('the answer %j on a terminal ends with %i', async (answer, status) => {
    const scene = await heldScene();
    standardInput(answer);
    const ran = await scene.run('allow-removals', 'storage');
    expect(ran).toMatchObject({ status });
    expect((await annotation(scene)) !== undefined).toBe(status === 0);
  });

  it('allow-removals without terminal and --yes ends with 2, names the command and changes nothing', async () => {
    const scene = await heldScene();
    standardInput();
    const { status, err } = await scene.run('allow-removals', 'storage', '--context', 'prod');
    expect(status).toBe(2);
    expect(err).toMatch(
      /Next: kubectl multinic allow-removals multinic-system\/storage --yes --context prod$/,
    );
    expect(await annotation(scene)).toBeUndefined();
  });

  it.each([[[]], [['-o', 'json']]])(
    'allow-removals %j without held removals ends with 0 and changes nothing',
    async (argv) => {
      const scene = await startScene();
      await answerPlan(scene, unchangedPlan);
      scene.answers.set('GET /v1/nodes', { items: [] });
      const { status, out } = await scene.run('allow-removals', 'storage', ...argv);
      expect(status).toBe(0);
      expect(out).toContain(argv.length > 0 ? '"items": []' : 'no removal waits for consent');
      expect(await annotation(scene)).toBeUndefined();
    },
  );

  it('allow-removals refuses an OpenstackConfig whose last edit no sync has handled', async () => {
    const scene = await heldScene();
    await scene.client.patch(openstackConfigs, storage, { spec: { vmNames: ['worker-1'] } });
    const { status, err } = await scene.run('allow-removals', 'storage', '--yes');
    expect(status).toBe(3);
    expect(err).toContain('Next: kubectl multinic sync multinic-system/storage');
    expect(await annotation(scene)).toBeUndefined();
  });

  it('allow-removals refuses if the OpenstackConfig is edited between plan and answer', async () => {
    const scene = await heldScene();
    const { generation } = (await scene.client.get(openstackConfigs, storage)).metadata;
    scene.answers.set('POST /v1/plan/multinic-system/storage', async () => {
      await scene.client.patch(openstackConfigs, storage, { spec: { vmNames: ['worker-1'] } });
      return { ...changedPlan, generation };
    });
    const { status, err } = await scene.run('allow-removals', 'storage', '--yes');
    expect(status).toBe(3);
    expect(err).toContain('was edited meanwhile');
    expect(await annotation(scene)).toBeUndefined();
  });

  it('allow-removals names all NICs of a deleted OpenstackConfig', async () => {
    const scene = await startScene();
    const ref = { ...storage };
    await scene.client.patch(openstackConfigs, ref, {
      metadata: { finalizers: ['multinic.example.com/cleanup'] },
    });
    await scene.client.delete(openstackConfigs, ref);
    await report(scene, 'RemovalHeld', `${held}; the NICs stay`, {
      summary: { servers: 3, nodes: 3, interfaces: 6, nics: '6/6', filteredPorts: 0 },
    });
    const { status, out } = await scene.run('allow-removals', 'storage', '--yes', '-o', 'json');
    expect(status).toBe(0);
    const [item] = (JSON.parse(out) as { items: Record<string, unknown>[] }).items;
    expect(item).toMatchObject({ config: 'multinic-system/storage', nics: 6 });
    expect(item?.['allowRemovals']).toBe(await annotation(scene));
    expect(JSON.stringify(item?.['nodes'])).toContain('"basis":"named","code":"OverBudget"');
  });

  it('allow-removals asks for yes if only the message names the held NICs', async () => {
    const scene = await startScene();
    await answerPlan(scene, unchangedPlan);
    await report(scene, 'RemovalHeld', 'SideEffect: the removal of worker-1 from biz-0 waits');
    standardInput('yes');
    const { status, out } = await scene.run('allow-removals', 'storage');
    expect(status).toBe(0);
    expect(out).toContain('exactly the NICs that wait now');
  });

  it('allow-removals names nodes whose controller holds removals without naming NICs', async () => {
    const scene = await startScene();
    await answerPlan(scene, unchangedPlan);
    const message = '4 of 5 objects would lose NICs';
    const blocked = node(18, { ready: 'False', reason: 'RemovalHeld', message });
    scene.answers.set('GET /v1/nodes', { items: [blocked] });
    const { status, out } = await scene.run('allow-removals', 'storage', '--yes');
    expect(status).toBe(0);
    expect(out).toContain(`! worker-18: ${message}`);
    expect(await annotation(scene)).toBeDefined();
  });

  it('allow-removals of a user without the right to patch names the role', async () => {
    const scene = await heldScene({ user: 'jane' });
    const { status, err } = await scene.run('allow-removals', 'storage', '--yes');
    expect(status).toBe(1);
    expect(err).toContain('\nNext: ');
    expect(await annotation(scene)).toBeUndefined();
  });

  it('allow-removals writes Korean texts with --lang ko', async () => {
    const scene = await heldScene();
    const { out } = await scene.run('allow-removals', 'storage', '--yes', '--lang', 'ko');
    expect(out).toContain('NIC 제거 1개가 동의를 기다립니다');
    expect(out).toContain('한 시간 동안');
  });
});
