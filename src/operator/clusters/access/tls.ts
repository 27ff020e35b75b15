import { violaService } from '../../../api/names.ts';
import {
  type CertificateKeeper,
  createCertificateKeeper,
  serviceNames,
} from '../../../certificates/certificate-keeper.ts';
import type { Logger } from '../../../process/log.ts';
import type { Clock } from '../../../time/clock.ts';
import type { OperatorMetrics } from '../../model/metrics.ts';
import { type AccessSecrets, managedSecrets } from './access-secrets.ts';

export interface TlsDeps {
  readonly secrets: AccessSecrets;
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
}

/** Creates the keeper of the certificate authority and Viola's server certificate. */
export function createTlsKeeper(deps: TlsDeps): CertificateKeeper {
  const { secrets, namespace, clock, log, metrics } = deps;
  return createCertificateKeeper({
    secrets,
    kept: { authority: managedSecrets.authority, certificate: managedSecrets.certificate },
    // Clients call Viola by its Service, or through `kubectl port-forward`.
    names: [...serviceNames(violaService, namespace), 'localhost', '127.0.0.1'],
    clock,
    onWrite: (name, why) => log.info({ name, why }, 'writing Secret for access to Viola'),
    onRound: ({ authorityUntilMs = 0, serverUntilMs = 0, dueMs }) => {
      const ends = 'multinic_viola_certificate_expiry_timestamp_seconds';
      metrics.set(ends, { certificate: 'ca' }, authorityUntilMs / 1000);
      metrics.set(ends, { certificate: 'server' }, serverUntilMs / 1000);
      const what = { what: 'certificate' };
      metrics.set('multinic_viola_access_renewal_timestamp_seconds', what, dueMs / 1000);
    },
  });
}
