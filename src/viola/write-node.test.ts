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

/** Writes a node while something happens the first `times` times between what is read and what is written. */
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

/** Another replica of Viola writes the object. */
function written(by = 'viola') {
  const spec = { nodeName: 'Worker_1', interfaces: [] };
  return bed.admin.apply(nodeConfigs, { metadata: ref, spec }, { fieldManager: by, force: true });
}

/** The controller reports. */
function report() {
  return bed.admin.patchStatus(nodeConfigs, ref, { status: { state: 'Configured' } });
}

/** A person edits the spec. */
function edit() {
  return bed.admin.patch(nodeConfigs, ref, { spec: { nodeName: 'Other' } });
}

async function consentOf() {
  const { metadata, spec } = await bed.stored();
  return { hash: spec.specHash, consent: metadata.annotations?.[annotations.removalConsent] };
}

describe('[C16] consent to removals', () => {
  it('is written for the content that it is about, and goes with the next one', async () => {
    await bed.post([{ ...postedNode, base: null }]);
    const { uid, generation } = (await bed.stored()).metadata;
    const base = { uid, generation };
    await bed.post([{ ...postedNode, base, interfaces: [], removalsAllowed: true }]);
    const { hash, consent } = await consentOf();
    expect(consent).toBe(hash);
    await bed.post([{ ...postedNode, base: { uid, generation: 2 } }]);
    expect((await consentOf()).consent).toBeUndefined();
  });

  it('is written for content that is there already, and never without a base', async () => {
    await bed.post([{ ...postedNode, removalsAllowed: true }]);
    expect((await consentOf()).consent).toBeUndefined();
    const { uid, generation } = (await bed.stored()).metadata;
    await bed.post([{ ...postedNode, base: { uid, generation }, removalsAllowed: true }]);
    const { hash, consent } = await consentOf();
    expect(consent).toBe(hash);
    expect((await bed.stored()).metadata.generation).toBe(generation);
  });
});

describe('writing a node', () => {
  it.each(['viola', 'somebody'])(
    'creates nothing over an object that %s makes meanwhile',
    async (by) => {
      expect(await writeWhile(null, () => written(by))).toBe('StaleBase');
      expect((await bed.stored()).spec.interfaces).toEqual([]);
    },
  );

  it('lets the last write win when its caller knows no fence', async () => {
    expect(await writeWhile(undefined, () => written())).toBe('updated');
  });

  it('does not bring back an object that is deleted meanwhile', async () => {
    const { metadata } = await written();
    const base = { uid: metadata.uid, generation: 1 };
    expect(await writeWhile(base, () => bed.admin.delete(nodeConfigs, ref))).toBe('StaleBase');
    await expect(bed.stored()).rejects.toThrow();
  });

  it('does not write to an object of the same name that is made meanwhile', async () => {
    const { metadata } = await written();
    const replace = async (): Promise<void> => {
      await bed.admin.delete(nodeConfigs, ref);
      await written();
    };
    expect(await writeWhile({ uid: metadata.uid, generation: 1 }, replace)).toBe('StaleBase');
    expect((await bed.stored()).spec.interfaces).toEqual([]);
  });

  it('goes on when only the status moves meanwhile', async () => {
    const { metadata } = await written();
    expect(await writeWhile({ uid: metadata.uid, generation: 1 }, report)).toBe('updated');
  });

  it('is refused when the spec moves meanwhile', async () => {
    const { metadata } = await written();
    expect(await writeWhile({ uid: metadata.uid, generation: 1 }, edit)).toBe('StaleBase');
  });

  it.each([
    [4, 'updated', 5],
    [99, 'Internal', 5],
  ])('tries five times on an object that moves %d times', async (times, end, tries) => {
    await written();
    let reports = 0;
    const move = () =>
      bed.admin.patchStatus(nodeConfigs, ref, { status: { lastJobName: `job-${reports++}` } });
    expect(await writeWhile(undefined, move, times)).toBe(end);
    expect(bed.writes).toHaveLength(tries);
  });

  it('asks once when the object stands still and somebody else owns its fields', async () => {
    await written('somebody');
    expect(await writeWhile(undefined, () => Promise.resolve())).toBe('FieldConflict');
    expect(bed.writes).toHaveLength(1);
  });
});
