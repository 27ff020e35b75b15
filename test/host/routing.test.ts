import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost, primary } from '../../rig/hosts/namespace/host.ts';
import type { RequestInterface } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { stateOf, without } from './host-state.ts';

const mac = '02:00:00:00:01:05';
const routes = [{ to: '10.77.0.0/16', via: '10.0.0.254' }];

let host: NamespaceHost;
afterEach(() => host.down());

function wanted(routing: RequestInterface['routing'], more: Partial<RequestInterface> = {}) {
  return nic(0, mac, '10.0.0.11/24', { gateway: '10.0.0.254', routing, routes, ...more });
}

async function configured(...entries: readonly RequestInterface[]) {
  const { result } = await runAgent(host, request(entries));
  return result?.nics.map(({ reason, message }) => `${reason} ${message}`.trim());
}

/** Returns the NIC's routing state, without kernel-made routes. */
async function routingState() {
  const shown = await host.ip('-4', 'route', 'show', 'dev', 'multinic0', 'table', 'all');
  const made = shown.split('\n').filter((line) => line !== '' && !line.includes('proto kernel'));
  return {
    main: made.filter((line) => !line.includes(' table ')),
    table: made.filter((line) => line.includes(' table 100 ')).length,
    rules: (await host.ip('rule', 'show')).match(/lookup 100\b/g)?.length ?? 0,
  };
}

const viaMain = ['10.77.0.0/16 via 10.0.0.254 proto static metric 100 '];

describe('routing modes', () => {
  test("mode main puts routes in main, and the node's default route stays", async () => {
    host = await createHost('main', { nics: { ens5: mac } });
    expect(await configured(wanted('main'))).toEqual(['Configured']);
    expect(await routingState()).toEqual({ main: viaMain, table: 0, rules: 0 });
    expect(await host.ipJson('route', 'get', '10.77.1.2')).toMatchObject([{ dev: 'multinic0' }]);
    expect(await host.ipJson('route', 'get', '192.0.2.1')).toMatchObject([{ dev: 'eth0' }]);
    const file = await readFile(join(host.root, 'etc/netplan/90-multinic0.yaml'), 'utf8');
    expect(file).toContain('table: 254');
    const again = await runAgent(host, request([wanted('main')]), { traced: true });
    expect(again.effects).toEqual(['agent.result.write before 1', 'agent.result.write after 1']);
  });

  test('changing the routing mode leaves nothing from the former mode', async () => {
    host = await createHost('modes', { nics: { ens5: mac } });
    const former = await stateOf(host);
    const pbr = { main: [], table: 3, rules: 1 };
    const none = { main: [], table: 0, rules: 0 };
    for (const [mode, there] of [
      ['main', { main: viaMain, table: 0, rules: 0 }],
      ['pbr', pbr],
      ['isolated', none],
      ['main', { main: viaMain, table: 0, rules: 0 }],
      ['isolated', none],
      ['pbr', pbr],
      ['main', { main: viaMain, table: 0, rules: 0 }],
    ] as const) {
      expect(await configured(wanted(mode))).toEqual(['Configured']);
      expect(await routingState()).toEqual(there);
    }
    expect(await configured()).toEqual(['Removed']);
    const left = without(await stateOf(host), mac);
    expect(left).toEqual(without(former, mac));
    expect(await host.ip('route', 'show', '10.77.0.0/16')).toBe('');
  });

  test.each([
    [
      "the node's subnet",
      '10.200.0.0/20',
      'SubnetOverlapsPrimary 10.200.0.0/20 overlaps 10.200.0.0/16',
    ],
    ['Pods', '10.244.1.0/24', 'SubnetOverlapsForeign 10.244.1.0/24 overlaps 10.244.0.0/16'],
    [
      'half of all addresses',
      '0.0.0.0/1',
      'InvalidEntry route to 0.0.0.0/1: the prefix must be at least /8 in table main',
    ],
  ])('mode main refuses routes for %s', async (_, to, words) => {
    host = await createHost('greedy', { nics: { ens5: mac } });
    await host.ip('route', 'add', '10.244.0.0/16', 'via', primary.gateway, 'dev', 'eth0');
    const before = await stateOf(host);
    const [answer] = (await configured(wanted('main', { routes: [{ to }] }))) ?? [];
    expect(answer).toContain(words);
    expect(await stateOf(host)).toEqual(before);
    expect(await configured(wanted('isolated', { routes: [{ to }] }))).toEqual(['Configured']);
  });
});
