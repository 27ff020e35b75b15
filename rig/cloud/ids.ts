import { randomUUID } from 'node:crypto';

/** An id as Keystone makes them: 32 hexadecimal digits. */
export function newId(): string {
  return randomUUID().replaceAll('-', '');
}

/** An id as Neutron, Nova and Glance make them. */
export function newUuid(): string {
  return randomUUID();
}
