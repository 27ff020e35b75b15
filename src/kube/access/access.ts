/** Where an API server is and as whom we speak to it. */
export interface ClusterAccess {
  /** `https://host:port`, `http://` only for an embedded server. */
  readonly server: string;
  /** PEM. Without it the certificates that Node.js trusts. */
  readonly ca?: string;
  /** PEM. */
  readonly clientCert?: string;
  /** PEM. */
  readonly clientKey?: string;
  /** Asked before every request, so that a rotated token is used at once. */
  readonly token?: () => Promise<string>;
  /** Namespace of the kubeconfig's context or of the Pod. */
  readonly namespace?: string;
  /** Name to verify in the server's certificate when it differs from the host. */
  readonly tlsServerName?: string;
}
