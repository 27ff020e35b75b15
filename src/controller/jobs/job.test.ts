import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  agentTask,
  entry,
  instanceId,
  job,
  jobResult,
  node,
  nodeConfig,
  template,
} from '../../../test/fixtures/controller-samples.ts';
import { hostMounts } from '../../api/host-mounts.ts';
import { family, jobRequest } from '../../api/job.ts';
import { configMapOf, jobName, jobOf, taskOfJob } from './job.ts';
import { acceptSpec, nothing, requestOf } from './request.ts';

function podSpec() {
  const spec = jobOf(agentTask(), template).spec?.template.spec;
  if (!spec) throw new Error('no Pod template');
  return spec;
}

function container() {
  const [agent] = podSpec().containers;
  if (!agent) throw new Error('no container');
  return agent;
}

describe('jobName', () => {
  it('[RW-48] jobName is deterministic and unique per uid, content, attempt and action', () => {
    const names = [
      agentTask(),
      agentTask({ uid: 'uid-2' }),
      agentTask({ content: 'content-b' }),
      agentTask({ attempt: 2 }),
      agentTask({ action: 'cleanup' }),
    ].map(jobName);
    expect(new Set(names).size).toBe(5);
    expect(jobName(agentTask())).toBe(names[0]);
  });

  it('jobName is valid for Jobs, Pods and labels, for any node name', () => {
    const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
    fc.assert(
      fc.property(fc.array(label, { minLength: 1, maxLength: 4 }), (parts) => {
        expect(jobName(agentTask({ node: parts.join('.') }))).toMatch(
          /^multinic-agent-[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
        );
        expect(jobName(agentTask({ node: parts.join('.') })).length).toBeLessThanOrEqual(63);
      }),
    );
  });
});

describe('the Job of a run', () => {
  it('jobOf returns a suspended Job without retries, with deadline and TTL', () => {
    expect(jobOf(agentTask(), template).spec).toMatchObject({
      suspend: true,
      backoffLimit: 0,
      activeDeadlineSeconds: 600,
      ttlSecondsAfterFinished: 600,
    });
  });

  it('taskOfJob restores the whole task from the Job', () => {
    const whole = agentTask({
      family: 'ifcfg',
      machine: { ...agentTask().machine, osImage: 'Rocky Linux' },
    });
    expect(taskOfJob(jobOf(whole, template))).toEqual(whole);
  });

  it('taskOfJob assumes netplan for Jobs from an earlier version', () => {
    const made = jobOf(agentTask({ family: 'keyfile' }), template);
    const { 'multinic.io/family': _, ...annotations } = made.metadata.annotations ?? {};
    const old = { ...made, metadata: { ...made.metadata, annotations } };
    expect(taskOfJob(old)?.family).toBe('netplan');
  });

  it('[RW-57] the Pod names its node and tolerates every taint, hence runs on cordoned nodes', () => {
    expect(podSpec()).toMatchObject({
      nodeName: 'worker-1',
      tolerations: [{ operator: 'Exists' }],
      hostNetwork: true,
      restartPolicy: 'Never',
    });
  });

  it('[RW-04] the agent container has NET_ADMIN and no other capability', () => {
    expect(podSpec()).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(podSpec()).not.toHaveProperty('hostPID');
    expect(container().securityContext).toEqual({
      privileged: false,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsUser: 0,
      capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] },
    });
  });

  it('[RW-56] [RW-69] the agent container has no ports and no probes', () => {
    // The agent shares the host's ports and has no fixed duration. Its log is not used as a result.
    expect(container().terminationMessagePolicy).toBe('File');
    for (const key of ['ports', 'livenessProbe', 'readinessProbe', 'startupProbe']) {
      expect(container()).not.toHaveProperty(key);
    }
  });

  it('[RW-76] the Pod uses the configured image pull secrets', () => {
    const { spec } = jobOf(agentTask(), { ...template, imagePullSecrets: ['one', 'two'] });
    expect(spec?.template.spec?.imagePullSecrets).toEqual([{ name: 'one' }, { name: 'two' }]);
  });

  it('the Pod leaves the SELinux type to the container runtime', () => {
    expect(podSpec().securityContext).toEqual({ seccompProfile: { type: 'RuntimeDefault' } });
  });

  it('the Pod has the configured PriorityClass', () => {
    const important = jobOf(agentTask(), { ...template, priorityClass: 'multinic-agents' });
    expect(important.spec?.template.spec?.priorityClassName).toBe('multinic-agents');
    expect(podSpec()).not.toHaveProperty('priorityClassName');
  });

  it('the Pod mounts the required host directories below /host', () => {
    const paths = podSpec().volumes?.flatMap(({ hostPath }) => hostPath?.path ?? []);
    expect(paths?.toSorted()).toEqual([
      '/etc/machine-id',
      '/etc/netplan',
      '/etc/sysctl.d',
      '/etc/udev/rules.d',
      '/proc/sys/net',
      '/run/NetworkManager/devices',
      '/run/netplan',
      '/run/systemd/netif/links',
      '/run/systemd/network',
      '/run/systemd/units',
      '/usr/lib',
      '/var/lib/multinic',
    ]);
    const mounts = container().volumeMounts?.map(({ mountPath }) => mountPath);
    expect(mounts).toEqual(expect.arrayContaining(paths?.map((path) => `/host${path}`) ?? []));
  });

  it('only directories present on every host are required; the kubelet creates the rest', () => {
    const needed = podSpec().volumes?.flatMap(({ hostPath }) =>
      hostPath?.type === 'DirectoryOrCreate' ? [] : (hostPath?.path ?? []),
    );
    expect(needed?.toSorted()).toEqual(['/etc/machine-id', '/proc/sys/net', '/usr/lib']);
  });

  it("the agent's arguments name request, result and host root", () => {
    expect(container().args).toEqual([
      '--request',
      '/etc/multinic/request/request.json',
      '--result',
      '/dev/termination-log',
      '--host-root',
      '/host',
    ]);
    expect(container().terminationMessagePath).toBe('/dev/termination-log');
  });

  it('labels are valid for any instance id and node name', () => {
    const odd = jobOf(
      agentTask({ instance: '__ID!!__', node: `${'n'.repeat(70)}.example` }),
      template,
    );
    for (const value of Object.values(odd.metadata.labels ?? {})) {
      expect(value).toMatch(/^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/);
    }
  });
});

