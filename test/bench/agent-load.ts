import type { JobAction, JobRequest } from '../../src/api/job.ts';

/** MACs of the ten NICs of a bench host. */
export const benchMacs = Array.from({ length: 10 }, (_, n) => `02:00:00:00:01:0${n}`);

/** Ten NICs, each with address, gateway and a further route; or none of them. */
export function benchRequest(action: JobAction, generation: number): JobRequest {
  const interfaces = benchMacs.map((mac, index) => ({
    index,
    mac,
    mtu: 1450,
    addresses: [`10.0.${index}.9/16`],
    gateway: '10.0.0.254',
    routes: [{ to: `172.${16 + index}.0.0/16`, via: '10.0.0.253' }],
    routing: 'pbr' as const,
  }));
  return {
    protocol: 1,
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
  readonly again: number[];
  readonly mutationsAgain: number[];
  readonly raw: number[];
}
