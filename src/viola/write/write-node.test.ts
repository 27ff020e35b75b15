import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { namespace, postedNode, ViolaFixture } from '../../../test/fixtures/viola.ts';
import { annotations } from '../../api/names.ts';
import { postedNode as postedNodeSchema } from '../../api/node-configs-http.ts';
import { removalConsent } from '../../api/removal-consent.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { createPerform } from '../../process/effects.ts';
import { systemClock } from '../../time/clock.ts';
import { nodeConfigs } from '../node-configs/node-config.ts';
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
  change: object = {},
) {
  let left = times;
  const find: KubeClient['find'] = async (...request) => {
    const found = await bed.admin.find(...request);
    if (left-- > 0) await meanwhile();
    return found;
  };
  const body = { ...postedNode, ...(base === undefined ? {} : { base }), ...change };
  const end = await writeNode(
    { client: { ...bed.admin, find }, namespace, providerId: 'biz-1' },
    postedNodeSchema.parse(body),
    {
      acceptUnfenced: false,
      takeOver: false,
      clock: systemClock,
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

const [a, b, c] = ['fa:16:3e:00:00:01', 'fa:16:3e:00:00:02', 'fa:16:3e:00:00:03'] as const;

/** Posts NICs with these MACs onto the live object. */
async function postNics(macs: readonly string[], rest: object, path = '') {
  const { uid, generation } = (await bed.stored()).metadata;
  const [nic = {}] = postedNode.interfaces;
  const interfaces = macs.map((macAddress, id) => ({
    ...nic,
    id,
    name: `multinic${id}`,
    portId: `p${id}`,
    address: `10.0.0.${10 + id}`,
    macAddress,
  }));
  const body = [{ ...postedNode, base: { uid, generation }, interfaces, ...rest }];
  return bed.call('POST', path, {}, body);
}

/** Returns the consent in the annotation as `proven/consented`; undefined: no annotation. */
async function consentOf(): Promise<string | undefined> {
  const { metadata, spec } = await bed.stored();
  const text = metadata.annotations?.[annotations.removalConsent];
  if (text === undefined) return undefined;
  const { proven, consented, at, ...about } = removalConsent.parse(JSON.parse(text));
  expect(about).toEqual({ uid: metadata.uid, spec: spec.specHash });
  expect(Math.abs(Date.now() - Date.parse(at))).toBeLessThan(100_000);
  return [proven, consented].map((macs) => macs.join()).join('/');
}

/** Creates the object with NICs a and b; its agent reported b and c. */
async function twoNics(): Promise<void> {
  await bed.post([{ ...postedNode, interfaces: [] }]);
  await postNics([a, b], {});
  const { uid } = (await bed.stored()).metadata;
  const knownInterfaces = [b, c].map((macAddress, id) => ({ id, macAddress }));
  const applied = { objectUid: uid, knownFrom: { uid, job: 'j' } };
  await bed.admin.patchStatus(nodeConfigs, ref, { status: { knownInterfaces, applied } });
  bed.writes.length = 0;
}

const lists = (proven: readonly string[], consented: readonly string[]) => ({
  removals: { proven, consented },
});

describe('[C16] removal consent', () => {
  it.each<[when: string, macs: readonly string[], rest: object, wanted: string | undefined]>([
    ['removals lists both', [], lists([a.toUpperCase()], [b, b]), `${a}/${b}`],
    ['a listed NIC stays', [a], lists([a], [b]), `/${b}`],
    ['all listed NICs stay', [a], lists([a], []), undefined],
    ['an earlier operator allows removals', [a], { removalsAllowed: true }, `/${b},${c}`],
    [
      'removals is empty beside removalsAllowed',
      [],
      { ...lists([], []), removalsAllowed: true },
      undefined,
    ],
    ['the content is unchanged', [a, b], lists([], [c]), `/${c}`],
  ])('[C16] a POST writes the consent to removals when %s', async (_when, macs, rest, wanted) => {
    await twoNics();
    const { generation = 0 } = (await bed.stored()).metadata;
    await postNics(macs, rest, '/dry-run');
    expect(await consentOf()).toBeUndefined();
    await postNics(macs, rest);
    expect(await consentOf()).toBe(wanted);
    const isSame = macs.length === 2;
    expect((await bed.stored()).metadata.generation).toBe(generation + (isSame ? 0 : 1));
  });

  it('[C16] a POST without base writes no consent', async () => {
    await bed.post([postedNode]);
    await postNics([], { base: undefined, ...lists([a], [b]) });
    expect((await bed.stored()).spec.interfaces).toEqual([]);
    expect(await consentOf()).toBeUndefined();
  });

  it('[C16] the consent stays for POSTs of the same spec and goes with the next spec', async () => {
    await twoNics();
    await postNics([a], lists([], [b]));
    const source = { namespace: 'n', name: 'c', uid: 'u', generation: 2 };
    await postNics([a], { source });
    expect(await consentOf()).toBe(`/${b}`);
    await postNics([a, b], {});
    expect(await consentOf()).toBeUndefined();
  });

  it.each([
    ['is equal and recent', 'unchanged', -60_000, [b]],
    ['is equal and older than 5 minutes', 'updated', -301_000, [b]],
    ['has other NICs', 'updated', -60_000, [b, c]],
  ])(
    '[C16] a repeated POST is written only if needed when its consent %s',
    async (_when, status, ageMs, consented) => {
      await twoNics();
      await postNics([a], lists([], [b]));
      const { metadata } = await bed.stored();
      const text = metadata.annotations?.[annotations.removalConsent] ?? '';
      const at = new Date(Date.now() + ageMs).toISOString();
      const aged = JSON.stringify({ ...JSON.parse(text), at });
      await bed.admin.patch(
        nodeConfigs,
        ref,
        { metadata: { annotations: { [annotations.removalConsent]: aged } } },
        { fieldManager: 'viola' },
      );
      bed.writes.length = 0;
      const { body } = await postNics([a], lists([], consented));
      expect(body).toMatchObject({ results: [{ status }], errors: [] });
      expect(bed.writes.length === 0).toBe(status === 'unchanged');
      expect(await consentOf()).toBe(`/${consented.join()}`);
    },
  );

  it('[C16] a POST onto a stale base is refused when its consent is missing', async () => {
    await twoNics();
    const { uid } = (await bed.stored()).metadata;
    const base = { uid, generation: 1 };
    expect((await postNics([a, b], { base })).body).toMatchObject({ errors: [] });
    const { body } = await postNics([a, b], { base, ...lists([], [c]) });
    expect(body).toMatchObject({ errors: [{ code: 'StaleBase' }] });
  });

  it('[C16] a large POST writes the consent to unchanged nodes', async () => {
    await twoNics();
    const more = Array.from({ length: 30 }, (_, n) => ({ nodeName: `other-${n}` }));
    const { uid, generation } = (await bed.stored()).metadata;
    const node = { ...postedNode, base: { uid, generation }, ...lists([], [c]) };
    const { interfaces } = (await bed.stored()).spec;
    await bed.post([{ ...node, interfaces }, ...more]);
    expect(await consentOf()).toBe(`/${c}`);
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

  it('[C16] writeNode consents for the object of its last attempt when a status changes', async () => {
    await twoNics();
    const { uid, generation } = (await bed.stored()).metadata;
    const reportC = () =>
      bed.admin.patchStatus(nodeConfigs, ref, { status: { knownInterfaces: [] } });
    const change = { removalsAllowed: true, interfaces: [] };
    expect(await writeWhile({ uid, generation }, reportC, 1, change)).toBe('updated');
    expect(await consentOf()).toBe(`/${a},${b}`);
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
