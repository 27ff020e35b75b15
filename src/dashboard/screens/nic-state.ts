import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import type { ObservedRecord } from '../../api/inventory-http.ts';
import type { NicView, NodeView } from '../../api/read-http.ts';
import { adoptionText } from '../../explain/adoption.ts';
import { foundInFile, foundInKernel } from '../../explain/found-texts.ts';
import { bootWarningsOf, isAbout } from '../../explain/node-messages.ts';
import { wouldChange } from '../../explain/obstacles.ts';
import { isFileChange, pendingOf } from '../../explain/pending-changes.ts';
import { driftOf } from '../../explain/steps/kernel.ts';

type NicState = NonNullable<ScreenAnswer<'nic'>['state']>;
type DesiredNic = ObservedRecord['config']['interfaces'][number];

/** Returns desired state, kernel and boot files; `desired` undefined: only the planned fields are known. */
export function nicStateOf(
  node: NodeView,
  nic: NicView,
  desired: DesiredNic | undefined,
): NicState {
  const { lines, complete } = pendingIn(node, nic);
  const files = lines.filter(isFileChange);
  const kernel = lines.filter((line) => !isFileChange(line));
  const warnings = bootWarningsOf(node).filter((each) => isAbout(each, nic.name));
  const { found = {}, checkedAt, carrier } = nic;
  const adoption = adoptionText(nic);
  return {
    desired: desiredFields(desired ?? nic),
    kernel: {
      isSame: isKnown(nic) ? kernel.length === 0 : undefined,
      changes: kernel,
      found: foundInKernel(found),
      carrier,
      checkedAt,
    },
    bootFiles: {
      isSame: isKnown(nic) ? files.length + warnings.length === 0 : undefined,
      changes: files,
      found: [...foundInFile(found), ...(adoption ? [adoption] : [])],
      backend: node.backend,
      warnings: warnings.map(({ text }) => text),
    },
    isComplete: complete,
  };
}

/** Returns what an apply would change. */
function pendingIn(node: NodeView, nic: NicView) {
  const message = wouldChange(nic) ? nic.message : driftOf(node, nic);
  return message === undefined ? { lines: [], complete: true } : pendingOf({ ...nic, message }, '');
}

/** True if an agent compared the NIC; a failed or waiting NIC is unknown. */
function isKnown({ state, checkedAt }: NicView): boolean {
  return checkedAt !== undefined && (state === 'Configured' || state === 'Observed');
}

/** Fields in the order of the screen. */
const fields = [
  'name',
  'macAddress',
  'addresses',
  'mtu',
  'gateway',
  'routes',
  'routing',
  'subnets',
];

function desiredFields(nic: Readonly<Record<string, unknown>>): NicState['desired'] {
  const { addresses = nic['address'] } = nic;
  const values: Readonly<Record<string, unknown>> = { ...nic, addresses };
  return fields.flatMap((field) => {
    const value = textOf(values[field]);
    return value === '' ? [] : [{ field, value }];
  });
}

/** Returns a field's value as text; empty: absent. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return routeText(value);
}

/** Returns a route as "to via", and a further subnet as its fields. */
function routeText(value: object): string {
  const { to, via, cidr, ...more }: Readonly<Record<string, unknown>> = { ...value };
  const target = textOf(to ?? cidr);
  const rest = Object.entries(more).map(([name, each]) => `${name} ${textOf(each)}`);
  return [target, ...(via === undefined ? [] : [`via ${textOf(via)}`]), ...rest].join(' ');
}
