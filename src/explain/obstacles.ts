import { argsOf } from '../api/args.ts';
import type { NicView, NodeView } from '../api/read-http.ts';
import { existingNicsTexts } from '../api/texts/existing-nics.ts';
import { filled } from '../api/texts/text.ts';
import { multinic } from './commands.ts';
import type { NextStep } from './step.ts';

/** Foreign file with configuration for a NIC's next boot. */
export interface ConfiguringFile {
  readonly path: string;
  /** Stanza or profile in the file, with the option; absent: unknown. */
  readonly section?: string;
}

/** Reasons about a NIC's foreign configuration. */
const reasons: ReadonlySet<string> = new Set(['NICInUse', 'LeasedByHost', 'PrimaryNIC']);

/** True if foreign configuration is the reason. */
export function isObstacle(reason: string): boolean {
  return reasons.has(reason);
}

/** True if the controller only knows the annotation `multinic.io/paused` from Viola, not mode Observe. */
export function ignoresObserve({ mode, reason, ready }: NodeView): boolean {
  return mode === 'Observe' && reason === 'Paused' && ready !== 'True';
}

/** Returns how the user gets a controller with mode Observe; without the annotation an earlier controller applies. */
export function upgradeStep(): NextStep {
  return { text: existingNicsTexts.upgradeController, commands: [], preview: [] };
}

/** True for an observed NIC if an apply would configure the NIC. */
export function wouldChange({ state, reason }: Pick<NicView, 'state' | 'reason'>): boolean {
  return state === 'Observed' && reason === 'Drifted';
}

/** Reasons for an observed NIC without a refusal. */
const withoutRefusal: ReadonlySet<string> = new Set(['', 'Observed', 'Drifted']);

/** True for an observed NIC if an apply would refuse, or not find, the NIC. */
export function isRefused({ state, reason }: Pick<NicView, 'state' | 'reason'>): boolean {
  return state === 'Observed' && !withoutRefusal.has(reason);
}

/** Codes for causes outside files, such as a Pod's macvlan. */
const unrelatedToFile: ReadonlySet<string> = new Set([
  'AddressElsewhere',
  'FileUnreadable',
  'ForeignReceiver',
  'LinkHasMaster',
  'LinkHasUpper',
  'NameTaken',
  'NameUnsupported',
  'NodeAddress',
]);

/** Returns the file behind a NIC's reason; undefined: none, or unknown. */
export function fileBehind(
  reason: string,
  { code = '', args, found }: Pick<NicView, 'code' | 'args' | 'found'>,
): ConfiguringFile | undefined {
  if (!isObstacle(reason) || unrelatedToFile.has(code)) return undefined;
  const values = argsOf(args);
  const path = found?.file ?? values['path'];
  if (path === undefined) return undefined;
  const section = found?.section ?? values['section'];
  return section === undefined ? { path } : { path, section };
}

/** Returns the path's last part. */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

type Release =
  (typeof existingNicsTexts)[`release${'Netplan' | 'Networkd' | 'Keyfile' | 'Ifcfg' | 'Other'}`];

/** Texts by the path's form; a message may have room for the file's name only. */
const releases: readonly (readonly [RegExp, Release])[] = [
  [/\.yaml$/, existingNicsTexts.releaseNetplan],
  [/\.(network|link|conf)$/, existingNicsTexts.releaseNetworkd],
  [/\.nmconnection$/, existingNicsTexts.releaseKeyfile],
  [/(?:^|\/)ifcfg-[^/]*$/, existingNicsTexts.releaseIfcfg],
];

/** Returns how the user releases a NIC from the file, and the command for a check afterwards. */
export function releaseStep({ path }: ConfiguringFile, node: string): NextStep {
  const text = releases.find(([form]) => form.test(path))?.[1] ?? existingNicsTexts.releaseOther;
  return {
    text: filled(text, { file: path }),
    isAfterText: true,
    commands: [multinic('diff', node)],
    preview: [],
  };
}
