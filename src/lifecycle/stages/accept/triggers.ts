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

/** A problem from the policy reader starts with the field name. */
function problemOf(problem: string): Problem {
  const [, name] = /^(mode|interval|schedule|timezone|immediateOnCRChange) /.exec(problem) ?? [];
  return name === undefined
    ? { field: section, message: `${section}: ${problem}` }
    : { field: `${section}.${name}`, message: `${section}.${problem}` };
}
