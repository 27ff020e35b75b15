import type { Resources } from '../../model/accepted.ts';

/** User and group `mysql` in the official image, which fixes no numbers itself. */
const mysql = 999;

/** Pod Security "restricted", with volumes writable by MariaDB's user. */
export const restrictedPod = {
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: mysql,
    runAsGroup: mysql,
    fsGroup: mysql,
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile: { type: 'RuntimeDefault' },
  },
} as const;

export const restrictedContainer = {
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
} as const;

/** Returns a container's requests and limits: spec values for both, otherwise the legacy operator's defaults. */
export function containerResources({ cpu, memory }: Resources) {
  return {
    requests: { cpu: cpu ?? '100m', memory: memory ?? '128Mi' },
    limits: { cpu: cpu ?? '500m', memory: memory ?? '512Mi' },
  };
}

/** Name and mount for the Secret's rendered keys. */
export const loginVolume = 'login';
export const loginMount = {
  name: loginVolume,
  mountPath: '/etc/multinic',
  readOnly: true,
} as const;
export const loginPaths = {
  initFile: '/etc/multinic/init.sql',
  clientOptions: '/etc/multinic/client.cnf',
} as const;

export const temporaryMount = { name: 'tmp', mountPath: '/tmp' } as const;
