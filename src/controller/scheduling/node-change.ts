import {
  adoption,
  changedSettings,
  changedSettingsIn,
  macOf,
  type Setting,
  settingName,
  sharedOf,
} from '../../api/shared-content.ts';
import type { Node } from '../../kube/core-resources.ts';
import { type Applied, recordOf } from '../jobs/applied.ts';
import { type Contents, contentHash, nicHash } from '../jobs/request.ts';
import { machineOf } from '../objects/machine.ts';
import type { NodeConfig } from '../objects/stores.ts';
import type { WantedRevision } from './admitted-changes.ts';
import {
  changesNics,
  isNewAdoption,
  isOtherRevision,
  sourceOf,
  wantedRevision,
} from './revision.ts';
import { settingRevision, settingRunsOf } from './setting-revision.ts';

/** A setting that a run changes on configured NICs for the first time, or a new consent to adoption. */
export interface SettingChange extends Setting, WantedRevision {
  /** Lower-case MACs of the NICs. */
  readonly macs: readonly string[];
}

/** What the rollout budget counts in a run. */
export interface NodeChange {
  /** Revision of source and image; undefined: the recorded revision. */
  readonly base: string | undefined;
  readonly settings: readonly SettingChange[];
}

export const noChange: NodeChange = { base: undefined, settings: [] };

/**
 * Returns the changes to configured NICs by a run with these contents, and a new consent to adoption, for NICs with
 * foreign configuration. `image`: agent image's hash.
 */
export function nodeChangeOf(
  config: NodeConfig,
  image: string,
  node: Node,
  contents: Contents,
): NodeChange {
  const content = contentHash(node, contents);
  const adoptions = adoptionChanges(config, image, contents);
  if (!changesNics(config, { action: 'apply', content, machine: machineOf(node) })) {
    return { ...noChange, settings: adoptions };
  }
  const revision = wantedRevision(config, image);
  return {
    base: isOtherRevision(config, revision) ? revision : undefined,
    settings: [...settingChanges(config, image, contents), ...adoptions],
  };
}

/** Returns the consent in the contents if no run on the node was counted for the consent. */
function adoptionChanges(
  config: NodeConfig,
  image: string,
  contents: Contents,
): readonly SettingChange[] {
  if (contents.existingConfiguration !== 'Adopt' || !isNewAdoption(config)) return [];
  const record = recordOf(config);
  const counted = record ? settingRunsOf(record, image) : [];
  if (counted.some((run) => isSame(run, adoption))) return [];
  const revision = settingRevision(sourceOf(config).uid, adoption);
  const macs = contents.interfaces.map(({ mac }) => mac);
  return [{ ...adoption, revision, name: settingName(adoption, []), macs }];
}

/** Returns the revisions of a change, source and image first. */
export function revisionsOf({ base, settings }: NodeChange): readonly WantedRevision[] {
  return [...(base === undefined ? [] : [{ revision: base }]), ...settings];
}

function settingChanges(
  config: NodeConfig,
  image: string,
  contents: Contents,
): readonly SettingChange[] {
  const record = recordOf(config);
  const entries = config.spec?.interfaces ?? [];
  const now = sharedOf(entries);
  const changed = record?.shared ? changedSettings(record.shared, now) : [];
  if (!record?.shared || changed.length === 0) return [];
  const { shared } = record;
  const counted = settingRunsOf(record, image);
  const differing = differingIn(record, contents);
  const { uid } = sourceOf(config);
  return changed.flatMap((setting) => {
    if (counted.some((run) => isSame(run, setting))) return [];
    const own = entries.filter((entry) =>
      changedSettingsIn(entry, shared, now).some((one) => isSame(one, setting)),
    );
    const macs = own.flatMap((entry) => macOf(entry) ?? []).filter((mac) => differing.has(mac));
    if (macs.length === 0) return [];
    const revision = settingRevision(uid, setting);
    return [{ ...setting, revision, name: settingName(setting, own), macs }];
  });
}

/** Returns MACs of configured NICs with another content than the recorded one. */
function differingIn(
  { nics = {}, macs = [] }: Applied,
  { interfaces }: Contents,
): ReadonlySet<string> {
  const differing = interfaces.filter(
    (nic) => macs.includes(nic.mac) && nics[nic.mac] !== nicHash(nic),
  );
  return new Set(differing.map(({ mac }) => mac));
}

function isSame(a: Setting, b: Setting): boolean {
  return a.key === b.key && a.value === b.value;
}
