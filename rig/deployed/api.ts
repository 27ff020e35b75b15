import { Agent, fetch } from 'undici';
import { loadKubeconfig } from '../../src/kube/access/kubeconfig.ts';

/** What an API server answered. */
interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Plain requests to an API server: the originals use verbs that our own client has no need of. */
export interface Api {
  request(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<Answer>;
}

/** The API server of a kubeconfig with a token. */
export async function openApi(kubeconfig: string): Promise<Api> {
  const access = await loadKubeconfig(kubeconfig);
  const dispatcher = new Agent({ connect: access.ca === undefined ? {} : { ca: access.ca } });
  return {
    async request(method, path, body) {
      const token = await access.token?.();
      const answer = await fetch(`${access.server}${path}`, {
        method,
        dispatcher,
        headers: {
          'content-type': 'application/json',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return {
        status: answer.status,
        body: text.startsWith('{') ? (JSON.parse(text) as unknown) : text,
      };
    },
  };
}
