import { accessTexts } from '../../api/texts/access.ts';
import { filled, type Wording } from '../../api/texts/text.ts';
import { shellWord } from '../../explain/commands.ts';

/** Command with the least right for a user; an administrator of the cluster runs the command. */
export type Grant = (user: string, namespace: string | undefined) => string;

/** Returns the request to an administrator for the right that a message (403) names. */
export function requestTo(grant: Grant, message: string): Wording {
  const user = /User "([^"]+)"/.exec(message)?.[1] ?? 'USER';
  const namespace = /in the namespace "([^"]+)"/.exec(message)?.[1];
  return filled(accessTexts.administratorRuns, { command: grant(user, namespace) });
}

/** Reads OpenstackConfigs in one namespace; undefined: in all namespaces. */
export function grantView(namespace: string | undefined): Grant {
  return (user) => bindingFor('multinic-view', 'clusterrole', namespace, user);
}

/** Changes OpenstackConfigs in the namespace of the refused request. */
export function grantEdit(user: string, namespace: string | undefined): string {
  return bindingFor('multinic-edit', 'clusterrole', namespace, user);
}

/** Port-forward to the operator, its Pods and its Lease. */
export function grantReader(namespace: string): Grant {
  return (user) => bindingFor('multinic-reader', 'role', namespace, user);
}

function bindingFor(
  role: string,
  kind: 'role' | 'clusterrole',
  namespace: string | undefined,
  user: string,
): string {
  const name = `${role}-${nameOf(user)}`;
  const create =
    namespace === undefined
      ? 'kubectl create clusterrolebinding'
      : `kubectl -n ${namespace} create rolebinding`;
  return `${create} ${name} --${kind}=${role} --user=${shellWord(user)}`;
}

/** Reads Nodes and MultiNicNodeConfigs in a business cluster, a role that no chart creates: `view` has no Nodes. */
export function grantNodes(flags: string): Grant {
  const resources = 'nodes,multinicnodeconfigs.multinic.io';
  return grantRole(flags, { kind: 'clusterrole', resources, where: '' });
}

/** Reads Deployments, Jobs, Pods and logs in one namespace of a business cluster. */
export function grantPods(flags: string, namespace: string): Grant {
  const resources = 'deployments.apps,jobs.batch,pods,pods/log,events';
  return grantRole(flags, { kind: 'role', resources, where: ` -n ${namespace}` });
}

/** Reads one ConfigMap in the namespace of the refused request: by default the ConfigMap that kubeadm writes. */
export function grantConfigMap(flags: string, nameIn: (namespace: string) => string): Grant {
  return (user, namespace = 'kube-system') => {
    const create = `kubectl ${flags} -n ${namespace} create`;
    return `${create} role multinic-networks --verb=get --resource=configmaps --resource-name=${nameIn(namespace)} && ${create} rolebinding multinic-networks-${nameOf(user)} --role=multinic-networks --user=${shellWord(user)}`;
  };
}

interface NewRole {
  readonly kind: 'role' | 'clusterrole';
  readonly resources: string;
  readonly where: string;
}

function grantRole(flags: string, { kind, resources, where }: NewRole): Grant {
  const create = `kubectl ${flags}${where} create`;
  return (user) =>
    `${create} ${kind} multinic-reader --verb=get,list --resource=${resources} && ${create} ${kind}binding multinic-reader-${nameOf(user)} --${kind}=multinic-reader --user=${shellWord(user)}`;
}

function nameOf(user: string): string {
  return (
    user
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '') || 'user'
  );
}
