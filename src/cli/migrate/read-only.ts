import { findCondition, rfc3339 } from '../../api/condition.ts';
import { annotations, fieldManagers, namespaces } from '../../api/names.ts';
import { type BizConfig, bizConfigsIn } from '../../biz-config/biz-config.ts';
import { type Run, waitFor } from './run.ts';
import { migrationStart, type Source, sourceText } from './source.ts';

/**
 * Annotates the source as read-only and waits for the controller's confirmation: from then on the controller writes
 * none of the source's objects. An already started migration keeps its start time.
 */
export async function makeReadOnly(run: Run, source: Source, timeoutMs: number): Promise<Source> {
  const { client, clock, signal, progress } = run;
  const wanted = {
    [annotations.bizConfigMode]: 'read-only',
    [annotations.bizMigration]: migrationStart(source) ?? rfc3339(clock.now()),
  };
  const { group, config } = source;
  const resource = bizConfigsIn(group);
  if (Object.entries(wanted).some(([key, value]) => config.metadata.annotations?.[key] !== value)) {
    const patch = { metadata: { annotations: wanted } };
    await client.patch(resource, config.metadata, patch, {
      fieldManager: fieldManagers.cli,
      signal,
    });
  }
  progress(`waiting until the controller confirms that ${sourceText(source)} is read-only`);
  const confirmed = await waitFor(run, timeoutMs, async () => {
    const current = await client.get(resource, config.metadata, { signal });
    return isReadOnly(current) ? current : undefined;
  });
  if (confirmed) return { group, config: confirmed };
  throw new Error(
    [
      `the controller did not confirm within ${timeoutMs / 1000} s that ${sourceText(source)} is read-only (condition ReadOnly); no node was changed`,
      `Next: check that it runs (kubectl -n ${namespaces.system} get deployment multinic-agent-controller), with controller.bizConfig.mode active or read-only and ${group} in controller.bizConfig.groups; then run apply again, or back`,
    ].join('\n'),
  );
}

/** Returns true if the controller no longer writes objects for this generation. */
function isReadOnly({ metadata, status }: BizConfig): boolean {
  const condition = findCondition(status?.conditions, 'ReadOnly');
  return condition?.status === 'True' && condition.observedGeneration === metadata.generation;
}

/**
 * Removes mode and start time, and waits until the controller follows the source again. False: not confirmed in time.
 */
export async function endReadOnly(run: Run, source: Source, timeoutMs: number): Promise<boolean> {
  const { client, signal, progress } = run;
  const { group, config } = source;
  const removed = { [annotations.bizConfigMode]: null, [annotations.bizMigration]: null };
  const patch = { metadata: { annotations: removed } };
  const resource = bizConfigsIn(group);
  await client.patch(resource, config.metadata, patch, { fieldManager: fieldManagers.cli, signal });
  progress(`waiting until the controller follows ${sourceText(source)} again`);
  const followed = await waitFor(run, timeoutMs, async () => {
    const { status } = await client.get(resource, config.metadata, { signal });
    const isTrue = findCondition(status?.conditions, 'ReadOnly')?.status === 'True';
    return isTrue ? undefined : true;
  });
  return followed === true;
}
