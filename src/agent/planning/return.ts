import type { ConfigFile, Link, Snapshot } from '../snapshot.ts';
import type { AdoptedConfig, NicRecord } from '../state.ts';
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

/** Returns changes that end the edits of foreign files. An earlier agent's record lacks adopted files: the MAC decides, too. */
export function undoneEdits(host: Snapshot, record: NicRecord, backend: Editing): FileChange[] {
  const paths = new Set(stillEdited(host, record, backend).map(({ path }) => path));
  return editedFiles(host, backend)
    .filter(({ path, macs }) => paths.has(path) || macs.includes(record.mac))
    .map((file) => foreignChange('undo', file, originalText(file, backend)));
}

/** Returns adopted configurations in files with edits: the release undoes all edits, even without a claim. */
export function stillEdited(
  host: Snapshot,
  { adopted = [] }: Pick<NicRecord, 'adopted'>,
  backend: Editing,
): AdoptedConfig[] {
  const paths = new Set(editedFiles(host, backend).map(({ path }) => path));
  return adopted.filter(({ path, lines }) => lines !== undefined && paths.has(path));
}

type Editing = Pick<Backend, 'adoption'>;

function editedFiles({ files }: Snapshot, backend: Editing): ConfigFile[] {
  return files.filter((file) => !file.own && originalText(file, backend) !== file.text);
}

function originalText(file: ConfigFile, { adoption }: Editing): string {
  return adoption?.edit?.undo(file) ?? file.text;
}
