import { afterEach, beforeEach, expect, it } from 'vitest';
import { drifted, good } from '../../test/fixtures/checks.ts';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import { entry, instanceId } from '../../test/fixtures/controller-samples.ts';
import { findCondition } from '../api/condition.ts';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';

const name = 'worker-1';
const twoNics = [entry(0), entry(1)];
const macs = twoNics.map(({ macAddress }) => macAddress);

let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  await fixture.addNode(name);
  await machine(name, 'boot-1');
  fixture.run();
  await fixture.apply(name, { interfaces: twoNics });
  await fixture.untilReady(name, good);
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

function machine(node: string, bootID: string, systemUUID = instanceId): Promise<void> {
  return fixture.setNode(node, { systemUUID, machineID: `machine of ${node}`, bootID });
}

/** Waits until a check on the node is in the status. */
async function observe(node: string, interfaces: readonly InterfaceSpec[], change: object = {}) {
  const before = checksOn(node);
  await fixture.apply(name, { interfaces: [...interfaces], mode: 'Observe', ...change });
  await fixture.eventually(
    () => checksOn(node) > before,
    () => `no check on ${node}`,
  );
  await fixture.pass(10);
}

const checksOn = (node: string): number =>
  fixture.agents.requests.filter(({ action, nodeName }) => action === 'check' && nodeName === node)
    .length;

it('a check on another node leaves the known NICs of the changed node in the record', async () => {
  await fixture.addNode('worker-2', 'uuid-2');
  await machine('worker-2', 'boot-2', 'uuid-2');
  fixture.agents.hosts.set('worker-2', new Map([['fa:16:3e:99:99:99', 0]]));
  const { status: before } = await fixture.get(name);
  await observe('worker-2', [entry(0)], { instanceId: 'uuid-2' });
  const { status } = await fixture.get(name);
  expect(status?.knownInterfaces).toEqual(before?.knownInterfaces);
  expect(status?.applied?.knownFrom).toEqual(before?.applied?.knownFrom);
  await fixture.apply(name, { interfaces: [entry(0)], instanceId: 'uuid-2' });
  await fixture.untilReady(name, 'False RemovalHeld');
  const ready = findCondition((await fixture.get(name)).status?.conditions, 'Ready');
  for (const mac of macs) expect(ready?.message).toContain(mac);
  expect(fixture.agents.macsOn(name)).toEqual(macs);
});

it('NICs that a boot took while other contents were observed are found missing in mode Apply', async () => {
  fixture.agents.answer = (request) =>
    request.action === 'check' && fixture.agents.macsOn(name).length === 0
      ? drifted()
      : fixture.agents.run(request);
  await observe(name, [entry(0)]);
  fixture.agents.hosts.delete(name);
  await machine(name, 'boot-2');
  await fixture.until(name, ({ status }) => status?.applied?.bootId === 'boot-2');
  await fixture.apply(name, { interfaces: twoNics });
  await fixture.pass(100);
  expect(fixture.agents.macsOn(name)).toEqual(macs);
  await fixture.untilReady(name, good);
});
