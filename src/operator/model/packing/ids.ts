import { indexOfName, interfaceName } from '../../../api/names.ts';

/** Returns the index of a NIC name such as multinic3, otherwise the name. */
export function packedName(name: string): number | string {
  const index = indexOfName(name);
  return index !== undefined && interfaceName(index) === name ? index : name;
}

export function unpackedName(packed: number | string): string {
  return typeof packed === 'number' ? interfaceName(packed) : packed;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const macPattern = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/;

/** A UUID takes 22 characters; a different id stays unchanged behind a mark. */
export function packedId(id: string): string {
  return uuid.test(id) ? packedHex(id, '-') : `=${id}`;
}

export function unpackedId(packed: string): string {
  const hex = hexIn(packed)?.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return hex ?? packed.slice(1);
}

/** A MAC takes 8 characters; a different text stays unchanged behind a mark. */
export function packedMac(address: string): string {
  return macPattern.test(address) ? packedHex(address, ':') : `=${address}`;
}

export function unpackedMac(packed: string): string {
  return hexIn(packed)?.match(/../g)?.join(':') ?? packed.slice(1);
}

function packedHex(text: string, separator: string): string {
  return Buffer.from(text.replaceAll(separator, ''), 'hex').toString('base64url');
}

/** Returns the hex digits; undefined: an unchanged text behind a mark. */
function hexIn(packed: string): string | undefined {
  return packed.startsWith('=') ? undefined : Buffer.from(packed, 'base64url').toString('hex');
}
