/** A NIC with the finding to report. */
export interface NicFinding {
  readonly name: string;
  readonly reason: string;
  readonly message: string;
}

const separator = '; ';

/** Names all NICs with reason and message; each text is cut to an equal share of `room` characters. */
export function nicTexts(nics: readonly NicFinding[], room: number): string {
  const each = Math.floor(room / nics.length) - separator.length;
  return nics
    .map(({ name, reason, message }) => cutTo(each, `${name} ${reason}: ${message}`))
    .join(separator);
}

function cutTo(room: number, text: string): string {
  return text.length <= room ? text : `${text.slice(0, Math.max(0, room - 1))}…`;
}
