import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ControlPlane } from '../../../rig/control-plane/control-plane.ts';
import {
  accounts,
  beside,
  type Granted,
  grantedBy,
  manifests,
  page,
  rulesOfList,
} from '../../rbac/can-i.ts';
import { emptyCluster } from './empty-cluster.ts';

const rbac = join(import.meta.dirname, '../../../deploy/rbac');

/** Rights of an identity in a namespace, from a real API server. */
async function granted(cluster: ControlPlane, user: string, namespace: string): Promise<Granted> {
  const list = ['auth', 'can-i', '--list', `--as=${user}`, `--namespace=${namespace}`];
  return grantedBy(rulesOfList(await cluster.kubectl(list)));
}

/** Rights of each identity, from a real API server. */
export function rbacTests(plane: () => ControlPlane): void {
  describe.each(['management', 'business'] as const)('a %s cluster', (which) => {
    beforeAll(async () => {
      await emptyCluster(plane());
      for (const name of manifests[which]) {
        await plane().kubectl(['apply', '--server-side', '-f', join(rbac, `${name}.yaml`)]);
      }
    });

    const own = accounts.filter((account) => account.cluster === which);

    it.each(own)('$user has exactly the rights in the golden file', async (account) => {
      const nobody = 'system:serviceaccount:default:nobody';
      const sections = new Map<string, Granted>();
      for (const namespace of account.namespaces) {
        const everybodys = await granted(plane(), nobody, namespace);
        const all = await granted(plane(), account.user, namespace);
        expect(everybodys.size, 'everybody may ask what he may').toBeGreaterThan(0);
        sections.set(namespace, beside(all, everybodys));
      }
      await expect(page(sections)).toMatchFileSnapshot(`rbac/${account.file}`);
    });
  });
}
