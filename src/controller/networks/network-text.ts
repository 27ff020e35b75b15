import * as z from 'zod';
import { networkOf, plainForm } from '../../api/address.ts';

/** Error: a source's content is not a list of networks. */
export class UnreadableSource extends Error {
  override readonly name = 'UnreadableSource';
}

const cidr = z.union([z.cidrv4(), z.cidrv6().transform(plainForm)]);

/** Returns the networks without host bits; throws UnreadableSource for other text. */
export function networksIn(field: string, texts: readonly string[]): readonly string[] {
  return texts.map((text) => {
    const read = cidr.safeParse(text.trim());
    if (read.success) return networkOf(read.data);
    throw new UnreadableSource(`${field}: "${text.slice(0, 64)}" is not a network`);
  });
}

/** Returns the networks among these texts. */
export function usableNetworks(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => {
    const read = cidr.safeParse(text);
    return read.success ? networkOf(read.data) : [];
  });
}
