import type { Effect } from '../../../api/effects.ts';
import { accessSecrets, fieldManagers, labels } from '../../../api/names.ts';
import {
  createOwnedSecrets,
  type OwnedSecret,
  type OwnedSecrets,
  type SecretsDeps,
} from '../../../certificates/owned-secret.ts';

export type AccessSecrets = OwnedSecrets<Effect>;

/** Secrets for access to Viola. */
export const managedSecrets = {
  authority: { name: accessSecrets.authority, type: 'Opaque', effect: 'operator.viola-ca.write' },
  certificate: {
    name: accessSecrets.certificate,
    type: 'kubernetes.io/tls',
    effect: 'operator.viola-certificate.write',
  },
  token: { name: accessSecrets.token, type: 'Opaque', effect: 'operator.viola-token.write' },
  grants: { name: accessSecrets.grants, type: 'Opaque', effect: 'operator.viola-grants.write' },
} as const satisfies Readonly<Record<string, OwnedSecret<Effect>>>;

/** Creates the operator's read and write access to the Secrets. */
export function createAccessSecrets(deps: Omit<SecretsDeps<Effect>, 'keeper'>): AccessSecrets {
  return createOwnedSecrets({
    ...deps,
    keeper: {
      fieldManager: fieldManagers.operator,
      called: 'the operator',
      labels: {
        [labels.appName]: 'multinic-operator',
        [labels.component]: 'operator',
        [labels.partOf]: 'multinic',
      },
    },
  });
}
