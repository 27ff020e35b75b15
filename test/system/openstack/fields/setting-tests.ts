import { describe, expect } from 'vitest';
import { openstackConfigs } from '../../../../rig/chain/kinds.ts';
import { findCondition } from '../../../../src/api/condition.ts';
import { annotations, namespaces } from '../../../../src/api/names.ts';
import type { OpenstackConfigSettings } from '../../../../src/api/openstackconfig.ts';
import { it } from './in-turn.ts';
import { cidrs, generous, type Machine, type Place } from './place.ts';

interface Wanted {
  readonly settings: OpenstackConfigSettings;
  readonly subnetIDs?: readonly string[];
}

/** Applies an OpenstackConfig for a single server. */
async function apply(
  place: Place,
  name: string,
  server: Machine,
  { settings, ...spec }: Wanted,
): Promise<void> {
  await place.bed.apply(name, { ...place.usual(settings), vmNames: [server.id], ...spec });
}

/** The server's NIC in the business cluster. */
async function nicOf(place: Place, { id }: Machine) {
  return (await place.bed.nodeConfig(id))?.spec?.interfaces?.[0];
}

/** Remaining fields below spec.settings. */
export function settingTests(place: () => Place): void {
  describe('selection of ports', () => {
    it('portBaseline: ports created after the object, unless the field is All or a time', async () => {
      const server = await place().boot();
      await apply(place(), 'baseline', server, {
        settings: { portBaseline: 'CreatedAfterConfig' },
      });
      await place().untilReady('baseline');
      expect(await place().cidrsOf(server)).toBeUndefined();
      const { id } = await place().portIn(place().second);
      await place().bed.tenant.attach(server.id, { portId: id });
      const both = { subnetIDs: [place().first, place().second] };
      await apply(place(), 'baseline', server, {
        settings: { portBaseline: 'CreatedAfterConfig' },
        ...both,
      });
      await place().untilHolds(server, cidrs.second);
      await apply(place(), 'baseline', server, {
        settings: { portBaseline: '2020-01-01T00:00:00Z' },
        ...both,
      });
      await place().untilHolds(server, cidrs.first, cidrs.second);
    });

    it('openstackPortAllowedStatuses: ports with other statuses are left out; * allows all', async () => {
      const server = await place().boot();
      const status = (await place().bed.tenant.port(server.ports[0]?.id ?? ''))?.status ?? '';
      expect(['ACTIVE', 'DOWN']).toContain(status);
      await apply(place(), 'statuses', server, {
        settings: { openstackPortAllowedStatuses: ['BUILD'] },
      });
      await place().untilReady('statuses');
      expect(await place().cidrsOf(server)).toBeUndefined();
      await apply(place(), 'statuses', server, {
        settings: { openstackPortAllowedStatuses: [status.toLowerCase()] },
      });
      await place().untilHolds(server, cidrs.first);
      const other = await place().boot();
      await apply(place(), 'all-statuses', other, {
        settings: { openstackPortAllowedStatuses: ['*'] },
      });
      await place().untilHolds(other, cidrs.first);
    });

    it('maxInterfaces: NICs beyond the limit are reported by name', async () => {
      const server = await place().boot([place().first, place().second]);
      const both = { subnetIDs: [place().first, place().second] };
      await apply(place(), 'limit', server, { settings: { maxInterfaces: 1 }, ...both });
      await place().untilRefused('limit', 'InterfaceLimitExceeded');
      expect(await place().cidrsOf(server)).toHaveLength(1);
      await apply(place(), 'limit', server, { settings: { maxInterfaces: 2 }, ...both });
      await place().untilHolds(server, cidrs.first, cidrs.second);
    });

    it('downPortFastRetryMax: limits fast polls for a DOWN port', async () => {
      const server = await place().boot([place().second]);
      // The port is unbound and stays DOWN.
      const { id } = await place().portIn(place().first);
      const plugged = { device_id: server.id, device_owner: 'compute:nova' };
      const { status } = await place().bed.tenant.updatePort(id, plugged);
      expect(status).toBe('DOWN');
      await apply(place(), 'down', server, { settings: { downPortFastRetryMax: 2 } });
      const attempts = async () =>
        (await place().bed.find('down'))?.status?.downPortRetry?.fastAttempts;
      await expect.poll(attempts, generous).toBe(2);
      await place().untilHolds(server, cidrs.first);
    });
  });

  describe('names and ends', () => {
    it('openstackNodeNameMetadataKey: the metadata value names the node, else the server name', async () => {
      const named = await place().boot(undefined, { metadata: { node: 'rack-7' } });
      const other = await place().boot();
      const spec = { ...place().usual({ openstackNodeNameMetadataKey: 'node' }) };
      await place().bed.apply('names', { ...spec, vmNames: [named.id, other.id] });
      const nameOf = async ({ id }: Machine) => (await place().bed.nodeConfig(id))?.metadata.name;
      await expect.poll(() => nameOf(named), generous).toBe('rack-7');
      await expect.poll(() => nameOf(other), generous).toBe(other.name);
    });

    it('deletionPolicy: Retain leaves NICs behind, Delete removes NICs', async () => {
      const [kept, gone] = [await place().boot(), await place().boot()];
      await apply(place(), 'retain', kept, { settings: { deletionPolicy: 'Retain' } });
      await apply(place(), 'delete', gone, { settings: { deletionPolicy: 'Delete' } });
      await Promise.all([kept, gone].map((server) => place().untilHolds(server, cidrs.first)));
      const { management } = place().bed;
      for (const name of ['retain', 'delete']) {
        await management.delete(openstackConfigs, { name, namespace: namespaces.system });
      }
      for (const name of ['retain', 'delete']) {
        await expect.poll(() => place().bed.find(name), generous).toBeUndefined();
      }
      expect(await place().cidrsOf(kept)).toEqual([cidrs.first]);
      expect(await place().cidrsOf(gone)).toBeUndefined();
    });
  });

  describe('calls', () => {
    it('openstackEndpointInterface, openstackEndpointRegion: an endpoint from the catalog; a missing endpoint is reported', async () => {
      const server = await place().boot();
      await apply(place(), 'catalog', server, { settings: { openstackEndpointRegion: 'nowhere' } });
      await place().untilRefused('catalog', 'NeutronEndpointError', 'nowhere');
      await apply(place(), 'catalog', server, {
        settings: {
          openstackEndpointInterface: 'internal',
          openstackEndpointRegion: 'RegionOne',
        },
      });
      await place().untilHolds(server, cidrs.first);
    });

    it('contrabassTimeout, openstackTimeout: who takes longer is given up, and told', async () => {
      const server = await place().boot();
      const { contrabass, tenant } = place().bed;
      const slow = await place().tap(contrabass.contrabassUrl);
      const neutron = await place().tap(tenant.user.url('network'));
      const settings = {
        contrabassEndpoint: slow.url,
        contrabassEncryptKey: contrabass.encryptKey,
        openstackNeutronEndpoint: neutron.url,
        contrabassTimeout: '300ms',
        openstackTimeout: '2s',
      };
      const held = slow.proxy.add({ fault: 'hang' });
      await apply(place(), 'timeouts', server, { settings });
      await place().untilRefused('timeouts', 'ContrabassError', 'no answer within 300 ms');
      slow.proxy.clear(held);
      neutron.proxy.add({ fault: 'hang' });
      await place().untilRefused('timeouts', 'NeutronPortError', 'no answer within 2 s');
      neutron.proxy.clear();
      await place().untilHolds(server, cidrs.first);
    });

    it('pollFastInterval, pollFastWindow, pollSlowInterval, pollErrorInterval: how soon the cloud is looked at again', async () => {
      const server = await place().boot();
      const often = { pollFastInterval: '1s', pollFastWindow: '1h', pollSlowInterval: '1h' };
      await apply(place(), 'poll', server, { settings: { ...often, pollErrorInterval: '1s' } });
      await place().untilHolds(server, cidrs.first);
      // No notification arrives for this port.
      const { id } = await place().portIn(place().first);
      await place().bed.tenant.attach(server.id, { portId: id });
      await place().untilHolds(server, cidrs.first, cidrs.first);
    });
  });

  describe('contents of a NIC', () => {
    it('addressFamilies: IPv6 addresses beside IPv4, or alone', async () => {
      const { bed, networkId, first } = place();
      // Neutron's default gateway is the subnet-router anycast address (RFC 4291, 2.6.1).
      const cidr = 'fd00:77::/64';
      const { id: six } = await bed.tenant.createSubnet({ networkId, name: 'six', cidr });
      const fixedIps = [first, six].map((subnetId) => ({ subnetId }));
      const port = await bed.tenant.createPort({ networkId, fixedIps });
      const [four, other] = first === port.fixed_ips[0]?.subnet_id ? [0, 1] : [1, 0];
      const ips = [four, other].map((at) => port.fixed_ips[at]?.ip_address ?? '');
      const server = await place().boot();
      await bed.tenant.attach(server.id, { portId: port.id });
      const [alone] = server.ports;
      await bed.tenant.detach(server.id, alone?.id ?? '');
      await apply(place(), 'families', server, { settings: { addressFamilies: ['IPv4'] } });
      const addresses = async () => (await nicOf(place(), server))?.addresses;
      await expect.poll(addresses, generous).toEqual([`${ips[0]}/24`]);
      await apply(place(), 'families', server, { settings: { addressFamilies: ['IPv4', 'IPv6'] } });
      await expect.poll(addresses, generous).toEqual([`${ips[0]}/24`, `${ips[1]}/64`]);
      expect((await nicOf(place(), server))?.subnets).toMatchObject([
        { cidr, gateway: 'fd00:77::' },
      ]);
      await apply(place(), 'families', server, { settings: { addressFamilies: ['IPv6'] } });
      await place().untilRefused('families', 'ConfigError', 'which spec.settings.addressFamilies');
      await apply(place(), 'families', server, {
        settings: { addressFamilies: ['IPv6'] },
        subnetIDs: [six],
      });
      await expect.poll(addresses, generous).toEqual([`${ips[1]}/64`]);
      expect(await nicOf(place(), server)).toMatchObject({ cidr, gateway: 'fd00:77::' });
    });

    it('routing: main and isolated appear in each entry, pbr in none', async () => {
      const server = await place().boot();
      const routing = async () => (await nicOf(place(), server))?.routing;
      for (const wanted of ['main', 'isolated'] as const) {
        await apply(place(), 'routing', server, { settings: { routing: wanted } });
        await expect.poll(routing, generous).toBe(wanted);
      }
      await apply(place(), 'routing', server, { settings: { routing: 'pbr' } });
      await expect.poll(routing, generous).toBeUndefined();
      await place().untilHolds(server, cidrs.first);
    });

    it('mode: Observe pauses the object, Apply removes the pause, and a legacy Viola is refused', async () => {
      const server = await place().boot();
      const modeOf = async () => {
        const { spec, metadata } = (await place().bed.nodeConfig(server.id)) ?? {};
        return [spec?.mode, metadata?.annotations?.[annotations.paused]];
      };
      await apply(place(), 'mode', server, { settings: { mode: 'Observe' } });
      await expect.poll(modeOf, generous).toEqual(['Observe', 'true']);
      const ready = async () =>
        findCondition((await place().bed.find('mode'))?.status?.conditions, 'Ready')?.reason;
      await expect.poll(ready, generous).toBe('Observed');
      await apply(place(), 'mode', server, { settings: { mode: 'Apply' } });
      await expect.poll(modeOf, generous).toEqual([undefined, undefined]);
      await apply(place(), 'mode', server, {
        settings: { mode: 'Observe', violaCompatibility: 'legacy' },
      });
      await place().untilRefused('mode', 'ConfigError', 'spec.settings.mode Observe');
    });

    it('violaCompatibility: legacy is refused for a provider that is not confirmed, native is taken', async () => {
      const server = await place().boot();
      await apply(place(), 'legacy', server, { settings: { violaCompatibility: 'legacy' } });
      await place().untilRefused('legacy', 'ConfigError', 'spec.settings.violaCompatibility');
      await apply(place(), 'legacy', server, { settings: { violaCompatibility: 'native' } });
      await place().untilHolds(server, cidrs.first);
    });
  });
}
