import { boolean, nonBlank } from '../process/setting-schemas.ts';
import { type Settings, setting, type Values } from '../process/settings.ts';
import type { TlsSettings } from './certificate.ts';
import { isLoopback } from './loopback.ts';

/** Callers and certificate of the operator's HTTP API, which is the inventory and the trigger endpoint. */
export const apiSettings = {
  apiTokensFile: setting({
    env: ['API_TOKENS_FILE'],
    flag: 'api-tokens-file',
    schema: nonBlank().optional(),
    description:
      'File with the callers of inventory and trigger endpoint, a YAML list of {name, sha256, providers, verbs}, or a folder of such files (*.yaml). Reading the inventory needs the verb read; a what-if needs the verb plan; a trigger needs providers ["*"] and the verb write. If a file is missing or broken, its callers get 401 or 503 after 30 s.',
  }),
  apiTlsCert: setting({
    env: ['API_TLS_CERT'],
    flag: 'api-tls-cert',
    schema: nonBlank().optional(),
    description:
      'PEM file with the certificate of inventory and trigger endpoint on addresses that are not loopback; loopback stays plain HTTP. The operator reads it every minute. If the file is missing at the start, the operator exits; later the last good certificate stays in use.',
  }),
  apiTlsKey: setting({
    env: ['API_TLS_KEY'],
    flag: 'api-tls-key',
    schema: nonBlank().optional(),
    description:
      'PEM file with the private key of --api-tls-cert. A key that does not fit the certificate is treated like a missing file.',
  }),
  apiPlainHttp: setting({
    env: ['API_PLAIN_HTTP'],
    flag: 'api-plain-http',
    schema: boolean().prefault('false'),
    description:
      'true: serve inventory and trigger endpoint without TLS on addresses that are not loopback. Tokens are then readable on the network unless a proxy or a mesh encrypts it.',
  }),
} satisfies Settings;

type ApiSettings = Values<typeof apiSettings>;

/** Settings of one address under its own, deprecated names. */
interface OwnAccess {
  /** What the names of the flags begin with, such as `inventory`. */
  readonly name: string;
  readonly listen: TlsSettings['listen'];
  readonly tokensFile: string | undefined;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly plainHttp: boolean | undefined;
}

export interface ApiAccess {
  /** undefined: no file lists callers. */
  readonly tokensFile: string | undefined;
  readonly tls: TlsSettings;
}

/** Returns callers and certificate of one address: deprecated settings of the address win over the shared ones. */
export function apiAccess(shared: ApiSettings, own: OwnAccess): ApiAccess {
  const { name, listen } = own;
  const tokensFile = own.tokensFile ?? shared.apiTokensFile;
  const plainHttp = own.plainHttp ?? shared.apiPlainHttp;
  const address = { listen, listenFlag: `${name}-listen`, plainHttp };
  if (own.tlsCert !== undefined || own.tlsKey !== undefined) {
    const files = { certFile: own.tlsCert, keyFile: own.tlsKey, prefix: `${name}-` };
    return { tokensFile, tls: { ...address, ...files } };
  }
  const isPlain = isLoopback(listen.host) || own.plainHttp === true;
  const certFile = isPlain ? undefined : shared.apiTlsCert;
  const keyFile = isPlain ? undefined : shared.apiTlsKey;
  return { tokensFile, tls: { ...address, certFile, keyFile, prefix: 'api-' } };
}
