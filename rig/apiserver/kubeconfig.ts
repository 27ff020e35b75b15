import { stringify } from 'yaml';

/** A kubeconfig with one server and one bearer token. */
export function kubeconfig(server: string, token: string): string {
  const name = 'multinic';
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  });
}
