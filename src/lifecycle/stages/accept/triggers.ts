import { stringify } from 'yaml';
import type { MultiNicOperatorSpec } from '../../../api/multinicoperator.ts';
import { readPolicy, UnusablePolicy } from '../../../triggers/policy.ts';
import type { Checked, Problem } from '../../model/accepted.ts';
import { checked } from './checked.ts';

const section = 'spec.reconcileTrigger';

/** Returns the text of `trigger.yaml`, containing only the given fields. */
export function acceptTriggers(
  trigger: MultiNicOperatorSpec['reconcileTrigger'],
): Checked<string | undefined> {
  if (trigger === undefined) return { value: undefined };
  const text = stringify(trigger);
  try {
    readPolicy(text);
    return { value: text };
  } catch (error) {
    if (!(error instanceof UnusablePolicy)) throw error;
    return checked(text, error.problems.map(problemOf));
  }
}

function problemOf({ field, message }: UnusablePolicy['problems'][number]): Problem {
  return field === undefined
    ? { field: section, message: `${section}: ${message}` }
    : { field: `${section}.${field}`, message: `${section}.${message}` };
}
