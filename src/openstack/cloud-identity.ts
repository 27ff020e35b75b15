import type { TlsOptions } from '../requests/transport.ts';

/** Everything that makes two clouds different: who asks what, as whom, scoped to which project. */
export interface CloudIdentity {
  readonly keystoneUrl: string;
  readonly username: string;
  readonly password: string;
  readonly domainName: string;
  readonly projectId: string;
  readonly region?: string;
  readonly interface: 'public' | 'internal' | 'admin';
  /** Wins over the catalog. */
  readonly neutronUrl?: string;
  /** Wins over the catalog. */
  readonly novaUrl?: string;
  /** Origins that its catalog may name, as far as the operator's policy limits them for this cloud. */
  readonly allowedEndpoints?: readonly string[];
  readonly tls: TlsOptions;
  readonly timeoutMs: number;
}
