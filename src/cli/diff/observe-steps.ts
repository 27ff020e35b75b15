import type { NodeView } from '../../api/read-http.ts';
import { existingNicsTexts } from '../../api/texts/existing-nics.ts';
import { nextFor } from '../../explain/next-steps.ts';
import { fileBehind, isRefused, releaseStep } from '../../explain/obstacles.ts';
import type { PendingChanges } from '../../explain/pending-changes.ts';
import type { NextStep } from '../../explain/step.ts';
import { isObserved, nodeKey } from '../../explain/subject.ts';

/** Returns the next steps for an observed node: a change per file with a refused NIC, then the end of mode Observe. */
export function observeSteps(node: NodeView, pending: readonly PendingChanges[]): NextStep[] {
  if (!isObserved(node)) return [];
  const refused = node.nics.filter(isRefused);
  const files = refused.flatMap((nic) => fileBehind(nic.reason, nic) ?? []);
  const byPath = new Map(files.map((file) => [file.path, file]));
  const releases = [...byPath.values()].map((file) => releaseStep(file, nodeKey(node)));
  if (pending.length === 0) return releases;
  const apply = nextFor('Observed', { config: node.config });
  return [...releases, { ...apply, text: existingNicsTexts.toApply }];
}
