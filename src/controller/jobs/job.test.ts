import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  entry,
  instanceId,
  job,
  jobResult,
  node,
  nodeConfig,
  order,
  template,
} from '../../../test/fixtures/controller-samples.ts';
import { hostMounts } from '../../api/host-mounts.ts';
import { family, jobRequest } from '../../api/job.ts';
import { configMapOf, jobName, jobOf, orderOf } from './job.ts';
import { acceptSpec, nothing, requestOf } from './request.ts';

function podSpec() {
  const spec = jobOf(order(), template).spec?.template.spec;
  if (!spec) throw new Error('no Pod template');
  return spec;
}

function container() {
  const [agent] = podSpec().containers;
  if (!agent) throw new Error('no container');
  return agent;
}

describe('jobName', () => {
  it('[RW-48] is the same for the same run and another one for any other', () => {
    const names = [
      order(),
      order({ uid: 'uid-2' }),
      order({ content: 'content-b' }),
      order({ attempt: 2 }),
      order({ action: 'cleanup' }),
    ].map(jobName);
    expect(new Set(names).size).toBe(5);
    expect(jobName(order())).toBe(names[0]);
  });

  it('is a name for Jobs, Pods and labels, however the node is called', () => {
    const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
    fc.assert(
      fc.property(fc.array(label, { minLength: 1, maxLength: 4 }), (parts) => {
        expect(jobName(order({ node: parts.join('.') }))).toMatch(
          /^multinic-agent-[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
        );
        expect(jobName(order({ node: parts.join('.') })).length).toBeLessThanOrEqual(63);
      }),
    );
  });
});

describe('the Job of a run', () => {
  it('is suspended, runs once, and ends by itself', () => {
    expect(jobOf(order(), template).spec).toMatchObject({
      suspend: true,
      backoffLimit: 0,
      activeDeadlineSeconds: 600,
      ttlSecondsAfterFinished: 600,
    });
  });

  it('carries the whole order, so that a restarted controller can read it back', () => {
    const whole = order({
      family: 'ifcfg',
      machine: { ...order().machine, osImage: 'Rocky Linux' },
    });
    expect(orderOf(jobOf(whole, template))).toEqual(whole);
  });

  it('was made for netplan when an earlier version made it', () => {
    const made = jobOf(order({ family: 'keyfile' }), template);
    const { 'multinic.io/family': _, ...annotations } = made.metadata.annotations ?? {};
    const old = { ...made, metadata: { ...made.metadata, annotations } };
    expect(orderOf(old)?.family).toBe('netplan');
  });

  it('[RW-57] names the node itself and tolerates every taint, so that a cordoned node works', () => {
    expect(podSpec()).toMatchObject({
      nodeName: 'worker-1',
      tolerations: [{ operator: 'Exists' }],
      hostNetwork: true,
      restartPolicy: 'Never',
    });
  });

  it('[RW-04] gives the agent NET_ADMIN and nothing else', () => {
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

  it('[RW-56] [RW-69] listens nowhere and is probed by nobody', () => {
    // It shares the host's ports, and takes as long as it takes. What it logs is no answer.
    expect(container().terminationMessagePolicy).toBe('File');
    for (const key of ['ports', 'livenessProbe', 'readinessProbe', 'startupProbe']) {
      expect(container()).not.toHaveProperty(key);
    }
  });

  it('[RW-76] pulls its image with the secrets of its registry', () => {
    const { spec } = jobOf(order(), { ...template, imagePullSecrets: ['one', 'two'] });
    expect(spec?.template.spec?.imagePullSecrets).toEqual([{ name: 'one' }, { name: 'two' }]);
  });

  it('leaves the SELinux type of the agent Pod to the container runtime', () => {
    expect(podSpec().securityContext).toEqual({ seccompProfile: { type: 'RuntimeDefault' } });
  });

  it('has the PriorityClass that is set', () => {
    const important = jobOf(order(), { ...template, priorityClass: 'multinic-agents' });
    expect(important.spec?.template.spec?.priorityClassName).toBe('multinic-agents');
    expect(podSpec()).not.toHaveProperty('priorityClassName');
  });

  it('shows the agent the folders of the host that it needs, below /host', () => {
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

  it('starts on a host without netplan, which the agent tells: only what every host has must be there', () => {
    const needed = podSpec().volumes?.flatMap(({ hostPath }) =>
      hostPath?.type === 'DirectoryOrCreate' ? [] : (hostPath?.path ?? []),
    );
    expect(needed?.toSorted()).toEqual(['/etc/machine-id', '/proc/sys/net', '/usr/lib']);
  });

  it('tells the agent where its request, its result and the host are', () => {
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

  it('has labels that the API server accepts for any instance and node', () => {
    const odd = jobOf(order({ instance: '__ID!!__', node: `${'n'.repeat(70)}.example` }), template);
    for (const value of Object.values(odd.metadata.labels ?? {})) {
      expect(value).toMatch(/^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/);
    }
  });
});

describe('the folders of a family', () => {
  const rocky = { ...order().machine, osImage: 'Rocky Linux 9.3 (Blue Onyx)' };

  it.each(family.options)('are mounted, and named once each: %s', (name) => {
    const { volumes = [] } =
      jobOf(order({ family: name, machine: rocky }), template).spec?.template.spec ?? {};
    const paths = volumes.flatMap(({ hostPath }) => hostPath?.path ?? []);
    expect(paths).toEqual(expect.arrayContaining(hostMounts[name].map(({ path }) => path)));
    expect(new Set(paths).size).toBe(paths.length);
    expect(new Set(volumes.map((volume) => volume.name)).size).toBe(volumes.length);
  });
});

describe('the request of a run', () => {
  const request = requestOf(
    order(),
    {
      config: nodeConfig(),
      node: node('worker-1', instanceId, ['10.0.0.1', 'fd00::1', 'host.x']),
      contents: { interfaces: [], keep: ['fa:16:3e:00:00:01'] },
    },
    { protocol: 2, hostFence: { uid: 'uid-0', generation: 9 } },
  );

  it('protects every address of the Node and leaves host names out', () => {
    expect(request.protectedAddresses).toEqual(['10.0.0.1', 'fd00::1']);
    expect(request.keep).toEqual(['fa:16:3e:00:00:01']);
  });

  it('protects no address of our NICs, which the cloud controller lists with those of the node', () => {
    const address = '10.0.9.10';
    const config = nodeConfig({ status: { interfaceStatuses: [{ name: 'multinic9', address }] } });
    const contents = acceptSpec(nodeConfig({ spec: { interfaces: [entry(0), entry(1)] } }));
    const listed = ['192.0.2.1', '10.0.0.10', '10.0.1.10', '10.0.1.11', address, 'fd00::1'];
    const asked = { config, contents, node: node('worker-1', instanceId, listed) };
    expect(requestOf(order(), asked, { protocol: 2 }).protectedAddresses).toEqual([
      '192.0.2.1',
      '10.0.1.11',
      'fd00::1',
    ]);
  });

  it('knows further addresses of our NICs in every spelling, of those that leave, too', () => {
    const leaving = { address: '10.0.9.10', addresses: ['10.0.9.10/24', 'FD00:9:0::A/64'] };
    const config = nodeConfig({ status: { interfaceStatuses: [leaving] } });
    const dual = entry(0, { addresses: ['10.0.0.10/24', 'FD00:0::A/64'] });
    const contents = acceptSpec(nodeConfig({ spec: { interfaces: [dual] } }));
    const listed = ['192.0.2.1', 'fd00:1::1', 'fd00:0:0::a', 'fd00:9::a', 'fd00:1::2'];
    const asked = { config, contents, node: node('worker-1', instanceId, listed) };
    expect(requestOf(order(), asked, { protocol: 3 }).protectedAddresses).toEqual([
      '192.0.2.1',
      'fd00:1::1',
      'fd00:1::2',
    ]);
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ['the first', ['192.0.2.1', '10.0.0.10', '10.0.9.10'], ['192.0.2.1']],
    ['behind those of NICs', ['10.0.0.10', '10.0.9.10', '192.0.2.1'], ['192.0.2.1']],
    ['several', ['192.0.2.1', '10.0.0.10', '198.51.100.1'], ['192.0.2.1', '198.51.100.1']],
    [
      'of IPv6, behind those of NICs',
      ['fd00:9::a', 'fd00:1::1', '10.0.0.10', '192.0.2.1'],
      ['fd00:1::1', '192.0.2.1'],
    ],
    ['claimed as that of a NIC', ['10.0.0.10'], ['10.0.0.10']],
    [
      'claimed, with another family beside it',
      ['10.0.0.10', '10.0.9.10', 'fd00:1::1'],
      ['10.0.0.10', 'fd00:1::1'],
    ],
  ])(
    'protects the InternalIPs of the Node that are no NIC of the object: %s',
    (_, listed, expected) => {
      const left = { address: '10.0.9.10', addresses: ['fd00:9::a/64'] };
      const config = nodeConfig({
        status: { interfaceStatuses: [{ address: '10.0.0.10' }, left] },
      });
      const contents = acceptSpec(nodeConfig({ spec: { interfaces: [entry(0)] } }));
      const asked = { config, contents, node: node('worker-1', instanceId, listed) };
      expect(requestOf(order(), asked, { protocol: 3 }).protectedAddresses).toEqual(expected);
    },
  );

  it('names the machine and what it supersedes in protocol 2 alone', () => {
    const supersedes = { uid: 'uid-0', generation: 9 };
    expect(request).toMatchObject({ protocol: 2, machineId: 'machine-1', supersedes });
    const task = { config: nodeConfig(), node: node('n', 'x'), contents: nothing };
    const old = requestOf(order(), task, { protocol: 1, hostFence: supersedes });
    expect(Object.keys(old)).not.toContain('machineId');
    expect(Object.keys(old)).not.toContain('supersedes');
  });

  it('lies in an immutable ConfigMap that its Job owns', () => {
    const map = configMapOf(job(), request);
    expect(map.immutable).toBe(true);
    expect(map.metadata.name).toBe(jobName(order()));
    expect(map.metadata.ownerReferences).toMatchObject([{ kind: 'Job', uid: job().metadata.uid }]);
    expect(jobRequest.parse(JSON.parse(map.data?.['request.json'] ?? ''))).toEqual(request);
  });

  it('is about the same run as the result that answers it', () => {
    const { uid, generation, attempt } = requestOf(
      order(),
      { config: nodeConfig(), node: node('n', 'x'), contents: nothing },
      { protocol: 2 },
    );
    expect(jobResult()).toMatchObject({ uid, generation, attempt });
  });
});

it.each([
  ['keyfile', true, true],
  ['ifcfg', true, true],
  ['netplan', true, false],
  ['networkd', true, false],
  ['keyfile', false, false],
] as const)(
  'an agent for %s, where agents may have the bus: %s, sees it: %s',
  (of, systemBus, sees) => {
    const { spec } = jobOf(order({ family: of }), { ...template, systemBus });
    const mounts = spec?.template.spec?.containers[0]?.volumeMounts ?? [];
    const bus = mounts.filter(({ mountPath }) => mountPath.startsWith('/host/run/dbus'));
    expect(bus).toEqual(
      sees ? [{ name: 'system-bus', mountPath: '/host/run/dbus', readOnly: true }] : [],
    );
  },
);
