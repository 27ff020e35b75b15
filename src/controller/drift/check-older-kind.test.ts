import { afterEach, describe, expect, it } from 'vitest';
import { checksOn, good } from '../../../test/fixtures/check-bed.ts';
import { ControllerBed } from '../../../test/fixtures/controller-bed.ts';
import { entry, instanceId, nicResult } from '../../../test/fixtures/controller-samples.ts';
import { configured } from '../../../test/fixtures/scripted-agents.ts';
import type { Family } from '../../api/job.ts';
import { appliedRecord } from '../../api/multinicnodeconfig.ts';

let bed: ControllerBed;

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

/** What a cluster does not keep whose CustomResourceDefinition is as old as that: of looks, of families. */
const looks = ['checkedAt', 'checkAsked', 'readySince', 'worked'];
const families = ['family', 'foundFamily', 'triedFamilies'];
/** Without these a record is none, and no agent is sent at all. */
const needed = ['action', 'content', 'nodeName', 'nodeUid', 'job', 'attempt', 'protocol', 'at'];
const rest = Object.keys(appliedRecord.shape).filter((field) => !needed.includes(field));

/** Fields alone that decide something, and such as came together. */
const alone = ['bootId', 'machineId', 'done', 'checkAsked', 'foundFamily'].map((field) => [field]);
const dropped = [...alone, looks, [...looks, ...families], rest];

const { actions, ask, boot, configure, untilActions, untilDrift } = checksOn(() => bed);

async function start(withoutInRecord: readonly string[]): Promise<void> {
  bed = await ControllerBed.start({ withoutInRecord });
}

async function kept(): Promise<readonly string[]> {
  const { status } = await bed.get('worker-1');
  return Object.keys(status?.applied ?? {});
}

async function untilNothingIsWritten(): Promise<void> {
  await bed.pass(20);
  const written = bed.writes().length;
  await bed.pass(100);
  expect(bed.writes().slice(written)).toEqual([]);
}

/** What the controller has said of records that are not kept. */
function said(): readonly string[] {
  return bed.lines.filter((line) => line.includes('status.applied'));
}

describe.each(dropped.map((fields) => ({ fields })))('where $fields are not kept', ({ fields }) => {
  it('a look is made once for each occasion, and what is lost is told once', async () => {
    await start(fields);
    await configure();
    await boot();
    await untilActions('apply', 'check');
    await untilDrift('False AsApplied');
    await ask('now');
    await untilActions('apply', 'check', 'check');
    await bed.untilReady('worker-1', good);
    expect((await kept()).filter((key) => fields.includes(key))).toEqual([]);
    await untilNothingIsWritten();
    expect(actions()).toEqual(['apply', 'check', 'check']);
    const lost = fields.filter((field) => said().some((line) => line.includes(field)));
    const used = fields.filter((field) => usual.includes(field));
    expect(lost).toEqual(expect.arrayContaining(used));
    expect(said().length).toBeLessThanOrEqual(fields.length);
  });

  it('the second agent is sent for the family that the first one found', async () => {
    await start(fields);
    await bed.addNode('worker-1');
    const machine = { systemUUID: instanceId, machineID: 'm1', bootID: 'boot-1' };
    await bed.setNode('worker-1', machine);
    bed.agents.answer = (request) => {
      if (request.family === 'keyfile') return configured(request);
      const wrong = { state: 'Failed', reason: 'WrongFamily', message: 'found keyfile' } as const;
      return { outcome: 'failed', nics: [nicResult(0, wrong)], family: 'keyfile' };
    };
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    await bed.untilReady('worker-1', good);
    await untilNothingIsWritten();
    const sent: (Family | undefined)[] = bed.agents.requests.map(({ family }) => family);
    expect(sent).toEqual(['netplan', 'keyfile']);
  });
});

/** Of these every record of a look has some. */
const usual = ['bootId', 'done', 'checkAsked', 'readySince', 'checkedAt', 'family'];

describe.each([['job'], ['at'], needed])('where a record comes to nothing', (...fields) => {
  it(`without ${fields.join()}: no agent is sent, and the object says why, once`, async () => {
    await start(fields);
    await bed.addNode('worker-1');
    bed.run();
    await bed.apply('worker-1', { interfaces: [entry(0)] });
    const { status: first } = await bed.untilReady('worker-1', 'False JobRefused');
    const before = bed.writes().length;
    await bed.pass(100);
    const { status } = await bed.get('worker-1');
    expect(JSON.stringify(status?.conditions)).toContain('apply deploy/crds');
    // It stays so from one try to the next, which comes with growing pauses.
    expect(status?.conditions).toEqual(first?.conditions);
    expect(bed.events()).toEqual(['JobRefused']);
    expect(bed.writes().length - before).toBeLessThan(10);
    expect(actions()).toEqual([]);
  });
});

describe('where nothing of looks is kept', () => {
  it('a controller that starts anew takes a look for made whose Job is still kept', async () => {
    await start(looks);
    await configure();
    await ask('now');
    await untilActions('apply', 'check');
    await untilDrift('False AsApplied');
    await bed.stop();
    bed.run();
    await bed.pass(50);
    await untilNothingIsWritten();
    expect(actions()).toEqual(['apply', 'check']);
    await bed.untilReady('worker-1', good);
  });
});
