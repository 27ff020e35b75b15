import type { Job, Node } from '../../src/kube/core-resources.ts';

export interface JobSettings {
  readonly namespace: string;
  readonly image: string;
  readonly serviceAccount: string;
  readonly ttlSeconds: number;
}

export interface Work {
  readonly node: Node;
  readonly action: 'apply' | 'cleanup';
  /** Undefined: the name that all clean-ups of a node share. */
  readonly suffix: string | undefined;
}

/** A Job as the deployed controller makes it: privileged, in its own namespace, with its own account. */
export function jobOf(settings: JobSettings, { node, action, suffix }: Work): Job {
  const { namespace, image, serviceAccount, ttlSeconds } = settings;
  const { name } = node.metadata;
  const labels = { 'app.kubernetes.io/name': 'multinic-agent' };
  const path = { netplan: '/etc/netplan' };
  return {
    metadata: {
      namespace,
      name:
        suffix === undefined
          ? `multinic-agent-cleanup-${name}`
          : `multinic-agent-${name}-${suffix}`,
      labels: {
        ...labels,
        'app.kubernetes.io/managed-by': 'multinic-controller',
        'multinic.io/node-name': name,
        'multinic.io/action': action,
      },
    },
    spec: {
      backoffLimit: 1,
      ttlSecondsAfterFinished: ttlSeconds,
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: serviceAccount,
          restartPolicy: 'OnFailure',
          hostNetwork: true,
          hostPID: true,
          nodeSelector: { 'kubernetes.io/hostname': name },
          tolerations: [
            {
              key: 'node-role.kubernetes.io/control-plane',
              operator: 'Exists',
              effect: 'NoSchedule',
            },
            { key: 'node-role.kubernetes.io/master', operator: 'Exists', effect: 'NoSchedule' },
            { key: 'node', operator: 'Equal', value: 'infra', effect: 'NoSchedule' },
          ],
          containers: [
            {
              name: 'multinic-agent',
              image,
              imagePullPolicy: 'IfNotPresent',
              command: ['./multinic-agent'],
              // The original knows the path; a process of this machine has to be told it.
              args: ['--termination-log', '/dev/termination-log'],
              env: [
                { name: 'RUN_MODE', value: 'job' },
                { name: 'DATA_SOURCE', value: 'nodecr' },
                { name: 'NODE_CR_NAMESPACE', value: namespace },
                { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
                { name: 'AGENT_ACTION', value: action === 'cleanup' ? 'cleanup' : '' },
              ],
              securityContext: {
                privileged: true,
                capabilities: { add: ['NET_ADMIN', 'SYS_ADMIN'] },
              },
              volumeMounts: [{ name: 'netplan', mountPath: path.netplan }],
            },
          ],
          volumes: [
            { name: 'netplan', hostPath: { path: path.netplan, type: 'DirectoryOrCreate' } },
          ],
        },
      },
    },
  };
}
