import { stringify } from 'yaml';

/** A kubeconfig with one server, the certificate (PEM) it is known by if it has one, and one bearer token. */
export function kubeconfig(server: string, ca: string | undefined, token: string): string {
  const name = 'multinic';
  const trust = ca ? { 'certificate-authority-data': Buffer.from(ca).toString('base64') } : {};
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, ...trust } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  });
}
