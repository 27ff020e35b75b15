import { hash } from 'node:crypto';
import { isAdoption, labelOf, type Setting, settingsOf } from '../../api/shared-content.ts';
import type { Applied } from '../jobs/applied.ts';
import { failedIn } from '../jobs/failed-nics.ts';
import { type SettingRun, settingRun } from '../jobs/setting-runs.ts';
import { changesIn, imageIn, type RecordFields } from './revision.ts';

/**
 * Returns a setting's revision: `<source uid>/~/<hash>`. Generation and image are no part, because neither an edit of
 * the source nor an upgrade makes a bad setting good.
 */
export function settingRevision(source: string, setting: Setting): string {
  return `${source}/~/${settingHash(setting)}`;
}

function settingHash(setting: Setting): string {
  return hash('sha256', labelOf(setting)).slice(0, 8);
}

/**
 * Returns a record's settings with their rollout phases. `image`: agent image's hash; an agent too old for the
 * consent to adoption proves nothing about the next image.
 */
export function settingRunsOf(
  record: Applied | RecordFields,
  image: string,
): readonly SettingRun[] {
  const { settings, existingConfiguration: consent, revision = '' } = record;
  if (settings) {
    const isInForce = consent === 'Adopt' || imageIn(revision) === image;
    const runs = settings.flatMap((run) => settingRun.safeParse(run).data ?? []);
    return runs.filter(({ key }) => isInForce || !isAdoption(key));
  }
  const run = formerRun(record);
  return run ? [run] : [];
}

/** Returns the setting in a revision of an earlier version; undefined: none, or several. */
function formerRun(record: Applied | RecordFields): SettingRun | undefined {
  const { revision = '', rollout, shared = {}, nics = {}, at = '', failedBefore } = record;
  const changes = changesIn(revision);
  if (changes === '' || rollout === undefined) return undefined;
  const setting = settingsOf(shared).find((one) => settingHash(one) === changes);
  const failed = failedIn(nics);
  const macs = failed.length > 0 ? failed : Object.keys(nics);
  return settingRun.safeParse({ ...setting, rollout, at, failedBefore, macs }).data;
}
