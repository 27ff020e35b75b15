import * as z from 'zod';
import { boolean, duration, nonBlank, oneOf, url } from '../../process/setting-schemas.ts';
import { type Settings, setting } from '../../process/settings.ts';

/** Settings of the connection to Viola, native or legacy. */
export const violaSettings = {
  violaEndpoint: setting({
    env: ['VIOLA_ENDPOINT'],
    flag: 'viola-endpoint',
    schema: url().optional(),
    description: 'base URL of Viola',
  }),
  violaTimeout: setting({
    env: ['VIOLA_TIMEOUT'],
    flag: 'viola-timeout',
    schema: z.string().default('30s').pipe(duration()),
    description: 'timeout of a call to Viola; longer than 5m counts as 5m',
  }),
  violaInsecureTls: setting({
    env: ['VIOLA_INSECURE_TLS'],
    flag: 'viola-insecure-tls',
    schema: boolean().prefault('false'),
    description: 'true: do not verify the certificate of Viola',
  }),
  violaCaFile: setting({
    env: ['VIOLA_CA_FILE'],
    flag: 'viola-ca-file',
    schema: nonBlank().optional(),
    description:
      'PEM bundle that the certificate of Viola is verified with; read again at each use',
  }),
  violaTokenFile: setting({
    env: ['VIOLA_TOKEN_FILE'],
    flag: 'viola-token-file',
    schema: nonBlank().optional(),
    description: 'file with the bearer token for Viola, read at each use',
  }),
  violaAccess: setting({
    env: ['VIOLA_ACCESS'],
    flag: 'viola-access',
    schema: oneOf(['managed', 'given']).prefault('given'),
    description:
      'managed: the operator makes its token for Viola, grants it in the Secret viola-api-tokens and renews it; given (default): it is in --viola-token-file',
  }),
  violaTls: setting({
    env: ['VIOLA_TLS'],
    flag: 'viola-tls',
    schema: oneOf(['managed', 'given']).prefault('given'),
    description:
      'managed: the operator makes an authority and the certificate of Viola, in the Secrets multinic-ca and viola-api-tls, and renews them; given (default): the authority is in --viola-ca-file',
  }),
  legacyViolaProviders: setting({
    env: ['LEGACY_VIOLA_PROVIDERS'],
    flag: 'legacy-viola-providers',
    schema: z
      .string()
      .default('')
      .transform((text) => text.split(',').flatMap((item) => item.trim() || []))
      .refine((ids) => !ids.includes('*'), 'must name each provider id; * confirms none'),
    description:
      'provider ids that the routing file of the legacy Viola has a target for, separated by commas; nothing is posted to a legacy Viola for any other id, because it writes nodes of an unknown provider to its own cluster; default: none',
  }),
} satisfies Settings;
