import { afterEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { stateOf } from './host-state.ts';
import { denyingIp } from './line-by-line-ip.ts';

const mac = '02:00:00:00:01:05';
const gateway = '10.0.0.254';
const wide = nic(0, mac, '10.0.0.11/16', { gateway });
/** Below 1280 bytes the kernel removes IPv6 from a link, with all its settings. */
const narrow = { ...wide, mtu: 1200 };

let host: NamespaceHost;
afterEach(() => host.down());

describe('MTU below the IPv6 minimum', () => {
  test('an MTU below 1280 is set on a new NIC', async () => {
    host = await createHost('narrow', { nics: { ens5: mac } });
    const { result } = await runAgent(host, request([narrow]));
    expect(result?.outcome).toBe('ok');
    const again = await runAgent(host, request([narrow], { attempt: 1 }), { traced: true });
    expect(again.effects).toHaveLength(2);
  });

  test('an MTU below 1280 is set on a configured NIC, and raised again', async () => {
    host = await createHost('narrowed', { nics: { ens5: mac } });
    await runAgent(host, request([wide]));
    const before = await stateOf(host);
    const narrowed = await runAgent(host, request([narrow], { generation: 2 }));
    expect(narrowed.result?.outcome).toBe('ok');
    const widened = await runAgent(host, request([wide], { generation: 3 }));
    expect(widened.result?.outcome).toBe('ok');
    expect(await stateOf(host)).toEqual(before);
  });

  test('an MTU below 1280 is rolled back with all IPv6 state if a later step fails', async () => {
    host = await createHost('narrow-undone', { nics: { ens5: mac } });
    await runAgent(host, request([wide]));
    const before = await stateOf(host);
    const path = await denyingIp(host, '^rule.add.*10.0.0.12');
    const moved = { ...narrow, addresses: ['10.0.0.12/16'] };
    const { result } = await runAgent(host, request([moved], { generation: 2 }), { path });
    expect(result?.nics[0]).toMatchObject({ reason: 'ApplyFailed', name: 'multinic0' });
    expect(await stateOf(host)).toEqual(before);
  });

  test('a NIC with an MTU below 1280 is released', async () => {
    host = await createHost('narrow-gone', { nics: { ens5: mac } });
    await runAgent(host, request([narrow]));
    const { result } = await runAgent(host, request([], { generation: 2 }));
    expect(result).toMatchObject({ outcome: 'ok', nics: [{ name: 'ens5' }] });
  });
});
