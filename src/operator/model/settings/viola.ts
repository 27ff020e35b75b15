import { boolean, duration, nonBlank, oneOf, url } from '../../../process/setting-schemas.ts';
import { type Settings, setting } from '../../../process/settings.ts';
import { textList } from '../../text-list.ts';

/** Settings of the connection to Viola, native or legacy. */
export const violaSettings = {
  violaEndpoint: setting({
    env: ['VIOLA_ENDPOINT'],
    flag: 'viola-endpoint',
    schema: url().optional(),
    description:
      'Base URL of Viola. Without it, OpenstackConfigs that name no Viola get the reason ConfigError and nothing is delivered.',
  }),
  violaTimeout: setting({
    env: ['VIOLA_TIMEOUT'],
    flag: 'viola-timeout',
    schema: duration().prefault('30s'),
    description:
      'Timeout of a call to Viola (duration, at most 5m; longer counts as 5m). If it is too short, deliveries fail and are retried.',
  }),
  violaInsecureTls: setting({
    env: ['VIOLA_INSECURE_TLS'],
    flag: 'viola-insecure-tls',
    schema: boolean().prefault('false'),
    description:
      'true: do not verify the certificate of Viola. An attacker on the network path can then read the token.',
  }),
  violaCaFile: setting({
    env: ['VIOLA_CA_FILE'],
    flag: 'viola-ca-file',
    schema: nonBlank().optional(),
    description:
      'PEM bundle that verifies the certificate of Viola, instead of the authorities of Node.js; read again at each use. With a wrong one deliveries fail.',
  }),
  violaTokenFile: setting({
    env: ['VIOLA_TOKEN_FILE'],
    flag: 'viola-token-file',
    schema: nonBlank().optional(),
    description:
      'File with the bearer token for Viola; read at each use. If it is missing or its token is unknown to Viola, deliveries fail.',
  }),
  violaAccess: setting({
    env: ['VIOLA_ACCESS'],
    flag: 'viola-access',
    schema: oneOf(['managed', 'given']).prefault('given'),
    description:
      'managed: the operator makes its token for Viola, grants it in the Secret viola-api-tokens and renews it. given: the token is in --viola-token-file. Viola refuses deliveries if it reads another Secret.',
  }),
  violaTls: setting({
    env: ['VIOLA_TLS'],
    flag: 'viola-tls',
    schema: oneOf(['managed', 'given']).prefault('given'),
    description:
      'managed: the operator makes an authority and the certificate of Viola, in the Secrets multinic-ca and viola-api-tls, and renews them. given: the authority is in --viola-ca-file. Deliveries fail if Viola serves another certificate.',
  }),
  legacyViolaProviders: setting({
    env: ['LEGACY_VIOLA_PROVIDERS'],
    flag: 'legacy-viola-providers',
    schema: textList()
      .refine((ids) => !ids.includes('*'), 'must list each provider id; * is not allowed')
      .prefault(''),
    description:
      'Provider ids that the routing file of the legacy Viola has a target for (comma-separated). The operator posts to a legacy Viola for no other id, because a legacy Viola writes nodes of an unknown provider to its own cluster.',
  }),
} satisfies Settings;
