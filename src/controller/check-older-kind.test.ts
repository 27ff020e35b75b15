import { afterEach, beforeEach, expect, it } from 'vitest';
import { checksOn, good } from '../../test/beds/check-bed.ts';
import { ControllerBed } from '../../test/beds/controller-bed.ts';

let bed: ControllerBed;

/** What a cluster does not keep whose CustomResourceDefinition knows no looks. */
const unknown = ['checkedAt', 'checkAsked', 'readySince', 'worked'];

beforeEach(async () => {
  bed = await ControllerBed.start({ withoutInRecord: unknown });
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

const { actions, ask, boot, configure, untilActions, untilDrift } = checksOn(() => bed);

it('a look of which the cluster keeps nothing is made once for each occasion', async () => {
  await configure();
  await boot();
  await untilActions('apply', 'check');
  await untilDrift('False AsApplied');
  await ask('now');
  await untilActions('apply', 'check', 'check');
  await bed.untilReady('worker-1', good);
  const { status } = await bed.get('worker-1');
  expect(Object.keys(status?.applied ?? {}).filter((key) => unknown.includes(key))).toEqual([]);
  await bed.pass(20);
  const written = bed.writes().length;
  await bed.pass(100);
  expect(bed.writes().slice(written)).toEqual([]);
  expect(actions()).toEqual(['apply', 'check', 'check']);
});

it('a controller that starts anew there takes a look for made whose Job is still kept', async () => {
  await configure();
  await ask('now');
  await untilActions('apply', 'check');
  await untilDrift('False AsApplied');
  await bed.stop();
  bed.run();
  await bed.pass(50);
  const written = bed.writes().length;
  await bed.pass(100);
  expect(bed.writes().slice(written)).toEqual([]);
  expect(actions()).toEqual(['apply', 'check']);
  await bed.untilReady('worker-1', good);
});
