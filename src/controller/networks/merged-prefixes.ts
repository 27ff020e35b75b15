import { bitsOf, familyOf, hostPrefix, networkAt, prefixOf } from '../../api/address.ts';

interface Block {
  readonly family: 4 | 6;
  /** First address. */
  readonly bits: bigint;
  readonly prefix: number;
}

/** Shortest prefix length for an inexact merge: a wider network would refuse nearly every NIC. */
const widest = { 4: 8, 6: 32 } as const;

/**
 * Returns the smallest prefix list with the same addresses. With more than `most` prefixes, neighbours are merged
 * into wider prefixes, smallest first.
 */
export function mergedPrefixes(prefixes: readonly string[], most: number): string[] {
  const blocks = [...new Set(prefixes)].map(blockOf).toSorted(inOrder);
  return limited(collapsed(blocks), most).map(({ family, bits, prefix }) =>
    networkAt(family, bits, prefix),
  );
}

function blockOf(cidr: string): Block {
  return { family: familyOf(cidr), bits: bitsOf(cidr), prefix: prefixOf(cidr) };
}

/** Sorts wider blocks before the blocks inside. */
function inOrder(a: Block, b: Block): number {
  if (a.family !== b.family) return a.family - b.family;
  if (a.bits !== b.bits) return a.bits < b.bits ? -1 : 1;
  return a.prefix - b.prefix;
}

/** Drops blocks inside a wider block, and merges a block's two halves. */
function collapsed(blocks: readonly Block[]): readonly Block[] {
  const list: Block[] = [];
  for (const block of blocks) {
    const last = list.at(-1);
    if (last && commonPrefix(last, block) === last.prefix) continue;
    let whole = block;
    for (let half = list.at(-1); half && areHalves(half, whole); half = list.at(-1)) {
      list.pop();
      whole = { ...half, prefix: half.prefix - 1 };
    }
    list.push(whole);
  }
  return list;
}

function areHalves(a: Block, b: Block): boolean {
  return a.prefix === b.prefix && commonPrefix(a, b) === a.prefix - 1;
}

/** Returns the longest prefix length that covers both blocks; -1 in different families. */
function commonPrefix(a: Block, b: Block): number {
  if (a.family !== b.family) return -1;
  const different = a.bits ^ b.bits;
  const length = different === 0n ? 0 : different.toString(2).length;
  return Math.min(hostPrefix(a.family) - length, a.prefix, b.prefix);
}

/** Merges the closest neighbours. All blocks inside a merged network are neighbours with a smaller distance. */
function limited(blocks: readonly Block[], most: number): readonly Block[] {
  const excess = Math.max(0, blocks.length - most);
  const closest = blocks
    .slice(1)
    .map((block, at) => ({ at, ...distanceOf(blocks[at] ?? block, block) }))
    .filter(({ isMergeable }) => isMergeable)
    .toSorted((a, b) => a.hostBits - b.hostBits)
    .slice(0, excess);
  const merged = new Map(closest.map(({ at, common }) => [at, common]));
  const list: Block[] = [];
  for (const [at, block] of blocks.entries()) {
    const last = list.at(-1);
    const common = merged.get(at - 1);
    if (!last || common === undefined) list.push(block);
    else list[list.length - 1] = covering(last, Math.min(last.prefix, common));
  }
  return list.slice(0, most);
}

function distanceOf(a: Block, b: Block) {
  const common = commonPrefix(a, b);
  return {
    common,
    hostBits: hostPrefix(b.family) - common,
    isMergeable: common >= widest[b.family],
  };
}

function covering({ family, bits }: Block, prefix: number): Block {
  const hostBits = BigInt(hostPrefix(family) - prefix);
  return { family, bits: (bits >> hostBits) << hostBits, prefix };
}
