import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksOn, good } from '../../../test/fixtures/checks.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry } from '../../../test/fixtures/controller-samples.ts';
import { configured } from '../../../test/fixtures/scripted-agents.ts';
import { Turns } from './turns.ts';

let bed: ControllerFixture;

beforeEach(async () => {
  bed = await ControllerFixture.start();
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

const { answerChecks, configure, boot, untilActions } = checksOn(() => bed);

/** The API server does not answer whoever creates a Job of a check. */
function hangChecks(): void {
  bed.through = (client) => {
    const create: typeof client.create = async (resource, object, options) => {
      if (object.metadata.labels?.['multinic.io/action'] !== 'check') {
        return client.create(resource, object, options);
      }
      await pause(600_000, undefined, { signal: options?.signal ?? new AbortController().signal });
      throw new Error('never answered');
    };
    return { ...client, create };
  };
}

it('[C10] a change is applied while the API server does not answer a dozen checks', async () => {
  const names = Array.from({ length: 12 }, (_, n) => `n${n}`);
  hangChecks();
  bed.run({ 'max-in-flight': '60' });
  for (const name of names) {
    await bed.addNode(name, `uuid-${name}`);
    await bed.setNode(name, { systemUUID: `uuid-${name}`, bootID: 'boot-1' });
    await bed.apply(name, { instanceId: `uuid-${name}`, interfaces: [entry(0)] });
  }
  for (const name of names) await bed.untilReady(name, good);
  for (const name of names) {
    await bed.setNode(name, { systemUUID: `uuid-${name}`, bootID: 'boot-2' });
  }
  await bed.pass(20);
  await bed.addNode('late', 'uuid-late');
  await bed.apply('late', { instanceId: 'uuid-late', interfaces: [entry(0)] });
  await bed.untilReady('late', good);
});

it('[C10] a spec that changes during a check after a boot is applied when the check has ended', async () => {
  await configure();
  answerChecks(() => undefined);
  await boot();
  await untilActions('apply', 'check');
  await bed.untilReady('worker-1', 'Unknown SpecChanged');
  await bed.apply('worker-1', { interfaces: [entry(0, { address: '10.0.0.77' })] });
  await bed.pass(20);
  bed.agents.answer = configured;
  await bed.untilReady('worker-1', good);
  expect(bed.agents.requests.at(-1)?.interfaces[0]?.addresses).toEqual(['10.0.0.77/24']);
});

describe('turns', () => {
  it('do one piece of work at a time for a key, also after one that failed', async () => {
    const turns = new Turns();
    const order: string[] = [];
    const work = (name: string, ms: number, fails = false) =>
      turns.take('key', async () => {
        order.push(`${name} begins`);
        await pause(ms);
        order.push(`${name} ends`);
        if (fails) throw new Error(name);
      });
    const first = work('a', 5, true);
    const second = work('b', 1);
    await expect(first).rejects.toThrow('a');
    await second;
    expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  });

  it('of different keys wait for nobody', async () => {
    const turns = new Turns();
    const hanging = Promise.withResolvers<void>();
    const first = turns.take('a', async () => hanging.promise);
    expect(await turns.take('b', async () => 'done')).toBe('done');
    hanging.resolve();
    await first;
  });
});
