import { describe, expect, it } from 'vitest';
import { agentTask, job, template } from '../../../test/fixtures/controller-samples.ts';
import { family } from '../../api/job.ts';
import type { Job } from '../../kube/core-resources.ts';
import { jobOf } from './job.ts';
import { rightsOf } from './pod-rights.ts';

const paths = (of: Job) => rightsOf(of).mounts.map(({ path }) => path);

describe('rightsOf', () => {
  it('rightsOf lists host mounts, user and capabilities, without the request mount', () => {
    const { mounts, ...rest } = rightsOf(jobOf(agentTask(), template));
    expect(rest).toEqual({ user: 0, capabilities: ['NET_ADMIN'], hostNetwork: true });
    expect(mounts).toEqual([
      { path: '/etc/netplan', writable: true },
      { path: '/etc/sysctl.d', writable: true },
      { path: '/var/lib/multinic', writable: true },
      { path: '/proc/sys/net', writable: true },
      { path: '/etc/udev/rules.d', writable: false },
      { path: '/usr/lib', writable: false },
      { path: '/run/systemd/units', writable: false },
      { path: '/run/systemd/netif/links', writable: false },
      { path: '/run/NetworkManager/devices', writable: false },
      { path: '/run/netplan', writable: false },
      { path: '/run/systemd/network', writable: false },
      { path: '/etc/machine-id', writable: false },
    ]);
  });

  it.each(family.options)(
    'rightsOf allows no writes below /run and /usr, nor to the machine id: %s',
    (of) => {
      const made = jobOf(agentTask({ family: of }), { ...template, systemBus: true });
      const written = rightsOf(made).mounts.filter(({ writable }) => writable);
      const places = /^\/(etc\/(?!machine-id)|var\/lib\/multinic$|proc\/sys\/net$)/;
      expect(written.filter(({ path }) => !places.test(path))).toEqual([]);
      expect(written.length).toBeGreaterThan(3);
    },
  );

  it('rightsOf returns empty rights for a bare container, and throws without a container', () => {
    const { metadata, spec } = job();
    const pod = (containers: object[]) =>
      ({ metadata, spec: { ...spec, template: { spec: { containers } } } }) as Job;
    const none = { user: 0, capabilities: [], hostNetwork: false, mounts: [] };
    expect(rightsOf(pod([{ name: 'agent' }]))).toEqual(none);
    expect(() => rightsOf(pod([]))).toThrow(metadata.name);
  });

  it.each([
    ['Rocky Linux 9.4 (Blue Onyx)', true],
    ['Debian GNU/Linux 12 (bookworm)', false],
    [undefined, false],
  ])('the network-scripts directory is mounted on %s: %s', (osImage, both) => {
    const machine = { ...agentTask().machine, osImage };
    const made = jobOf(agentTask({ family: 'keyfile', machine }), template);
    expect(paths(made).includes('/etc/sysconfig/network-scripts')).toBe(both);
  });
});
