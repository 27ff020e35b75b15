import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksOn, good } from '../../../test/fixtures/checks.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { entry } from '../../../test/fixtures/controller-samples.ts';
import { configured } from '../../../test/fixtures/scripted-agents.ts';
import { Turns } from './turns.ts';

let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

const { answerChecks, configure, boot, untilActions } = checksOn(() => fixture);

/** Makes the API server hang on every check Job creation. */
function hangChecks(): void {
  fixture.through = (client) => {
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

it('[C10] a change is applied while the API server hangs on a dozen check Jobs', async () => {
  const names = Array.from({ length: 12 }, (_, n) => `n${n}`);
  hangChecks();
  fixture.run({ 'max-in-flight': '60' });
  for (const name of names) {
    await fixture.addNode(name, `uuid-${name}`);
    await fixture.setNode(name, { systemUUID: `uuid-${name}`, bootID: 'boot-1' });
    await fixture.apply(name, { instanceId: `uuid-${name}`, interfaces: [entry(0)] });
  }
  for (const name of names) await fixture.untilReady(name, good);
  for (const name of names) {
    await fixture.setNode(name, { systemUUID: `uuid-${name}`, bootID: 'boot-2' });
  }
  await fixture.pass(20);
  await fixture.addNode('late', 'uuid-late');
  await fixture.apply('late', { instanceId: 'uuid-late', interfaces: [entry(0)] });
  await fixture.untilReady('late', good);
});

it('[C10] a spec changed during a check after a boot is applied after the check', async () => {
  await configure();
  answerChecks(() => undefined);
  await boot();
  await untilActions('apply', 'check');
  await fixture.untilReady('worker-1', 'Unknown SpecChanged');
  await fixture.apply('worker-1', { interfaces: [entry(0, { address: '10.0.0.77' })] });
  await fixture.pass(20);
  fixture.agents.answer = configured;
  await fixture.untilReady('worker-1', good);
  expect(fixture.agents.requests.at(-1)?.interfaces[0]?.addresses).toEqual(['10.0.0.77/24']);
});

describe('Turns', () => {
  it('Turns serialises work for one key, also after a failure', async () => {
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

  it('Turns runs work for different keys in parallel', async () => {
    const turns = new Turns();
    const hanging = Promise.withResolvers<void>();
    const first = turns.take('a', async () => hanging.promise);
    expect(await turns.take('b', async () => 'done')).toBe('done');
    hanging.resolve();
    await first;
  });
});
