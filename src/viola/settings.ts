import * as z from 'zod';
import { namespaces } from '../api/names.ts';
import { networkIn } from '../http/networks.ts';
import { address, boolean, duration, integer, nonBlank } from '../process/setting-schemas.ts';
import { type Settings, setting, type Values } from '../process/settings.ts';

/** Parses comma-separated networks; reports each invalid entry. */
const networks = () =>
  z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((item) => item.trim() || []))
    .superRefine((all, context) => {
      for (const read of all.map(networkIn)) {
        if (typeof read === 'string') context.addIssue({ code: 'custom', message: read });
      }
    });

export const violaSettings = {
  listen: setting({
    env: ['VIOLA_LISTEN', 'LISTEN_ADDR'],
    flag: 'listen',
    schema: address().prefault(':8080'),
    description: 'address of the HTTP API, default :8080',
  }),
  tlsCert: setting({
    env: ['VIOLA_TLS_CERT'],
    flag: 'tls-cert',
    schema: nonBlank().optional(),
    description: 'PEM file of the server certificate; read again every minute',
  }),
  tlsKey: setting({
    env: ['VIOLA_TLS_KEY'],
    flag: 'tls-key',
    schema: nonBlank().optional(),
    description: 'PEM file of its key',
  }),
  plainHttp: setting({
    env: ['VIOLA_PLAIN_HTTP'],
    flag: 'plain-http',
    schema: boolean().prefault('false'),
    description:
      'serve without TLS on an address that is not loopback; something else has to guard it',
  }),
  tokenFile: setting({
    env: ['VIOLA_TOKENS_FILE'],
    flag: 'tokens-file',
    schema: nonBlank(),
    description:
      'YAML list of {name, sha256, providers, verbs}, or a folder of them (*.yaml): who may call; 30 s after it is gone or broken nobody may',
  }),
  legacyListener: setting({
    env: ['VIOLA_LEGACY_LISTENER'],
    flag: 'legacy-listener',
    schema: address().optional(),
    description:
      'one more address, plain HTTP, that takes node configs without a token, for the deployed operator; off by default, to be switched off when that is gone',
  }),
  legacyAllowFrom: setting({
    env: ['VIOLA_LEGACY_ALLOW_FROM'],
    flag: 'legacy-allow-from',
    schema: networks(),
    description:
      'networks, separated by commas, such as 10.42.0.0/16, from which the legacy listener takes them; required with it',
  }),
  acceptUnfenced: setting({
    env: ['VIOLA_ACCEPT_UNFENCED'],
    flag: 'accept-unfenced',
    schema: boolean().prefault('false'),
    description: 'let callers that send no base overwrite objects of callers that do',
  }),
  kubeconfig: setting({
    env: ['KUBECONFIG'],
    flag: 'kubeconfig',
    schema: nonBlank().optional(),
    description: 'kubeconfig of the management cluster, default: in-cluster',
  }),
  takeOver: setting({
    env: ['VIOLA_TAKE_OVER'],
    flag: 'take-over',
    schema: boolean().prefault('false'),
    description:
      'take over what kubectl (the deployed Viola, or a person) wrote into objects of ours; for one object, annotate it with multinic.io/take-over',
  }),
  registrationsNamespace: setting({
    env: ['VIOLA_REGISTRATIONS_NAMESPACE'],
    flag: 'registrations-namespace',
    schema: nonBlank().prefault(namespaces.registrations),
    description: 'namespace of the Secrets that register business clusters, and of nothing else',
  }),
  clusterTimeout: setting({
    env: ['VIOLA_CLUSTER_TIMEOUT', 'KUBECTL_TIMEOUT'],
    flag: 'cluster-timeout',
    schema: duration({ minMs: 1000 }).prefault('30s'),
    description: 'timeout of one call to a business cluster',
  }),
  parallel: setting({
    env: ['VIOLA_PARALLEL'],
    flag: 'parallel',
    schema: integer(1, 64).prefault('8'),
    description: 'nodes of one request that are written at once',
  }),
  cacheFor: setting({
    env: ['VIOLA_CACHE_FOR'],
    flag: 'cache-for',
    schema: duration({ minMs: 0 }).prefault('5s'),
    description: 'how old an answer may be that was not asked to be fresh',
  }),
} satisfies Settings;

export type ViolaSettings = Values<typeof violaSettings>;
