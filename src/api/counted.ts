/** Returns a number with its noun, such as "1 NIC" or "2 NICs"; `plural` is for irregular nouns ("entries"). */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
