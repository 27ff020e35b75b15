import { afterEach, describe, expect, it } from 'vitest';
import { checksOn, good } from '../../../test/fixtures/check-bed.ts';
import { ControllerBed } from '../../../test/fixtures/controller-bed.ts';
import { entry } from '../../../test/fixtures/controller-samples.ts';
import { KubeError } from '../../kube/errors.ts';
import { nodeConfigs } from '../objects/stores.ts';

let bed: ControllerBed;

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

const { configure, actions } = checksOn(() => bed);

async function untilNothingIsWritten(): Promise<void> {
  await bed.pass(20);
  const written = bed.writes().length;
  await bed.pass(60);
  expect(bed.writes().slice(written)).toEqual([]);
}

/** What the controller has said of fields that are not kept. */
function said(): readonly string[] {
  return bed.lines.filter((line) => line.includes('CRDTooOld'));
}

async function nicsTold() {
  const { status } = await bed.get('worker-1');
  return status?.interfaceStatuses?.map(({ status: word }) => word);
}

/** What a cluster does not know of a status, how it is called, and what is left of the NIC's own status. */
const rows = [
  ['interfaceStatuses.macAddress', 'status.interfaceStatuses[].macAddress', ['Configured']],
  ['interfaceStatuses.mtu', 'status.interfaceStatuses[].mtu', ['Configured']],
  ['interfaceStatuses.lastUpdated', 'status.interfaceStatuses[].lastUpdated', ['Configured']],
  ['interfaceStatuses', 'status.interfaceStatuses', undefined],
  ['conditions.message', 'status.conditions[].message', ['Configured']],
  ['observedSpecHash', 'status.observedSpecHash', ['Configured']],
] as const;

describe.each(rows)('where a cluster has no %s', (path, field, nics) => {
  it('a status is written once, and that is told once; another controller writes it once more', async () => {
    bed = await ControllerBed.start({ withoutInStatus: [path] });
    await configure();
    await untilNothingIsWritten();
    expect(await nicsTold()).toEqual(nics);
    expect(said()).toHaveLength(1);
    expect(said()[0]).toContain(`"${field}"`);
    expect(bed.events()).toEqual(['AllInterfacesConfigured']);
    await bed.stop();
    bed.run();
    await untilNothingIsWritten();
    expect(await nicsTold()).toEqual(nics);
    expect(actions()).toEqual(['apply']);
    expect(said().length).toBeLessThanOrEqual(2);
    await bed.untilReady('worker-1', good);
  });
});

describe('where a cluster has no MAC in interfaceStatuses', () => {
  it('a NIC that is not wanted any more leaves the status when it has left the node', async () => {
    bed = await ControllerBed.start({ withoutInStatus: ['interfaceStatuses.macAddress'] });
    await configure();
    await bed.apply('worker-1', { interfaces: [entry(0), entry(1)] });
    await bed.untilReady('worker-1', good);
    expect(await nicsTold()).toEqual(['Configured', 'Configured']);
    await bed.apply('worker-1', { interfaces: [entry(1)] });
    await bed.untilReady('worker-1', good);
    await untilNothingIsWritten();
    expect(await nicsTold()).toEqual(['Configured']);
  });
});

describe('where a cluster has no MAC in interfaceStatuses, and its answers are lost', () => {
  it('a status is written again once for each lost answer, and no more', async () => {
    bed = await ControllerBed.start({ withoutInStatus: ['interfaceStatuses.macAddress'] });
    let toLose = 6;
    bed.through = (client) => {
      const lose: typeof client.patchStatus = async (...asked) => {
        const answer = await client.patchStatus(...asked);
        toLose -= 1;
        if (toLose < 0) return answer;
        throw new KubeError({ status: 504, reason: 'Timeout', message: 'too late' });
      };
      return { ...client, patchStatus: lose };
    };
    await configure();
    await bed.eventually(
      () => toLose < 0,
      () => `${toLose} answers are still to be lost`,
    );
    await untilNothingIsWritten();
    expect(await nicsTold()).toEqual(['Configured']);
    expect(actions()).toEqual(['apply']);
  });
});

it('nothing is said of a cluster that keeps all, also of what a later version has written', async () => {
  bed = await ControllerBed.start();
  await configure();
  const ref = { namespace: 'multinic-system', name: 'worker-1' };
  const later = { applied: { worked: 1, reasons: ['OfALaterVersion'] } };
  await bed.admin.patchStatus(nodeConfigs, ref, { status: later });
  await bed.apply('worker-1', { interfaces: [entry(0), entry(1)] });
  await bed.untilReady('worker-1', good);
  await untilNothingIsWritten();
  expect(said()).toEqual([]);
});
