import { isFree } from '../parts/free-ports.ts';

/** Offsets of the demo's loopback ports from its base. */
const offsets = {
  viola: 0,
  inventory: 1,
  controller: 2,
  management: 3,
  business: 4,
  cloud: 5,
  operator: 6,
} as const;

type PortName = keyof typeof offsets;
export type Ports = Readonly<Record<PortName, number>>;

/** Returns ports from a base; throws an error that names the first taken one and a base whose ports are free. */
export async function choosePorts(base: number): Promise<Ports> {
  const ports = portsFrom(base);
  for (const [name, port] of Object.entries(ports)) {
    if (await isFree(port)) continue;
    const advice = `choose other ports: make demo ARGS=--port-base=${await freeBase(base)}`;
    throw new Error(
      `port ${port} (${name}) is taken by another process; stop that process, or ${advice}`,
    );
  }
  return ports;
}

function portsFrom(base: number): Ports {
  return Object.fromEntries(
    Object.entries(offsets).map(([name, offset]) => [name, base + offset]),
  ) as Ports;
}

/** Bases that are advised, below the kernel's range (32768 and up), whose ports outgoing connections take. */
const advised = { from: 18_080, below: 32_000, step: 100 };

async function freeBase(taken: number): Promise<number> {
  for (let base = advised.from; base < advised.below; base += advised.step) {
    const ports = Object.values(portsFrom(base));
    const free = await Promise.all(ports.map(isFree));
    if (base !== taken && free.every(Boolean)) return base;
  }
  throw new Error('no seven neighbouring loopback ports are free; stop other processes first');
}
