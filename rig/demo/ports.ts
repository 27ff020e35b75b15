import { isFree } from '../parts/free-ports.ts';

/** Offsets of the demo's loopback ports from its base. */
export const offsets = {
  viola: 0,
  inventory: 1,
  controller: 2,
  management: 3,
  business: 4,
  cloud: 5,
  operator: 6,
} as const;

export type PortName = keyof typeof offsets;
export type Ports = Readonly<Record<PortName, number>>;

/** Ports from a base; throws a sentence that names the first one somebody else holds. */
export async function choosePorts(base: number): Promise<Ports> {
  const ports = Object.fromEntries(
    Object.entries(offsets).map(([name, offset]) => [name, base + offset]),
  ) as Ports;
  for (const [name, port] of Object.entries(ports)) {
    if (!(await isFree(port))) {
      throw new Error(
        `port ${port} (${name}) is taken by another process; stop it, or choose others: make demo ARGS=--port-base=28080`,
      );
    }
  }
  return ports;
}
