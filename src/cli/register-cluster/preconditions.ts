import { businessGroup, labels } from '../../api/names.ts';
import { isLoopback } from '../../http/loopback.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { crds, deployments, namespaces, type Secret, secrets } from '../../kube/core-resources.ts';
import { readRegistration } from '../../viola/clusters/secret.ts';
import { Refusal } from '../refusal.ts';
import type { Registration } from './registration.ts';

/** Valid as Secret name and label value, because the provider id becomes both. */
const providerForm = /^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/;

/** Refuses unworkable registrations before any request. */
export function checkRegistration({ provider, server }: Registration): void {
  if (!providerForm.test(provider)) {
    throw new Refusal(
      `the provider id "${provider}" must be at most 63 lower-case letters, digits, - and ., as it names a Secret and is the value of a label`,
      'give the id that OpenstackConfigs name as k8sProviderID',
    );
  }
  if (new URL(server).protocol !== 'https:') {
    throw new Refusal(
      `${server} is not https: the token would be readable on the network`,
      'give --server https://…',
    );
  }
}

/** Refuses a loopback address if the management cluster runs Viola in Pods; a process such as `make run` reaches it. */
export async function checkReach(
  client: KubeClient,
  { server }: Pick<Registration, 'server'>,
): Promise<void> {
  if (!isLoopback(new URL(server).hostname)) return;
  const labelSelector = `${labels.component}=viola`;
  const { items } = await client.listAll(deployments, { labelSelector });
  const [viola] = items;
  if (viola === undefined) return;
  const { name, namespace = '' } = viola.metadata;
  throw new Refusal(
    `${server} is a loopback address: Viola, which runs in Pods of Deployment ${namespace}/${name}, cannot reach it`,
    'give --server with an address that Pods of the management cluster can reach',
  );
}

/** Refuses a business cluster without namespace or CRD. */
export async function checkBusiness(
  client: KubeClient,
  { namespace }: Registration,
): Promise<void> {
  if (!(await client.find(namespaces, { name: namespace }))) {
    throw new Refusal(
      `the business cluster has no namespace ${namespace}`,
      'install the chart multinic-agent there first, or give --namespace',
    );
  }
  const crd = `multinicnodeconfigs.${businessGroup}`;
  if (!(await client.find(crds, { name: crd }))) {
    throw new Refusal(
      `the business cluster has no CustomResourceDefinition ${crd}`,
      'install the chart multinic-agent there first',
    );
  }
}

/** Refuses a management cluster unable to store the registration; `replace` allows another server than before. */
export async function checkManagement(
  client: KubeClient,
  { registrationsNamespace, provider, server }: Registration,
  replace: boolean,
): Promise<void> {
  if (!(await client.find(namespaces, { name: registrationsNamespace }))) {
    throw new Refusal(
      `the management cluster has no namespace ${registrationsNamespace}`,
      'install the chart multinic-operator there first, or give --registrations-namespace',
    );
  }
  const labelSelector = `${labels.providerId}=${provider}`;
  const { items } = await client.listAll(secrets, {
    namespace: registrationsNamespace,
    labelSelector,
  });
  const other = items.find(({ metadata }) => metadata.name !== provider);
  if (other) {
    throw new Refusal(
      `Secret ${registrationsNamespace}/${other.metadata.name} already registers provider ${provider}`,
      `delete it first: kubectl -n ${registrationsNamespace} delete secret ${other.metadata.name}`,
    );
  }
  const [existing] = items;
  if (existing === undefined || replace) return;
  const registered = await serverOf(existing);
  if (isSame(registered, server)) return;
  throw new Refusal(
    `provider ${provider} is registered for ${registered ?? 'a server that cannot be read'}, not for ${server}`,
    'give --replace if the cluster moved to this server',
  );
}

/** Returns the server from a registration Secret; undefined if unreadable. */
async function serverOf(existing: Secret): Promise<string | undefined> {
  try {
    return (await readRegistration(existing)).access.server;
  } catch {
    // Viola cannot read this Secret either, hence it registers nothing and may be replaced.
    return undefined;
  }
}

/** Compares two server URLs; normalizes a trailing `/` and the default port. */
function isSame(one: string | undefined, other: string): boolean {
  return one !== undefined && new URL(one).href === new URL(other).href;
}
