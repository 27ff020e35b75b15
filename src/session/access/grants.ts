import { accessTexts } from '../../api/texts/access.ts';
import { filled, type Wording } from '../../api/texts/text.ts';
import { shellWord } from '../../explain/commands.ts';

/** Command with the least right for a user; an administrator of the cluster runs the command. */
export type Grant = (user: string, namespace: string | undefined) => string;

/** Returns the request to an administrator for the right that a message (403) names. */
export function requestTo(grant: Grant, message: string): Wording {
  const user = userIn(message);
  const namespace = /in the namespace "([^"]+)"/.exec(message)?.[1];
  return filled(accessTexts.administratorRuns, { command: grant(user, namespace) });
}

/** Returns the user in a refusal; the API server quotes the name like JSON, such as "CORP\\jane". */
function userIn(message: string): string {
  const quoted = /User ("(?:[^"\\]|\\.)*")/.exec(message)?.[1] ?? '"USER"';
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1);
  }
}

/** Reads OpenstackConfigs in one namespace; undefined: in all namespaces. */
export function grantView(namespace: string | undefined): Grant {
  return (user) => bindingFor('multinic-view', 'clusterrole', namespace, user);
}

/** Changes OpenstackConfigs in the namespace of the refused request. */
export function grantEdit(user: string, namespace: string | undefined): string {
  return bindingFor('multinic-edit', 'clusterrole', namespace, user);
}

/** Port-forward to the operator, its Pods and its Lease, in the namespace of the refused request. */
export function grantReader(namespace: string): Grant {
  return (user, refused = namespace) => bindingFor('multinic-reader', 'role', refused, user);
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
  return grantRole({ flags, name: 'multinic-reader', args: readAll(resources) });
}

/** Reads Nodes in a business cluster without MultiNIC. */
export function grantOnlyNodes(flags: string): Grant {
  return grantRole({ flags, name: 'multinic-nodes', args: readAll('nodes') });
}

/** Reads CRDs. */
export function grantCrds(flags: string): Grant {
  const args = '--verb=get --resource=customresourcedefinitions.apiextensions.k8s.io';
  return grantRole({ flags, name: 'multinic-crds', args });
}

/** Binds a role that Kubernetes creates, such as system:basic-user. */
export function grantSystem(flags: string, role: string): Grant {
  return (user) =>
    `${kubectl(flags)} create clusterrolebinding ${nameOf(role)}-${nameOf(user)} --clusterrole=${role} --user=${shellWord(user)}`;
}

/** Reads Deployments, Jobs, Pods and logs in one namespace of a business cluster. */
export function grantPods(flags: string, namespace: string): Grant {
  const resources = 'deployments.apps,jobs.batch,pods,pods/log,events';
  return grantRole({ flags, name: 'multinic-reader', args: readAll(resources), namespace });
}

/** Reads one ConfigMap in the namespace of the refused request: by default the ConfigMap that kubeadm writes. */
export function grantConfigMap(flags: string, nameIn: (namespace: string) => string): Grant {
  return (user, namespace = 'kube-system') => {
    const args = `--verb=get --resource=configmaps --resource-name=${nameIn(namespace)}`;
    return grantRole({ flags, name: 'multinic-networks', args, namespace })(user, namespace);
  };
}

interface NewRole {
  readonly flags: string;
  readonly name: string;
  /** Flags with verbs and resources. */
  readonly args: string;
  /** Undefined: a ClusterRole. */
  readonly namespace?: string;
}

/** Creates a role per user: an existing role would end the command before the binding. */
function grantRole({ flags, name, args, namespace }: NewRole): Grant {
  const kind = namespace === undefined ? 'clusterrole' : 'role';
  const where = namespace === undefined ? '' : ` -n ${namespace}`;
  const create = `${kubectl(flags)}${where} create`;
  return (user) => {
    const own = `${name}-${nameOf(user)}`;
    return `${create} ${kind} ${own} ${args} && ${create} ${kind}binding ${own} --${kind}=${own} --user=${shellWord(user)}`;
  };
}

function readAll(resources: string): string {
  return `--verb=get,list --resource=${resources}`;
}

function kubectl(flags: string): string {
  return flags === '' ? 'kubectl' : `kubectl ${flags}`;
}

function nameOf(user: string): string {
  return (
    user
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '') || 'user'
  );
}
