import { labels } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import {
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  tokenRequestsOf,
} from '../../kube/core-resources.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { nodeConfigs } from '../../viola/node-config.ts';
import { managedBy, type Registration, registrationSecret, writerObjects } from './registration.ts';

const fieldManager = 'multinic-cli';

export interface Clusters {
  readonly business: KubeClient;
  readonly management: KubeClient;
}

/** Sends every object to both API servers as a dry run; throws their refusal. Writes nothing. */
export async function rehearse(clusters: Clusters, registration: Registration): Promise<void> {
  await applyWriter(clusters.business, registration, true);
  await applySecret(clusters.management, registration, { token: 'rehearsed', dryRun: true });
}

/** Creates or renews the registration. Idempotent. */
export async function register(
  clusters: Clusters,
  registration: Registration,
  options: { readonly tokenSeconds: number; readonly connect: (token: string) => KubeClient },
): Promise<{ readonly expires: string }> {
  await applyWriter(clusters.business, registration, false);
  const { token, expires } = await requestToken(
    clusters.business,
    registration,
    options.tokenSeconds,
  );
  await using writer = options.connect(token);
  // Tests the token before storing the Secret: a failing token must not replace a working registration.
  await writer.list(nodeConfigs, { namespace: registration.namespace, limit: 1 });
  await applySecret(clusters.management, registration, { token, dryRun: false });
  return { expires };
}

/** Creates or updates missing objects and our own; objects from the agent chart stay unchanged. */
async function applyWriter(
  client: KubeClient,
  registration: Registration,
  dryRun: boolean,
): Promise<void> {
  const { serviceAccount, role, roleBinding } = writerObjects(registration);
  const options = { fieldManager, dryRun };
  if (await mayApply(client, serviceAccounts, serviceAccount)) {
    await client.apply(serviceAccounts, serviceAccount, options);
  }
  if (await mayApply(client, roles, role)) await client.apply(roles, role, options);
  if (await mayApply(client, roleBindings, roleBinding)) {
    await client.apply(roleBindings, roleBinding, options);
  }
}

async function mayApply<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  { metadata }: KubeObject,
): Promise<boolean> {
  const existing = await client.find(resource, metadata);
  return existing === undefined || existing.metadata.labels?.[labels.managedBy] === managedBy;
}

async function requestToken(
  client: KubeClient,
  { namespace, serviceAccount: name }: Registration,
  expirationSeconds: number,
): Promise<{ token: string; expires: string }> {
  const request = { metadata: { name, namespace }, spec: { audiences: [], expirationSeconds } };
  const { status } = await client.create(tokenRequestsOf(name), request);
  if (!status)
    throw new Error(`the API server returned no token for ServiceAccount ${namespace}/${name}`);
  return { token: status.token, expires: status.expirationTimestamp };
}

async function applySecret(
  client: KubeClient,
  registration: Registration,
  { token, dryRun }: { readonly token: string; readonly dryRun: boolean },
): Promise<void> {
  // force: a new registration must replace the token Viola wrote at renewal.
  await client.apply(secrets, registrationSecret(registration, token), {
    fieldManager,
    dryRun,
    force: true,
  });
}
