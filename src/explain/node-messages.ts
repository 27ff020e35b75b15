import type { NodeView } from '../api/read-http.ts';

/** Warning about a node's boot files. */
export interface BootWarning {
  readonly reason: 'NotPersistent' | 'FilesLeft';
  /** NIC name for NotPersistent, path for FilesLeft. */
  readonly subject: string;
  /** Warning text from the agent. */
  readonly text: string;
}

/** Returns a node's boot file warnings: a ready node's message contains the agent's warnings. */
export function bootWarningsOf({ message, object }: NodeView): readonly BootWarning[] {
  const ready = object?.conditions.find(({ type }) => type === 'Ready');
  return bootWarningsIn(ready?.message ?? message);
}

function bootWarningsIn(message: string): readonly BootWarning[] {
  const found = message.matchAll(/\b(NotPersistent|FilesLeft) ([^\s,;]+)/g);
  return [...found].map((match) => {
    const [, reason, subject = ''] = match;
    const rest = message.slice(match.index).split(/, (?=[A-Z]\w+ )|; /)[0] ?? '';
    return { reason: reason as BootWarning['reason'], subject, text: rest };
  });
}

/** True if the warning is about this NIC. */
export function isAbout({ reason, subject }: BootWarning, nic: string): boolean {
  return reason === 'NotPersistent' ? subject === nic : subject.includes(nic);
}
