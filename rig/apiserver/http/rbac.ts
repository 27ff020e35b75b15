import * as z from 'zod';
import type { Cluster } from '../cluster.ts';
import type { KubeObject } from '../objects/object.ts';
import { forbidden } from '../objects/status-error.ts';
import { mastersGroup, type User } from './authentication.ts';
import { authorizedIn, type ResourceRequest } from './request-info.ts';

const texts = z.array(z.string()).default([]);
const rulesEdge = z.array(
  z.looseObject({ verbs: texts, apiGroups: texts, resources: texts, resourceNames: texts }),
);
const subjectEdge = z.looseObject({
  kind: z.string(),
  name: z.string(),
  namespace: z.string().optional(),
});
const bindingEdge = z.looseObject({
  subjects: z.array(subjectEdge).default([]),
  roleRef: z.looseObject({ kind: z.string(), name: z.string() }),
});

type Rule = z.infer<typeof rulesEdge>[number];
type Binding = z.infer<typeof bindingEdge>;

/** What authorization looks at of a request to a resource. */
export interface ResourceAttributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

const group = 'rbac.authorization.k8s.io';

/** What `system:basic-user` lets everybody do who is known. */
const basicRules: readonly Rule[] = [
  {
    apiGroups: ['authorization.k8s.io'],
    resources: ['selfsubjectaccessreviews'],
    resourceNames: [],
    verbs: ['create'],
  },
];

/** Throws 403 unless a role bound to the user (or one of its groups) allows the request. */
export function authorize(cluster: Cluster, user: User, request: ResourceRequest): void {
  const { type, name, verb, subresource } = request;
  const namespace = authorizedIn(request);
  const attributes = { ...request, namespace, group: type.group, resource: type.plural };
  if (may(cluster, user, attributes)) return;
  const resource = subresource ? `${type.plural}/${subresource}` : type.plural;
  const where =
    namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const what = `cannot ${verb} resource "${resource}" in API group "${type.group}"`;
  throw forbidden(
    { ...type, plural: resource },
    name ?? '',
    `User "${user.name}" ${what} ${where}`,
  );
}

/** Whether a role bound to the user (or one of its groups) allows this. */
export function may(cluster: Cluster, user: User, attributes: ResourceAttributes): boolean {
  if (user.groups.includes(mastersGroup)) return true;
  const rules = [...basicRules, ...rulesFor(cluster, user, attributes.namespace)];
  return rules.some((rule) => allows(rule, attributes));
}

function rulesFor(cluster: Cluster, user: User, namespace: string | undefined): readonly Rule[] {
  const wide = cluster.storage.list(`clusterrolebindings.${group}`);
  const local =
    namespace === undefined ? [] : cluster.storage.list(`rolebindings.${group}`, namespace);
  return [...wide, ...local].flatMap((object) => {
    const binding = bindingEdge.parse(object);
    return binding.subjects.some((subject) => isSubject(subject, user, object))
      ? rulesOf(cluster, binding, object.metadata.namespace)
      : [];
  });
}

function isSubject(subject: Binding['subjects'][number], user: User, binding: KubeObject): boolean {
  if (subject.kind === 'Group') return user.groups.includes(subject.name);
  if (subject.kind === 'User') return user.name === subject.name;
  const namespace = subject.namespace ?? binding.metadata.namespace ?? '';
  return user.name === `system:serviceaccount:${namespace}:${subject.name}`;
}

function rulesOf(
  cluster: Cluster,
  { roleRef }: Binding,
  namespace: string | undefined,
): readonly Rule[] {
  const role =
    roleRef.kind === 'ClusterRole'
      ? cluster.storage.get(`clusterroles.${group}`, roleRef.name)
      : cluster.storage.get(`roles.${group}`, `${namespace ?? ''}/${roleRef.name}`);
  return rulesEdge.parse(role?.['rules'] ?? []);
}

function allows(
  rule: Rule,
  { verb, group: ofGroup, resource, subresource, name }: ResourceAttributes,
): boolean {
  return (
    holds(rule.verbs, verb) &&
    holds(rule.apiGroups, ofGroup) &&
    holds(rule.resources, subresource ? `${resource}/${subresource}` : resource) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(name ?? ''))
  );
}

function holds(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value);
}
