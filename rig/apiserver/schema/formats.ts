import { isIPv4, isIPv6 } from 'node:net';

const dateTime = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

const checks: Readonly<Record<string, (value: string) => boolean>> = {
  'date-time': (value) => dateTime.test(value) && !Number.isNaN(Date.parse(value)),
  uuid: (value) => uuid.test(value),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isCidr,
};

/** True when a string fits one of the formats that a CustomResourceDefinition is held to; unknown formats are not checked. */
export function fitsFormat(value: string, format: string): boolean {
  return checks[format]?.(value) ?? true;
}

function isCidr(value: string): boolean {
  const [ip = '', prefix = '', ...rest] = value.split('/');
  if (rest.length > 0 || !/^\d+$/.test(prefix)) return false;
  if (isIPv4(ip)) return Number(prefix) <= 32;
  return isIPv6(ip) && Number(prefix) <= 128;
}
