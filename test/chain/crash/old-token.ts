import { identities } from '../../../rig/chain/identities.ts';
import { annotations, namespaces } from '../../../src/api/names.ts';
import { secrets, serviceAccounts } from '../../../src/kube/core-resources.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { provider, type World } from '../world.ts';

/** The business cluster is registered by a token that has a quarter of its life left: Viola renews it when it starts. */
export async function registerWithOldToken({ management, business }: World): Promise<void> {
  const account = 'viola';
  const metadata = { name: account, namespace: namespaces.system };
  await business.client.apply(serviceAccounts, { metadata }, { fieldManager: 'test' });
  const now = Math.floor(systemClock.now().getTime() / 1000);
  const access = business.server.accessAs(identities.writer, [], {
    from: now - 5400,
    to: now + 1800,
  });
  const kubeconfig = await business.server.kubeconfig(access);
  const change = {
    metadata: { annotations: { [annotations.renewsTokenOf]: account } },
    data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
  };
  const registration = { name: provider, namespace: namespaces.registrations };
  await management.client.patch(secrets, registration, change);
}
