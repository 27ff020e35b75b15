import * as z from 'zod';
import { namespaces } from '../api/names.ts';
import { networkIn } from '../http/networks.ts';
import { address, boolean, duration, nonBlank } from '../process/setting-schemas.ts';
import { removedSetting, type Settings, setting, type Values } from '../process/settings.ts';

/** Parses comma-separated networks; reports each invalid entry. */
const networks = () =>
  z
    .string()
    .transform((text) => text.split(',').flatMap((item) => item.trim() || []))
    .superRefine((all, context) => {
      for (const read of all.map(networkIn)) {
        if (typeof read === 'string') context.addIssue({ code: 'custom', message: read });
      }
    })
    .prefault('');

/** Removed settings of Viola: accepted and ignored for one release. */
const removedSettings = {
  parallel: removedSetting(
    'parallel',
    ['VIOLA_PARALLEL'],
    'Viola always writes 8 nodes of a request at once',
  ),
  cacheFor: removedSetting(
    'cache-for',
    ['VIOLA_CACHE_FOR'],
    'Viola always caches answers for 5 s; the query parameter fresh=true bypasses the cache',
  ),
} satisfies Settings;

export const violaSettings = {
  listen: setting({
    env: ['VIOLA_LISTEN', 'LISTEN_ADDR'],
    flag: 'listen',
    schema: address().prefault(':8080'),
    description:
      'Address of the HTTP API, /healthz, /readyz and /metrics. An address that is not loopback needs --tls-cert or --plain-http; otherwise Viola exits.',
  }),
  tlsCert: setting({
    env: ['VIOLA_TLS_CERT'],
    flag: 'tls-cert',
    schema: nonBlank().optional(),
    description:
      'PEM file with the certificate of the server; read again every minute. If it is missing at the start, Viola exits; later the last good certificate stays in use.',
  }),
  tlsKey: setting({
    env: ['VIOLA_TLS_KEY'],
    flag: 'tls-key',
    schema: nonBlank().optional(),
    description:
      'PEM file with the private key of --tls-cert. A key that does not fit the certificate is treated like a missing file.',
  }),
  plainHttp: setting({
    env: ['VIOLA_PLAIN_HTTP'],
    flag: 'plain-http',
    schema: boolean().prefault('false'),
    description:
      'true: serve without TLS on an address that is not loopback. Tokens are then readable on the network unless a proxy or a mesh encrypts it.',
  }),
  tokenFile: setting({
    env: ['VIOLA_TOKENS_FILE'],
    flag: 'tokens-file',
    schema: nonBlank(),
    description:
      'File with the callers, a YAML list of {name, sha256, providers, verbs}, or a folder of such files (*.yaml). If a file is missing or broken, its callers get 401 or 503 after 30 s; at the start Viola exits.',
  }),
  legacyListener: setting({
    env: ['VIOLA_LEGACY_LISTENER'],
    flag: 'legacy-listener',
    schema: address().optional(),
    description:
      'Additional address with plain HTTP that accepts node configs without a token, for the legacy operator. Every host in --legacy-allow-from can then configure NICs: unset it once the legacy operator is removed.',
  }),
  legacyAllowFrom: setting({
    env: ['VIOLA_LEGACY_ALLOW_FROM'],
    flag: 'legacy-allow-from',
    schema: networks(),
    description:
      'Networks whose hosts may use the legacy listener, such as 10.42.0.0/16 (comma-separated). Viola exits if one of the two settings is set without the other.',
  }),
  acceptUnfenced: setting({
    env: ['VIOLA_ACCEPT_UNFENCED'],
    flag: 'accept-unfenced',
    schema: boolean().prefault('false'),
    description:
      'true: callers that send no base may overwrite objects of callers that do. Two writers then undo the work of each other; false answers 409.',
  }),
  kubeconfig: setting({
    env: ['KUBECONFIG'],
    flag: 'kubeconfig',
    schema: nonBlank().optional(),
    description:
      'Kubeconfig of the management cluster. Without it, Viola uses the ServiceAccount of its Pod, and exits outside of a Pod.',
  }),
  takeOver: setting({
    env: ['VIOLA_TAKE_OVER'],
    flag: 'take-over',
    schema: boolean().prefault('false'),
    description:
      'true: take over fields that kubectl wrote into node configs, as the legacy Viola and users do; false reports a conflict. For one object, set its annotation multinic.io/take-over.',
  }),
  registrationsNamespace: setting({
    env: ['VIOLA_REGISTRATIONS_NAMESPACE'],
    flag: 'registrations-namespace',
    schema: nonBlank().prefault(namespaces.registrations),
    description:
      'Namespace of the Secrets that register business clusters. Viola can read every Secret in it, so keep other Secrets out; in a wrong namespace no cluster is found.',
  }),
  clusterTimeout: setting({
    env: ['VIOLA_CLUSTER_TIMEOUT', 'KUBECTL_TIMEOUT'],
    flag: 'cluster-timeout',
    schema: duration({ minMs: 1000 }).prefault('30s'),
    description:
      'Timeout of a call to a business cluster (duration, at least 1s). If it is too short, calls about slow clusters fail with 503 ClusterUnreachable.',
  }),
  ...removedSettings,
} satisfies Settings;

export type ViolaSettings = Values<typeof violaSettings>;
