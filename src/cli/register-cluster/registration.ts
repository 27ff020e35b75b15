import { annotations, labels } from '../../api/names.ts';
import type { ClusterAccess } from '../../kube/access/access.ts';
import type { Role, RoleBinding, Secret, ServiceAccount } from '../../kube/core-resources.ts';
import type { Draft } from '../../kube/object.ts';
import { writerRights } from '../../viola/rights.ts';

/** A business cluster as it is going to be registered. */
export interface Registration {
  /** The `x-provider-id` by which callers of Viola name the cluster. */
  readonly provider: string;
  /** Namespace of the MultiNicNodeConfigs in the business cluster. */
  readonly namespace: string;
  /** Viola's identity there. */
  readonly serviceAccount: string;
  /** As Viola reaches it from its Pod. */
  readonly server: string;
  readonly ca: string | undefined;
  readonly tlsServerName: string | undefined;
  /** Namespace of the Secret in the management cluster. */
  readonly registrationsNamespace: string;
}

/** Value of `app.kubernetes.io/managed-by` on what is made here. */
export const managedBy = 'multinic';

/** What Viola's identity is made of in the business cluster. */
export interface WriterObjects {
  readonly serviceAccount: Draft<ServiceAccount>;
  readonly role: Draft<Role>;
  readonly roleBinding: Draft<RoleBinding>;
}

/** An account with no more rights than Viola uses; the chart of the agents makes the same objects. */
export function writerObjects({ namespace, serviceAccount: name }: Registration): WriterObjects {
  const metadata = { name, namespace, labels: { [labels.managedBy]: managedBy } };
  return {
    serviceAccount: { metadata },
    role: { metadata, rules: writerRules(name) },
    roleBinding: {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  };
}

function writerRules(account: string) {
  return writerRights.rights.map(({ group, resource, names, verbs }) => ({
    apiGroups: [group],
    resources: [resource],
    // The only name of the table is that of the account itself.
    ...(names ? { resourceNames: [account] } : {}),
    verbs: [...verbs],
  }));
}

/** The Secret that Viola reads: a kubeconfig with the token, and whose token Viola is to renew. */
export function registrationSecret(registration: Registration, token: string): Draft<Secret> {
  const { provider, namespace, serviceAccount, registrationsNamespace } = registration;
  const text = { kubeconfig: JSON.stringify(kubeconfigOf(registration, token)), namespace };
  return {
    metadata: {
      name: provider,
      namespace: registrationsNamespace,
      labels: { [labels.providerId]: provider },
      annotations: { [annotations.renewsTokenOf]: serviceAccount },
    },
    type: 'Opaque',
    data: Object.fromEntries(
      Object.entries(text).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    ),
  };
}

function kubeconfigOf(
  { provider: name, server, ca, tlsServerName, serviceAccount }: Registration,
  token: string,
) {
  const cluster = {
    server,
    ...(ca === undefined
      ? {}
      : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(tlsServerName === undefined ? {} : { 'tls-server-name': tlsServerName }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster }],
    users: [{ name: serviceAccount, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: serviceAccount } }],
  };
}

/** The access that the registered token gives: what was registered is tried before it is called done. */
export function registeredAccess(
  { server, ca, tlsServerName }: Registration,
  token: string,
): ClusterAccess {
  return {
    server,
    token: () => Promise.resolve(token),
    ...(ca === undefined ? {} : { ca }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
  };
}

/** What is going to be done, before anything is. */
export function describe(
  registration: Registration,
  clusters: { readonly business: string; readonly management: string },
  lifetime: string,
): string {
  const { provider, namespace, serviceAccount, registrationsNamespace, server } = registration;
  return [
    `Registers the business cluster ${clusters.business} as provider ${provider}.`,
    '',
    `In ${clusters.business}, namespace ${namespace}:`,
    `  ServiceAccount ${serviceAccount}`,
    `  Role ${serviceAccount}: get, list, create, patch, delete of multinicnodeconfigs; create of its own token`,
    `  RoleBinding ${serviceAccount}`,
    `  a token of ${serviceAccount} for ${lifetime}, which Viola renews when half of it is over`,
    '',
    `In ${clusters.management}, namespace ${registrationsNamespace}:`,
    `  Secret ${provider}, label ${labels.providerId}=${provider}: a kubeconfig for ${server} with that token`,
    '',
  ].join('\n');
}
