/** Fields in a 64-bit ELF header, and the size of a section table entry; see elf(5). */
const header = { tableAt: 40, entrySize: 58, entries: 60, namesIndex: 62 } as const;
const entry = { type: 4, flags: 8, offset: 24, size: 32, length: 64 } as const;
const [nobits, alloc] = [8, 2n];

interface Section {
  /** Entry in the section table. */
  readonly raw: Buffer;
  readonly offset: number;
  /** Bytes in the file. */
  readonly size: number;
  readonly isLoaded: boolean;
}

/**
 * Removes sections that are never loaded from a 64-bit little-endian ELF program: debug symbols are a sixth of Node.js. Loaded sections,
 * including symbols for dlopen and stack traces, stay at their offsets. Equals `strip --strip-all`, for every architecture on every
 * machine; throws for any other file.
 */
export function withoutSymbols(program: Buffer): Buffer {
  if (program.readUInt32BE(0) !== 0x7f454c46 || program.readUInt16BE(4) !== 0x0201) {
    throw new Error('this is no 64-bit little-endian ELF program');
  }
  const sections = sectionsOf(program);
  const last = sections.findLastIndex(({ isLoaded }) => isLoaded);
  // Entries refer to each other by number, so numbers must not change.
  const kept = sections.slice(0, last + 1);
  if (last === -1 || kept.slice(1).some(({ isLoaded }) => !isLoaded)) {
    throw new Error('sections of this ELF program that are loaded do not come first');
  }
  const names = sections[program.readUInt16LE(header.namesIndex)];
  if (!names) throw new Error('the sections of this ELF program have no names');
  const end = Math.max(...kept.map(({ offset, size }) => offset + size));
  const nameBytes = program.subarray(names.offset, names.offset + names.size);
  const tableAt = Math.ceil((end + names.size) / 8) * 8;
  const table = Buffer.concat([...kept.map(({ raw }) => raw), movedTo(end, names.raw)]);
  const result = Buffer.alloc(tableAt + table.length);
  program.copy(result, 0, 0, end);
  nameBytes.copy(result, end);
  table.copy(result, tableAt);
  result.writeBigUInt64LE(BigInt(tableAt), header.tableAt);
  result.writeUInt16LE(kept.length + 1, header.entries);
  result.writeUInt16LE(kept.length, header.namesIndex);
  return result;
}

function sectionsOf(program: Buffer): readonly Section[] {
  const start = Number(program.readBigUInt64LE(header.tableAt));
  const count = program.readUInt16LE(header.entries);
  if (program.readUInt16LE(header.entrySize) !== entry.length) {
    throw new Error('the section table of this ELF program has another form');
  }
  return Array.from({ length: count }, (_, at) => {
    const raw = program.subarray(start + at * entry.length, start + (at + 1) * entry.length);
    const isEmpty = raw.readUInt32LE(entry.type) === nobits;
    return {
      raw,
      offset: Number(raw.readBigUInt64LE(entry.offset)),
      size: isEmpty ? 0 : Number(raw.readBigUInt64LE(entry.size)),
      isLoaded: (raw.readBigUInt64LE(entry.flags) & alloc) !== 0n,
    };
  });
}

function movedTo(offset: number, raw: Buffer): Buffer {
  const moved = Buffer.from(raw);
  moved.writeBigUInt64LE(BigInt(offset), entry.offset);
  return moved;
}
