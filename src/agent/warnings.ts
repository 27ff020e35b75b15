import type { NicResult } from '../api/job.ts';
import { interfaceName } from '../api/names.ts';
import { reversePathFilter } from './observe/sysctls.ts';

/** Strict mode of RFC 3704: the kernel drops packets whose way back is another NIC. */
const strict = 1;

/** What is right now but may surprise: names that were kept, and filters that drop replies of policy routing. */
export function warningsOf(nics: readonly NicResult[], sysctls: string): string[] {
  const configured = nics.filter(({ state }) => state === 'Configured');
  return [
    ...configured
      .filter(({ name }) => reversePathFilter(sysctls, name) === strict)
      .map(({ name }) => `StrictReversePath ${name}`),
    ...configured
      .filter(({ name, index }) => name !== interfaceName(index))
      .map(({ name, index }) => `NameKept ${name}, not ${interfaceName(index)}`),
  ];
}
