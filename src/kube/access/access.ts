/** Whom we trust, and what we show. PEM. */
export interface Certificates {
  /** Without it the certificates that Node.js trusts. */
  readonly ca?: string;
  readonly clientCert?: string;
  readonly clientKey?: string;
}

/** Where an API server is and as whom we speak to it. */
export interface ClusterAccess extends Certificates {
  /** `https://host:port/path`, `http://` only for an embedded server. */
  readonly server: string;
  /** Asked before every connection and then holds instead of the certificates above: files are rotated in place. */
  readonly certificates?: () => Promise<Certificates>;
  /** Asked before every request, so that a rotated token is used at once. */
  readonly token?: () => Promise<string>;
  /** Namespace of the kubeconfig's context or of the Pod. */
  readonly namespace?: string;
  /** Name to verify in the server's certificate when it differs from the host. */
  readonly tlsServerName?: string;
}
