import { RequestError, type Service } from '../requests/request-error.ts';

/**
 * Returns Keystone's v3 base (no trailing slash) from a user-supplied URL: bare, with `/v3`, or with an old `/v2.0`.
 */
export function keystoneBase(url: string): string {
  return `${bare('keystone', url).replace(/\/v(3|2\.0)$/, '')}/v3`;
}

/** Returns a URL for messages. Text before an `@` is a secret, even in an unparsable URL. */
export function urlText(url: string): string {
  const at = url.lastIndexOf('@');
  return at < 0 ? `"${url}"` : `"…${url.slice(at)}"`;
}

/** Returns Keystone's canonical address, the same for all URL spellings. */
export function keystonePlace(url: string): string {
  try {
    return keystoneBase(url).toLowerCase();
  } catch {
    // An invalid URL fails with a clear error at the first login.
    return url;
  }
}

/** Returns Neutron's base without version: catalogs register Neutron with and without `/v2.0`. */
export function neutronBase(url: string): string {
  return bare('neutron', url).replace(/\/v2\.0$/, '');
}

/** Returns Nova's versioned base: `/v2.1` unless the URL names a version (older catalogs append the project id). */
export function novaBase(url: string): string {
  const base = bare('nova', url);
  return /\/v2(\.\d+)?(\/|$)/.test(new URL(base).pathname) ? base : `${base}/v2.1`;
}

/** Returns Contrabass' base without trailing slash. */
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
  // A password in a URL would appear in error messages.
  if (parsed.username !== '' || parsed.password !== '') {
    throw new RequestError(`the URL of ${parsed.host} must not contain a user name or password`, {
      service,
      kind: 'noEndpoint',
    });
  }
  return `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '');
}
