import { expect, it } from 'vitest';
import { identities } from '../../../rig/chain/identities.ts';
import { allowGroups, BizSources, bizNode } from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { useOf } from '../../../test/rbac/used.ts';
import { type BizConfigMode, bizConfigGroups } from '../../api/names.ts';
import { claimsOf } from '../../kube/rights.ts';
import { controllerRights, placesOf } from '../rights.ts';

const namespace = 'multinic-system';

/** Returns claims about MultiNicBizConfigs and the expansion's MultiNicNodeConfigs. */
function claimsIn(bizConfig: BizConfigMode) {
  const settings = {
    namespace,
    agentNamespace: 'multinic-agents',
    bizConfig,
    bizConfigGroups,
  };
  return claimsOf(controllerRights(namespace).rights, placesOf(settings)).filter(
    ({ right: { where, resource, names = [] } }) =>
      where.startsWith('multinic') ||
      where === 'expansion' ||
      (bizConfig !== 'off' &&
        resource === 'customresourcedefinitions' &&
        names.some((name) => name.startsWith('multinicbizconfigs.'))),
  );
}

const numbers = [1, 2, 3, 4];
const list = numbers.map((n) => bizNode(n, [1]));

/** Creates sources in both groups and removes a node from the first. */
async function live(fixture: ControllerFixture, mode: BizConfigMode): Promise<void> {
  const sources = new BizSources(fixture);
  await allowGroups(fixture);
  const group = 'multinic.okestro.io';
  await sources.create('all', list);
  await sources.create('more', [bizNode(9, [1])], { group });
  fixture.run({ 'biz-config': mode, 'biz-config-groups': bizConfigGroups.join(',') });
  if (mode === 'off') return fixture.pass(50);
  await sources.until('all', ({ status }) => status !== undefined);
  await sources.until('more', ({ status }) => status !== undefined, group);
  await sources.edit('all', list.slice(1));
  await sources.until('all', () => true);
  return fixture.pass(60);
}

it.each(['active', 'read-only', 'off'] as const)(
  'the controller in mode %s uses all its MultiNicBizConfig rights and requests nothing beyond',
  async (mode) => {
    await using fixture = await ControllerFixture.start();
    await live(fixture, mode);
    const claims = claimsIn(mode);
    expect(claims.length > 0).toBe(mode !== 'off');
    const all = claimsOf(controllerRights(namespace).rights, {
      ...placesOf({
        namespace,
        agentNamespace: 'multinic-agents',
        bizConfig: mode,
        bizConfigGroups,
      }),
    });
    const { audit } = fixture.api;
    expect(useOf(audit, identities.controller, claims).unused).toEqual([]);
    const { refused, beyond } = useOf(audit, identities.controller, all);
    expect([refused, beyond]).toEqual([[], []]);
  },
);
