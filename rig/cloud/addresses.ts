import { Address4, Address6 } from 'ip-address';

/** A subnet's addresses as numbers. */
export interface AddressRange {
  readonly version: 4 | 6;
  /** The network's own address. */
  readonly first: bigint;
  /** The last address; of IPv4 that is the broadcast address. */
  readonly last: bigint;
}

/** The range of a CIDR; host bits are ignored. */
export function rangeOf(cidr: string): AddressRange {
  const version = cidr.includes(':') ? 6 : 4;
  const address = version === 6 ? new Address6(cidr) : new Address4(cidr);
  const size = 1n << BigInt((version === 6 ? 128 : 32) - address.subnetMask);
  const first = address.startAddress().bigInt();
  return { version, first, last: first + size - 1n };
}

/** Whether two ranges of one family share an address. */
export function overlaps(a: AddressRange, b: AddressRange): boolean {
  return a.version === b.version && a.first <= b.last && b.first <= a.last;
}

/** The number of an address. */
function numberOf(ip: string): bigint {
  return ip.includes(':') ? new Address6(ip).bigInt() : new Address4(ip).bigInt();
}

/** The address of a number, as Neutron writes it. */
export function addressOf(version: 4 | 6, value: bigint): string {
  if (version === 4) return Address4.fromBigInt(value).correctForm();
  return Address6.fromBigInt(value).correctForm();
}

/** Whether the range has the address. */
export function contains(range: AddressRange, ip: string): boolean {
  const version = ip.includes(':') ? 6 : 4;
  if (version !== range.version) return false;
  const value = numberOf(ip);
  return value >= range.first && value <= range.last;
}

/** Hands out the addresses of one subnet, each once. */
export class AddressPool {
  readonly range: AddressRange;
  readonly #taken = new Set<string>();
  #next: bigint;

  constructor(cidr: string) {
    this.range = rangeOf(cidr);
    this.#next = this.range.first + 1n;
  }

  /** Whether the address is in use. */
  has(ip: string): boolean {
    return this.#taken.has(ip);
  }

  take(ip: string): void {
    this.#taken.add(ip);
  }

  release(ip: string): void {
    this.#taken.delete(ip);
  }

  /** Takes an address that is free, or undefined: like Neutron not the one that was released last. */
  takeAny(): string | undefined {
    const { version, first, last } = this.range;
    const end = version === 4 ? last - 1n : last;
    for (let tries = end - first; tries > 0n; tries--) {
      const ip = addressOf(version, this.#next);
      this.#next = this.#next === end ? first + 1n : this.#next + 1n;
      if (this.#taken.has(ip)) continue;
      this.#taken.add(ip);
      return ip;
    }
    return undefined;
  }
}
