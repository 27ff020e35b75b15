import { afterEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { createFamilyHost, filesOfOurs } from './family-host.ts';
import { stateOf } from './host-state.ts';

const [first, second, third] = ['02:00:00:00:01:05', '02:00:00:00:01:06', '02:00:00:00:01:07'];
const a = nic(0, first, '10.0.0.11/16');

let host: NamespaceHost;
afterEach(() => host.down());

describe('name of an absent NIC', () => {
  test("[RW-24] [RW-37] an absent NIC's name is not given to another NIC, and a foreign holder is left alone", async () => {
    host = await createHost('mixed-up', { nics: { multinic0: second, ens9: third } });
    await host.ip('link', 'set', 'dev', 'multinic0', 'addrgenmode', 'none', 'up');
    await host.ip('addr', 'add', '10.0.0.36/16', 'dev', 'multinic0');
    const before = await stateOf(host);
    const waiting = await runAgent(host, request([a]));
    expect(waiting.result).toMatchObject({
      outcome: 'failed',
      nics: [{ mac: first, name: '', state: 'Pending', reason: 'WaitingForNIC' }],
    });
    expect(await stateOf(host)).toEqual(before);
    await host.plug('ens8', first);
    const plugged = await stateOf(host);
    const refused = await runAgent(host, request([nic(0, first, '10.1.0.11/16')], { attempt: 1 }));
    expect(refused.result?.nics).toMatchObject([
      {
        mac: first,
        name: 'ens8',
        reason: 'NICInUse',
        message: expect.stringContaining(second) as string,
      },
    ]);
    expect(await stateOf(host)).toEqual(plugged);
  });
});

describe('node name', () => {
  test("[RW-20] the agent ignores the node name's spelling: configured NICs stay unchanged", async () => {
    host = await createHost('node-names', { nics: { ens5: first } });
    await runAgent(host, request([a], { nodeName: 'biz-master1' }));
    const before = await stateOf(host);
    for (const nodeName of ['biz-master1.novalocal', 'biz-master1.example.com', 'BIZ-MASTER1']) {
      const options = { traced: true };
      const { result, effects } = await runAgent(host, request([a], { nodeName }), options);
      expect(result).toMatchObject({ outcome: 'ok', nics: [{ name: 'multinic0' }] });
      expect(effects).toEqual(['agent.result.write before 1', 'agent.result.write after 1']);
    }
    expect(await stateOf(host)).toEqual(before);
  });
});

test('[RW-11] ten changes to a NIC leave a single profile with the same UUID', async () => {
  host = await createFamilyHost('ten-times', 'keyfile', { ens5: first });
  const uuids = new Set<string | undefined>();
  const paths = new Set<string>();
  for (let generation = 1; generation <= 10; generation++) {
    const moved = nic(0, first, `10.0.0.${10 + generation}/16`, { mtu: 1400 + generation });
    const jobRequest = request([moved], { protocol: 3, family: 'keyfile', generation });
    const { result, stderr } = await runAgent(host, jobRequest);
    expect(result, stderr).toMatchObject({ outcome: 'ok', nics: [{ name: 'multinic0' }] });
    const files = await filesOfOurs(host);
    paths.add(Object.keys(files).join(' '));
    uuids.add(/^uuid=(.+)$/m.exec(Object.values(files).join('\n'))?.[1]);
  }
  expect([...paths]).toHaveLength(1);
  expect([...uuids]).toEqual([expect.any(String)]);
});
