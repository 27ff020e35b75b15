import { expect, it } from 'vitest';
import { identities } from '../../../rig/chain/identities.ts';
import { allowGroups, BizSources, bizNode } from '../../../test/fixtures/biz-samples.ts';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { useOf } from '../../../test/rbac/used.ts';
import { type BizConfigMode, bizConfigGroups } from '../../api/names.ts';
import { claimsOf } from '../../kube/rights.ts';
import { controllerRights, placesOf } from '../rights.ts';

const namespace = 'multinic-system';

/** Claims about MultiNicBizConfigs, and about all that the expansion does with MultiNicNodeConfigs. */
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

/** Sources of both groups; the first loses a node. */
async function live(bed: ControllerFixture, mode: BizConfigMode): Promise<void> {
  const sources = new BizSources(bed);
  await allowGroups(bed);
  const group = 'multinic.okestro.io';
  await sources.create('all', list);
  await sources.create('more', [bizNode(9, [1])], { group });
  bed.run({ 'biz-config': mode, 'biz-config-groups': bizConfigGroups.join(',') });
  if (mode === 'off') return bed.pass(50);
  await sources.until('all', ({ status }) => status !== undefined);
  await sources.until('more', ({ status }) => status !== undefined, group);
  await sources.edit('all', list.slice(1));
  await sources.until('all', () => true);
  return bed.pass(60);
}

it.each(['active', 'read-only', 'off'] as const)(
  'the controller in mode %s uses all its rights for MultiNicBizConfigs, and asks for nothing else',
  async (mode) => {
    await using bed = await ControllerFixture.start();
    await live(bed, mode);
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
    const { audit } = bed.api;
    expect(useOf(audit, identities.controller, claims).unused).toEqual([]);
    const { refused, beyond } = useOf(audit, identities.controller, all);
    expect([refused, beyond]).toEqual([[], []]);
  },
);
