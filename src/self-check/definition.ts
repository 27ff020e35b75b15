import { crdPath } from '../api/crd/path.ts';
import { type DefinitionName, schemaNumbers } from '../api/crd/schema-numbers.ts';
import { annotations } from '../api/names.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { crds } from '../kube/core-resources.ts';
import { KubeError } from '../kube/errors.ts';
import type { Clock } from '../time/clock.ts';
import { DeadlineReached, withDeadline } from '../time/deadline.ts';

const answerWithinMs = 5_000;

/** An installed CustomResourceDefinition compared with this build. */
export interface Installed {
  readonly reason: 'CRDTooOld' | 'CRDTooNew' | undefined;
  /** Missing schema changes; below 0: the definition is ahead. */
  readonly behind: number;
  readonly message: string;
}

export interface ReadOptions {
  readonly client: Pick<KubeClient, 'find'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Reads the definition; undefined when the read failed. */
export async function readDefinition(
  name: DefinitionName,
  { client, clock, signal }: ReadOptions,
): Promise<Installed | undefined> {
  try {
    const limit = { clock, ms: answerWithinMs, signal };
    const found = await withDeadline(limit, (limited) =>
      client.find(crds, { name }, { signal: limited }),
    );
    return compared(name, found?.metadata);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof KubeError || error instanceof DeadlineReached) return undefined;
    throw error;
  }
}

interface Metadata {
  readonly annotations?: Readonly<Record<string, string>>;
}

function compared(name: DefinitionName, metadata: Metadata | undefined): Installed {
  const expected = schemaNumbers[name];
  // Definitions from earlier generations have no schema number.
  const installed = Number.parseInt(metadata?.annotations?.[annotations.schema] ?? '', 10) || 0;
  const behind = expected - installed;
  if (behind === 0) return { reason: undefined, behind, message: '' };
  const numbers = `schema ${installed}, this version expects ${expected}`;
  if (behind < 0) {
    const message = `CustomResourceDefinition ${name} is newer than this version (${numbers}): its new fields stay unchanged`;
    return { reason: 'CRDTooNew', behind, message };
  }
  const flaw = metadata
    ? `is too old (${numbers}): the API server would drop fields that it lacks`
    : 'is not installed';
  const file = name.replace(/^(\w+)\.(.*)$/, '$2_$1.yaml');
  const fix = `kubectl apply --server-side --force-conflicts -f ${crdPath(file)}`;
  const message = `CustomResourceDefinition ${name} ${flaw}; apply the CRD of this version (${fix}), or upgrade the chart with crds.install`;
  return { reason: 'CRDTooOld', behind, message };
}
