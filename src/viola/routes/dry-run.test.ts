import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { postedNode as node, ViolaFixture } from '../../../test/fixtures/viola.ts';
import { postAnswer } from '../../api/node-configs-http.ts';
import { nodeConfigs } from '../node-configs/node-config.ts';

let bed: ViolaFixture;

beforeAll(async () => {
  bed = await ViolaFixture.start();
});

afterEach(() => bed.reset());

afterAll(() => bed[Symbol.asyncDispose]());

const dryRun = async (body: unknown, token = 'rw') => {
  const { status, body: answer } = await bed.call('POST', '/dry-run', { token }, body);
  return { status, answer: postAnswer.safeParse(answer).data };
};
const stored = async () => (await bed.admin.listAll(nodeConfigs)).items;

describe('POST node-configs/dry-run', () => {
  it('a dry run answers as the POST would for each node, and writes nothing', async () => {
    await bed.post([node, { nodeName: 'same', interfaces: [] }]);
    const before = await stored();
    bed.writes.length = 0;
    const body = [
      { ...node, interfaces: [] },
      { nodeName: 'same', interfaces: [] },
      { nodeName: 'new', interfaces: node.interfaces },
      { ...node, nodeName: 'stale', base: { uid: 'gone', generation: 3 } },
      { nodeName: 'bad', interfaces: [{ name: 'multinic0', macAddress: 'x' }] },
    ];
    const { status, answer } = await dryRun(body);
    expect(status).toBe(200);
    expect(answer?.results.map((one) => [one.nodeName, one.status])).toEqual([
      ['Worker_1', 'updated'],
      ['same', 'unchanged'],
      ['new', 'created'],
    ]);
    expect(answer?.errors.map((one) => [one.nodeName, one.code])).toEqual([
      ['stale', 'StaleBase'],
      ['bad', 'Invalid'],
    ]);
    expect(bed.writes).toEqual([]);
    expect(await stored()).toEqual(before);
    const { answer: real } = await bed.post(body, { prefer: 'multinic-results' });
    expect(real.errors).toEqual(answer?.errors);
    expect(real.results.map((one) => one.status)).toEqual(answer?.results.map((one) => one.status));
  });

  it.each([
    ['ro', 403],
    ['d', 403],
    ['other', 403],
  ])('a dry run with token %s is refused with %i', async (token, status) => {
    expect((await dryRun([node], token)).status).toBe(status);
  });
});
