import { at } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';
import { badRequest } from '../objects/status-error.ts';
import type { ResourceType } from '../resources/resource-type.ts';

export type Selector = (object: KubeObject) => boolean;

interface Requirement {
  readonly key: string;
  readonly operator: 'in' | 'notin' | 'exists' | 'absent';
  readonly values: readonly string[];
}

const setBased = /^([^\s=!,()]+)\s+(in|notin)\s*\(([^()]*)\)$/;
const equality = /^([^\s=!,()]+)\s*(==|=|!=)\s*([^\s=!,()]*)$/;
const bare = /^(!?)\s*([^\s=!,()]+)$/;

/** Reads a label selector: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, joined by commas. */
export function labelSelector(text: string): Selector {
  const requirements = splitOutsideBrackets(text).map(labelRequirement);
  return (object) => requirements.every((one) => satisfies(object.metadata.labels?.[one.key], one));
}

/** Reads a field selector (`a=b`, `a!=b`); only fields that the kind can be selected by are allowed. */
export function fieldSelector(text: string, type: ResourceType): Selector {
  const allowed = ['metadata.name', 'metadata.namespace', ...type.fieldLabels];
  const requirements = splitOutsideBrackets(text).map((part) => {
    const requirement = equalityRequirement(part);
    if (!requirement) throw badRequest(`invalid field selector "${text}"`);
    if (!allowed.includes(requirement.key)) {
      throw badRequest(`field label not supported: ${requirement.key}`);
    }
    return requirement;
  });
  return (object) => requirements.every((one) => satisfies(fieldText(object, one.key), one));
}

function fieldText(object: KubeObject, path: string): string {
  const value = at(object, ...path.split('.'));
  return typeof value === 'string' ? value : JSON.stringify(value ?? '').replaceAll('"', '');
}

function labelRequirement(text: string): Requirement {
  const [, key = '', operator, values = ''] = setBased.exec(text) ?? [];
  if (operator === 'in' || operator === 'notin') {
    return { key, operator, values: values.split(',').map((value) => value.trim()) };
  }
  const compared = equalityRequirement(text);
  if (compared) return compared;
  const [, negation, name] = bare.exec(text) ?? [];
  if (name === undefined) throw badRequest(`unable to parse requirement: "${text}"`);
  return { key: name, operator: negation ? 'absent' : 'exists', values: [] };
}

function equalityRequirement(text: string): Requirement | undefined {
  const [, key, sign, value = ''] = equality.exec(text) ?? [];
  if (key === undefined) return undefined;
  return { key, operator: sign === '!=' ? 'notin' : 'in', values: [value] };
}

/** A label that is not there satisfies `!=`, `notin` and `!a`, as Kubernetes has it. */
function satisfies(value: string | undefined, { operator, values }: Requirement): boolean {
  if (operator === 'absent') return value === undefined;
  if (operator === 'notin') return value === undefined || !values.includes(value);
  return value !== undefined && (operator === 'exists' || values.includes(value));
}

function splitOutsideBrackets(text: string): readonly string[] {
  return text
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
