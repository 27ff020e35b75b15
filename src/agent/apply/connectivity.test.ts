import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { host, link } from '../../../test/fixtures/agent-samples.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import {
  type Connected,
  connectTcp,
  lostConnectivity,
  reachedTargets,
  type Target,
} from './connectivity.ts';

const service = { kind: 'service', address: '10.96.0.1', port: 443 } as const;
const endpoint = { kind: 'endpoint', address: 'fd00::7', port: 6443 } as const;

/** Returns a fake TCP with these results per address, and the calls. */
function fakeTcp(results: Readonly<Record<string, readonly Connected[]>>) {
  const calls: string[] = [];
  const tcp = async ({ address }: Target, ms: number) => {
    const at = calls.filter((call) => call.startsWith(`${address} `)).length;
    calls.push(`${address} ${ms}`);
    return results[address]?.[at] ?? 'silent';
  };
  return { tcp, calls };
}

function quickClock() {
  const clock = createFakeClock();
  return { ...clock, sleep: async (ms: number) => clock.advance(ms) };
}

describe('targets before a change', () => {
  it('are remote addresses with an open port', async () => {
    const apiServer = {
      service: { address: '10.96.0.1', port: 443 },
      endpoints: ['10.200.0.2', '10.200.0.3', '10.200.0.4'].map((address) => ({
        address,
        port: 6443,
      })),
    };
    const { tcp, calls } = fakeTcp({ '10.96.0.1': ['open'], '10.200.0.3': ['refused'] });
    expect(await reachedTargets(apiServer, host([link(1)]), tcp)).toEqual([service]);
    expect(calls).toEqual(['10.96.0.1 1000', '10.200.0.3 1000', '10.200.0.4 1000']);
  });
});

describe('connectivity after a change', () => {
  it.each<[string, readonly Connected[], readonly string[]]>([
    ['answers', ['open'], ['10.96.0.1 2000']],
    ['refuses, such as a restarting API server', ['refused'], ['10.96.0.1 2000']],
    ['answers the second attempt', ['silent', 'open'], ['10.96.0.1 2000', '10.96.0.1 3000']],
  ])('is complete when the target %s', async (_, results, expected) => {
    const { tcp, calls } = fakeTcp({ '10.96.0.1': results });
    expect(await lostConnectivity([service], tcp, quickClock())).toBeUndefined();
    expect(calls).toEqual(expected);
  });

  it('is lost when a target fails twice, the second time after two seconds', async () => {
    const { tcp } = fakeTcp({ '10.96.0.1': ['open'] });
    const clock = quickClock();
    expect(await lostConnectivity([service, endpoint], tcp, clock)).toEqual({
      reason: 'NodeConnectivityLost',
      message: 'the node no longer reached the API server at [fd00::7]:6443',
      code: 'EndpointUnreachable',
      args: 'address=fd00::7 port=6443',
    });
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(2_000);
  });
});

describe('TCP connect', () => {
  it('distinguishes an open, a refusing and an unreachable port', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const target = { kind: 'endpoint', address: '127.0.0.1', port } as const;
    expect(await connectTcp(target, 2_000)).toBe('open');
    await new Promise((resolve) => server.close(resolve));
    expect(await connectTcp(target, 2_000)).toBe('refused');
    expect(await connectTcp({ ...target, address: '255.255.255.255' }, 2_000)).toBe('silent');
  });
});
