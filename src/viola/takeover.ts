import * as z from 'zod';
import type { MultiNicNodeConfig } from '../api/multinicnodeconfig.ts';
import { fieldManagers } from '../api/names.ts';
import { isFieldConflict } from './node-error.ts';

/** Managers under which the deployed Viola (`kubectl apply`) wrote the fields that are ours now. */
const deployedManagers = ['kubectl-client-side-apply', 'kubectl'];

const managed = z.object({
  metadata: z.object({
    managedFields: z.array(z.object({ manager: z.string().catch('') })).catch([]),
  }),
});

/**
 * Whether a conflict is about fields of the deployed Viola, which are ours to take over. A person who runs `kubectl apply`
 * has the same manager name; so only an object that we never wrote is taken over.
 */
export function mayTakeOver(error: unknown, live: MultiNicNodeConfig | undefined): boolean {
  if (!live || !isFieldConflict(error)) return false;
  const { managedFields } = managed.parse(live).metadata;
  if (managedFields.some(({ manager }) => manager === fieldManagers.viola)) return false;
  return error.causes.every(({ message }) =>
    deployedManagers.some((name) => message.includes(`"${name}"`)),
  );
}
