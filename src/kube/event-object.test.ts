import { expect, test } from 'vitest';
import { messageOf, nameOf, namespaceOf, noticeOf } from './event-object.ts';

const note = { type: 'Warning', reason: 'Broken', message: 'it broke' } as const;

test('an event about a cluster-scoped object belongs to namespace default', () => {
  const node = { kind: 'Node', metadata: { name: 'n1', uid: 'u' } };
  expect(namespaceOf(noticeOf(node, note))).toBe('default');
});

test("event names and messages are cut to the API server's limits", () => {
  const metadata = { name: `${'a'.repeat(199)}.${'b'.repeat(50)}`, uid: 'u' };
  const notice = noticeOf({ kind: 'Widget', metadata }, { ...note, message: 'x'.repeat(5_000) });
  expect(nameOf('multinic-test', notice, 1)).toMatch(/^a{199}\.[0-9a-f]+$/);
  expect(messageOf(notice)).toHaveLength(1_024);
});

test('control characters in a message become spaces', () => {
  const message = `server "\u001b[2Jworker\r\n1" ${'x'.repeat(999)}🔌`;
  const written = messageOf(noticeOf({ metadata: { name: 'one' } }, { ...note, message }));
  expect(written).toMatch(/^server " \[2Jworker {2}1" x+/);
  expect([written.length, written.isWellFormed()]).toEqual([1_024, true]);
});
