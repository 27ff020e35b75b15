import * as z from 'zod';
import { group, objectName, text } from './describe.ts';

// Credentials between the operator and Viola.

/** Certificate authorities (PEM) in a ConfigMap or a Secret. */
export function authorities(description: string) {
  return group(description, {
    configMap: objectName().describe('ConfigMap that holds it.').optional(),
    secret: objectName().describe('Secret that holds it, if no ConfigMap does.').optional(),
    key: text().describe('Key of the PEM bundle.').default('ca.crt'),
  });
}

export const violaTls = group('Certificate of Viola.', {
  mode: z
    .enum(['managed', 'certManager', 'secret', 'plain'])
    .describe(
      'managed: the operator makes and renews a CA and a certificate. certManager: cert-manager does. secret: yours. plain: no TLS; something else has to guard the token on its way.',
    )
    .default('managed'),
  secretName: objectName()
    .describe('Mode secret: your Secret of type kubernetes.io/tls; Viola follows its renewal.')
    .optional(),
  ca: authorities(
    'Modes secret and certManager: the CA that the operator verifies Viola with; default: ca.crt beside the certificate.',
  ),
  certManager: group('Mode certManager: what cert-manager is asked for.', {
    issuerRef: group('Who signs.', {
      name: objectName().describe('Name of the issuer.').optional(),
      kind: text()
        .describe('Issuer of the namespace, ClusterIssuer, or of another group.')
        .default('Issuer'),
      group: text().describe('API group of the kind.').default('cert-manager.io'),
    }),
    duration: text().describe('How long a certificate holds.').default('2160h'),
    renewBefore: text().describe('How long before its end it is renewed.').default('720h'),
  }),
});

export const violaTokens = group('Who may call Viola.', {
  mode: z
    .enum(['managed', 'secret'])
    .describe(
      'managed: the operator makes and changes its own token; add keys with a name of your own to the Secret viola-api-tokens for others. secret: all of it is yours.',
    )
    .default('managed'),
  secretName: objectName()
    .describe(
      'Mode secret: Secret whose keys *.yaml are lists of {name, sha256, providers, verbs}.',
    )
    .optional(),
  operatorToken: group("Mode secret: the operator's own token.", {
    secretName: objectName().describe('Secret that holds it.').optional(),
    key: text().describe('Its key.').default('token'),
  }),
});
