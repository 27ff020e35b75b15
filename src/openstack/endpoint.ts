import { RequestError, type Service } from '../requests/request-error.ts';

/** Keystone's v3 base (no trailing slash) from the URL as people write it: bare, with `/v3`, or with an old `/v2.0`. */
export function keystoneBase(url: string): string {
  return `${bare('keystone', url).replace(/\/v(3|2\.0)$/, '')}/v3`;
}

/** A URL for messages: what stands before an @ is a secret, whether or not it can be read as a URL. */
export function urlText(url: string): string {
  const at = url.lastIndexOf('@');
  return at < 0 ? `"${url}"` : `"…${url.slice(at)}"`;
}

/** Where a Keystone is, equal however people write its URL. */
export function keystonePlace(url: string): string {
  try {
    return keystoneBase(url).toLowerCase();
  } catch {
    // Nobody can ask there; whoever tries is told why.
    return url;
  }
}

/** Neutron's base without its version: deployments register it with and without `/v2.0`. */
export function neutronBase(url: string): string {
  return bare('neutron', url).replace(/\/v2\.0$/, '');
}

/** Nova's versioned base: `/v2.1` unless the URL names a version itself (older catalogs add the project id behind it). */
export function novaBase(url: string): string {
  const base = bare('nova', url);
  return /\/v2(\.\d+)?(\/|$)/.test(new URL(base).pathname) ? base : `${base}/v2.1`;
}

/** Contrabass' base without a trailing slash. */
export function contrabassBase(url: string): string {
  return bare('contrabass', url);
}

function bare(service: Service, url: string): string {
  const parsed = URL.canParse(url.trim()) ? new URL(url.trim()) : undefined;
  if (parsed === undefined || !['http:', 'https:'].includes(parsed.protocol)) {
    throw new RequestError(`${urlText(url)} is not an http(s) URL`, {
      service,
      kind: 'noEndpoint',
    });
  }
  // A password in a URL would end up in error texts.
  if (parsed.username !== '' || parsed.password !== '') {
    throw new RequestError(`the URL of ${parsed.host} must not carry a user name or password`, {
      service,
      kind: 'noEndpoint',
    });
  }
  return `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '');
}
