import { indexOfName, interfaceName } from '../../api/names.ts';

/** Returns the index of a NIC name such as multinic3, otherwise the name. */
export function packedName(name: string): number | string {
  const index = indexOfName(name);
  return index !== undefined && interfaceName(index) === name ? index : name;
}

export function unpackedName(packed: number | string): string {
  return typeof packed === 'number' ? interfaceName(packed) : packed;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A UUID takes 22 characters; a different id stays unchanged behind a mark. */
export function packedId(id: string): string {
  if (!uuid.test(id)) return `=${id}`;
  return Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
}

export function unpackedId(packed: string): string {
  if (packed.startsWith('=')) return packed.slice(1);
  const hex = Buffer.from(packed, 'base64url').toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

const macPattern = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/;

export function packedMac(address: string): string {
  if (!macPattern.test(address)) return `=${address}`;
  return Buffer.from(address.replaceAll(':', ''), 'hex').toString('base64url');
}

export function unpackedMac(packed: string): string {
  if (packed.startsWith('=')) return packed.slice(1);
  const hex = Buffer.from(packed, 'base64url').toString('hex');
  return hex.match(/../g)?.join(':') ?? '';
}
