import { expect, test } from 'vitest';
import { BadMessageError, decode, encodeCall } from './message.ts';

/** As written by `dbus-send`: header fields and structure bodies are aligned to eight bytes, numbers to four. */
test("encodeCall follows the D-Bus specification's layout", () => {
  const call = {
    destination: 'a.b',
    path: '/a',
    interface: 'a.b',
    member: 'Set',
    arguments: [{ text: 'x' }, { variant: true }],
  };
  const bytes = encodeCall(7, call);
  const fields = [
    [1, 1, 0x6f, 0, 2, 0, 0, 0, 0x2f, 0x61, 0, 0, 0, 0, 0, 0],
    [2, 1, 0x73, 0, 3, 0, 0, 0, 0x61, 0x2e, 0x62, 0, 0, 0, 0, 0],
    [3, 1, 0x73, 0, 3, 0, 0, 0, 0x53, 0x65, 0x74, 0, 0, 0, 0, 0],
    [6, 1, 0x73, 0, 3, 0, 0, 0, 0x61, 0x2e, 0x62, 0, 0, 0, 0, 0],
    [8, 1, 0x67, 0, 2, 0x73, 0x76, 0],
  ].flat();
  const body = [1, 0, 0, 0, 0x78, 0, 1, 0x62, 0, 0, 0, 0, 1, 0, 0, 0];
  const fixed = [0x6c, 1, 0, 1, body.length, 0, 0, 0, 7, 0, 0, 0, fields.length, 0, 0, 0];
  expect([...bytes]).toEqual([...fixed, ...fields, ...body]);
});

/** Message replying to our call 5, with one value. */
function messageOf(type: number, signature: string, body: readonly number[]): Buffer {
  const to = [5, 1, 0x75, 0, 5, 0, 0, 0];
  const head = [...to, 8, 1, 0x67, 0, 1, signature.charCodeAt(0), 0, 0];
  const fixed = [0x6c, type, 1, 1, body.length, 0, 0, 0, 9, 0, 0, 0, head.length - 1, 0, 0, 0];
  return Buffer.from([...fixed, ...head, ...body]);
}

test('decode returns a boolean value', () => {
  expect(decode(messageOf(2, 'b', [1, 0, 0, 0]))?.answer).toEqual({ to: 5, value: true });
  expect(decode(messageOf(2, 'b', [0, 0, 0, 0]))?.answer).toEqual({ to: 5, value: false });
});

test.each([1, 4])(
  'decode returns no answer for message type %i, though it names our call',
  (type) => {
    expect(decode(messageOf(type, 'b', [1, 0, 0, 0]))).toEqual({ length: 36 });
  },
);

test('decode does not read a text beyond the message', () => {
  const bytes = messageOf(2, 's', [4, 0, 0, 0, 0x61, 0x62, 0x63, 0x64]);
  expect(() => decode(bytes)).toThrow(BadMessageError);
});
