/** Returns the first line for a file without any other line naming the NIC. */
export function nicHead(mac: string): string {
  return `# NIC ${mac}`;
}

/** Returns the MAC in the file's first line; undefined if absent. */
export function macInHead(text: string): string | undefined {
  return /^# NIC ((?:[\da-f]{2}:){5}[\da-f]{2})\n/.exec(text)?.[1];
}
