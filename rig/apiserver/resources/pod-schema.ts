import { conditions, keyedBy, open, stringMap, withDefault } from '../schema/fragments.ts';
import type { Schema } from '../schema/schema.ts';

const container = open({
  env: keyedBy(['name']),
  ports: keyedBy(['containerPort', 'protocol'], open({ protocol: withDefault('TCP') })),
  volumeMounts: keyedBy(['mountPath']),
  volumeDevices: keyedBy(['devicePath']),
  resources: withDefault({}),
  terminationMessagePath: withDefault('/dev/termination-log'),
  terminationMessagePolicy: withDefault('File'),
  imagePullPolicy: withDefault('IfNotPresent'),
});

/** `spec` of a Pod with the defaults that parts and kubelet read. */
export function podSpec(restartPolicy: Schema): Schema {
  return open({
    containers: keyedBy(['name'], container),
    initContainers: keyedBy(['name'], container),
    volumes: keyedBy(['name'], open()),
    imagePullSecrets: keyedBy(['name']),
    nodeSelector: stringMap,
    restartPolicy,
    terminationGracePeriodSeconds: withDefault(30),
    dnsPolicy: withDefault('ClusterFirst'),
    schedulerName: withDefault('default-scheduler'),
    securityContext: withDefault({}),
  });
}

export const podSchema: Readonly<Record<string, Schema>> = {
  spec: podSpec(withDefault('Always')),
  status: {
    ...open({ conditions, podIPs: keyedBy(['ip']), phase: withDefault('Pending') }),
    default: {},
  },
};
