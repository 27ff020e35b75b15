import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Bundles } from '../../../rig/chain/parts.ts';
import { program } from '../../../rig/parts/program.ts';
import { applyConfig, attach, detach } from '../../fixtures/chain/acts.ts';
import { lifeOfAPort } from '../../fixtures/chain/life.ts';
import {
  generous,
  nodeConfigOf,
  untilConfigIsReady,
  untilConfigured,
} from '../../fixtures/chain/waits.ts';
import { openWorld, type Worker, type World } from '../../fixtures/chain/world.ts';
import { stateOf } from '../../host/host-state.ts';
import { makeOtherVersion, type OtherVersion } from './other-version.ts';

const ref = process.env['MULTINIC_SKEW_REF'] ?? '';

let other: OtherVersion;

beforeAll(async () => {
  other = await makeOtherVersion(ref);
});
afterAll(() => other?.[Symbol.asyncDispose]());

const parts = ['operator', 'viola', 'controller', 'agent'] as const;
type Part = (typeof parts)[number];

function bundlesOf(ofOther: readonly Part[]): Bundles {
  const processes = ofOther.filter((part) => part !== 'agent');
  return Object.fromEntries(processes.map((part) => [part, other.bundle]));
}

/** A world in which these parts are of the other version. */
function openSkewed(ofOther: readonly Part[]): Promise<World> {
  const bundles = bundlesOf(ofOther);
  if (!ofOther.includes('agent')) return openWorld(['skew-1'], { bundles });
  return openWorld(['skew-1'], { bundles, agentCommand: program('agent', other.bundle).command });
}

describe('a port becomes a NIC and goes again', () => {
  it.each<[string, Part[]]>([
    ['all parts are', [...parts]],
    ['Viola is', ['viola']],
    ['the operator is', ['operator']],
    ['the agent is', ['agent']],
    ['the controller is', ['controller']],
    ['the management cluster is', ['operator', 'viola']],
    ['the business cluster is', ['controller', 'agent']],
  ])('when %s of the other version', async (_, ofOther) => {
    await using world = await openSkewed(ofOther);
    await lifeOfAPort(world, world.workers[0] as Worker);
  });
});

it('an upgrade and the way back change no NIC, and send an agent for nothing but what comes after', async () => {
  await using world = await openSkewed(parts);
  const [worker] = world.workers as [Worker];
  await applyConfig(world, worker);
  await attach(world, worker);
  await untilConfigured(world, worker, 'multinic0');
  await untilConfigIsReady(world, worker);
  const settled = { host: await stateOf(worker.host), spec: nodeConfigOf(world, worker)?.spec };
  for (const bundles of [{}, bundlesOf(parts)]) {
    const jobs = jobsMade(world);
    await world.becomes(bundles);
    const { port_id: portId } = await attach(world, worker);
    await untilConfigured(world, worker, 'multinic0', 'multinic1');
    expect(jobsMade(world)).toBe(jobs + 1);
    await detach(world, worker, portId);
    await untilConfigured(world, worker, 'multinic0');
    await untilConfigIsReady(world, worker);
    expect(jobsMade(world)).toBe(jobs + 2);
    await vi.waitFor(async () => {
      const spec = nodeConfigOf(world, worker)?.spec;
      expect({ host: await stateOf(worker.host), spec }).toEqual(settled);
    }, generous);
  }
});

function jobsMade({ business }: World): number {
  const made = business.server.audit.filter(
    ({ resource, status }) => resource === 'jobs' && status === 201,
  );
  return made.length;
}
