import { identities } from '../../../rig/chain/identities.ts';
import type { ControlPlane } from '../../../rig/control-plane/control-plane.ts';
import { claimsOfParts, type PartName } from '../../rbac/claims.ts';
import { type Use, useOf } from '../../rbac/used.ts';
import type { World } from './world.ts';

/** What the charts grant, as they are installed: the operator keeps the access to Viola itself. */
const claims = claimsOfParts({ violaAccess: 'managed', violaTls: 'managed' });

/** What a part of the installation did so far, held against its rights; those that are used rarely need not be used. */
export async function usedRights(world: World, part: PartName): Promise<Use> {
  const cluster = ['operator', 'viola'].includes(part) ? world.management : world.business;
  const requests = await requestsIn(cluster);
  const granted = claims[part];
  const usual = granted.filter(({ right }) => !right.rare);
  const { unused } = useOf(requests, identities[part], usual);
  return { ...useOf(requests, identities[part], granted), unused };
}

async function requestsIn(cluster: ControlPlane) {
  const entries = await cluster.auditLog();
  return entries.map(({ code, ...entry }) => ({ ...entry, status: code }));
}
