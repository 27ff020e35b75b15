import { afterEach, expect, test } from 'vitest';
import { ip as runIp } from '../../rig/hosts/namespace/command.ts';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { RequestInterface } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { answererOf } from './traffic.ts';

const mac = '02:00:00:00:01:05';
const dual = ['10.0.0.11/16', 'fd00::11/64'];
const gateways = { gateway: '10.0.0.254', gateway6: 'fd00::fe' };
const nothingButTheResult = 2;

let host: NamespaceHost;
afterEach(() => host.down());

async function hostWith(name: string) {
  const fabricAddresses = ['10.0.0.254/16', 'fd00::fe/64'];
  host = await createHost(`no-carrier-${name}`, { nics: { ens5: mac }, fabricAddresses });
}

function cable(state: 'up' | 'down') {
  const port = `sw${mac.replaceAll(':', '')}`;
  return runIp(['-n', host.fabric, 'link', 'set', 'dev', port, state]);
}

async function run(wanted: RequestInterface) {
  const { result, effects } = await runAgent(host, request([wanted]), { traced: true });
  const [words] = result?.nics.map(({ reason, message }) => `${reason} ${message}`.trim()) ?? [];
  return { words, effects: effects.length };
}

const tentative = () => host.ip('-6', 'addr', 'show', 'dev', 'multinic0', 'tentative');

/** `before`: configuration while the carrier is present; undefined: the NIC never had a carrier. */
test.each<[string, Partial<RequestInterface> | undefined, Partial<RequestInterface>]>([
  ['dual', undefined, { addresses: dual, ...gateways }],
  ['six', undefined, { addresses: ['fd00::11/64'], gateway6: 'fd00::fe' }],
  ['kept', { addresses: dual, ...gateways }, { addresses: dual, ...gateways }],
  ['added', { addresses: ['10.0.0.11/16'] }, { addresses: dual, ...gateways }],
  ['changed', { addresses: dual, ...gateways }, { addresses: ['10.0.0.11/16', 'fd00::12/64'] }],
  ['mtu', { addresses: dual, ...gateways }, { addresses: dual, ...gateways, mtu: 1400 }],
])(
  'a NIC with IPv6 and without a carrier is Configured, and works once the carrier comes: %s',
  async (name, before, wanted) => {
    await hostWith(name);
    if (before) expect((await run(nic(0, mac, '', before))).words).toBe('Configured');
    await cable('down');
    const entry = nic(0, mac, '', wanted);
    expect((await run(entry)).words).toBe('Configured');
    expect(await run(entry)).toEqual({ words: 'Configured', effects: nothingButTheResult });
    await cable('up');
    await expect.poll(tentative, { timeout: 10_000 }).toBe('');
    const six = wanted.addresses?.at(-1)?.replace(/\/.*/, '') ?? '';
    expect(await answererOf(host, six)).toBe(mac);
    expect(await run(entry)).toEqual({ words: 'Configured', effects: nothingButTheResult });
  },
);
