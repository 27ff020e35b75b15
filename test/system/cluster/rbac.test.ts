import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from '../../../rig/control-plane/control-plane.ts';
import {
  accounts,
  beside,
  type Granted,
  grantedBy,
  manifests,
  page,
  rulesOfList,
} from '../../rbac/can-i.ts';

const rbac = join(import.meta.dirname, '../../../deploy/rbac');

/** What an identity may do in a namespace, as a real API server says. */
async function granted(cluster: ControlPlane, user: string, namespace: string): Promise<Granted> {
  const list = ['auth', 'can-i', '--list', `--as=${user}`, `--namespace=${namespace}`];
  return grantedBy(rulesOfList(await cluster.kubectl(list)));
}

describe.each(['management', 'business'] as const)('a %s cluster', (which) => {
  let cluster: ControlPlane;

  beforeAll(async () => {
    cluster = await startControlPlane(`rbac${which.slice(0, 4)}`);
    for (const name of manifests[which]) {
      await cluster.kubectl(['apply', '--server-side', '-f', join(rbac, `${name}.yaml`)]);
    }
  });

  afterAll(async () => {
    await cluster?.down();
  });

  const own = accounts.filter((account) => account.cluster === which);

  it.each(own)('lets $user do what its golden file says, and no more', async (account) => {
    const nobody = 'system:serviceaccount:default:nobody';
    const sections = new Map<string, Granted>();
    for (const namespace of account.namespaces) {
      const everybodys = await granted(cluster, nobody, namespace);
      const all = await granted(cluster, account.user, namespace);
      expect(everybodys.size, 'everybody may ask what he may').toBeGreaterThan(0);
      sections.set(namespace, beside(all, everybodys));
    }
    await expect(page(sections)).toMatchFileSnapshot(`rbac/${account.file}`);
  });
});
