import type { KubeObject } from './object.ts';
import type { Cause } from './status-error.ts';

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const qualifiedName = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const labelValueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const labelKeyRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/** RBAC names may hold anything that can be a path segment. */
const freeNames = ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'];

/** What is wrong with an object's name, namespace and labels. */
export function metadataCauses(object: KubeObject): readonly Cause[] {
  const { name, labels } = object.metadata;
  return [...nameCauses(object.kind, name), ...labelCauses(labels ?? {})];
}

function nameCauses(kind: string, name: string): readonly Cause[] {
  const field = 'metadata.name';
  if (name === '') {
    const message = 'Required value: name or generateName is required';
    return [{ reason: 'FieldValueRequired', message, field }];
  }
  if (freeNames.includes(kind)) return [];
  const [pattern, rule, longest] =
    kind === 'Namespace'
      ? ([label, labelRule, 63] as const)
      : ([subdomain, subdomainRule, 253] as const);
  if (name.length > longest) {
    return [refusal(field, name, `must be no more than ${longest} characters`)];
  }
  return pattern.test(name) ? [] : [refusal(field, name, rule)];
}

function labelCauses(labels: Readonly<Record<string, string>>): readonly Cause[] {
  const field = 'metadata.labels';
  return Object.entries(labels).flatMap(([key, value]) => {
    if (!isQualifiedName(key)) return [refusal(field, key, labelKeyRule)];
    if (value.length > 63) return [refusal(field, value, 'must be no more than 63 characters')];
    return value === '' || qualifiedName.test(value) ? [] : [refusal(field, value, labelValueRule)];
  });
}

function isQualifiedName(key: string): boolean {
  const [name = '', prefix] = key.split('/').toReversed();
  if (prefix !== undefined && !subdomain.test(prefix)) return false;
  return name.length <= 63 && qualifiedName.test(name);
}

function refusal(field: string, value: string, why: string): Cause {
  const message = `Invalid value: ${JSON.stringify(value)}: ${why}`;
  return { reason: 'FieldValueInvalid', message, field };
}
