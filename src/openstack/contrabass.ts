import type { TlsOptions } from './transport.ts';

export interface ProviderRequest {
  /** Base URL of Contrabass. */
  readonly endpoint: string;
  readonly providerId: string;
  readonly encryptKey: string;
  readonly timeoutMs: number;
  readonly tls: TlsOptions;
}

/** How to reach one OpenStack, as Contrabass knows it. */
export interface Provider {
  readonly keystoneUrl: string;
  readonly username: string;
  readonly password: string;
  readonly domainName: string;
  readonly neutronUrl?: string;
  readonly novaUrl?: string;
  readonly rabbit?: Rabbit;
}

export interface Rabbit {
  readonly username: string;
  /** Missing when there is none or when it does not fit the key: nothing but notifications needs it. */
  readonly password?: string;
  /** `host:port` each. */
  readonly hosts: readonly string[];
}
