/** CA and client certificate, PEM. */
export interface Certificates {
  /** undefined: Node.js default CAs. */
  readonly ca?: string;
  readonly clientCert?: string;
  readonly clientKey?: string;
}

/** API server address and credentials. */
export interface ClusterAccess extends Certificates {
  /** `https://host:port/path`, `http://` only for an embedded server. */
  readonly server: string;
  /** Called before every connection and replaces the certificates above: files are rotated in place. */
  readonly certificates?: () => Promise<Certificates>;
  /** Called before every request: a rotated token takes effect at once. */
  readonly token?: () => Promise<string>;
  /** Namespace from the kubeconfig context or the Pod. */
  readonly namespace?: string;
  /** Unix socket of `kubectl proxy`; undefined: TCP connections to `server`. */
  readonly socketPath?: string;
  /** Server certificate name to verify, if different from the host. */
  readonly tlsServerName?: string;
}
