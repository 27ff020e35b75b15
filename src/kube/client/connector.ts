import { buildConnector } from 'undici';
import type { Certificates, ClusterAccess } from '../access/access.ts';

/** Returns a connector that reads the current certificates for each connection: rotation needs no restart. */
export function connector(access: ClusterAccess, timeoutMs: number): buildConnector.connector {
  const { certificates = () => Promise.resolve(access), tlsServerName, socketPath } = access;

  async function current(): Promise<buildConnector.connector> {
    const socket = socketPath === undefined ? {} : { socketPath };
    const tls = tlsOf(await certificates());
    return buildConnector({ allowH2: false, timeout: timeoutMs, ...socket, ...tls });
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
      // buildConnector throws on half-written or mismatched certificates instead of calling back.
      .then((connect) => connect(target, callback))
      .catch((cause: unknown) => callback(unusable(cause), null));
  };
}

function unusable(cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Error(`certificates of the kubeconfig cannot be used: ${why}`, { cause });
}