describe('host directories per network manager', () => {
  const rocky = { ...agentTask().machine, osImage: 'Rocky Linux 9.3 (Blue Onyx)' };

  it.each(family.options)('the Pod mounts all directories for %s, each exactly once', (name) => {
    const { volumes = [] } =
      jobOf(agentTask({ family: name, machine: rocky }), template).spec?.template.spec ?? {};
    const paths = volumes.flatMap(({ hostPath }) => hostPath?.path ?? []);
    expect(paths).toEqual(expect.arrayContaining(hostMounts[name].map(({ path }) => path)));
    expect(new Set(paths).size).toBe(paths.length);
    expect(new Set(volumes.map((volume) => volume.name)).size).toBe(volumes.length);
  });
});

describe('the request of a run', () => {
  const request = requestOf(
    agentTask(),
    {
      config: nodeConfig(),
      node: node('worker-1', instanceId, ['10.0.0.1', 'fd00::1', 'host.x']),
      contents: { interfaces: [], keep: ['fa:16:3e:00:00:01'] },
    },
    { protocol: 2, hostFence: { uid: 'uid-0', generation: 9 } },
  );

  it('requestOf protects every Node address and omits host names', () => {
    expect(request.protectedAddresses).toEqual(['10.0.0.1', 'fd00::1']);
    expect(request.keep).toEqual(['fa:16:3e:00:00:01']);
  });

  it("requestOf does not protect managed NICs' addresses, which the cloud controller lists too", () => {
    const address = '10.0.9.10';
    const config = nodeConfig({ status: { interfaceStatuses: [{ name: 'multinic9', address }] } });
    const contents = acceptSpec(nodeConfig({ spec: { interfaces: [entry(0), entry(1)] } }));
    const listed = ['192.0.2.1', '10.0.0.10', '10.0.1.10', '10.0.1.11', address, 'fd00::1'];
    const asked = { config, contents, node: node('worker-1', instanceId, listed) };
    expect(requestOf(agentTask(), asked, { protocol: 2 }).protectedAddresses).toEqual([
      '192.0.2.1',
      '10.0.1.11',
      'fd00::1',
    ]);
  });

  it('requestOf recognises further NIC addresses in any notation, including NICs being removed', () => {
    const leaving = { address: '10.0.9.10', addresses: ['10.0.9.10/24', 'FD00:9:0::A/64'] };
    const config = nodeConfig({ status: { interfaceStatuses: [leaving] } });
    const dual = entry(0, { addresses: ['10.0.0.10/24', 'FD00:0::A/64'] });
    const contents = acceptSpec(nodeConfig({ spec: { interfaces: [dual] } }));
    const listed = ['192.0.2.1', 'fd00:1::1', 'fd00:0:0::a', 'fd00:9::a', 'fd00:1::2'];
    const asked = { config, contents, node: node('worker-1', instanceId, listed) };
    expect(requestOf(agentTask(), asked, { protocol: 3 }).protectedAddresses).toEqual([
      '192.0.2.1',
      'fd00:1::1',
      'fd00:1::2',
    ]);
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ['the first', ['192.0.2.1', '10.0.0.10', '10.0.9.10'], ['192.0.2.1']],
    ['listed after NIC addresses', ['10.0.0.10', '10.0.9.10', '192.0.2.1'], ['192.0.2.1']],
    ['several', ['192.0.2.1', '10.0.0.10', '198.51.100.1'], ['192.0.2.1', '198.51.100.1']],
    [
      'IPv6, listed after NIC addresses',
      ['fd00:9::a', 'fd00:1::1', '10.0.0.10', '192.0.2.1'],
      ['fd00:1::1', '192.0.2.1'],
    ],
    ['the only address, claimed by a NIC', ['10.0.0.10'], ['10.0.0.10']],
    [
      'claimed by a NIC, next to an IPv6 address',
      ['10.0.0.10', '10.0.9.10', 'fd00:1::1'],
      ['10.0.0.10', 'fd00:1::1'],
    ],
  ])('requestOf protects InternalIPs without a managed NIC: %s', (_, listed, expected) => {
    const left = { address: '10.0.9.10', addresses: ['fd00:9::a/64'] };
    const config = nodeConfig({
      status: { interfaceStatuses: [{ address: '10.0.0.10' }, left] },
    });
    const contents = acceptSpec(nodeConfig({ spec: { interfaces: [entry(0)] } }));
    const asked = { config, contents, node: node('worker-1', instanceId, listed) };
    expect(requestOf(agentTask(), asked, { protocol: 3 }).protectedAddresses).toEqual(expected);
  });

  it('requestOf sends machineId and supersedes from protocol 2 on', () => {
    const supersedes = { uid: 'uid-0', generation: 9 };
    expect(request).toMatchObject({ protocol: 2, machineId: 'machine-1', supersedes });
    const task = { config: nodeConfig(), node: node('n', 'x'), contents: nothing };
    const old = requestOf(agentTask(), task, { protocol: 1, hostFence: supersedes });
    expect(Object.keys(old)).not.toContain('machineId');
    expect(Object.keys(old)).not.toContain('supersedes');
  });

  it('configMapOf returns an immutable ConfigMap owned by the Job', () => {
    const map = configMapOf(job(), request);
    expect(map.immutable).toBe(true);
    expect(map.metadata.name).toBe(jobName(agentTask()));
    expect(map.metadata.ownerReferences).toMatchObject([{ kind: 'Job', uid: job().metadata.uid }]);
    expect(jobRequest.parse(JSON.parse(map.data?.['request.json'] ?? ''))).toEqual(request);
  });

  it('requestOf has the same uid, generation and attempt as the result', () => {
    const { uid, generation, attempt } = requestOf(
      agentTask(),
      { config: nodeConfig(), node: node('n', 'x'), contents: nothing },
      { protocol: 2 },
    );
    expect(jobResult()).toMatchObject({ uid, generation, attempt });
  });
});

it.each([
  ['keyfile', true, true],
  ['ifcfg', true, true],
  ['netplan', true, true],
  ['networkd', true, true],
  ['networkd', false, false],
  ['keyfile', false, false],
] as const)('an agent for %s, with systemBus %s, sees the bus: %s', (of, systemBus, sees) => {
  const { spec } = jobOf(agentTask({ family: of }), { ...template, systemBus });
  const mounts = spec?.template.spec?.containers[0]?.volumeMounts ?? [];
  const bus = mounts.filter(({ mountPath }) => mountPath.startsWith('/host/run/dbus'));
  expect(bus).toEqual(
    sees ? [{ name: 'system-bus', mountPath: '/host/run/dbus', readOnly: true }] : [],
  );
});
