import type { Family } from '../../../src/api/job.ts';
import { lives } from './lives.ts';
import type { ModelLife } from './on-model.ts';

export const families = ['netplan', 'networkd', 'keyfile', 'ifcfg'] as const satisfies Family[];

/** Each family, without and with udev, in each life. */
export const scenes: readonly ModelLife[] = families.flatMap((family) =>
  [false, true].flatMap((altNames) => lives.map((life) => ({ family, altNames, life }))),
);

export function titleOf({ family, altNames, life }: ModelLife): string {
  return `${family}, ${altNames ? 'altnames, ' : ''}${life.name}`;
}
