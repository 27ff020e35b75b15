import { afterEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost, primary } from '../../rig/hosts/namespace/host.ts';
import type { RequestInterface } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';

const [first, second] = ['02:00:00:00:01:05', '02:00:00:00:01:06'] as const;

let host: NamespaceHost;
afterEach(() => host.down());

async function answers(...entries: readonly RequestInterface[]) {
  const { result } = await runAgent(host, request(entries));
  return result?.nics.map(({ reason, message }) => [reason, message]);
}

describe('foreign subnets', () => {
  test("the primary NIC's subnet is refused, even if another entry names the primary NIC", async () => {
    host = await createHost('entry-of-primary', { nics: { ens5: first } });
    const foreign = nic(1, primary.mac, '10.7.0.1/24');
    expect(await answers(nic(0, first, '10.200.9.9/24'), foreign)).toEqual([
      ['SubnetOverlapsPrimary', '10.200.9.0/24 overlaps 10.200.0.0/16 of eth0'],
      ['PrimaryNIC', expect.any(String)],
    ]);
    const way = await host.ipJson('route', 'get', '10.200.9.50');
    expect(way).toMatchObject([{ dev: 'eth0' }]);
  });

  test('subnets of Pods on this node and on other nodes are refused', async () => {
    host = await createHost('pods', { nics: { ens5: first, ens6: second } });
    const commands = [
      'link add cni0 type bridge',
      'link set cni0 up',
      'addr add 10.244.3.1/24 dev cni0',
      `route add 10.244.7.0/24 via ${primary.gateway} dev eth0`,
    ];
    for (const command of commands) await host.ip(...command.split(' '));
    expect(
      await answers(nic(0, first, '10.244.3.130/25'), nic(1, second, '10.244.7.9/24')),
    ).toEqual([
      ['SubnetOverlapsForeign', '10.244.3.128/25 overlaps 10.244.3.0/24 of cni0'],
      ['SubnetOverlapsForeign', '10.244.7.0/24 overlaps 10.244.7.0/24 of eth0'],
    ]);
    expect(await host.ipJson('route', 'get', '10.244.3.140')).toMatchObject([{ dev: 'cni0' }]);
  });

  test('a subnet of Pods behind a Cilium veth with next-hop routes is refused', async () => {
    host = await createHost('cilium', { nics: { ens5: first } });
    const commands = [
      'link add cilium_host type veth peer name cilium_net',
      'link set cilium_host up',
      'link set cilium_net up',
      'addr add 10.244.0.77/32 dev cilium_host',
      'route add 10.244.0.1 dev cilium_host scope link',
      'route add 10.244.3.0/24 via 10.244.0.1 dev cilium_host proto kernel src 10.244.0.77',
    ];
    for (const command of commands) await host.ip(...command.split(' '));
    expect(await answers(nic(0, first, '10.244.3.17/28'))).toEqual([
      ['SubnetOverlapsForeign', '10.244.3.16/28 overlaps 10.244.3.0/24 of cilium_host'],
    ]);
    const way = await host.ipJson('route', 'get', '10.244.3.20');
    expect(way).toMatchObject([{ dev: 'cilium_host' }]);
  });
});
