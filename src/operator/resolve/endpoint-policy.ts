import { isIPv4, overlaps } from '../../api/address.ts';

/** Whether an endpoint that an OpenstackConfig names may be called, and with which secrets. */
export type EndpointVerdict =
  /** Named by the operator's policy: it may be given secrets of the operator. */
  | 'trusted'
  /** May be called, but never with a secret of the operator: who writes the CR chose where it goes. */
  | 'open'
  | { readonly denied: string };

/**
 * Judges a URL by the allowed origins. `scheme://host[:port]` each; `*` in a host stands for one label, `*` alone for
 * everything. An empty list allows everything but link-local addresses, where clouds keep their metadata services.
 */
export function judgeEndpoint(url: string, allowed: readonly string[]): EndpointVerdict {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    return { denied: 'is not a URL such as https://viola.example:8080' };
  }
  const { origin, username, password, hostname } = new URL(url);
  if (username !== '' || password !== '')
    return { denied: 'must not carry a user name or password' };
  if (allowed.some((pattern) => pattern !== '*' && matches(pattern, origin))) return 'trusted';
  if (isLinkLocal(hostname)) return { denied: 'is a link-local address' };
  if (allowed.length === 0 || allowed.includes('*')) return 'open';
  return { denied: `is not allowed by the operator; it allows ${allowed.join(', ')}` };
}

/** Why a URL that no OpenstackConfig names itself may not be called; undefined = it may. */
export function deniedEndpoint(url: string, allowed: readonly string[]): string | undefined {
  const verdict = judgeEndpoint(url, allowed);
  return typeof verdict === 'object' ? verdict.denied : undefined;
}

function matches(pattern: string, origin: string): boolean {
  const parts = pattern
    .toLowerCase()
    .replace(/\/+$/, '')
    .split('*')
    .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('[^./:]+')}$`).test(origin);
}

function isLinkLocal(hostname: string): boolean {
  if (isIPv4(hostname)) return overlaps(`${hostname}/32`, '169.254.0.0/16');
  return /^\[fe[89ab]/i.test(hostname);
}
