import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identities } from '../../rig/chain/identities.ts';
import { lifeOfAPort } from '../fixtures/chain/life.ts';
import { openWorld, type Worker, type World } from '../fixtures/chain/world.ts';
import { chainParts, claimsOfParts, type PartName } from '../rbac/claims.ts';
import { useOf } from '../rbac/used.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld(['rights-1']);
  const [worker] = world.workers as [Worker];
  await lifeOfAPort(world, worker);
});

afterAll(() => world?.[Symbol.asyncDispose]());

describe.each(chainParts)("%s during a port's life", (part: PartName) => {
  const claims = claimsOfParts()[part];

  it('the part uses all its granted rights except rare ones, and requests nothing beyond them', () => {
    const { server } = ['operator', 'viola'].includes(part) ? world.management : world.business;
    const usual = claims.filter(({ right }) => !right.rare);
    expect(useOf(server.audit, identities[part], usual).unused).toEqual([]);
    const { refused, beyond } = useOf(server.audit, identities[part], claims);
    expect([refused, beyond]).toEqual([[], []]);
  });
});
