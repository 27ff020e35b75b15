/** Marks each line of a foreign file that the agent changed; the original line follows the mark. */
const mark = '#MULTINIC#';

/** Line in place of a missing `ONBOOT`: the default is `yes`. */
const added = `ONBOOT=no ${mark}`;

/**
 * Returns an adopted NIC's ifcfg file without effect. `ONBOOT=no` ends its activation at boot. Without `DEVICE`,
 * `rename_device` of Enterprise Linux passes the file by, and a `.link` file names the NIC. `HWADDR` stays: without both
 * the profile would apply to another NIC that gets the former name.
 */
export function withoutEffect(text: string): string {
  const lines = text.split('\n');
  const edited = lines.map(editedLine);
  if (lines.some((line) => onBoot.test(line))) return edited.join('\n');
  const end = lines.at(-1) === '' ? -1 : lines.length;
  return [...edited.slice(0, end), added, ...edited.slice(end)].join('\n');
}

const onBoot = /^\s*(?:export\s+)?ONBOOT=/;
const device = /^\s*(?:export\s+)?DEVICE=/;

function editedLine(line: string): string {
  if (line.includes(mark)) return line;
  if (device.test(line)) return `${mark} ${line}`;
  return onBoot.test(line) ? `ONBOOT=no ${mark} ${line}` : line;
}

/** Returns the file as before `withoutEffect`; lines that a user added or changed since stay. */
export function withEffect(text: string): string {
  return text
    .split('\n')
    .filter((line) => line !== added)
    .map((line) => line.replace(/^(?:ONBOOT=no )?#MULTINIC# /, ''))
    .join('\n');
}

/** Returns edited line numbers, from 1. */
export function editedLines(text: string): number[] {
  return text.split('\n').flatMap((line, at) => (line.includes(mark) ? [at + 1] : []));
}
