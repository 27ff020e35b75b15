/** The first line of a file of which no other line tells whose it is. */
export function nicHead(mac: string): string {
  return `# NIC ${mac}`;
}

/** The MAC of the NIC that a file says it is of; undefined when it says none. */
export function macInHead(text: string): string | undefined {
  return /^# NIC ((?:[\da-f]{2}:){5}[\da-f]{2})\n/.exec(text)?.[1];
}
