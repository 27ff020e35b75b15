import { textPool } from '../process/text-pool.ts';
import type { Port } from './resources.ts';

/** Field values that many ports have in common; ports in one answer share the object. */
interface Common extends Pick<Port, 'networkId' | 'status' | 'deviceOwner' | 'projectId'> {
  readonly subnetIds: readonly string[];
}

const separator = '\n';
const addressSeparator = ' ';

/**
 * Port with three heap objects instead of eight: V8 marks each live object while the event loop waits, and an operator
 * holds up to 100,000 ports. Own properties decide the content, so that `isDeepStrictEqual` compares two compact ports.
 */
class CompactPort implements Port {
  readonly id: string;
  readonly deviceId: string;
  readonly revisionNumber: number;
  readonly common: Common;
  /** Addresses, MAC, creation time and name. */
  readonly text: string;

  constructor({ id, deviceId, revisionNumber }: Port, common: Common, text: string) {
    this.id = id;
    this.deviceId = deviceId;
    this.revisionNumber = revisionNumber;
    this.common = common;
    this.text = text;
  }

  get networkId(): string {
    return this.common.networkId;
  }

  get status(): string {
    return this.common.status;
  }

  get deviceOwner(): string {
    return this.common.deviceOwner;
  }

  get projectId(): string {
    return this.common.projectId;
  }

  get fixedIps(): Port['fixedIps'] {
    const { subnetIds } = this.common;
    const text = fieldAt(0, this.text);
    const [subnetId] = subnetIds;
    // Nearly all ports have one address.
    if (subnetIds.length === 1 && subnetId !== undefined) return [{ subnetId, ipAddress: text }];
    const addresses = text.split(addressSeparator);
    return subnetIds.map((id, at) => ({ subnetId: id, ipAddress: addresses[at] ?? '' }));
  }

  get macAddress(): string {
    return fieldAt(1, this.text);
  }

  get createdAt(): string | undefined {
    return fieldAt(2, this.text) || undefined;
  }

  get name(): string {
    return fieldAt(3, this.text);
  }
}

/** Returns a field of a port's text; plans read fields often, and `split` would make an array each time. */
function fieldAt(field: number, text: string): string {
  let from = 0;
  for (let at = 0; at < field; at++) from = text.indexOf(separator, from) + 1;
  const end = text.indexOf(separator, from);
  return text.slice(from, end === -1 ? undefined : end);
}

/**
 * Returns a function that makes an answer's ports compact. A port with a flaw, or with a value that the text cannot
 * contain, stays unchanged.
 */
export function compactPorts(): (port: Port) => Port {
  const texts = textPool();
  const commons = new Map<string, Common>();
  function shared(common: Common): Common {
    const key = JSON.stringify(common);
    const known = commons.get(key);
    if (known === undefined) commons.set(key, common);
    return known ?? common;
  }
  return (port) => {
    const text = textOf(port);
    if (text === undefined) return port;
    const { networkId, status, deviceOwner, projectId, fixedIps } = port;
    const subnetIds = fixedIps.map(({ subnetId }) => subnetId);
    const common = shared({ networkId, status, deviceOwner, projectId, subnetIds });
    return new CompactPort({ ...port, deviceId: texts(port.deviceId) }, common, text);
  };
}

/** Returns undefined if the text would not contain every value. */
function textOf({ macAddress, createdAt, name, fixedIps, flaw }: Port): string | undefined {
  const addresses = fixedIps.map(({ ipAddress }) => ipAddress);
  const fields = [addresses.join(addressSeparator), macAddress, createdAt ?? '', name];
  const fits =
    flaw === undefined &&
    createdAt !== '' &&
    !addresses.some((address) => address.includes(addressSeparator)) &&
    !fields.some((field) => field.includes(separator));
  return fits ? fields.join(separator) : undefined;
}
