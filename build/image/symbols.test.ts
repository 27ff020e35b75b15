import { describe, expect, it } from 'vitest';
import { withoutSymbols } from './symbols.ts';

/** ELF section; `nobits` sections have a size, but no content in the file. */
interface Made {
  readonly loaded: boolean;
  readonly text: string;
  readonly nobits?: boolean;
}

const [headerLength, entryLength] = [64, 64];

/** A 64-bit little-endian ELF file with these sections, and section names in the last section. */
function elf(sections: readonly Made[]): Buffer {
  const contents = sections.map(({ text, nobits }) => Buffer.from(nobits ? '' : text));
  const tableAt = headerLength + contents.reduce((sum, { length }) => sum + length, 0);
  const header = Buffer.alloc(headerLength);
  header.write('\x7fELF\x02\x01', 'latin1');
  header.writeBigUInt64LE(BigInt(tableAt), 40);
  header.writeUInt16LE(entryLength, 58);
  header.writeUInt16LE(sections.length + 1, 60);
  header.writeUInt16LE(sections.length, 62);
  let at = headerLength;
  const entries = sections.map(({ loaded, text, nobits }, index) => {
    const raw = Buffer.alloc(entryLength);
    raw.writeUInt32LE(nobits ? 8 : 1, 4);
    raw.writeBigUInt64LE(loaded ? 2n : 0n, 8);
    raw.writeBigUInt64LE(BigInt(at), 24);
    raw.writeBigUInt64LE(BigInt(text.length), 32);
    at += contents[index]?.length ?? 0;
    return raw;
  });
  return Buffer.concat([header, ...contents, Buffer.alloc(entryLength), ...entries]);
}

const code = { loaded: true, text: 'code of the program' };
const zeroed = { loaded: true, text: 'x'.repeat(5000), nobits: true };
const symbols = { loaded: false, text: 'symbols of a debugger, a lot of them' };
const names = { loaded: false, text: '.text .bss .symtab' };

describe('a program without symbols', () => {
  const whole = elf([code, zeroed, symbols, names]);
  const stripped = withoutSymbols(whole);

  it('stripping leaves loaded sections at their offsets and removes the rest', () => {
    const loaded = headerLength + code.text.length;
    expect(stripped.subarray(headerLength, loaded)).toEqual(whole.subarray(headerLength, loaded));
    expect(stripped.includes(symbols.text)).toBe(false);
    expect(stripped.length).toBeLessThan(whole.length);
  });

  it('a stripped program has a valid section table with names', () => {
    const table = Number(stripped.readBigUInt64LE(40));
    expect(table % 8).toBe(0);
    expect([stripped.readUInt16LE(60), stripped.readUInt16LE(62)]).toEqual([4, 3]);
    expect(stripped.length).toBe(table + 4 * entryLength);
    const entry = stripped.subarray(table + 3 * entryLength);
    const [at, size] = [entry.readBigUInt64LE(24), entry.readBigUInt64LE(32)].map(Number);
    expect(stripped.toString('latin1', at, (at ?? 0) + (size ?? 0))).toBe(names.text);
    const before = whole.subarray(Number(whole.readBigUInt64LE(40)));
    expect(stripped.subarray(table, table + 3 * entryLength)).toEqual(
      before.subarray(0, 3 * entryLength),
    );
  });

  it('a program without debug symbols stays unchanged', () => {
    expect(withoutSymbols(stripped).equals(stripped)).toBe(true);
  });
});

it.each([
  ['a script', Buffer.from('#!/bin/sh\necho this is no program of a machine\n')],
  ['a program of 32 bits', Buffer.from(elf([code, names])).fill(1, 4, 5)],
  ['a program of a big-endian machine', Buffer.from(elf([code, names])).fill(2, 5, 6)],
])('%s is refused', (_what, program) => {
  expect(() => withoutSymbols(program)).toThrow('no 64-bit little-endian ELF program');
});

it('stripping fails if loaded sections would get different numbers', () => {
  expect(() => withoutSymbols(elf([symbols, code, names]))).toThrow('do not come first');
  expect(() => withoutSymbols(elf([symbols, names]))).toThrow('do not come first');
  const odd = elf([code, names]);
  odd.writeUInt16LE(40, 58);
  expect(() => withoutSymbols(odd)).toThrow('has another form');
  const nameless = elf([code, names]);
  nameless.writeUInt16LE(9, 62);
  expect(() => withoutSymbols(nameless)).toThrow('have no names');
});
