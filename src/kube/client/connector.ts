import { buildConnector } from 'undici';
import type { Certificates, ClusterAccess } from '../access/access.ts';

/** Makes connections to a server, each with the certificates as they are then: whoever rotates them restarts nobody. */
export function connector(access: ClusterAccess, timeoutMs: number): buildConnector.connector {
  const { certificates = () => Promise.resolve(access), tlsServerName } = access;

  async function current(): Promise<buildConnector.connector> {
    return buildConnector({ allowH2: false, timeout: timeoutMs, ...tlsOf(await certificates()) });
  }

  function tlsOf({ ca, clientCert, clientKey }: Certificates) {
    return {
      ...(ca === undefined ? {} : { ca }),
      ...(clientCert === undefined ? {} : { cert: clientCert }),
      ...(clientKey === undefined ? {} : { key: clientKey }),
      ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
    };
  }

  return (target, callback) => {
    current()
      // Certificates that are half written or do not belong together are thrown on here, not told to the callback.
      .then((connect) => connect(target, callback))
      .catch((cause: unknown) => callback(unusable(cause), null));
  };
}

function unusable(cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Error(`certificates cannot be used: ${why}`, { cause });
}
