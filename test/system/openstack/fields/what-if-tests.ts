import { describe, expect } from 'vitest';
import * as z from 'zod';
import { findCondition } from '../../../../src/api/condition.ts';
import { namespaces } from '../../../../src/api/names.ts';
import { type PlanView, planView, portViews, readPaths } from '../../../../src/api/read-http.ts';
import { secrets } from '../../../../src/kube/core-resources.ts';
import { it } from './in-turn.ts';
import { generous, type Machine, type Place } from './place.ts';

const name = 'what-if';
const planPath = `${readPaths.plan}/${namespaces.system}/${name}`;
/** No poll syncs the OpenstackConfig between what-if and edit. */
const rarely = { pollFastInterval: '1h', pollSlowInterval: '1h', pollErrorInterval: '1h' };
const versions = z.object({
  ports: z.array(z.object({ id: z.string(), revision_number: z.int() })),
});

/** Read API and what-if of the real operator on real Neutron. */
export function whatIfTests(place: () => Place): void {
  async function answer(path: string, body?: unknown): Promise<unknown> {
    const json = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const init = body === undefined ? {} : { ...json, body: JSON.stringify(body) };
    const read = await fetch(`${place().bed.operatorUrl}${path}`, init);
    expect(read.status).toBe(200);
    return read.json();
  }

  /** Returns the versions of all objects that a sync could change. */
  async function traces(server: Machine) {
    const { bed } = place();
    const config = await bed.find(name);
    const stored = await bed.management.list(secrets, { namespace: namespaces.system });
    const path = `/v2.0/ports?device_id=${server.id}&fields=id&fields=revision_number`;
    const listed = await bed.tenant.user.ask('network', { path });
    return {
      config: [config?.metadata, config?.status],
      node: await bed.nodeConfig(server.id),
      secrets: stored.items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]),
      ports: versions.parse(listed).ports.toSorted((a, b) => a.id.localeCompare(b.id)),
    };
  }

  const lastPlan = async () => planView.parse(await answer(planPath));

  /** Waits for the plan of a generation's sync. */
  async function planOf(generation: number): Promise<PlanView> {
    await expect.poll(async () => (await lastPlan()).generation, generous).toBe(generation);
    return lastPlan();
  }

  async function apply(server: Machine, subnetIDs: string[], settings: object): Promise<void> {
    const spec = place().usual({ ...rarely, ...settings });
    await place().bed.apply(name, { ...spec, subnetIDs, vmNames: [server.id] });
  }

  describe('what-if', () => {
    it('a what-if equals the plan of the sync after the edit, and changes nothing', async () => {
      const { bed, first, second } = place();
      const server = await place().boot([first, second]);
      const [own = '', other = ''] = server.ports.map(({ id }) => id);
      await apply(server, [first], {});
      await place().untilHasPorts(server, own);
      const reason = async () =>
        findCondition((await bed.nodeConfig(server.id))?.status?.conditions, 'Ready')?.reason;
      await expect.poll(reason, generous).toBe('NodeNotFound');

      const before = await traces(server);
      const subnetIDs = [first, second];
      const edit = { subnetIDs, settings: { routing: 'main' } };
      const plan = planView.parse(await answer(planPath, edit));
      expect(await traces(server)).toEqual(before);
      const added = { name: 'multinic1', change: 'add', portId: other };
      expect(plan.nodes).toMatchObject([
        { nodeName: server.name, action: 'update', nics: [{ name: 'multinic0' }, added] },
      ]);
      expect(plan.dryRun).toMatchObject({
        validated: true,
        answer: { errors: [], results: [{ nodeName: server.name, status: 'updated' }] },
      });

      await apply(server, subnetIDs, edit.settings);
      const { hash: _h, calculatedAt: _c, generation: _g, dryRun: _d, ...planned } = plan;
      expect(await planOf(2)).toMatchObject(planned);
      await place().untilHasPorts(server, own, other);
      const interfaces = (await bed.nodeConfig(server.id))?.spec?.interfaces ?? [];
      expect(interfaces.map((entry) => [entry.name, entry.portId, entry.routing])).toEqual([
        ['multinic0', own, 'main'],
        ['multinic1', other, 'main'],
      ]);
    });

    it('a port is read by id from Neutron, with state and NIC', async () => {
      const { bed, first } = place();
      const [port] = (await place().boot([first])).ports;
      const read = async () =>
        portViews.parse(await answer(`${readPaths.ports}?portId=${port?.id}`)).items[0];
      expect(await read()).toMatchObject({
        macAddress: port?.mac_address,
        status: 'ACTIVE',
        adminStateUp: true,
        source: 'neutron',
        createdAt: expect.stringMatching(/^20.*Z$/) as string,
        deviceOwner: expect.stringMatching(/^compute:/) as string,
      });
      await bed.tenant.updatePort(port?.id ?? '', { admin_state_up: false });
      expect((await read())?.adminStateUp).toBe(false);
    });
  });
}
