import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { namespace, postedNode, ViolaFixture } from '../../test/fixtures/viola.ts';
import { annotations } from '../api/names.ts';
import { postedNode as postedNodeSchema } from '../api/node-configs-http.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { createPerform } from '../process/effects.ts';
import { nodeConfigs } from './node-config.ts';
import { writeNode } from './write-node.ts';

let bed: ViolaFixture;

beforeAll(async () => {
  bed = await ViolaFixture.start();
});

afterEach(() => bed.reset());

afterAll(() => bed[Symbol.asyncDispose]());

/** Writes a node; `meanwhile` runs after the first `times` reads, before the write. */
async function writeWhile(
  base: object | null | undefined,
  meanwhile: () => Promise<unknown>,
  times = 1,
) {
  let left = times;
  const find: KubeClient['find'] = async (...request) => {
    const found = await bed.admin.find(...request);
    if (left-- > 0) await meanwhile();
    return found;
  };
  const body = { ...postedNode, ...(base === undefined ? {} : { base }) };
  const end = await writeNode(
    { client: { ...bed.admin, find }, namespace, providerId: 'biz-1' },
    postedNodeSchema.parse(body),
    {
      acceptUnfenced: false,
      takeOver: false,
      perform: createPerform((effect, phase) => {
        if (phase === 'before') bed.writes.push(effect);
      }),
      signal: new AbortController().signal,
    },
  );
  return end.kind === 'accepted' ? end.result.status : end.error.code;
}

const ref = { namespace, name: 'worker-1' };

/** Writes the object as another Viola replica. */
function written(by = 'viola') {
  const spec = { nodeName: 'Worker_1', interfaces: [] };
  return bed.admin.apply(nodeConfigs, { metadata: ref, spec }, { fieldManager: by, force: true });
}

/** Writes status as the controller. */
function report() {
  return bed.admin.patchStatus(nodeConfigs, ref, { status: { state: 'Configured' } });
}

/** Edits the spec as a user. */
function edit() {
  return bed.admin.patch(nodeConfigs, ref, { spec: { nodeName: 'Other' } });
}

async function consentOf() {
  const { metadata, spec } = await bed.stored();
  return { hash: spec.specHash, consent: metadata.annotations?.[annotations.removalConsent] };
}

describe('[C16] removal consent', () => {
  it('[C16] removal consent is written for the posted content and dropped by the next POST', async () => {
    await bed.post([{ ...postedNode, base: null }]);
    const { uid, generation } = (await bed.stored()).metadata;
    const base = { uid, generation };
    await bed.post([{ ...postedNode, base, interfaces: [], removalsAllowed: true }]);
    const { hash, consent } = await consentOf();
    expect(consent).toBe(hash);
    await bed.post([{ ...postedNode, base: { uid, generation: 2 } }]);
    expect((await consentOf()).consent).toBeUndefined();
  });

  it('[C16] removal consent is written for unchanged content, but never without a base', async () => {
    await bed.post([{ ...postedNode, removalsAllowed: true }]);
    expect((await consentOf()).consent).toBeUndefined();
    const { uid, generation } = (await bed.stored()).metadata;
    await bed.post([{ ...postedNode, base: { uid, generation }, removalsAllowed: true }]);
    const { hash, consent } = await consentOf();
    expect(consent).toBe(hash);
    expect((await bed.stored()).metadata.generation).toBe(generation);
  });
});

describe('writeNode', () => {
  it.each(['viola', 'another-manager'])(
    'writeNode does not overwrite an object created meanwhile by %s',
    async (by) => {
      expect(await writeWhile(null, () => written(by))).toBe('StaleBase');
      expect((await bed.stored()).spec.interfaces).toEqual([]);
    },
  );

  it('writeNode overwrites a concurrent write when the caller sends no base', async () => {
    expect(await writeWhile(undefined, () => written())).toBe('updated');
  });

  it('writeNode does not recreate an object deleted meanwhile', async () => {
    const { metadata } = await written();
    const base = { uid: metadata.uid, generation: 1 };
    expect(await writeWhile(base, () => bed.admin.delete(nodeConfigs, ref))).toBe('StaleBase');
    await expect(bed.stored()).rejects.toThrow();
  });

  it('writeNode does not write to an object recreated meanwhile under the same name', async () => {
    const { metadata } = await written();
    const replace = async (): Promise<void> => {
      await bed.admin.delete(nodeConfigs, ref);
      await written();
    };
    expect(await writeWhile({ uid: metadata.uid, generation: 1 }, replace)).toBe('StaleBase');
    expect((await bed.stored()).spec.interfaces).toEqual([]);
  });

  it('writeNode retries when only the status changed meanwhile', async () => {
    const { metadata } = await written();
    expect(await writeWhile({ uid: metadata.uid, generation: 1 }, report)).toBe('updated');
  });

  it('writeNode answers StaleBase when the spec changed meanwhile', async () => {
    const { metadata } = await written();
    expect(await writeWhile({ uid: metadata.uid, generation: 1 }, edit)).toBe('StaleBase');
  });

  it.each([
    [4, 'updated', 5],
    [99, 'Internal', 5],
  ])('writeNode tries at most five times for %d concurrent changes', async (times, end, tries) => {
    await written();
    let reports = 0;
    const move = () =>
      bed.admin.patchStatus(nodeConfigs, ref, { status: { lastJobName: `job-${reports++}` } });
    expect(await writeWhile(undefined, move, times)).toBe(end);
    expect(bed.writes).toHaveLength(tries);
  });

  it("writeNode tries once when an unchanged object's fields belong to another manager", async () => {
    await written('another-manager');
    expect(await writeWhile(undefined, () => Promise.resolve())).toBe('FieldConflict');
    expect(bed.writes).toHaveLength(1);
  });
});
