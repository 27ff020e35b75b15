import type { Link, Snapshot } from '../snapshot.ts';
import type { NicRecord } from '../state.ts';
import type { Backend } from './backend.ts';
import { isForeign, isNetworkManager } from './takeover.ts';
import { type FileChange, foreignChange, type Unit } from './unit.ts';

/**
 * Returns the return of an adopted link to the network manager, unless the manager has our file in memory since boot:
 * the manager would only configure the NIC by our file again.
 */
export function handBackTo(
  { managedLinks }: Snapshot,
  { adopted }: NicRecord,
  link: Link | undefined,
  { name: family }: Pick<Backend, 'name'>,
): Pick<Unit, 'handover'> {
  if (!adopted || !link) return {};
  const managed = managedLinks?.get(link.index);
  if (managed?.file !== undefined && !isForeign(managed)) return {};
  return { handover: { by: isNetworkManager(family) ? 'NetworkManager' : 'networkd', names: [] } };
}

/** Returns changes that end the edits of foreign files. */
export function undoneEdits(
  { files }: Snapshot,
  { adopted = [] }: NicRecord,
  { adoption }: Pick<Backend, 'adoption'>,
): FileChange[] {
  const paths = new Set(adopted.filter(({ lines }) => lines !== undefined).map(({ path }) => path));
  return files
    .filter(({ path, own }) => !own && paths.has(path))
    .flatMap((file) => {
      const text = adoption?.edit?.undo(file) ?? file.text;
      return text === file.text ? [] : [foreignChange('undo', file, text)];
    });
}
