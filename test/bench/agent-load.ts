import type { JobAction, JobRequest } from '../../src/api/job.ts';

/** MACs of the ten NICs of a bench host. */
export const benchMacs = Array.from({ length: 10 }, (_, n) => `02:00:00:00:01:0${n}`);

/** What NICs have: addresses of IPv4 alone, or of both families. */
export type Stack = 'IPv4' | 'dual';

/** Ten NICs, each with address, gateway and a further route of each family; or none of them. */
export function benchRequest(action: JobAction, generation: number, stack: Stack): JobRequest {
  const interfaces = benchMacs.map((mac, index) => {
    const four = {
      addresses: [`10.0.${index}.9/16`],
      gateway: '10.0.0.254',
      routes: [{ to: `172.${16 + index}.0.0/16`, via: '10.0.0.253' }],
    };
    const six = {
      addresses: [...four.addresses, `fd00::${index}:9/64`],
      gateway6: 'fd00::fe',
      routes: [...four.routes, { to: `fd00:${16 + index}::/64`, via: 'fd00::fd' }],
    };
    const addressing = stack === 'dual' ? { ...four, ...six } : four;
    return { index, mac, mtu: 1450, ...addressing, routing: 'pbr' as const };
  });
  return {
    protocol: 3,
    uid: 'bench',
    generation,
    attempt: 0,
    action,
    nodeName: 'bench',
    protectedAddresses: ['10.200.0.2'],
    interfaces: action === 'apply' ? interfaces : [],
  };
}

/** Milliseconds per round. */
export interface Rounds {
  readonly operations: number;
  readonly apply: number[];
  /** The part of it in which the kernel is changed. */
  readonly kernel: number[];
  readonly again: number[];
  readonly mutationsAgain: number[];
  /** Route lookups of a run without changes. */
  readonly lookups: number[];
  readonly raw: number[];
}
