import type { Problem } from '../../model/accepted.ts';
import { unusable } from './checked.ts';

/** Returns problems of a TCP port. */
export function portProblems(field: string, port: number | undefined): Problem[] {
  if (port === undefined || (port >= 1 && port <= 65_535)) return [];
  return [unusable(field, port, 'is not a port; set it to a number from 1 to 65535')];
}
