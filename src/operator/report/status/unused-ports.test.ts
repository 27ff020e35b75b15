import { describe, expect, it } from 'vitest';
import { openstackConfigStatus } from '../../../api/openstackconfig.ts';
import type { PortVerdict } from '../../../plan/plan.ts';
import { attach, type Scene, setScene } from '../../testing/scene.ts';
import { unusedNote, unusedPortsShown } from './unused-ports.ts';

function agePort(scene: Scene, id: string, createdAt: string): void {
  scene.cloud.ports = scene.cloud.ports.map((port) =>
    port.id === id ? { ...port, createdAt } : port,
  );
}

/** Creates two servers, each with a port older than the OpenstackConfig. */
async function withOldPorts(scene: Scene): Promise<void> {
  for (const n of [1, 2]) {
    attach(scene.cloud, n, n);
    agePort(scene, `p${n}`, '2020-01-01T00:00:00Z');
  }
  scene.create();
  await scene.look();
}

function eventsOf(scene: Scene, reason: string) {
  return scene.events.filter((event) => event.reason === reason);
}

describe('ports without a NIC', () => {
  it('[H1] unused ports are in the status with address and reason, and Ready counts them', async () => {
    await using scene = await setScene();
    await withOldPorts(scene);
    expect(scene.status().summary).toMatchObject({ interfaces: 0, filteredPorts: 2, nics: '0/0' });
    expect(scene.status().unusedPorts).toMatchObject([
      { portId: 'p1', address: '10.0.10.1', reason: 'PortTooOld' },
      { portId: 'p2', address: '10.0.10.2', reason: 'PortTooOld' },
    ]);
    expect(scene.ready()).toBe(
      'True NoChange: no changes detected; 0 of 2 ports in the selected subnets are NICs (2 PortTooOld; see status.unusedPorts)',
    );
  });

  it("[P1] unused ports cost one Event per reason, and a new Event only when the reason's ports change", async () => {
    await using scene = await setScene();
    await withOldPorts(scene);
    for (let n = 0; n < 5; n++) await scene.look(60_000);
    expect(eventsOf(scene, 'PortTooOld')).toHaveLength(1);
    expect(eventsOf(scene, 'PortTooOld')[0]?.message).toContain(
      'port p1, port p2: the port was created at',
    );
    attach(scene.cloud, 3, 1);
    scene.cloud.ports = scene.cloud.ports.map((port) =>
      port.id === 'p3' ? { ...port, status: 'BUILD' } : port,
    );
    await scene.look(60_000);
    expect(eventsOf(scene, 'PortStatus')).toHaveLength(1);
    expect(eventsOf(scene, 'PortTooOld')).toHaveLength(1);
    attach(scene.cloud, 4, 2);
    agePort(scene, 'p4', '2021-01-01T00:00:00Z');
    for (let n = 0; n < 3; n++) await scene.look(60_000);
    expect(eventsOf(scene, 'PortTooOld')).toHaveLength(2);
  });

  it('[H1] unused ports cost no further Event after a restart', async () => {
    await using scene = await setScene();
    await withOldPorts(scene);
    scene.restart();
    await scene.look(60_000);
    expect(eventsOf(scene, 'PortTooOld')).toHaveLength(1);
  });

  it('[H1] status.unusedPorts fits the CRD limits, with at least one port per reason', () => {
    const ports = Array.from({ length: 500 }, (_, n): PortVerdict => {
      const message = 'x'.repeat(2_000);
      const reason = n === 499 ? 'PortStatus' : 'PortTooOld';
      return { portId: `p${n}`, serverId: 's1', address: '10.0.0.1', reason, message };
    });
    const unusedPorts = unusedPortsShown(ports);
    expect(openstackConfigStatus.safeParse({ unusedPorts }).success).toBe(true);
    expect(unusedPorts).toHaveLength(20);
    expect(unusedPorts?.some(({ reason }) => reason === 'PortStatus')).toBe(true);
  });

  it('[H1] status.unusedPorts has no ports outside the selected subnets', () => {
    const primary = { portId: 'p1', serverId: 's1', reason: 'SubnetNotSelected' } as const;
    expect(unusedPortsShown([primary])).toBeUndefined();
    expect(unusedNote([primary])).toBeUndefined();
  });
});
