import { labels } from '../../api/names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import {
  roleBindings,
  roles,
  secrets,
  serviceAccounts,
  tokenRequestsOf,
} from '../../kube/core-resources.ts';
import { isForbidden } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { nodeConfigs } from '../../viola/node-configs/node-config.ts';
import {
  type BoundRole,
  managedBy,
  type Registration,
  registrationSecret,
  writerObjects,
} from './registration.ts';

const fieldManager = 'multinic-cli';

export interface Clusters {
  readonly business: KubeClient;
  readonly management: KubeClient;
}

/** Result of a registration. */
export interface Registered {
  /** End of the token. */
  readonly expires: string;
  /** False: the user may not let Viola read the uid of the cluster. */
  readonly isIdentified: boolean;
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
): Promise<Registered> {
  const { isIdentified } = await applyWriter(clusters.business, registration, false);
  const { token, expires } = await requestToken(
    clusters.business,
    registration,
    options.tokenSeconds,
  );
  await using writer = options.connect(token);
  // Tests the token before storing the Secret: a failing token must not replace a working registration.
  await writer.list(nodeConfigs, { namespace: registration.namespace, limit: 1 });
  await applySecret(clusters.management, registration, { token, dryRun: false });
  return { expires, isIdentified };
}

/** Creates or updates missing objects and our own; objects from the agent chart stay unchanged. */
async function applyWriter(
  client: KubeClient,
  registration: Registration,
  dryRun: boolean,
): Promise<Pick<Registered, 'isIdentified'>> {
  const { serviceAccount, identity, ...writer } = writerObjects(registration);
  if (await mayApply(client, serviceAccounts, serviceAccount)) {
    await client.apply(serviceAccounts, serviceAccount, { fieldManager, dryRun });
  }
  await applyRole(client, writer, dryRun);
  try {
    await applyRole(client, identity, dryRun);
    return { isIdentified: true };
  } catch (error) {
    // A user without rights in kube-system can still register the cluster.
    if (!isForbidden(error)) throw error;
    return { isIdentified: false };
  }
}

async function applyRole(client: KubeClient, { role, roleBinding }: BoundRole, dryRun: boolean) {
  const options = { fieldManager, dryRun };
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
