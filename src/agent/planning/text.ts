import { interfaceName } from '../../api/names.ts';
import { batchLine } from './operation.ts';
import type { FileChange, Plan, Unit } from './unit.ts';
import { isDone } from './unit.ts';

/** A plan for people: what happens to each NIC, in order, in the words of `ip`. */
export function planText({ units, refused }: Plan): string {
  const nics = [
    ...units.map(unitText),
    ...refused.map(({ target, refusal }) => {
      return `${interfaceName(target.index)} ${target.mac}: ${refusal.reason}, ${refusal.message}\n`;
    }),
  ];
  return nics.length === 0 ? 'nothing to do\n' : nics.join('');
}

function unitText(unit: Unit): string {
  const { action, index, nic, before } = unit;
  const head = `${interfaceName(index)} ${nic.mac}`;
  if (isDone(unit)) return `${head}: as it shall be\n`;
  const from = before.link ? ` (now ${before.link.name})` : ' (not on the host)';
  return `${head}${from}: ${action}\n${unitLines(unit)
    .map((line) => `  ${line}\n`)
    .join('')}`;
}

/** What happens to one NIC, a line each. */
export function unitLines({ change, files }: Unit): string[] {
  const { sysctls, eviction, operations } = change;
  return [
    ...sysctls.map(({ dev, key, value }) => `write net.ipv6.conf.${dev}.${key} = ${value}`),
    ...[...(eviction ? [eviction] : []), ...operations].map(
      (operation) => `ip ${batchLine(operation)}`,
    ),
    ...files.filter(({ changed }) => changed).map(fileText),
  ];
}

function fileText({ path, before, after }: FileChange): string {
  if (after === null) return `remove ${path}`;
  return `${before === null ? 'create' : 'replace'} ${path}`;
}
