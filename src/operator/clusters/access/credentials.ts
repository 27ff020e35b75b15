import { type CaBundle, openCaBundle, systemAuthorities } from '../../../requests/ca-bundle.ts';
import { RequestError } from '../../../requests/request-error.ts';
import type { OperatorSettings } from '../../model/settings/operator.ts';
import { type TokenSource, tokenInFile } from '../deliver/token-source.ts';
import { createAccessKeeper, type KeeperDeps } from './keeper.ts';

/** The operator's token for Viola, and the CA bundle for Viola's certificate. */
export interface Credentials {
  /** undefined: no token is sent. */
  readonly token: TokenSource | undefined;
  readonly authorities: CaBundle;
  /** Runs a leader's work and maintains the managed Secrets meanwhile. */
  readonly during: (
    leading: AbortSignal,
    work: (leading: AbortSignal) => Promise<void>,
  ) => Promise<void>;
}

/** Opens token and CA bundle, each from a given file or from managed Secrets. */
export async function openCredentials(
  settings: OperatorSettings,
  deps: Omit<KeeperDeps, 'keeps' | 'namespace'>,
): Promise<Credentials> {
  const { violaAccess, violaTls, violaTokenFile, violaCaFile, namespace } = settings;
  refuseBoth('access', violaAccess, 'token', violaTokenFile);
  refuseBoth('tls', violaTls, 'ca', violaCaFile);
  const keeps = { tokens: violaAccess === 'managed', tls: violaTls === 'managed' };
  const given = {
    token: violaTokenFile === undefined ? undefined : tokenInFile(violaTokenFile),
    authorities:
      violaCaFile === undefined ? systemAuthorities : await openCaBundle(violaCaFile, deps.log),
  };
  if (!keeps.tokens && !keeps.tls) {
    return { ...given, during: async (leading, work) => work(leading) };
  }
  const keeper = createAccessKeeper({ ...deps, namespace, keeps });
  const required = (what: string, value: string | undefined): string => {
    if (value !== undefined) return value;
    const why = keeper.problem ?? 'its Secrets are not read yet';
    const message = `the operator has no ${what} for Viola yet: ${why}`;
    throw new RequestError(message, { service: 'viola', kind: 'unauthorized' });
  };
  return {
    token: keeps.tokens ? async () => required('token', keeper.token) : given.token,
    authorities: keeps.tls
      ? async () => required('certificate authority', keeper.authorities)
      : given.authorities,
    during: keeper.during,
  };
}

function refuseBoth(
  setting: string,
  mode: 'managed' | 'given',
  file: string,
  path: string | undefined,
): void {
  if (mode === 'given' || path === undefined) return;
  throw new Error(
    `--viola-${setting} managed and --viola-${file}-file exclude each other: remove one of them`,
  );
}
