import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { applyConfig, attach, generous, untilConfigured } from './acts.ts';
import { plantForeignState } from './planted.ts';
import { configCondition, endOf } from './seen.ts';
import { namespace, openWorld, type World } from './world.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

let world: World;
let before: Awaited<ReturnType<typeof endOf>>;

beforeAll(async () => {
  world = await openWorld(say);
  await plantForeignState(world.node);
  await applyConfig(world, [world.server.id]);
  await attach(world);
  await untilConfigured(world, 'multinic0');
  await attach(world);
  await untilConfigured(world, 'multinic0', 'multinic1');
  await untilReady();
});

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

beforeEach(async () => {
  before = await endOf(world);
});

async function untilReady(): Promise<void> {
  await vi.waitFor(
    async () => expect(await configCondition(world, 'Ready')).toMatchObject({ status: 'True' }),
    generous,
  );
}

async function untilNotReady(reason: string): Promise<void> {
  await vi.waitFor(
    async () =>
      expect(await configCondition(world, 'Ready')).toMatchObject({ status: 'False', reason }),
    generous,
  );
}

/** Nothing on the node and nothing that its object wants has changed. */
async function expectNothingLost(): Promise<void> {
  const { nodeConfig, host } = await endOf(world);
  expect(host).toEqual(before.host);
  expect(nodeConfig).toEqual(before.nodeConfig);
}

/** All is as it was. */
async function untilAsBefore(): Promise<void> {
  await vi.waitFor(async () => expect(await endOf(world)).toEqual(before), generous);
}

/** Has a refused account tried again. */
async function tryAgain(): Promise<void> {
  const annotation = `multinic.io/reconcile-at=${Date.now()}`;
  await world.management.kubectl([
    'annotate',
    'osc',
    'e2e',
    '-n',
    namespace,
    '--overwrite',
    annotation,
  ]);
}

it('a project that Keystone does not give costs no NIC, and the right one is taken again', async () => {
  await applyConfig(world, [world.server.id], { projectID: '0123456789abcdef0123456789abcdef' });
  await untilNotReady('KeystoneError');
  await expectNothingLost();
  await applyConfig(world, [world.server.id]);
  await untilAsBefore();
});

it('a role that is revoked costs no NIC, and all goes on when it is granted again', async () => {
  const { account, parts } = world;
  await account.revoke('member');
  // The services remember a good token for minutes; a new operator asks for one.
  await parts.kill('operator');
  await parts.restart('operator');
  await untilNotReady('KeystoneError');
  await expectNothingLost();
  await account.grant('member');
  await tryAgain();
  await untilAsBefore();
});
