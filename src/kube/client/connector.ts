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
    current().then(
      (connect) => connect(target, callback),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
}
