import { annotations, identityNamespace, labels } from '../../api/names.ts';
import type { ClusterAccess } from '../../kube/access/access.ts';
import type { Role, RoleBinding, Secret, ServiceAccount } from '../../kube/core-resources.ts';
import type { Draft } from '../../kube/object.ts';
import { type WriterPlace, writerRights } from '../../viola/rights.ts';

/** A planned business cluster registration. */
export interface Registration {
  /** `x-provider-id`: the cluster's id for Viola's callers. */
  readonly provider: string;
  /** MultiNicNodeConfig namespace in the business cluster. */
  readonly namespace: string;
  /** Viola's ServiceAccount in the business cluster. */
  readonly serviceAccount: string;
  /** Server URL as reachable from Viola. */
  readonly server: string;
  readonly ca: string | undefined;
  readonly tlsServerName: string | undefined;
  /** The Secret's namespace in the management cluster. */
  readonly registrationsNamespace: string;
}

/** Value for `app.kubernetes.io/managed-by` on created objects. */
export const managedBy = 'multinic';

/** A Role with its binding to Viola's account. */
export interface BoundRole {
  readonly role: Draft<Role>;
  readonly roleBinding: Draft<RoleBinding>;
}

/** Objects for Viola's identity in the business cluster. */
export interface WriterObjects extends BoundRole {
  readonly serviceAccount: Draft<ServiceAccount>;
  /** In kube-system, for the uid of the cluster; Viola works without it. */
  readonly identity: BoundRole;
}

/** Returns an account with only the rights Viola uses; the agent chart creates the same objects. */
export function writerObjects({ namespace, serviceAccount: name }: Registration): WriterObjects {
  const account = { name, namespace };
  const identity = { name: identityRoleName(name), namespace: identityNamespace };
  return {
    serviceAccount: { metadata: ours(account) },
    ...boundRole('objects', account, account),
    identity: boundRole('kubeSystem', identity, account),
  };
}

/** Returns the Role name in kube-system; the chart uses the name for the account `viola`. */
export function identityRoleName(account: string): string {
  return `multinic-${account}`;
}

interface Named {
  readonly name: string;
  readonly namespace: string;
}

function boundRole(place: WriterPlace, role: Named, account: Named): BoundRole {
  const metadata = ours(role);
  return {
    role: { metadata, rules: writerRules(place, account.name) },
    roleBinding: {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role.name },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    },
  };
}

function ours(named: Named) {
  return { ...named, labels: { [labels.managedBy]: managedBy } };
}

/** Subresource for the account's own tokens. */
const tokens = 'serviceaccounts/token';

function writerRules(place: WriterPlace, account: string) {
  return writerRights.rights
    .filter(({ where }) => where === place)
    .map(({ group, resource, names, verbs }) => ({
      apiGroups: [group],
      resources: [resource],
      // The account's name may differ from the table.
      ...(names ? { resourceNames: resource === tokens ? [account] : [...names] } : {}),
      verbs: [...verbs],
    }));
}

/** Returns the Secret for Viola: a kubeconfig with the token, and the account for token renewal. */
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

/** Returns access by the registered token, for testing the registration before success is reported. */
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
